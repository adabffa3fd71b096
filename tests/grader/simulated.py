"""A simulated lab: suites that are described by what their tests do, run without a machine."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from grader.cells import Cell
from grader.course import AssignmentSettings
from grader.knowledge import Knowledge, Request
from grader.mutants import Mutant
from grader.outcome import End, Outcome, Watch
from grader.plan import next_cells
from grader.policy import Policy
from grader.status import statuses
from grader.verdict import Result, Verdict, verdict

from .facts import mutant

Deed = Literal["pass", "fail", "balk", "skip", "hang", "crash"]
Import = Literal["fine", "raise", "exit", "hang", "crash"]
Enough = Callable[[Cell, Watch], bool]
ENDS = {"hang": End.TIMEOUT, "crash": End.CRASH}
FAILURE = {"kind": "ordinary", "exception": "AssertionError"}
MOST_BATCHES = 200
SETTINGS = AssignmentSettings(
    title="t", module="pack.mod", draws=(11, 22, 33), controls=3, allowed_imports=("math",)
)
POLICY = Policy(references=3)
NAMED = mutant(required=True, id="s01")
OTHER = mutant(required=True, id="s02")
GENERATED = mutant(id="m-01")
LOOP = mutant(id="m-02", hangs=True)
MUTANTS = (NAMED, OTHER, GENERATED, LOOP)
NAMES = tuple(one.id for one in MUTANTS)


@dataclass(frozen=True)
class Sim:
    """A test, by what it does on the reference and on mutants.

    ``balk`` is a failure that is no kill; what isn't said is ``pass``.
    """

    name: str
    file: str = "test_a.py"
    at_home: Deed = "pass"
    on: Mapping[str, Deed] = field(default_factory=dict)
    at: Mapping[tuple[str, int], Deed] = field(default_factory=dict)  # on a mutant, at a draw
    fails_at: frozenset[int] = frozenset()  # draws at which it fails on the reference
    fails_on: frozenset[int] = frozenset()  # numbers of controls on which it fails
    on_twins: Deed = "pass"
    on_saboteurs: Deed = "fail"
    absent_on: frozenset[str] = frozenset()  # mutants on which it isn't collected
    chance: Callable[[Cell], Deed] | None = None

    @property
    def id(self) -> str:
        """The test's id in a run."""
        return f"{self.file}::{self.name}"

    def deed(self, cell: Cell) -> Deed:
        """Return what the test does in ``cell``."""
        if cell.purpose == "saboteur":
            return self.on_saboteurs
        if self.chance is not None:
            return self.chance(cell)
        match cell.variant.kind:
            case "mutant":
                name = cell.variant.id
                return self.at.get((name, cell.draw), self.on.get(name, "pass"))
            case "twin":
                return self.on_twins
            case _:
                unlucky = cell.purpose == "control" and cell.number in self.fails_on
                return "fail" if unlucky or cell.draw in self.fails_at else self.at_home


