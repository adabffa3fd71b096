"""A case: what an innocent or sloppy student hands in, and what comes of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.grade import Grade, GradedTest

HEAD = """\
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from toy.double import double

"""
# Catches every fault at once, so that a run on a faulty version is over before the cases begin.
STRONG = """\
def test_doubles():
    assert [double(n) for n in range(4)] == [0, 2, 4, 6]
    with pytest.raises(ValueError):
        double(-1)
"""
Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Case:
    """One test file that is graded among others, since none of them changes another's status.

    Parameters
    ----------
    id
        The number of the case, and a word where it has several.
    source
        The file's text, without the imports that every file begins with; all of it as bytes.
    status, slug
        What each test in it gets, and the message that says why.
    words
        What that message tells of this very case.
    """

    id: str
    source: str | bytes
    status: str
    slug: str | None = None
    words: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Name of the file."""
        return f"test_{self.id.replace('-', '_').lower()}.py"

    @property
    def content(self) -> str | bytes:
        """The whole file."""
        return HEAD + self.source if isinstance(self.source, str) else self.source


def suite(cases: Iterable[Case]) -> dict[str, str | bytes]:
    """Return cases as the files of one submission, behind one that catches everything."""
    return {"test_0.py": HEAD + STRONG, **alone(cases)}


def alone(cases: Iterable[Case]) -> dict[str, str | bytes]:
    """Return cases as the files of one submission that holds nothing else."""
    return {case.path: case.content for case in cases}


def of_file(grade: Grade, path: str) -> list[GradedTest]:
    """Return what a grade says of the file at ``path``: of each test, or of the file."""
    return [one for one in grade.tests if one.status.id.partition("::")[0] == path]


def told(grade: Grade, path: str) -> set[tuple[str, str | None]]:
    """Return each status that a file's tests got, with the slug of its reason."""
    found = [one.status for one in of_file(grade, path)]
    return {(one.status.value, one.reason.slug if one.reason else None) for one in found}


def reasons(grade: Grade, path: str) -> str:
    """Return all that is said against a file's tests."""
    return "\n".join(
        one.status.reason.text for one in of_file(grade, path) if one.status.reason is not None
    )


def warned(grade: Grade, slug: str) -> list[str]:
    """Return the texts of the warnings under ``slug``."""
    return [warning.text for warning in grade.warnings if warning.slug == slug]


def outcome(grade: Grade) -> dict[str, object]:
    """Return all of a grade that two gradings of the same must agree in."""
    tests = {one.status.id: (one.status.status.value, one.kills) for one in grade.tests}
    return {"tests": tests, "verdicts": verdicts(grade), "warnings": grade.warnings}


def verdicts(grade: Grade) -> dict[str, str]:
    """Return what became of each mutant."""
    return {one.mutant.id: one.result.value for one in grade.verdicts}


def check(case: Case, grade: Grade) -> None:
    """Assert that a case came out as it should."""
    text = reasons(grade, case.path)
    assert told(grade, case.path) == {(case.status, case.slug)}, text
    missing = [word for word in case.words if word not in text]
    assert not missing, text
