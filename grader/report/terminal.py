"""The grade for a person at a terminal: validity, required faults, the rate, one last line."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.course_tests import CourseTest
from grader.evidence import function_of
from grader.grade import Grade, GradedTest
from grader.matrix import KillMatrix
from grader.messages import message
from grader.mutants import difference
from grader.review import Flag
from grader.score import Score
from grader.status import Status, TestStatus
from grader.untrusted import terminal
from grader.verdict import Result, Verdict

from .document import hint

MOST_LISTED, MOST_CASES, MOST_OF_MATRIX = 12, 3, 4
QUIET = ("none", "count")  # levels at which a fault that was not caught isn't described
WORDS = {
    Result.KILLED: ("caught", "green"),
    Result.SURVIVED: ("not caught", "red"),
    Result.TIMEOUT: ("timed out", "yellow"),
    Result.ERROR: ("no verdict", "yellow"),
    Result.NOT_RUN: ("not run", "dim"),
}


def to_terminal(grade: Grade) -> RenderableType:
    """Return ``grade`` as a renderable."""
    parts: list[RenderableType] = [_title(grade)]
    parts += [Text(f"note: {terminal(warning.text)}", "yellow") for warning in grade.warnings]
    if grade.course_tests is not None:
        parts += course_tests(grade.course_tests)
    if grade.tests:
        parts += _validity(grade.tests)
    if grade.graded:
        parts += _required(grade)
        parts += _others(grade)
    if grade.graded and grade.score is not None:
        parts += _rate(grade.score)
        parts += _policy(grade)
    if grade.graded and grade.matrix is not None:
        parts += _matrix(grade.matrix, names_faults=grade.reveal != "none")
    if grade.review is not None:
        parts += _review(grade.review)
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
    lines += [_indented(_status(one)) for one in statuses if not one.counts]
    failing = [test for test in tests if test.own_implementation == "failed"]
    if failing:
        lines.append(Text(f"On your own implementation {len(failing)} of them fail:", "yellow"))
        for test in failing[:MOST_LISTED]:
            text = f"{terminal(test.status.id)}: {terminal(test.own_failure or '')}"
            lines.append(_indented(Text(text)))
        if len(failing) > MOST_LISTED:
            lines.append(Text(f"  … and {len(failing) - MOST_LISTED} more"))
    return lines


def _status(one: TestStatus) -> Text:
    reason = terminal(one.reason.text) if one.reason else ""
    style = "yellow" if one.status is Status.VACUOUS else "red"
    return Text.assemble((one.status.replace("_", " "), style), f"  {terminal(one.id)}  ", reason)


def _required(grade: Grade) -> list[RenderableType]:
    verdicts = [verdict for verdict in grade.verdicts if verdict.mutant.required]
    if not verdicts or grade.reveal == "none":
        return []
    caught = sum(verdict.result is Result.KILLED for verdict in verdicts)
    table = Table.grid(padding=(0, 2))
    for verdict in verdicts:
        word, style = WORDS[verdict.result]
        name = "" if _is_kept_quiet(verdict, grade) else verdict.mutant.name
        lines = Text("\n").join([Text(name), *_remarks(verdict, grade)])
        table.add_row(Text(f"  {word}", style), verdict.mutant.id, lines)
    return ["", Text(f"Required faults: {caught} of {len(verdicts)} caught"), table]


def _is_kept_quiet(verdict: Verdict, grade: Grade) -> bool:
    return verdict.result is not Result.KILLED and grade.reveal in QUIET


def _remarks(verdict: Verdict, grade: Grade) -> Iterable[Text]:
    """Yield who caught a fault, or what may help to catch it."""
    if verdict.killed_by:
        first, *more = verdict.killed_by
        others = f" and {len(more)} more" if more else ""
        yield Text(f"by {terminal(first)}{others}", "dim")
    if grade.partial and verdict.witness:
        yield Text(f"on {terminal(verdict.witness)}")
    if verdict.reason is not None:
        yield Text(terminal(verdict.reason.text), "italic")
    if advice := hint(verdict, grade):
        yield Text(f"hint: {terminal(advice)}", "italic")
    if grade.reveal == "diff" and verdict.result is not Result.KILLED:
        assignment = grade.assignment
        yield Text(difference(verdict.mutant, assignment.source, assignment.module_path).rstrip())


def _others(grade: Grade) -> list[RenderableType]:
    others = [verdict for verdict in grade.verdicts if not verdict.mutant.required]
    if not others or grade.reveal == "none":
        return []
    missed = [verdict for verdict in others if verdict.result is not Result.KILLED]
    caught = len(others) - len(missed)
    lines: list[RenderableType] = ["", Text(f"Other faults: {caught} of {len(others)} caught")]
    if grade.reveal not in QUIET:
        lines += [_indented(_missed(verdict)) for verdict in missed[:MOST_LISTED]]
        if len(missed) > MOST_LISTED:
            lines.append(Text(f"  … and {len(missed) - MOST_LISTED} more"))
    return lines


def _missed(verdict: Verdict) -> Text:
    word, style = WORDS[verdict.result]
    reason = f": {terminal(verdict.reason.text)}" if verdict.reason else ""
    return Text.assemble((word, style), f"  {verdict.mutant.id}  {verdict.mutant.name}", reason)


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _rate(score: Score) -> list[RenderableType]:
    rate = message("rate", killed=score.killed, scored=score.scored, needed=score.needed).text
    whole = f"In all: {rate} ({score.percent} %, threshold {score.threshold_percent} %)"
    return ["", Text(whole)]


def _matrix(matrix: KillMatrix, *, names_faults: bool) -> list[RenderableType]:
    """Return what the tests are to each other; of the faults only those that were caught."""
    # That the cases of one test catch the same is how they are meant.
    groups = [group for group in matrix.redundant if len(set(map(function_of, group))) > 1]
    same = [", ".join(group) for group in groups]
    sole = [f"{_few(ids)}  by {test}" for test, ids in matrix.sole_catchers.items()]
    return [
        *_some("Tests that catch nothing:", matrix.idle),
        *_some("Tests that catch the same faults as each other:", same),
        *(_some("Faults that a single test catches:", sole) if names_faults else []),
    ]


def _few(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_CASES} more" if len(ids) > MOST_CASES else ""
    return ", ".join(ids[:MOST_CASES]) + more


def _some(headline: str, lines: Sequence[str]) -> list[RenderableType]:
    """Return a headline and a few lines, each cut to the width of the screen."""
    if not lines:
        return []
    shown = [Text(f"  {terminal(line)}", no_wrap=True, overflow="ellipsis") for line in lines]
    more = [Text(f"  … and {len(lines) - MOST_OF_MATRIX} more")] if shown[MOST_OF_MATRIX:] else []
    return ["", Text(headline), *shown[:MOST_OF_MATRIX], *more]


def _policy(grade: Grade) -> list[RenderableType]:
    """Return how often each thing was seen."""
    applied = grade.policy
    rewrites = f"{applied.twins} rewrites of it" if applied.twins else "no rewrite of it"
    return [Text(f"Policy {applied.name}: on the course's code and on {rewrites}", "dim")]


def _review(flags: Sequence[Flag]) -> list[RenderableType]:
    if not flags:
        return ["", Text(message("review-none").text)]
    heading = message("review-heading").text
    lines = [
        _indented(Text.assemble((one.kind, "yellow"), f"  {terminal(one.message.text)}"))
        for one in flags
    ]
    return ["", Text(heading), *lines]


def last_line(grade: Grade) -> Text:
    """Return the one line that says passed, or what is missing."""
    if not grade.graded:
        why = grade.why.text if grade.why else ""
        if grade.fault == "student":
            return Text(f"not passed: {terminal(why)}", "bold red")
        return Text(message("void", why=terminal(why)).text, "bold yellow")
    if grade.partial:
        return Text(_part(grade), "bold")
    if grade.passed:
        return Text(message("passed").text, "bold green")
    return Text(f"not passed: {'; '.join(_missing(grade))}", "bold red")


def _part(grade: Grade) -> str:
    killed = sum(verdict.result is Result.KILLED for verdict in grade.verdicts)
    tests = sum(test.status.counts for test in grade.tests)
    return message("partial", killed=killed, chosen=len(grade.verdicts), tests=tests).text


def _missing(grade: Grade) -> Iterable[str]:
    functions = by_function(grade.course_tests or ())
    failed = sum(not _passed(cases) for cases in functions.values())
    if failed:
        yield message("failing-course-tests", failed=failed, total=len(functions)).text
    score = grade.score
    if score is None:
        return
    missing = score.required - score.required_killed
    if missing:
        yield message("missing-required", missing=missing, required=score.required).text
    yield message("rate", killed=score.killed, scored=score.scored, needed=score.needed).text


def course_tests(tests: Sequence[CourseTest]) -> list[RenderableType]:
    """Return the results of the course's tests on a student's implementation, a line a test."""
    functions = by_function(tests)
    passed = sum(_passed(cases) for cases in functions.values())
    table = Table.grid(padding=(0, 2))
    for name, cases in functions.items():
        table.add_row(*_function(name, cases))
        for case in [case for case in cases if not case.passed][:MOST_CASES]:
            table.add_row("", "", Text(_case(case), "dim"))
    headline = f"The course's tests on your code: {passed} of {len(functions)} passed"
    return ["", Text(headline), table]


def by_function(tests: Sequence[CourseTest]) -> dict[str, list[CourseTest]]:
    """Return the cases of each of the course's tests."""
    found: dict[str, list[CourseTest]] = {}
    for test in tests:
        found.setdefault(test.function, []).append(test)
    return found


def _passed(cases: Sequence[CourseTest]) -> bool:
    return all(case.passed for case in cases)


def _function(name: str, cases: Sequence[CourseTest]) -> tuple[Text, Text, Text]:
    results = {case.result for case in cases}
    word = next(word for word in ("failed", "not run", "passed") if word in results)
    text = terminal(name)
    if len(cases) > 1:
        failed = sum(not case.passed for case in cases)
        text += f", {failed} of {len(cases)} cases" if failed else f", {len(cases)} cases"
    return (
        Text(f"  {word}", "green" if word == "passed" else "red"),
        Text(cases[0].kind),
        Text(text),
    )


def _case(case: CourseTest) -> str:
    parameters = case.name.removeprefix(case.function)
    if case.failure is None:
        return terminal(f"{parameters} {case.result}".strip())
    failure = case.failure
    place = f" ({failure.file}, line {failure.line})" if failure.file else ""
    text = f": {failure.message}" if failure.message else ""
    return terminal(f"{parameters} {failure.exception}{text}{place}".strip())