@dataclass(frozen=True)
class Suite:
    """Tests, and how their files are read: by file and mutant, ``""`` being the reference."""

    tests: tuple[Sim, ...]
    imports: Mapping[tuple[str, str], Import] = field(default_factory=dict)
    looks: Mapping[str, Literal["crash", "os"]] = field(default_factory=dict)
    others: tuple[str, ...] = ()  # files without tests

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of all files."""
        return tuple(sorted({*(test.file for test in self.tests), *self.others}))

    def reads(self, file: str, variant: str) -> Import:
        """Return what reading ``file`` does."""
        return self.imports.get((file, variant), "fine")


GOOD = Sim("good", on={"s01": "fail", "s02": "fail", "m-01": "fail"})


class _Ended(Exception):
    def __init__(self, end: End) -> None:
        self.end = end


@dataclass
class SimulatedLab:
    """Runs cells of one suite; remembers the batches in which they were asked for.

    ``spoil`` changes outcomes, as a machine or a conftest may.
    """

    suite: Suite
    spoil: Callable[[Cell, Outcome], Outcome] = lambda _, outcome: outcome
    batches: list[list[Cell]] = field(default_factory=list)

    def run(self, cell: Cell, enough: Enough = lambda *_: False) -> Outcome:
        """Return what a machine would: the same for the same cell and the same ``enough``."""
        if cell.purpose == "canary":
            return Outcome(end=End.COMPLETE)
        watch = Watch()

        def say(event: str, **facts: object) -> None:
            watch.feed([json.dumps({"event": event, **facts}).encode()], 0.0)
            if enough(cell, watch):
                raise _Ended(End.STOPPED)

        end = End.COMPLETE
        try:
            self._look(cell, say) if cell.purpose == "look" else self._test(cell, say)
        except _Ended as ended:
            end = ended.end
        return self.spoil(cell, watch.outcome(end))

    def _look(self, cell: Cell, say: Callable[..., None]) -> None:
        for file in self.suite.files:
            if file in cell.without:
                continue
            say("file", path=file)
            found = self.suite.looks.get(file)
            if found == "crash":
                raise _Ended(End.CRASH)
            imports = [["os", 1]] if found == "os" else []
            say("look", path=file, problem=None, imports=imports, near_misses=[])

    def _test(self, cell: Cell, say: Callable[..., None]) -> None:
        kept = [test for test in self._collect(cell, say) if test.id not in cell.skip]
        place = {name: index for index, name in enumerate(cell.last, 1)}
        kept.sort(key=lambda test: place.get(test.id, 0))
        for test in kept:
            say("test", id=test.id)
        say("collected")
        for test in kept:
            say("start", id=test.id)
            _phase(say, test.id, "setup", "pass")
            deed = test.deed(cell)
            if deed in ENDS:
                raise _Ended(ENDS[deed])
            _phase(say, test.id, "call", deed)
            _phase(say, test.id, "teardown", "pass")

    def _collect(self, cell: Cell, say: Callable[..., None]) -> list[Sim]:
        found: list[Sim] = []
        for file in self.suite.files:
            if file in cell.without or not file.startswith("test_"):
                continue
            say("file", path=file)
            how = self.suite.reads(file, cell.variant.id)
            if how in ENDS:
                raise _Ended(ENDS[how])
            if how == "fine":
                found += [
                    test
                    for test in self.suite.tests
                    if test.file == file and cell.variant.id not in test.absent_on
                ]
            else:
                kind = "ordinary" if how == "raise" else "exit"
                say("unreadable", path=file, failure={**FAILURE, "kind": kind})
        return found

    def solve(self, request: Request, outcomes: dict[Cell, Outcome] | None = None) -> Knowledge:
        """Run what is missing until nothing is, and return what is known then."""
        known = dict(outcomes or {})
        while cells := next_cells(request, known):
            self.batches.append(cells)
            assert len(self.batches) < MOST_BATCHES, "it doesn't end"
            enough = Knowledge(request, dict(known)).enough
            for cell in cells:
                assert cell not in known, "it was run already"
                known[cell] = self.run(cell, enough)
        return Knowledge(request, known)


def _phase(say: Callable[..., None], test: str, when: str, deed: Deed) -> None:
    outcome = {"pass": "passed", "skip": "skipped"}.get(deed, "failed")
    kinds = {"fail": "ordinary", "balk": "hypothesis"}
    failure = {**FAILURE, "kind": kinds[deed]} if deed in kinds else None
    facts: dict[str, Any] = {"id": test, "when": when, "outcome": outcome, "failure": failure}
    say("phase", expected_to_fail=False, **facts)


def request(
    suite: Suite, mutants: tuple[Mutant, ...], settings: AssignmentSettings, **facts: Any
) -> Request:
    """Return the request to grade ``suite``."""
    asked = {"has_own_implementation": False, "shuffle": "seed", "policy": POLICY, **facts}
    return Request(settings=settings, files=suite.files, mutants=mutants, **asked)


def judgement(known: Knowledge) -> tuple[dict[str, str], dict[str, Verdict]]:
    """Return the status of each test and file, and the verdict on each mutant."""
    found = {name: one.status.value for name, one in statuses(known.evidence).items()}
    verdicts = {one.id: verdict(one, known.evidence, known.valid) for one in known.request.mutants}
    return found, verdicts


def results(known: Knowledge) -> dict[str, Result]:
    """Return each mutant's result."""
    return {name: one.result for name, one in judgement(known)[1].items()}


def solved(
    *tests: Sim,
    mutants: Sequence[Mutant] = MUTANTS,
    spoil: Callable[[Cell, Outcome], Outcome] | None = None,
    asked: Mapping[str, Any] | None = None,
    **facts: Any,
) -> tuple[Knowledge, SimulatedLab]:
    """Grade a suite of these tests, and return what is known and the lab that did it.

    ``asked`` is what the request is to say beside them.
    """
    suite = Suite(tests, **facts)
    lab = SimulatedLab(suite, spoil) if spoil else SimulatedLab(suite)
    return lab.solve(request(suite, tuple(mutants), SETTINGS, **(asked or {}))), lab


def cells(known: Knowledge, purpose: str, **facts: object) -> list[Cell]:
    """Return the cells of a purpose that were run, of those with these facts."""
    return [
        cell
        for cell in known.outcomes
        if cell.purpose == purpose
        if all(getattr(cell, name) == value for name, value in facts.items())
    ]


def on(known: Knowledge, name: str, **facts: object) -> list[Cell]:
    """Return the cells in which one mutant was run."""
    return [cell for cell in cells(known, "mutant", **facts) if cell.variant.id == name]
