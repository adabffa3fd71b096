"""Commands that grade a student's tests: mutate, check."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

import click

from grader.course import Assignment
from grader.grade import Fault, Grade, Options, Reveal
from grader.grading import grade
from grader.messages import Message, message
from grader.problems import PrerequisiteMissing, Problem, Unusable, Void
from grader.report.document import to_json
from grader.report.matrix_csv import to_csv
from grader.report.terminal import to_terminal
from grader.submission import Submission

from .exits import Exit, exit_of
from .files import require_writable, write
from .options import Chosen, Place, ProgressBar, grading_options, repo_option
from .output import as_typed, fault, show
from .student import REF_DEPS, Own


@click.command("mutate")
@click.argument("assignment")
@grading_options
@repo_option
def mutate_command(place: Place, assignment: str, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Grade your tests: they must accept the course's code and catch its faulty versions."""
    chosen, settings = place.assignment(assignment), Chosen(**typed)
    _require_gradable(chosen, settings)
    submission = place.workspace.tests(chosen, place.program)
    own = place.workspace.implementation(chosen)
    work = _Work(chosen, submission, lambda options: grade(chosen, submission, options, own))
    return _finish(work, settings, place.program)


@click.command("check")
@click.argument("assignment")
@REF_DEPS
@grading_options
@repo_option
def check_command(place: Place, assignment: str, *, ref_deps: bool, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Check what you build on, run the course's tests, and grade your own."""
    chosen, settings = place.assignment(assignment), Chosen(**typed)
    own = _read_own(chosen, place, settings, ref_deps=ref_deps)
    _require_gradable(chosen, settings)
    submission = place.workspace.tests(chosen, place.program)

    def do(options: Options) -> Grade:
        results = own.course_tests(chosen, options)
        found = grade(chosen, submission, options, own.source)
        return replace(found, course_tests=tuple(results))

    return _finish(_Work(chosen, submission, do), settings, place.program)


def _read_own(assignment: Assignment, place: Place, settings: Chosen, *, ref_deps: bool) -> Own:
    try:
        return Own.read(assignment, place, ref_deps=ref_deps)
    except PrerequisiteMissing as problem:
        _require_writable(settings)
        found = Grade(
            assignment, settings.options(), graded=False, fault="student", why=problem.message
        )
        _write(settings, found)
        raise


def _require_gradable(assignment: Assignment, settings: Chosen) -> None:
    """Refuse what can't end in a grade before anything runs, not after."""
    if not assignment.mutants:
        raise Unusable(message("no-mutants", assignment=assignment.id))
    for mutant in settings.mutants:
        assignment.mutant(mutant)
    if settings.shrink and not settings.mutants:
        raise Unusable(message("shrink-all"))
    levels, allowed = get_args(Reveal), assignment.settings.reveal
    if settings.reveal and levels.index(settings.reveal) > levels.index(allowed):
        facts = {"assignment": assignment.id, "reveal": settings.reveal, "allowed": allowed}
        raise Unusable(message("reveal-refused", **facts))
    _require_writable(settings)


def _require_writable(settings: Chosen) -> None:
    for path in (settings.json_path, settings.matrix_csv):
        if path is not None:
            require_writable(path)


@dataclass(frozen=True)
class _Work:
    """What is to be graded, and how."""

    assignment: Assignment
    submission: Submission
    do: Callable[[Options], Grade]

    def ungraded(self, options: Options, whose: Fault, why: Message) -> Grade:
        """Return the grade that says why there is none."""
        return Grade(
            self.assignment,
            options,
            graded=False,
            fault=whose,
            why=why,
            submission=self.submission,
        )


def _finish(work: _Work, settings: Chosen, program: str) -> int:
    """Do the work, write and show what it found, and return the exit code."""
    with ProgressBar() as bar:
        options = settings.options(bar.tell)
        try:
            found = work.do(options)
        except Void as problem:
            found = work.ungraded(options, problem.fault, problem.message)
        except Problem:
            raise
        except Exception as problem:  # noqa: BLE001 — whatever it is, a person reads a sentence
            whose: Fault = "machine" if isinstance(problem, OSError) else "harness"
            found = work.ungraded(options, whose, fault(problem))
    try:
        kept = _write(settings, found)
    finally:
        why = found.why and found.why._replace(text=as_typed(found.why.text, program))
        show(to_terminal(replace(found, why=why)))
    if kept:
        show(kept.text)
    return exit_of(found)


def _write(settings: Chosen, found: Grade) -> Message | None:
    """Write what was asked for, and say what was left as it is.

    A fault of ours takes the place of no earlier report, and nothing that of an earlier table.
    """
    if settings.matrix_csv is not None and found.matrix is not None:
        write(settings.matrix_csv, to_csv(found.matrix))
    path = settings.json_path
    if path is None:
        return None
    if exit_of(found) is Exit.VOID and path.exists() and path.stat().st_size:
        return message("report-kept", path=path)
    write(path, to_json(found))
    return None


COMMANDS = (mutate_command, check_command)
