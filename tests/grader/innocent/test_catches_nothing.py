"""Tests that hold whatever the code does: each is told that it can't catch anything."""

import pytest

from grader import jobs
from grader.cli.exits import Exit, exit_of
from grader.grade import Grade

from .case import HEAD, STRONG, Case, check, of_file, suite, told, verdicts, warned
from .conftest import Grading

VACUOUS = ("vacuous", "vacuous")
TELLS = ("passes even on code that does no work", "compare what the code under test gives")
SWALLOWED = """\
def test_any():
    try:
        assert double(3) == {six}
    except{what}:
        pass
"""
NOTHING_COMPARED = """\
import numpy as np

def test_nan():
    assert np.isnan(np.nan) and np.nan != np.nan

def test_of_nothing():
    assert (np.array([]) == 3).all()
    assert all(double(n) == 7 for n in [])
"""
FAKES = """\
import toy.double

def test_a_fake():
    toy.double.double = lambda n: 6
    assert toy.double.double(3) == 6

def test_after_the_fake():
    assert toy.double.double(3) == 6
"""
NO_PHASE = "@settings(phases=[])\n@given(st.integers(0, 9))\ndef test_any(n):\n    double(n)\n"
UNEXPECTED = "@pytest.mark.xfail\ndef test_any():\n    assert double(3) == 7\n"
NESTED_RUN = "def test_nested():\n    assert pytest.main(['--co', '-q', 'nowhere']) != 0\n"

CASES = (
    Case("N26", NO_PHASE, "vacuous", "vacuous-skipped", ("was skipped",)),
    Case("N26-xfail", UNEXPECTED, "vacuous", "vacuous-skipped", ("is expected to fail",)),
    Case("N31", SWALLOWED.format(six=6, what=" Exception"), *VACUOUS, TELLS),
    Case("N31-bare", SWALLOWED.format(six=7, what=""), *VACUOUS, TELLS),
    Case("N46", NOTHING_COMPARED, *VACUOUS, TELLS),
    Case("N50", FAKES, *VACUOUS, TELLS),
    Case("N52", NESTED_RUN, *VACUOUS, TELLS),
)


@pytest.fixture(scope="module")
def graded(grading: Grading) -> Grade:
    """Return the grade of all cases together."""
    return grading(suite(CASES))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_is_told_so(case: Case, graded: Grade) -> None:
    """Though it passes everywhere."""
    check(case, graded)
    assert not any(one.kills for one in of_file(graded, case.path))


def test_the_others_count_none_the_less(graded: Grade) -> None:
    """N50: nothing that a file replaces reaches one that has imported the function itself."""
    assert told(graded, "test_0.py") == {("valid", None)}
    assert exit_of(graded) is Exit.PASSED


@pytest.mark.parametrize("number", ["N56"])
def test_a_suite_that_tests_a_copy_is_told_what_it_doesnt_test(
    number: str, grading: Grading
) -> None:
    """It is graded, with nothing caught."""
    copy = "def double(n):\n    if n < 0:\n        raise ValueError\n    return 2 * n\n"
    path = f"test_{number}.py"
    tests = HEAD.replace("toy.double", "double") + STRONG
    found = grading({"double.py": copy, path: tests})
    assert exit_of(found) is Exit.NOT_PASSED
    assert told(found, path) == {VACUOUS}
    assert set(verdicts(found).values()) == {"survived"}
    [warning] = warned(found, "untested-module")
    assert warning == "no test file imports toy.double: are these the tests of T1?"


@pytest.mark.parametrize("number", ["N57"])
def test_a_harness_that_runs_the_wrong_code_grades_nothing(
    number: str, grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All would seem to survive: its own canary is heard, and nobody gets a zero."""
    monkeypatch.setattr(jobs, "sabotage", lambda source, kind: source)
    found = grading({f"test_{number}.py": HEAD + STRONG}, place=number)
    assert exit_of(found) is Exit.VOID
    assert (found.graded, found.score, found.fault) == (False, None, "harness")
    assert found.why is not None
    assert found.why.slug == "canary-silent"
