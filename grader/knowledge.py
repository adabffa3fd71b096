"""What the outcomes so far say, in the order in which it is learnt, and where each run leads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .cells import (
    LONGEST_CHAIN,
    REFERENCE,
    Cell,
    Chain,
    Outcomes,
    Variant,
    after_calibration,
    after_control,
    after_look,
    again,
    chain,
)
from .course import AssignmentSettings
from .evidence import Calibration, Evidence, Reading, Seen
from .mutants import Mutant
from .outcome import End, Outcome, Watch
from .policy import Policy
from .saboteurs import Saboteur
from .score import needed
from .status import FOR_GOOD, Status, TestStatus, not_run, statuses, unrepeated
from .submission import is_test_file
from .verdict import Result, killers, sighted, suspects, unimportable, verdict


@dataclass(frozen=True)
class Request:
    """All that decides which cells a grading needs."""

    settings: AssignmentSettings
    files: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    has_own_implementation: bool
    shuffle: str
    matrix: bool = False
    policy: Policy = field(default_factory=Policy)
    twins: tuple[str, ...] = ()  # the seeds of those that serve as right cells

    @property
    def right(self) -> tuple[tuple[Variant, int], ...]:
        """The right cells that each draw must have, by variant and number."""
        references = [(REFERENCE, number) for number in range(self.policy.references)]
        return (*references, *((Variant(kind="twin", id=seed), 0) for seed in self.twins))


@dataclass(frozen=True)
class Knowledge:
    """What the outcomes so far say, in the order in which it is learnt."""

    request: Request
    outcomes: Outcomes

    def at(self, draws: Collection[int]) -> "Knowledge":
        """Return what is known from these draws alone."""
        outcomes = {
            cell: outcome
            for cell, outcome in self.outcomes.items()
            if cell.purpose in ("canary", "look", "calibration") or cell.draw in draws
        }
        return replace(self, outcomes=outcomes)

    @cached_property
    def look(self) -> Chain:
        """The look at the sources."""
        return chain(Cell(purpose="look"), self.outcomes, after_look)

    @cached_property
    def reading(self) -> Reading:
        """What the look found."""
        ends = {o.at: o.end for _, o in self.look.seen if o.at and o.end is not End.COMPLETE}
        return Reading(self.request.files, self.look.last[1].looks, ends)

    @cached_property
    def not_run(self) -> Mapping[str, TestStatus]:
        """Files that are not run, by a look at their source."""
        return not_run(self.request.settings, self.reading)

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Files that pytest is told to run in the calibration."""
        files = self.request.files
        return tuple(path for path in files if is_test_file(path) and path not in self.not_run)

    @cached_property
    def calibration(self) -> Chain:
        """The runs on the reference that say which tests and files can be run at all."""
        start = Cell(purpose="calibration", draw=self._draws[0], without=tuple(self.not_run))
        return chain(start, self.outcomes, after_calibration)

    @cached_property
    def calibrated(self) -> Calibration:
        """What the calibration found."""
        cell, final = self.calibration.last
        ends = {o.at: o.end for _, o in self.calibration.seen if o.at and not _late(o)}
        unreadable = {
            broken.path: broken.failure
            for _, outcome in self.calibration.seen
            for broken in outcome.unreadable
            if broken.path in cell.without or outcome is final
        }
        left_out = [name for name in (*cell.without, *cell.skip) if name in ends]
        unfinished = [test for test in final.tests if not _finished(final, test)]
        unread = () if final.collected else self.targets
        names = (*left_out, *unfinished, *unread)
        unrunnable = {name: ends.get(name) for name in names if name not in unreadable}
        runs = {test: run for test, run in final.runs.items() if run.finished}
        return Calibration(final.tests, runs, unreadable, unrunnable)

    @cached_property
    def template(self) -> Cell:
        """What every cell after the calibration has in common."""
        without = {*self.not_run, *self.calibrated.left_out}
        skip = {name for name in self.calibrated.unrunnable if "::" in name}
        return Cell(purpose="control", without=tuple(sorted(without)), skip=tuple(sorted(skip)))

    @cached_property
    def promising(self) -> frozenset[str]:
        """Tests that held in the calibration."""
        runs = self.calibration.last[1].runs
        tests = self.calibrated.runnable
        return frozenset(test for test in tests if not (runs[test].failed or runs[test].skipped))

    @property
    def _draws(self) -> tuple[int, ...]:
        return self.request.settings.draws

    def controls(self, draw: int) -> list[Chain]:
        """The policy's set of controls at one draw."""
        return [self._control(variant, draw, number) for variant, number in self.request.right]

    def repetitions(self, draw: int) -> list[Chain]:
        """Controls again, in another random state, where tests failed in a single run."""
        number = self.request.policy.references  # the first that no control has
        return [
            self._control(variant, draw, number)
            for variant, at in unrepeated(self.evidence)
            if at == draw
        ]

    def _control(self, variant: Variant, draw: int, number: int) -> Chain:
        cell = self.template.but(variant=variant, draw=draw, number=number)
        return chain(cell, self.outcomes, _after_control)

    def saboteurs(self) -> list[Chain]:
        """The runs on code that does no work."""
        variants = [Variant(kind="saboteur", id=kind.value) for kind in Saboteur]
        template = self.template.but(purpose="saboteur", draw=self._draws[0])
        cells = [template.but(variant=variant) for variant in variants]
        return [chain(cell, self.outcomes, _after_control) for cell in cells]

    def start(self, mutant: Mutant, draw: int, number: int = 0) -> Cell:
        """The first run at one sighting of a mutant at one draw."""
        variant = Variant(kind="mutant", id=mutant.id)
        return self.template.but(purpose="mutant", variant=variant, draw=draw, number=number)

    def mutant(self, mutant: Mutant, draw: int) -> list[Chain]:
        """The runs on one mutant at one draw, as far as the tests that count need them.

        A kill that must be seen more than once is looked for again, each time in another text.
        """
        first = chain(self.start(mutant, draw), self.outcomes, self._after_mutant)
        wanted = self.evidence.sightings.get(mutant.id, 1)
        if first.next or not self._shows_a_kill(first.seen):
            return [first]
        starts = [self.start(mutant, draw, number) for number in range(1, wanted)]
        return [first, *(chain(start, self.outcomes, self._after_mutant) for start in starts)]

    def _shows_a_kill(self, seen: Sequence[Seen]) -> bool:
        caught = any(killers(one, self.evidence, self.valid) for one in seen)
        return caught or bool(suspects(seen, self.evidence, self.valid))

    def _after_mutant(self, cell: Cell, outcome: Outcome) -> Cell | None:
        """A mutant's run is settled by a kill; else as a control's, or by another attempt."""
        seen = self.evidence.mutants.get(cell.variant.id, ())
        caught = killers((cell, outcome), self.evidence, self._deciding(cell))
        if caught and not self.request.matrix:
            return None
        if unimportable(seen, self.evidence, self.valid):
            return None
        if outcome.end is End.STOPPED:
            # By a test that turned out not to count: there is one such test less each time.
            return again(cell, most=LONGEST_CHAIN)
        following = _after_control(cell, outcome)
        if following is None and suspects(seen, self.evidence, self.valid):
            return again(cell, most=LONGEST_CHAIN)
        decided = outcome.end is End.TIMEOUT and outcome.at in self.valid
        if following is None and outcome.at in cell.last and not decided:
            return self._deciding_first(cell, seen)
        return following

    def _deciding(self, cell: Cell) -> frozenset[str]:
        """The tests whose failure settles a run: any that counts, then those that failed before."""
        if cell.number == 0:
            return self.valid
        seen = self.evidence.mutants.get(cell.variant.id, ())
        before = [one for one in seen if one[0].draw == cell.draw and one[0].number == 0]
        return frozenset(sighted(before, self.evidence, self.valid)) or self.valid

    def _deciding_first(self, cell: Cell, seen: Sequence[Seen]) -> Cell | None:
        """Where several run last, put hangs before crashes, and what doesn't count at the end."""
        hung = {
            outcome.at
            for one, outcome in seen
            if one.draw == cell.draw and outcome.end is End.TIMEOUT and outcome.at not in one.last
        }
        last = sorted(cell.last, key=lambda test: (test not in self.valid, test not in hung))
        return cell.but(last=tuple(last)) if tuple(last) != cell.last else None

    @cached_property
    def evidence(self) -> Evidence:
        """All that statuses and verdicts rest on."""
        once = self._seen_once
        return replace(once, sightings=self._sightings(once))

    @cached_property
    def _seen_once(self) -> Evidence:
        """The same, as if each kill had to be seen but once."""
        settings = self.request.settings
        if not self.targets or self.calibration.next:
            return Evidence(settings, self.reading)
        mutants: dict[str, list[Seen]] = {}
        for one in self._having("mutant"):
            mutants.setdefault(one[0].variant.id, []).append(one)
        return Evidence(
            settings,
            self.reading,
            self.calibrated,
            self._having("control"),
            self._having("saboteur"),
            mutants,
            frozenset(self.request.right),
        )

    def _sightings(self, once: Evidence) -> dict[str, int]:
        """Return how often the kill of each mutant must be seen."""
        flaky = sum(one.status is Status.FLAKY for one in self.statuses.values())
        mutants = self.request.mutants
        caught = sum(_may_be_killed(one, once, self.valid) for one in mutants)
        spare = caught - needed(len(mutants), self.request.settings.threshold_percent)
        wanted = self.request.policy.sightings
        return {one.id: wanted(required=one.required, spare=spare, flaky=flaky) for one in mutants}

    @cached_property
    def statuses(self) -> Mapping[str, TestStatus]:
        """What each test is worth, as far as is known; sightings have no say in it."""
        return statuses(self._seen_once)

    @cached_property
    def valid(self) -> frozenset[str]:
        """Tests whose kills count, as far as is known."""
        return frozenset(name for name, one in self.statuses.items() if one.counts)

    @property
    def alive(self) -> list[Mutant]:
        """The required mutants that are not caught."""
        required = [mutant for mutant in self.request.mutants if mutant.required]
        return [
            mutant
            for mutant in required
            if verdict(mutant, self.evidence, self.valid).result is not Result.KILLED
        ]

    def enough(self, cell: Cell, watch: Watch) -> bool:
        """Return whether a run on a mutant has shown all that its verdict needs."""
        if self.request.matrix or cell.purpose != "mutant":
            return False
        stopping = self._stopping
        if cell.number > 0:
            stopping &= self._deciding(cell)
        return bool(watch.failing() & stopping) and self.evidence.same_tests(watch)

    @cached_property
    def _stopping(self) -> frozenset[str]:
        """Tests whose failure may end a run: nothing is known against them, at any draw."""
        found = self.statuses
        hopeful = {test for test in self.promising if found[test].status not in FOR_GOOD}
        for draw in self._draws:
            if not any(one.next for one in self.controls(draw)):
                hopeful &= self.evidence.established(draw)
        return frozenset(hopeful)

    def _having(self, purpose: str) -> list[Seen]:
        """Return what was run under the present template, in an order of its own.

        Other outcomes stem from a calibration that went another way, on a machine that was busy.
        """
        template = self.template
        found = [
            (cell, outcome)
            for cell, outcome in self.outcomes.items()
            if cell.purpose == purpose
            if (cell.without, cell.skip) == (template.without, template.skip)
        ]
        return sorted(found, key=lambda pair: self._rank(pair[0]))

    def _rank(self, cell: Cell) -> tuple[str, int, int, int, int, tuple[str, ...]]:
        draw = self._draws.index(cell.draw)
        return (cell.variant.id, draw, cell.number, cell.attempt, len(cell.last), cell.last)


def _may_be_killed(mutant: Mutant, evidence: Evidence, valid: frozenset[str]) -> bool:
    """Return whether a mutant is killed, or a run on it is yet to tell."""
    seen = evidence.mutants.get(mutant.id, ())
    unsettled = not seen or seen[-1][1].end is End.STOPPED
    return unsettled or verdict(mutant, evidence, valid).result is Result.KILLED


def _late(outcome: Outcome) -> bool:
    """Return whether all tests together took too long, so that the one that ran isn't to blame."""
    return outcome.ran_out and outcome.collected


def _finished(outcome: Outcome, test: str) -> bool:
    run = outcome.run(test)
    return run is not None and run.finished


def _after_control(cell: Cell, outcome: Outcome) -> Cell | None:
    """Where all tests together take too long, the one that ran is not to blame."""
    return again(cell) if outcome.ran_out else after_control(cell, outcome)
