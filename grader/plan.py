"""What to run next: a pure function from what is known to the cells that are still missing.

First a look at the suite's source and one calibration run on the reference, from which
exclusions, order and limits come; then the shuffled mix of controls and mutants; then
confirmations of what a single run can't settle. Resuming needs no code of its own: the
function is asked again with the outcomes of an earlier run.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .cells import (
    OWN,
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
from .messages import message
from .mutants import Mutant
from .outcome import End, Outcome, Watch
from .verdict import (
    Evidence,
    Status,
    TestStatus,
    killers,
    refusals,
    same_tests,
    statuses,
    unimportable,
)


@dataclass(frozen=True)
class Request:
    """All that decides which cells a grading needs."""

    settings: AssignmentSettings
    files: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    has_own_implementation: bool
    shuffle: str
    matrix: bool = False


@dataclass(frozen=True)
class Knowledge:
    """What the outcomes so far say, in the order in which it is learnt."""

    request: Request
    outcomes: Outcomes

    @cached_property
    def look(self) -> Chain:
        """The look at the sources."""
        return chain(Cell(purpose="look"), self.outcomes, after_look)

    @cached_property
    def not_run(self) -> Mapping[str, TestStatus]:
        """Files that are not run, by a look at their source."""
        cell, outcome = self.look.last
        found = refusals(self.request.settings, self.request.files, outcome.looks)
        for path in cell.without:
            reason = message("broken-import-crash")
            found[path] = TestStatus(path, Status.BROKEN, reason)
        return found

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
    def unrunnable(self) -> Mapping[str, End]:
        """Tests and files that never end, end the interpreter, or are never reached."""
        cell, final = self.calibration.last
        ends = {outcome.at: outcome.end for _, outcome in self.calibration.seen if outcome.at}
        found = {
            name: ends[name] for name in (*cell.without, *cell.skip) if name not in self.not_run
        }
        for test in final.tests:
            run = final.run(test)
            if run is None or not run.finished:
                found[test] = final.end
        return found

    @cached_property
    def template(self) -> Cell:
        """What every cell after the calibration has in common."""
        unreadable = {broken.path for broken in self.calibration.last[1].unreadable}
        without = {*self.not_run, *unreadable, *(n for n in self.unrunnable if "::" not in n)}
        skip = {name for name in self.unrunnable if "::" in name}
        return Cell(purpose="control", without=tuple(sorted(without)), skip=tuple(sorted(skip)))

    @cached_property
    def runnable(self) -> frozenset[str]:
        """Tests that can be run."""
        return frozenset(self.calibration.last[1].tests) - set(self.unrunnable)

    @cached_property
    def promising(self) -> frozenset[str]:
        """Tests that held in the calibration."""
        runs = self.calibration.last[1].runs
        return frozenset(t for t in self.runnable if not runs[t].failed and not runs[t].skipped)

    @property
    def _draws(self) -> tuple[int, ...]:
        return self.request.settings.draws

    def controls(self, draw: int) -> list[Chain]:
        """The policy's set of controls at one draw."""
        return [
            chain(self.template.but(draw=draw, number=number), self.outcomes, after_control)
            for number in range(self.request.settings.controls)
        ]

    def mutant(self, mutant: Mutant, draw: int) -> Chain:
        """The runs on one mutant at one draw, as far as the tests that count need them."""
        return chain(self.start(mutant, draw), self.outcomes, self._after_mutant)

    def start(self, mutant: Mutant, draw: int) -> Cell:
        """The first run on one mutant at one draw."""
        variant = Variant(kind="mutant", id=mutant.id)
        return self.template.but(purpose="mutant", variant=variant, draw=draw)

    def _after_mutant(self, cell: Cell, outcome: Outcome) -> Cell | None:
        """A mutant's run is settled by a kill; else as a control's, or by another attempt."""
        if killers(outcome, self.evidence, self.valid):
            return None
        if outcome.end is End.STOPPED:
            return again(cell, most=2)
        if outcome.unreadable and outcome.end is End.COMPLETE:
            return again(cell)
        return after_control(cell, outcome)

    @cached_property
    def evidence(self) -> Evidence:
        """All that statuses and verdicts rest on."""
        calibrated = not self.calibration.next
        mutants: dict[str, list[tuple[Cell, Outcome]]] = {}
        for pair in self._having("mutant"):
            mutants.setdefault(pair[0].variant.id, []).append(pair)
        return Evidence(
            settings=self.request.settings,
            files=self.not_run,
            calibration=self.calibration.last[1] if calibrated else None,
            unrunnable=self.unrunnable if calibrated else {},
            controls=self._having("control"),
            mutants=mutants,
        )

    @cached_property
    def valid(self) -> frozenset[str]:
        """Tests whose kills count, as far as is known."""
        return frozenset(name for name, one in statuses(self.evidence).items() if one.counts)

    def enough(self, watch: Watch) -> bool:
        """Whether a run on a mutant has shown all that its verdict needs."""
        return bool(watch.failing() & self._stopping) and same_tests(watch, self.evidence)

    @cached_property
    def _stopping(self) -> frozenset[str]:
        return self.valid if self.evidence.controls else self.promising

    def _having(self, purpose: str) -> list[tuple[Cell, Outcome]]:
        """Return the outcomes of a purpose in an order that doesn't depend on the machine."""
        found = [pair for pair in self.outcomes.items() if pair[0].purpose == purpose]
        return sorted(found, key=lambda pair: _rank(self._draws, pair[0]))


