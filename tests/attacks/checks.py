"""What holds of a grade in spite of an attack."""

import io

from rich.console import Console

from grader.grade import Grade, GradedTest
from grader.report.document import to_json
from grader.report.terminal import to_terminal

from .case import HONEST_PATH, PATH, Attack, Told

# Of the reference's and the mutants' text: what nobody writes into a report by accident.
HIDDEN = (
    *("n is negative", "what nobody can double", "a step at a time"),
    *("step(total", "range(n", "if n < 0", "if False", "90046", "90_046"),
)
# More than any report on these suites needs, and less than any flood.
LONGEST = 64 << 10


def check(attack: Attack, grade: Grade) -> None:
    """Assert that an attack came out as it should, and that no report tells of hidden code."""
    assert grade.graded is attack.graded, grade.why
    for one in grade.verdicts:
        # Chance may leave a fault without a verdict: a failure that is never seen again.
        may_be = {attack.verdicts[one.mutant.id], "error" if attack.is_chance else ""}
        assert one.result.value in may_be, one
    assert {one.mutant.id for one in grade.verdicts} == set(attack.verdicts)
    assert told(grade, PATH) <= attack.told, reasons(grade)
    assert told(grade, PATH), "the attack wasn't there"
    assert told(grade, HONEST_PATH) == {one for one in [attack.honest] if one}, reasons(grade)
    beside = {path: {slug for _, slug in told(grade, path)} for path in attack.beside}
    assert beside == {path: {slug} for path, slug in attack.beside.items()}
    flagged = "\n".join(flag.message.text for flag in grade.review or ())
    assert [word for word in attack.flags if word not in flagged] == [], flagged
    assert leaks(grade) == []
    assert len(to_json(grade)) < LONGEST


def told(grade: Grade, path: str) -> Told:
    """Return each status that the tests of a file got, with the slug of its reason."""
    found = [one.status for one in of_file(grade, path)]
    return frozenset((one.status.value, one.reason.slug if one.reason else None) for one in found)


def of_file(grade: Grade, path: str) -> list[GradedTest]:
    """Return what a grade says of the file at ``path``: of each test, or of the file."""
    return [one for one in grade.tests if one.status.id.partition("::")[0] == path]


def reasons(grade: Grade) -> str:
    """Return all that is said against tests."""
    return "\n".join(
        f"{one.status.id}: {one.status.reason.text}" for one in grade.tests if one.status.reason
    )


def leaks(grade: Grade) -> list[str]:
    """Return what the reports show of code that is hidden."""
    console = Console(file=io.StringIO(), width=400, record=True)
    console.print(to_terminal(grade))
    shown = console.export_text() + to_json(grade)
    return [text for text in HIDDEN if text in shown]
