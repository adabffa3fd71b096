"""Runs the course's own tests on an implementation, in the same cells as a student's tests."""

import ast
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .cells import Cell, Chain, Variant, again, chain
from .course import Assignment
from .jobs import as_modules, entropy, preload, shared_modules
from .lab import Lab
from .messages import message
from .outcome import End, Failure, Outcome
from .plan import is_test_file
from .problems import Unusable, Void
from .sandbox import Sandbox
from .sandbox.session import Clock
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
    if not assignment.tests_path.is_dir():
        raise Unusable(message("no-course-tests", assignment=assignment.id))
    files = _files(assignment)
    shared = shared_modules(assignment) if dependencies is None else {}
    imported = preload(assignment) if dependencies is None else assignment.settings.preload

    def job(cell: Cell) -> wire.Cell:
        sources = {**(dependencies or {}), assignment.module_path: implementations[cell.variant.id]}
        return _job(assignment, files, as_modules(sources), cell)

    with Lab(sandbox, shared, imported, jobs) as lab:
        chains = _run(assignment, list(implementations), lab, job)
    kinds = _kinds(files)
    return {name: _results(assignment, one, kinds) for name, one in chains.items()}


def _run(
    assignment: Assignment, names: Sequence[str], lab: Lab, job: Callable[[Cell], wire.Cell]
) -> dict[str, Chain]:
    """Run each implementation until nothing that ended a run hides another test's result."""
    limits = assignment.settings.limits
    clock = Clock(limits.seconds_per_test, limits.seconds_in_all)
    outcomes: dict[Cell, Outcome] = {}
    while True:
        chains = {name: chain(_start(assignment, name), outcomes, _follow) for name in names}
        missing = [one.next for one in chains.values() if one.next]
        if not missing:
            return chains
        for cell, outcome in lab.run(missing, job, clock, lambda cell, watch: False):
            if outcome.end is End.FAULT:
                facts = {"count": 1, "total": len(missing), "why": outcome.reason}
                raise Void(message("cells-failed", program="grade", **facts), "machine")
            outcomes[cell] = outcome


def _follow(cell: Cell, outcome: Outcome) -> Cell | None:
    """Go on behind what ended a run: it has failed, and what ran before it is known."""
    if outcome.end in (End.COMPLETE, End.FAULT):
        return None
    if outcome.end is End.GARBLED or outcome.at is None:
        return again(cell)
    if not outcome.collected:
        return cell.but(without=(*cell.without, outcome.at))
    known = {test for test in outcome.tests if _finished(outcome, test)}
    if not outcome.ran_out:
        known.add(outcome.at)
    return cell.but(skip=(*cell.skip, *sorted(known))) if known < set(outcome.tests) else None


def _finished(outcome: Outcome, test: str) -> bool:
    run = outcome.run(test)
    return run is not None and run.finished


def _start(assignment: Assignment, name: str) -> Cell:
    variant = Variant(kind="own", id=name)
    return Cell(purpose="own", variant=variant, draw=assignment.settings.draws[0])


def _files(assignment: Assignment) -> dict[str, bytes]:
    """Return tests and goldens by their path in the course, which a cell mirrors."""
    root = assignment.course.root
    tests = [path for path in assignment.tests_path.rglob("*.py") if path.is_file()]
    goldens = list((root / "fixtures" / assignment.id).glob("*.npz"))
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(tests + goldens)
    }


def _job(
    assignment: Assignment, files: dict[str, bytes], modules: dict[str, wire.Module], cell: Cell
) -> wire.Cell:
    root = f"tests/course/{assignment.id}"
    below = [path.removeprefix(f"{root}/") for path in files if path.startswith(f"{root}/")]
    limits = assignment.settings.limits
    return wire.Cell(
        mode="tests",
        files={path: base64.b64encode(content).decode() for path, content in files.items()},
        root=root,
        targets=[path for path in below if is_test_file(path) and path not in cell.without],
        modules=modules,
        draw=cell.draw,
        entropy=entropy(assignment.id, cell),
        last=[],
        skip=list(cell.skip),
        most_tests=limits.tests,
        most_examples=limits.examples,
    )


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


def _results(assignment: Assignment, one: Chain, kinds: Mapping[str, str]) -> list[CourseTest]:
    """Return a result a test; a file that can't be imported counts as one that failed."""
    found: dict[str, CourseTest] = {}
    for _, outcome in one.seen:
        for broken in outcome.unreadable:
            found[broken.path] = CourseTest(broken.path, "", "failed", broken.failure)
        if not outcome.collected and outcome.at is not None:
            found[outcome.at] = CourseTest(outcome.at, "", "failed", _ending(assignment, outcome))
        for test in outcome.tests:
            found[test] = _result(assignment, test, outcome, kinds)
    if not found:
        whole = assignment.tests_path.name
        found[whole] = CourseTest(whole, "", "failed", _ending(assignment, one.last[1]))
    return list(found.values())


def _result(
    assignment: Assignment, test: str, outcome: Outcome, kinds: Mapping[str, str]
) -> CourseTest:
    path, bracket, parameters = test.partition("[")
    function = path.rpartition("::")[2]
    name, kind = function + bracket + parameters, kinds.get(function, "unit")
    run = outcome.run(test)
    if run is not None and run.finished:
        failure = next((phase.failure for phase in run.phases if phase.failure), None)
        return CourseTest(name, kind, "failed" if run.failed else "passed", failure)
    if outcome.at == test and not outcome.ran_out:
        return CourseTest(name, kind, "failed", _ending(assignment, outcome))
    return CourseTest(name, kind, "not run")


def _ending(assignment: Assignment, outcome: Outcome) -> Failure:
    """Return what ended a run, as a failure of what was running."""
    seconds = assignment.settings.limits.seconds_per_test
    slug = "course-test-time" if outcome.end is End.TIMEOUT else "course-test-crash"
    text = message(slug, seconds=seconds).text
    return Failure(kind="exit", exception=outcome.end.value, message=text)
