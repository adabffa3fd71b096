"""Tests that hold and count but catch little: what gets through is told with what to test."""

import pytest

from grader.cli.exits import Exit, exit_of
from grader.grade import Grade
from grader.report.document import hint
from grader.verdict import Verdict

from .case import Case, alone, check, verdicts
from .conftest import Grading

RETURNS = "def test_three():\n    return double(3) == 6\n"
A_TUPLE = "def test_three():\n    assert (double(3) == 6, 'three twice')\n"
NOT_ASSERTED = "import numpy as np\n\ndef test_three():\n    np.allclose(double(3), 6)\n"
ANY = "@given(st.integers(1, 9))\ndef test_any(n):\n    assert double(n) == 2 * n\n"
ONE_EXAMPLE = "@settings(max_examples=1)\n" + ANY


CODE_ON_IMPORT = "assert double(3) == 6\n\ndef test_zero():\n    assert double(0) == 0\n"
TABLE = "SIX = [0, 1, 2, 3, 4, 5, 6][double(3)]\n\ndef test_six():\n    assert SIX == 6\n"

UNCHECKED = (
    Case("N12", RETURNS, "valid"),
    Case("N47-tuple", A_TUPLE, "valid"),
    Case("N47-allclose", NOT_ASSERTED, "valid"),
)
NARROW = (Case("N27", ONE_EXAMPLE, "valid"), Case("N45", ANY, "valid"))
ON_IMPORT = (Case("N20", CODE_ON_IMPORT, "valid"), Case("N20-table", TABLE, "valid"))


@pytest.fixture(scope="module")
def unchecked(grading: Grading) -> Grade:
    """Return the grade of tests that check nothing."""
    return grading(alone(UNCHECKED))


@pytest.fixture(scope="module")
def narrow(grading: Grading) -> Grade:
    """Return the grade of tests that never meet the interesting input."""
    return grading(alone(NARROW))


@pytest.fixture(scope="module")
def on_import(grading: Grading) -> Grade:
    """Return the grade of files that use the code under test on import."""
    return grading(alone(ON_IMPORT))


@pytest.mark.parametrize("case", UNCHECKED, ids=lambda case: case.id)
def test_a_check_that_asserts_nothing_catches_only_code_that_raises(
    case: Case, unchecked: Grade
) -> None:
    """It is no error, and worth nothing here."""
    check(case, unchecked)
    assert exit_of(unchecked) is Exit.NOT_PASSED
    assert set(verdicts(unchecked).values()) == {"survived"}


@pytest.mark.parametrize("case", NARROW, ids=lambda case: case.id)
def test_an_input_that_is_never_drawn_lets_a_fault_through(case: Case, narrow: Grade) -> None:
    """The student is told which to draw."""
    check(case, narrow)
    assert verdicts(narrow)["s01"] == "killed"
    missed = found_on("s02", narrow)
    assert missed.result.value == "survived"
    advice = hint(missed, narrow)
    assert advice is not None
    assert advice.endswith("Check that -1 raises.")


@pytest.mark.parametrize("case", ON_IMPORT, ids=lambda case: case.id)
def test_code_under_test_that_is_used_on_import_catches_what_makes_it_fail(
    case: Case, on_import: Grade
) -> None:
    """With the advice to check it in a test, since all other tests of the file are lost."""
    check(case, on_import)
    caught = found_on("s01", on_import)
    assert (caught.result.value, caught.phase) == ("killed", "collection")
    assert case.path in caught.killed_by
    assert caught.reason is not None
    assert caught.reason.slug == "kill-at-import"
    assert "move the check into a test" in caught.reason.text


def found_on(mutant: str, grade: Grade) -> Verdict:
    """Return the verdict on one mutant."""
    return next(one for one in grade.verdicts if one.mutant.id == mutant)
