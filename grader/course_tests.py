"""Runs the course's own tests on an implementation, in the same cells as a student's tests."""

import ast
import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .cells import Cell, Chain, Variant, after_control, chain
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
    return {name: _results(one, kinds) for name, one in chains.items()}


def _run(
    assignment: Assignment, names: Sequence[str], lab: Lab, job: Callable[[Cell], wire.Cell]
) -> dict[str, Chain]:
    """Run each implementation until nothing that ended a run hides another test's result."""
    limits = assignment.settings.limits
    clock = Clock(limits.seconds_per_test, limits.seconds_in_all)
    outcomes: dict[Cell, Outcome] = {}
    while True:
        chains = {name: chain(_start(assignment, name), outcomes, after_control) for name in names}
        missing = [one.next for one in chains.values() if one.next]
        if not missing:
            return chains
        for cell, outcome in lab.run(missing, job, clock, lambda cell, watch: False):
            if outcome.end is End.FAULT:
                facts = {"count": 1, "total": len(missing), "why": outcome.reason}
                raise Void(message("cells-failed", **facts), "machine")
            outcomes[cell] = outcome


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
    targets = [path.removeprefix(f"{root}/") for path in files if path.startswith(f"{root}/")]
    limits = assignment.settings.limits
    return wire.Cell(
        mode="tests",
        files={path: base64.b64encode(content).decode() for path, content in files.items()},
        root=root,
        targets=[path for path in targets if is_test_file(path)],
        modules=modules,
        draw=cell.draw,
        entropy=entropy(assignment.id, cell),
        last=list(cell.last),
        skip=[],
        most_tests=limits.tests,
        most_examples=limits.examples,
    )


def _kinds(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return each test function's kind, from its marks in the course's own source."""
    found = {}
    for path, content in files.items():
        for node in ast.walk(ast.parse(content)) if path.endswith(".py") else ():
            if isinstance(node, ast.FunctionDef):
                marks = {
                    ast.unparse(mark).removeprefix("pytest.mark.") for mark in node.decorator_list
                }
                found[node.name] = next((kind for kind in KINDS if kind in marks), "unit")
    return found


def _results(one: Chain, kinds: Mapping[str, str]) -> list[CourseTest]:
    """Return a result a test; a file that can't be imported counts as one that failed."""
    found: dict[str, CourseTest] = {}
    for cell, outcome in one.seen:
        for broken in outcome.unreadable:
            found[broken.path] = CourseTest(broken.path, "", "failed", broken.failure)
        for test in outcome.tests:
            name = test.rpartition("::")[2]
            kind = kinds.get(name.partition("[")[0], "unit")
            run = outcome.run(test)
            if run is not None and run.finished:
                failure = next((phase.failure for phase in run.phases if phase.failure), None)
                result: Literal["passed", "failed"] = "failed" if run.failed else "passed"
                found[test] = CourseTest(name, kind, result, failure)
            elif outcome.at == test and test in cell.last:
                ended = Failure(kind="exit", exception=outcome.end.value)
                found[test] = CourseTest(name, kind, "failed", ended)
            else:
                found.setdefault(test, CourseTest(name, kind, "not run"))
    return list(found.values())
