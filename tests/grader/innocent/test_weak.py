"""Tests that hold and count but catch little: what gets through is told with what to test."""

import pytest

from grader.cli.exits import Exit, exit_of
from grader.report.document import hint

from .case import HEAD, told, verdicts
from .conftest import Grading

RETURNS = "def test_three():\n    return double(3) == 6\n"
A_TUPLE = "def test_three():\n    assert (double(3) == 6, 'three twice')\n"
NOT_ASSERTED = "import numpy as np\n\ndef test_three():\n    np.allclose(double(3), 6)\n"
ANY = "@given(st.integers({least}, 9))\ndef test_any(n):\n    assert double(n) == 2 * n\n"
ONE_EXAMPLE = "@settings(max_examples=1)\n" + ANY.format(least=1)


@pytest.mark.parametrize(
    ("number", "source"),
    [("N12", RETURNS), ("N47", A_TUPLE), ("N47", NOT_ASSERTED)],
    ids=["N12", "N47-tuple", "N47-allclose"],
)
def test_a_check_that_asserts_nothing_catches_only_code_that_raises(
    number: str, source: str, grading: Grading
) -> None:
    """It is no error, and worth nothing here."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + source})
    assert exit_of(found) is Exit.NOT_PASSED
    assert told(found, path) == {("valid", None)}
    assert set(verdicts(found).values()) == {"survived"}


@pytest.mark.parametrize(
    ("number", "source"), [("N27", ONE_EXAMPLE), ("N45", ANY.format(least=1))], ids=["N27", "N45"]
)
def test_an_input_that_is_never_drawn_lets_a_fault_through(
    number: str, source: str, grading: Grading
) -> None:
    """The student is told which to draw."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + source})
    assert told(found, path) == {("valid", None)}
    assert verdicts(found)["s01"] == "killed"
    [missed] = [one for one in found.verdicts if one.mutant.id == "s02"]
    assert missed.result.value == "survived"
    assert hint(missed, found) == "Check that -1 raises."


@pytest.mark.parametrize(
    "source",
    [
        "assert double(3) == 6\n\ndef test_zero():\n    assert double(0) == 0\n",
        "SIX = [0, 1, 2, 3, 4, 5, 6][double(3)]\n\ndef test_six():\n    assert SIX == 6\n",
    ],
    ids=["an assertion", "a table"],
)
@pytest.mark.parametrize("number", ["N20"])
def test_code_under_test_that_is_used_on_import_catches_what_makes_it_fail(
    number: str, source: str, grading: Grading
) -> None:
    """With the advice to check it in a test, since all other tests of the file are lost."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + source})
    [caught] = [one for one in found.verdicts if one.mutant.id == "s01"]
    assert (caught.result.value, caught.phase) == ("killed", "collection")
    assert caught.killed_by == (path,)
    assert caught.reason is not None
    assert caught.reason.slug == "kill-at-import"
    assert "move the check into a test" in caught.reason.text
