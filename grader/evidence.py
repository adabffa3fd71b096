"""What the runs showed, and what can be read off them without judging."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .cells import REFERENCE, Cell, Variant
from .course import AssignmentSettings
from .outcome import End, Failure, Look, Outcome, Phase, TestRun, Watch
from .saboteurs import Saboteur

Seen = tuple[Cell, Outcome]
Place = tuple[Variant, int]  # one implementation at one draw


@dataclass(frozen=True)
class Reading:
    """What the look at the sources found."""

    files: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    ends: Mapping[str, End] = field(default_factory=dict)  # of files that ended a look


@dataclass(frozen=True)
class Calibration:
    """What the first runs on the reference found."""

    tests: tuple[str, ...] = ()
    runs: Mapping[str, TestRun] = field(default_factory=dict)  # of tests that ran to their end
    unreadable: Mapping[str, Failure] = field(default_factory=dict)
    # Tests and files that can't be run, by what ended their run; None where they never ran.
    unrunnable: Mapping[str, End | None] = field(default_factory=dict)

    @property
    def left_out(self) -> frozenset[str]:
        """Files that no later run reads: a file of which a part was collected is no such file."""
        useful = {file_of(test) for test in self.tests}
        ended = {name for name in self.unrunnable if "::" not in name}
        return frozenset((self.unreadable.keys() - useful) | ended)

    @property
    def runnable(self) -> frozenset[str]:
        """Tests that every later run must collect."""
        return frozenset(self.tests) - self.unrunnable.keys()


@dataclass(frozen=True)
class Evidence:
    """All that statuses and verdicts rest on."""

    settings: AssignmentSettings
    reading: Reading = Reading()
    calibration: Calibration = Calibration()
    controls: Sequence[Seen] = ()
    saboteurs: Sequence[Seen] = ()
    mutants: Mapping[str, Sequence[Seen]] = field(default_factory=dict)
    # The right cells that each draw must have, by variant and number.
    right: frozenset[tuple[Variant, int]] = frozenset()
    # How often a mutant's kill must be seen, where once is not enough.
    sightings: Mapping[str, int] = field(default_factory=dict)

    def control_runs(self, test: str) -> dict[Place, list[TestRun]]:
        """Return what is certain of a test's runs on right implementations, by place.

        The calibration is no control, but a test that contradicts it contradicts itself.
        """
        found: dict[Place, list[TestRun]] = {}
        if (first := self.calibration.runs.get(test)) is not None:
            found[REFERENCE, self.settings.draws[0]] = [first]
        for cell, outcome in self.controls:
            if (run := settled(test, cell, outcome)) is not None:
                found.setdefault((cell.variant, cell.draw), []).append(run)
        return found

    def established(self, draw: int) -> frozenset[str]:
        """Return the tests of which each right cell at ``draw`` has said something certain."""
        return self._established.get(draw, frozenset())

    @cached_property
    def _established(self) -> dict[int, frozenset[str]]:
        cells: dict[int, dict[str, set[tuple[Variant, int]]]] = {}
        for cell, outcome in self.controls:
            for test in self.calibration.runnable:
                if settled(test, cell, outcome) is not None:
                    of_draw = cells.setdefault(cell.draw, {})
                    of_draw.setdefault(test, set()).add((cell.variant, cell.number))
        return {
            draw: frozenset(test for test, seen in of_draw.items() if seen >= self.right)
            for draw, of_draw in cells.items()
        }

    @cached_property
    def untouched(self) -> frozenset[str]:
        """Tests that pass on every saboteur."""
        passed: dict[str, set[str]] = {}
        for cell, outcome in self.saboteurs:
            for test, run in outcome.runs.items():
                if run.finished and not run.failed:
                    passed.setdefault(test, set()).add(cell.variant.id)
        every = {kind.value for kind in Saboteur}
        return frozenset(test for test, kinds in passed.items() if kinds >= every)

    @cached_property
    def unreadable_on_controls(self) -> frozenset[str]:
        """Files that failed to import on some control."""
        return frozenset(b.path for _, outcome in self.controls for b in outcome.unreadable)

    @cached_property
    def misread(self) -> frozenset[str]:
        """Files that failed to import on some control, and not in the calibration."""
        return self.unreadable_on_controls - self.calibration.unreadable.keys()

    def readings_of(self, path: str) -> dict[Place, list[bool]]:
        """Return whether each control could read the file at ``path``, by place."""
        found: dict[Place, list[bool]] = {}
        for cell, outcome in self.controls:
            failed = any(broken.path == path for broken in outcome.unreadable)
            if failed or outcome.collected:
                found.setdefault((cell.variant, cell.draw), []).append(not failed)
        return found

    @cached_property
    def unstable(self) -> frozenset[str]:
        """Test functions whose names or parameters differ between runs on the reference."""
        collected = [outcome for _, outcome in self.controls if outcome.collected]
        differing = (set(one.tests) ^ self._wanted(one) for one in collected)
        return frozenset(function_of(test) for tests in differing for test in tests)

    def same_tests(self, run: Outcome | Watch) -> bool:
        """Return whether a run collected what the reference's runs collected.

        Tests of a file that can't be imported on this variant are missing for that reason.
        """
        return run.collected and self._stable(run.tests) == self._stable(self._wanted(run))

    def _wanted(self, run: Outcome | Watch) -> set[str]:
        missing = {broken.path for broken in run.unreadable} - {file_of(test) for test in run.tests}
        return {test for test in self.calibration.runnable if file_of(test) not in missing}

    def _stable(self, tests: Iterable[str]) -> set[str]:
        return {test for test in tests if function_of(test) not in self.unstable}


def file_of(test: str) -> str:
    """Return the file part of a test's id."""
    return test.partition("::")[0]


def function_of(test: str) -> str:
    """Return a test's id without its parameters."""
    return test.partition("[")[0]


def governs(path: str, test: str) -> bool:
    """Return whether ``test`` can't run where the file at ``path`` can't be read."""
    folder, _, name = path.rpartition("/")
    above = f"{folder}/" if folder else ""
    return path == file_of(test) or (name == "conftest.py" and test.startswith(above))


def settled(test: str, cell: Cell, outcome: Outcome) -> TestRun | None:
    """Return what a cell says for certain about ``test``: how it ran, or that it ended the run."""
    run = outcome.run(test)
    if run is not None and run.finished:
        return run
    if outcome.at == test and test in cell.last and outcome.end in (End.TIMEOUT, End.CRASH):
        failure = Failure(kind="exit", exception=outcome.end.value)
        phase = Phase(
            id=test, when="call", outcome="failed", expected_to_fail=False, failure=failure
        )
        return TestRun(phases=(*(run.phases if run else ()), phase))
    return None
