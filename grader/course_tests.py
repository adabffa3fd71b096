"""Runs the course's own tests on an implementation, in the same cells as a student's tests."""

import ast
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .cells import Cell, Chain, Variant, again, chain
from .course import Assignment
from .jobs import as_modules, entropy, preload, shared_modules
from .lab import Lab
from .messages import message
from .outcome import End, Failure, Outcome, Watch
from .problems import Unusable, Void
from .sandbox import Sandbox
from .sandbox.session import Clock
from .submission import is_test_file
from .worker import wire

KINDS = ("unit", "property", "golden", "differential", "boundary")


@dataclass(frozen=True)
class CourseTest:
    """What one of the course's tests says of an implementation."""

    __test__ = False
    name: str
    kind: str
    result: Literal["passed", "failed", "not run"]
    failure: Failure | None = None

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.result == "passed"

    @property
    def function(self) -> str:
        """Its name without parameters, as the chapter's table has it."""
        return self.name.partition("[")[0]


def run_course_tests(
    assignment: Assignment,
    implementations: Mapping[str, str | bytes],
    sandbox: Sandbox,
    jobs: int,
    dependencies: Mapping[str, str | bytes] | None = None,
) -> dict[str, list[CourseTest]]:
    """Run the course's tests on each implementation.

    Parameters
    ----------
    assignment
        Whose tests are run.
    implementations
        Texts of the module under test, under names of the caller's choice.
    sandbox, jobs
        Where, and on how many workers.
    dependencies
        Modules by path to build on, in place of the reference's.

    Raises
    ------
    Unusable
        If the course has no tests of this assignment.
    Void
        If the machine spoils a run twice.
    """
    suite = Suite.read(assignment, "course")
    return run_suite(suite, implementations, sandbox, jobs, dependencies)


def run_gold_suite(
    assignment: Assignment,
    implementations: Mapping[str, str | bytes],
    sandbox: Sandbox,
    jobs: int,
) -> dict[str, list[CourseTest]]:
    """Run the gold suite as `run_course_tests` runs the course's tests; it raises the same."""
    return run_suite(Suite.read(assignment, "gold"), implementations, sandbox, jobs)


def run_suite(
    suite: "Suite",
    implementations: Mapping[str, str | bytes],
    sandbox: Sandbox,
    jobs: int,
    dependencies: Mapping[str, str | bytes] | None = None,
) -> dict[str, list[CourseTest]]:
    """Run any suite of a course as `run_course_tests` runs the course's tests."""
    assignment = suite.assignment
    shared = shared_modules(assignment) if dependencies is None else {}
    imported = preload(assignment) if dependencies is None else assignment.settings.preload

    def job(cell: Cell) -> wire.Cell:
        name = cell.variant.id
        sources = {**(dependencies or {}), assignment.module_path: implementations[name]}
        return suite.job(cell, as_modules({**sources, **suite.beside.get(name, {})}))

    def enough(cell: Cell, watch: Watch) -> bool:  # noqa: ARG001 — whichever cell it is
        return suite.to_first_failure and bool(watch.failing())

    with Lab(sandbox, shared, imported, jobs) as lab:
        chains = _run(suite, list(implementations), lab, job, enough)
    return {name: suite.results(one) for name, one in chains.items()}


def _run(
    suite: "Suite",
    names: Sequence[str],
    lab: Lab,
    job: Callable[[Cell], wire.Cell],
    enough: Callable[[Cell, Watch], bool],
) -> dict[str, Chain]:
    """Run each implementation until nothing that ended a run hides another test's result."""
    limits = suite.assignment.settings.limits
    clock = Clock(limits.seconds_per_test, limits.seconds_in_all)
    outcomes: dict[Cell, Outcome] = {}
    while True:
        chains = {name: chain(suite.start(name), outcomes, suite.follow) for name in names}
        missing = [one.next for one in chains.values() if one.next]
        if not missing:
            return chains
        for cell, outcome in lab.run(missing, job, clock, enough):
            if outcome.end is End.FAULT:
                facts = {"count": 1, "total": len(missing), "why": outcome.reason}
                raise Void(message("cells-failed", program="grade", **facts), "machine")
            outcomes[cell] = outcome


