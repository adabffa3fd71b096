"""Commands of a student who builds: none at all, start, tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from grader.course import Assignment, Course
from grader.course_tests import CourseTest, run_course_tests
from grader.grade import Options, Progress
from grader.grading import make_sandbox
from grader.messages import message
from grader.problems import Unusable
from grader.report.terminal import course_tests
from grader.workspace import Started, sections, start

from .exits import Exit
from .options import Chosen, Place, ProgressBar, repo_option, sandbox_options
from .output import show

REF_DEPS = click.option(
    "--ref-deps", is_flag=True, help="Build on the course's modules in place of your own."
)


@click.command("status", hidden=True)
@repo_option
def status(place: Place) -> int:
    """Say what is built and what is next."""
    workspace, course = place.workspace, place.course
    built = {
        name
        for name, one in course.assignments.items()
        if workspace.implementation(one) is not None
    }
    table = Table.grid(padding=(0, 2))
    for name, assignment in course.assignments.items():
        state = Text("built", "green") if name in built else Text("not built", "dim")
        tested = workspace.has_tests(assignment)
        title = Text(assignment.settings.title)
        table.add_row(state, Text(name), title, Text("tests" if tested else "", "dim"))
    show(table, "", _next(course, built, place.program))
    return Exit.PASSED


def _next(course: Course, built: set[str], program: str) -> str:
    """Return what to do next: build what can be started, then see what is graded."""
    for name, assignment in course.assignments.items():
        if name not in built and assignment.contract_path.is_file():
            return f"next: {program} start {name}"
    graded = [name for name, assignment in course.assignments.items() if assignment.mutants]
    return f"next: {program} check {' or '.join(graded)}" if graded else "everything is built"


@click.command("start")
@click.argument("assignment")
@repo_option
def start_command(place: Place, assignment: str) -> int:
    """Write a stub to fill in and a test file to start from; nothing is overwritten."""
    chosen = place.assignment(assignment)
    workspace = place.workspace
    if not workspace.root.is_dir():
        facts = {"path": workspace.root, "program": place.program}
        raise Unusable(message("archive-start", **facts))
    started = start(workspace, chosen)
    show(*_started(chosen, started), *_promises(chosen), *_afterwards(chosen, place.program))
    return Exit.PASSED


def _started(assignment: Assignment, started: Started) -> list[RenderableType]:
    title = Text.assemble((assignment.id, "bold"), "  ", assignment.settings.title)
    return [
        title,
        "",
        *(Text(f"written  {path}") for path in started.written),
        *(Text(f"kept     {path}", "dim") for path in started.kept),
    ]


def _promises(assignment: Assignment) -> list[RenderableType]:
    """Return where tests go, how they are graded, and what the contract says beside its code."""
    settings, limits = assignment.settings, assignment.settings.limits
    lines: list[RenderableType] = []
    if assignment.mutants:
        percent = settings.threshold_percent
        seconds = f"{limits.seconds_per_test:g} s a test, {limits.seconds_in_all:g} s in all"
        lines += ["", f"your tests     {assignment.student_tests}/test_*.py"]
        lines += [f"rung           {settings.rung}"] if settings.rung else []
        lines += [f"to pass        every required fault caught, and {percent} % of all faults"]
        lines += [f"budgets        {seconds}, {limits.tests} tests, {limits.memory_megabytes} MB"]
    contract = assignment.contract_path.read_text(encoding="utf-8")
    for heading, items in sections(contract).items():
        lines += ["", Text(heading, "bold"), *(Text(f"  - {item}") for item in items)]
    return lines


def _afterwards(assignment: Assignment, program: str) -> list[RenderableType]:
    if not assignment.tests_path.is_dir():
        return []
    return ["", f"next: {program} tests {assignment.id}"]


@click.command("tests")
@click.argument("assignment")
@REF_DEPS
@sandbox_options
@repo_option
def tests_command(place: Place, assignment: str, *, ref_deps: bool, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Run the course's tests on your implementation."""
    chosen = place.assignment(assignment)
    own = Own.read(chosen, place, ref_deps=ref_deps)
    with ProgressBar() as bar:
        results = own.course_tests(chosen, Chosen(**typed).options(bar.tell))
    show(*course_tests(results))
    return Exit.PASSED if all(test.passed for test in results) else Exit.NOT_PASSED


@dataclass(frozen=True)
class Own:
    """A student's implementation, and what it builds on where that is not the reference."""

    source: bytes
    dependencies: Mapping[str, bytes] | None

    @classmethod
    def read(cls, assignment: Assignment, place: Place, *, ref_deps: bool) -> Self:
        """Read it; raises `PrerequisiteMissing`, or `Unusable` if there is nothing to run."""
        workspace = place.workspace
        if not ref_deps:
            workspace.require_prerequisites(assignment)
        source = workspace.require_implementation(assignment, place.program)
        try:
            source.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            path = workspace.root / assignment.student_module
            raise Unusable(message("not-utf8", path=path, why=problem.reason)) from None
        return cls(source, None if ref_deps else workspace.dependencies(assignment))

    def course_tests(self, assignment: Assignment, options: Options) -> list[CourseTest]:
        """Run the course's tests on it."""
        options.tell(Progress("running the course's tests", 0, 0))
        sandbox = make_sandbox(assignment, options)
        found = run_course_tests(assignment, {"": self.source}, sandbox, 1, self.dependencies)
        return found[""]


COMMANDS = (status, start_command, tests_command)
