"""Commands of a student: start, tests, mutate, check, and none at all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from grader.course import Assignment
from grader.course_tests import CourseTest, run_course_tests
from grader.grade import Grade, Options
from grader.grading import grade, make_sandbox
from grader.messages import message
from grader.problems import PrerequisiteMissing, Unusable
from grader.report.document import to_json
from grader.report.terminal import course_tests, to_terminal
from grader.workspace import Started, Workspace, sections, start

from .exits import Exit, exit_of
from .options import Chosen, Place, ProgressBar, grading_options, repo_option, sandbox_options

LOG_WIDTH = 160
REF_DEPS = click.option(
    "--ref-deps", is_flag=True, help="Build on the course's modules in place of your own."
)


def console() -> Console:
    """Return the console for results; what a file or a log gets isn't folded to a terminal."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=LOG_WIDTH)


@click.command("status", hidden=True)
@repo_option
def status(place: Place) -> int:
    """Say what is built and what is next."""
    workspace, course = place.workspace, place.course
    table = Table.grid(padding=(0, 2))
    following = None
    for assignment in course.assignments.values():
        built = workspace.implementation(assignment) is not None
        tested = (workspace.root / assignment.student_tests).is_dir()
        if not built and following is None:
            following = assignment
        state = Text("built", "green") if built else Text("not built", "dim")
        table.add_row(
            state, assignment.id, assignment.settings.title, Text("tests" if tested else "", "dim")
        )
    words = f"next: {place.program} start {following.id}" if following else "everything is built"
    console().print(Group(table, Text(f"\n{words}")))
    return Exit.PASSED


@click.command("start")
@click.argument("assignment")
@repo_option
def start_command(place: Place, assignment: str) -> int:
    """Write a stub to fill in and a test file to start from; nothing is overwritten."""
    chosen = place.assignment(assignment)
    started = start(place.workspace, chosen)
    console().print(_started(chosen, started, place))
    return Exit.PASSED


def _started(assignment: Assignment, started: Started, place: Place) -> Group:
    settings, limits = assignment.settings, assignment.settings.limits
    lines = [Text.assemble((assignment.id, "bold"), "  ", settings.title), Text("")]
    lines += [Text(f"written  {path}") for path in started.written]
    lines += [Text(f"kept     {path}", "dim") for path in started.kept]
    lines += [Text(""), Text(f"your tests     {assignment.student_tests}/test_*.py")]
    if settings.rung:
        lines.append(Text(f"rung           {settings.rung}"))
    if assignment.mutants:
        percent = settings.threshold_percent
        lines.append(
            Text(f"to pass        every required fault caught, and {percent} % of all faults")
        )
    lines.append(
        Text(
            f"budgets        {limits.seconds_per_test:g} s a test, {limits.seconds_in_all:g} s in"
            f" all, {limits.tests} tests, {limits.memory_megabytes} MB"
        )
    )
    contract = assignment.contract_path.read_text(encoding="utf-8")
    for heading, items in sections(contract).items():
        lines += [Text(""), Text(heading, "bold")]
        lines += [Text(f"  - {item}") for item in items]
    lines += [Text(""), Text(f"next: {place.program} tests {assignment.id}")]
    return Group(*lines)


@click.command("tests")
@click.argument("assignment")
@REF_DEPS
@sandbox_options
@repo_option
def tests_command(place: Place, assignment: str, *, ref_deps: bool, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Run the course's tests on your implementation."""
    chosen = place.assignment(assignment)
    with ProgressBar() as bar:
        options = Chosen(**typed).options(bar.tell)
        results = _course_tests(chosen, place, options, ref_deps=ref_deps)
    console().print(Group(*course_tests(results)))
    return Exit.PASSED if all(test.passed for test in results) else Exit.NOT_PASSED


def _course_tests(
    assignment: Assignment, place: Place, options: Options, *, ref_deps: bool
) -> list[CourseTest]:
    workspace = place.workspace
    if not ref_deps:
        workspace.require_prerequisites(assignment)
    own = workspace.require_implementation(assignment, place.program)
    dependencies = None if ref_deps else workspace.dependencies(assignment)
    sandbox = make_sandbox(assignment, options)
    found = run_course_tests(assignment, {"yours": own}, sandbox, 1, dependencies)
    return found["yours"]


@click.command("mutate")
@click.argument("assignment")
@grading_options
@repo_option
def mutate_command(place: Place, assignment: str, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Grade your tests: they must accept the course's code and catch its faulty versions."""
    chosen, settings = place.assignment(assignment), Chosen(**typed)
    _writable(settings.json_path)
    with ProgressBar() as bar:
        found = _mutate(chosen, place, settings.options(bar.tell))
    return _report(found, settings.json_path)


def _mutate(assignment: Assignment, place: Place, options: Options) -> Grade:
    workspace = place.workspace
    submission = workspace.tests(assignment, place.program)
    return grade(assignment, submission, options, workspace.implementation(assignment))


@click.command("check")
@click.argument("assignment")
@REF_DEPS
@grading_options
@repo_option
def check_command(place: Place, assignment: str, *, ref_deps: bool, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Check what you build on, run the course's tests, and grade your own."""
    chosen, settings = place.assignment(assignment), Chosen(**typed)
    _writable(settings.json_path)
    if not ref_deps:
        _check_prerequisites(place.workspace, chosen, settings)
    if not chosen.mutants:
        raise Unusable(message("no-mutants", assignment=chosen.id))
    with ProgressBar() as bar:
        options = settings.options(bar.tell)
        results = _course_tests(chosen, place, options, ref_deps=ref_deps)
        found = _mutate(chosen, place, options)
    return _report(replace(found, course_tests=tuple(results)), settings.json_path)


def _check_prerequisites(workspace: Workspace, assignment: Assignment, settings: Chosen) -> None:
    try:
        workspace.require_prerequisites(assignment)
    except PrerequisiteMissing as problem:
        if settings.json_path is not None:
            options = Options(sandbox="process" if settings.sandbox == "process" else "docker")
            missing = Grade(assignment, options, graded=False, fault="student", why=problem.message)
            settings.json_path.write_text(to_json(missing), encoding="utf-8")
        raise


def _writable(path: Path | None) -> None:
    """Refuse a report's path before anything runs, not after."""
    if path is None:
        return
    try:
        with path.open("ab"):
            pass
    except OSError as problem:
        raise Unusable(message("json-unwritable", path=path, why=problem.strerror)) from None


def _report(found: Grade, json_path: Path | None) -> int:
    if json_path is not None:
        json_path.write_text(to_json(found), encoding="utf-8")
    console().print(to_terminal(found))
    return exit_of(found)


COMMANDS = (status, start_command, tests_command, mutate_command, check_command)
