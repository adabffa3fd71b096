"""The grade for a person at a terminal: validity, required faults, the rate, one last line."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.course_tests import CourseTest
from grader.grade import Grade, GradedTest
from grader.messages import message
from grader.verdict import Result, Status, TestStatus, Verdict

from .document import hint

MOST_LISTED = 12
WORDS = {
    Result.KILLED: ("caught", "green"),
    Result.SURVIVED: ("not caught", "red"),
    Result.TIMEOUT: ("timed out", "yellow"),
    Result.ERROR: ("no verdict", "yellow"),
    Result.NOT_RUN: ("not run", "dim"),
}


def plain(text: str) -> str:
    """Return untrusted text with everything that a terminal would obey made visible."""
    return "".join(
        char
        if char.isprintable()
        else " "
        if char == "\n"
        else char.encode("unicode_escape").decode()
        for char in text
    )


def to_terminal(grade: Grade) -> RenderableType:
    """Return ``grade`` as a renderable."""
    parts: list[RenderableType] = [_title(grade)]
    parts += [Text(f"note: {plain(warning.text)}", "yellow") for warning in grade.warnings]
    if grade.course_tests is not None:
        parts += course_tests(grade.course_tests)
    if grade.tests:
        parts += _validity(grade.tests)
    if grade.graded and grade.score is not None:
        parts += _required(grade)
        parts += _others(grade)
    parts += ["", last_line(grade)]
    return Group(*parts)


def _title(grade: Grade) -> Text:
    return Text.assemble((grade.assignment.id, "bold"), "  ", grade.assignment.settings.title)


def _validity(tests: Sequence[GradedTest]) -> list[RenderableType]:
    statuses = [test.status for test in tests]
    single = [one for one in statuses if "::" in one.id]
    holding = sum(one.counts for one in statuses)
    lines: list[RenderableType] = [
        "",
        Text(f"Your tests: {holding} of {len(single)} hold on the course's code and count"),
    ]
    lines += [Padding(_status(one), (0, 0, 0, 2)) for one in statuses if not one.counts]
    failing = [test for test in tests if test.own_implementation == "failed"]
    if failing:
        lines.append(Text(f"On your own implementation {len(failing)} of them fail:", "yellow"))
        for test in failing[:MOST_LISTED]:
            text = f"{plain(test.status.id)}: {plain(test.own_failure or '')}"
            lines.append(Padding(Text(text, overflow="ellipsis"), (0, 0, 0, 2)))
    return lines


def _status(one: TestStatus) -> Text:
    reason = plain(one.reason.text) if one.reason else ""
    style = "yellow" if one.status is Status.VACUOUS else "red"
    return Text.assemble((one.status.replace("_", " "), style), f"  {plain(one.id)}  ", reason)


def _required(grade: Grade) -> list[RenderableType]:
    verdicts = [verdict for verdict in grade.verdicts if verdict.mutant.required]
    if not verdicts:
        return []
    caught = sum(verdict.result is Result.KILLED for verdict in verdicts)
    table = Table.grid(padding=(0, 2))
    for verdict in verdicts:
        word, style = WORDS[verdict.result]
        named = verdict.result is Result.KILLED or grade.reveal not in ("none", "count")
        name = verdict.mutant.name if named else ""
        table.add_row(Text(f"  {word}", style), verdict.mutant.id, Text(name), _by(verdict))
        for line in _advice(verdict, grade):
            table.add_row("", "", Text(plain(line), "italic"), "")
    return ["", Text(f"Required faults: {caught} of {len(verdicts)} caught"), table]


def _by(verdict: Verdict) -> Text:
    if not verdict.killed_by:
        return Text("")
    first, *more = verdict.killed_by
    others = f" and {len(more)} more" if more else ""
    return Text(f"by {plain(first)}{others}", "dim")


def _advice(verdict: Verdict, grade: Grade) -> Iterable[str]:
    if verdict.reason is not None:
        yield verdict.reason.text
    advice = hint(verdict, grade)
    if advice:
        yield f"hint: {advice}"


def _others(grade: Grade) -> list[RenderableType]:
    score = grade.score
    others = [verdict for verdict in grade.verdicts if not verdict.mutant.required]
    if score is None:
        return []
    lines: list[RenderableType] = [""]
    if others:
        caught = sum(verdict.result is Result.KILLED for verdict in others)
        lines.append(Text(f"Other faults: {caught} of {len(others)} caught"))
        missed = [verdict for verdict in others if verdict.result is not Result.KILLED]
        if grade.reveal not in ("none", "count"):
            lines += [Padding(_missed(verdict), (0, 0, 0, 2)) for verdict in missed[:MOST_LISTED]]
            if len(missed) > MOST_LISTED:
                lines.append(Text(f"  … and {len(missed) - MOST_LISTED} more"))
    rate = message("rate", killed=score.killed, scored=score.scored, needed=score.needed).text
    lines.append(Text(f"In all: {rate} ({score.percent} %, threshold {score.threshold_percent} %)"))
    return lines


def _missed(verdict: Verdict) -> Text:
    word, style = WORDS[verdict.result]
    reason = f": {plain(verdict.reason.text)}" if verdict.reason else ""
    return Text.assemble((word, style), f"  {verdict.mutant.id}  {verdict.mutant.name}", reason)


def last_line(grade: Grade) -> Text:
    """Return the one line that says passed, or what is missing."""
    if not grade.graded:
        why = grade.why.text if grade.why else ""
        if grade.fault == "student":
            return Text(f"not passed: {plain(why)}", "bold red")
        return Text(message("void", why=plain(why)).text, "bold yellow")
    if grade.passed:
        return Text(message("passed").text, "bold green")
    return Text(f"not passed: {'; '.join(_missing(grade))}", "bold red")


def _missing(grade: Grade) -> Iterable[str]:
    failed = [test for test in grade.course_tests or () if not test.passed]
    if failed:
        total = len(grade.course_tests or ())
        yield message("failing-course-tests", failed=len(failed), total=total).text
    score = grade.score
    if score is None:
        return
    missing = score.required - score.required_killed
    if missing:
        yield message("missing-required", missing=missing, required=score.required).text
    if score.killed < score.needed:
        yield message("rate", killed=score.killed, scored=score.scored, needed=score.needed).text


def course_tests(tests: Sequence[CourseTest]) -> list[RenderableType]:
    """Return the results of the course's tests on a student's implementation."""
    passed = sum(test.passed for test in tests)
    table = Table.grid(padding=(0, 2))
    for test in tests:
        style = "green" if test.passed else "red"
        table.add_row(Text(f"  {test.result}", style), Text(test.kind), Text(plain(test.name)))
        if test.failure is not None:
            failure = f"{test.failure.exception}: {test.failure.message}"
            table.add_row("", "", Text(plain(failure), "dim"))
    return ["", Text(f"The course's tests on your code: {passed} of {len(tests)} passed"), table]