def _rank(draws: tuple[int, ...], cell: Cell) -> tuple[str, int, int, int, tuple[str, ...]]:
    return (cell.variant.id, draws.index(cell.draw), cell.number, cell.attempt, cell.last)


def is_test_file(path: str) -> bool:
    """Return whether pytest collects tests from a file of this name."""
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def next_cells(request: Request, outcomes: Outcomes) -> list[Cell]:
    """Return the cells to run next, in the order to run them; nothing once all is known."""
    known = Knowledge(request, outcomes)
    if known.look.next:
        return [known.look.next]
    if not known.targets:
        return []
    if known.calibration.next:
        return [known.calibration.next]
    if not known.runnable:
        return []
    missing = list(dict.fromkeys(_missing(known)))
    random.Random(f"{request.shuffle}:{len(outcomes)}").shuffle(missing)
    return missing


def _missing(known: Knowledge) -> list[Cell]:
    """Return the missing cells of the first draw, else of the first later draw that needs any."""
    first, *further = known.request.settings.draws
    if cells := _missing_at(known, first, known.request.mutants):
        return cells
    for draw in further:
        alive = tuple(_alive(known))
        if not alive or not known.valid:
            return []
        if cells := _missing_at(known, draw, alive):
            return cells
    return []


def _missing_at(known: Knowledge, draw: int, mutants: Sequence[Mutant]) -> list[Cell]:
    """Return what is missing at one draw: blind runs first, then what they left open."""
    controls = [one.next for one in known.controls(draw) if one.next]
    own = known.template.but(purpose="own", variant=OWN, draw=draw)
    wanted = list(controls)
    if known.request.has_own_implementation and draw == known.request.settings.draws[0]:
        wanted.append(own)
    if controls:
        wanted += [known.start(mutant, draw) for mutant in mutants if known.promising]
    elif known.valid:
        wanted += _with_companions(known, [known.mutant(mutant, draw) for mutant in mutants])
    return [cell for cell in wanted if cell not in known.outcomes]


def _with_companions(known: Knowledge, chains: list[Chain]) -> Iterator[Cell]:
    """Yield what mutants miss, each confirmation with a control of the same tests and order."""
    for one in chains:
        if one.next is not None:
            yield one.next
            if one.next.last:
                yield known.template.but(draw=one.next.draw, last=one.next.last)


def _alive(known: Knowledge) -> Iterator[Mutant]:
    """Yield the required mutants that no valid test has caught so far."""
    for mutant in known.request.mutants:
        seen = known.evidence.mutants.get(mutant.id, ())
        caught = any(killers(outcome, known.evidence, known.valid) for _, outcome in seen)
        if mutant.required and not caught and not unimportable(seen, known.evidence, known.valid):
            yield mutant