@dataclass(frozen=True)
class Suite:
    """A suite of the course's own: its files and goldens, by the path in the course.

    Parameters
    ----------
    beside
        The modules, by path, that it needs beside an implementation, by its name.
    to_first_failure
        Whether it is enough to know an implementation's first failure.
    """

    assignment: Assignment
    folder: str
    files: Mapping[str, bytes]
    kinds: Mapping[str, str]
    beside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    to_first_failure: bool = False

    @classmethod
    def read(cls, assignment: Assignment, folder: str) -> "Suite":
        """Read it; raises `Unusable` if it holds no tests."""
        root = assignment.course.root
        top = root / "tests" / folder / assignment.id
        tests = [path for path in top.rglob("*.py") if path.is_file()]
        goldens = list((root / "fixtures" / assignment.id).glob("*.npz"))
        files = {
            path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(tests + goldens)
        }
        suite = cls(assignment, folder, files, _kinds(files))
        if not suite.targets:
            raise Unusable(message("no-course-tests", assignment=assignment.id, suite=folder))
        return suite

    @property
    def root(self) -> str:
        """Where the tests lie in a cell, as they do in the course."""
        return f"tests/{self.folder}/{self.assignment.id}"

    @property
    def targets(self) -> list[str]:
        """The files that hold tests, below the root."""
        below = [path.removeprefix(f"{self.root}/") for path in self.files]
        return [path for path in below if path not in self.files and is_test_file(path)]

    def start(self, name: str) -> Cell:
        """Return the first cell of an implementation."""
        draw = self.assignment.settings.draws[0]
        return Cell(purpose="own", variant=Variant(kind="own", id=name), draw=draw)

    def job(self, cell: Cell, modules: dict[str, wire.Module]) -> wire.Cell:
        """Return what a worker needs to run ``cell``."""
        limits = self.assignment.settings.limits
        return wire.Cell(
            mode="tests",
            files={path: base64.b64encode(text).decode() for path, text in self.files.items()},
            root=self.root,
            targets=[path for path in self.targets if path not in cell.without],
            modules=modules,
            draw=cell.draw,
            entropy=entropy(self.assignment.id, cell),
            only="",
            shrink=False,
            last=[],
            skip=list(cell.skip),
            most_tests=limits.tests,
            most_examples=limits.examples,
        )

    def follow(self, cell: Cell, outcome: Outcome) -> Cell | None:
        """Go on behind what ended a run: it has failed, and what ran before it is known."""
        if outcome.end in (End.COMPLETE, End.STOPPED, End.FAULT):
            return None
        if outcome.end is End.GARBLED or outcome.at is None:
            return again(cell)
        if not outcome.collected:
            without = (*cell.without, outcome.at)
            return cell.but(without=without) if set(self.targets) - set(without) else None
        known = {test for test in outcome.tests if _finished(outcome, test)}
        if not outcome.ran_out:
            known.add(outcome.at)
        left = set(outcome.tests) - known
        return cell.but(skip=(*cell.skip, *sorted(known))) if left and known else None

    def results(self, one: Chain) -> list[CourseTest]:
        """Return a result a test; a file that can't be imported counts as one that failed."""
        found: dict[str, CourseTest] = {}
        for _, outcome in one.seen:
            for broken in outcome.unreadable:
                found[broken.path] = CourseTest(broken.path, "", "failed", broken.failure)
            if not outcome.collected and outcome.at is not None:
                found[outcome.at] = CourseTest(outcome.at, "", "failed", self._ending(outcome))
            for test in outcome.tests:
                found[test] = self._result(test, outcome)
        if not found:
            failure = self._ending(one.last[1])
            found[self.root] = CourseTest(self.root, "", "failed", failure)
        return list(found.values())

    def _result(self, test: str, outcome: Outcome) -> CourseTest:
        path, bracket, parameters = test.partition("[")
        function = path.rpartition("::")[2]
        name, kind = function + bracket + parameters, self.kinds.get(function, "unit")
        run, stopped = outcome.run(test), outcome.end is End.STOPPED
        if run is not None and (run.finished or (stopped and run.failed)):
            failure = next((phase.failure for phase in run.phases if phase.failure), None)
            return CourseTest(name, kind, "failed" if run.failed else "passed", failure)
        if outcome.at == test and not outcome.ran_out and not stopped:
            return CourseTest(name, kind, "failed", self._ending(outcome))
        return CourseTest(name, kind, "not run")

    def _ending(self, outcome: Outcome) -> Failure:
        """Return what ended a run, as a failure of what was running."""
        seconds = self.assignment.settings.limits.seconds_per_test
        slug = "course-test-time" if outcome.end is End.TIMEOUT else "course-test-crash"
        text = message(slug, seconds=seconds).text
        return Failure(kind="exit", exception=outcome.end.value, message=text)


def _finished(outcome: Outcome, test: str) -> bool:
    run = outcome.run(test)
    return run is not None and run.finished


def _kinds(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return each test function's kind, from its marks in the course's own source."""
    found = {}
    for path, content in files.items():
        for node in _functions(content) if path.endswith(".py") else ():
            marks = {ast.unparse(mark).removeprefix("pytest.mark.") for mark in node.decorator_list}
            found[node.name] = next((kind for kind in KINDS if kind in marks), "unit")
    return found


def _functions(content: bytes) -> list[ast.FunctionDef]:
    try:
        nodes = ast.walk(ast.parse(content))
    except SyntaxError:
        return []  # the run itself says so
    return [node for node in nodes if isinstance(node, ast.FunctionDef)]
