"""Tests that fail on right code: they count for nothing, and say where, on what, and what to do."""

import pytest

from grader.cli.exits import Exit, exit_of
from grader.grade import Grade

from .case import Case, check, suite
from .conftest import Grading

INVALID, HYPOTHESIS = ("invalid", "invalid"), ("invalid", "invalid-hypothesis")
STARVED = "@given(st.integers(0, 10**6))\ndef test_few(n):\n"
NESTED = """\
@given(st.integers(0, 9))
def test_outer(n):
    @given(st.integers(0, 9))
    def inner(m):
        assert double(n + m) == 2 * n + 2 * m
    inner()
"""
BESIDE_A_FIXTURE = """\
@given(st.integers(0, 9))
def test_beside(tmp_path, n):
    assert double(n) == 2 * n
"""
UNSATISFIABLE = f"@settings(suppress_health_check=list(HealthCheck))\n{STARVED}    assume(n < 0)\n"
CLEARS_UP_BADLY = """\
@pytest.fixture
def three():
    yield 3
    raise RuntimeError

def test_three(three):
    assert double(three) == 6
"""
TIGHT = "def test_sum():\n    assert double(3) * 0.1 == sum([0.1] * 6)\n"
NEAR = "def test_sum():\n    assert double(3) * 0.1 == pytest.approx(sum([0.1] * 6))\n"
MISREAD = "@given(st.integers(-3, 9))\ndef test_all(n):\n    assert double(n) == 2 * n\n"
MISREAD_ZERO = (
    "@given(st.integers(0, 9))\ndef test_all(n):\n    assert double(n) == max(1, 2 * n)\n"
)
WORDING = """\
def test_wording():
    with pytest.raises(ValueError, match="n is negative"):
        double(-1)
"""
LOCALS = "def test_names():\n    assert 'total' in double.__code__.co_varnames\n"

CASES = (
    Case(
        "N04-name",
        "def test_it():\n    assert double(math.floor(3.5)) == 6\n",
        "invalid",
        "invalid-name",
        ("NameError at test_n04_name.py, line 6", "import it"),
    ),
    Case(
        "N10",
        "async def test_later():\n    assert double(3) == 6\n",
        "invalid",
        "invalid-async",
        ("write a plain function",),
    ),
    Case(
        "N12-given",
        "@given(st.integers(0, 9))\ndef test_it(n):\n    return double(n) == 2 * n\n",
        *HYPOTHESIS,
        ("it returns a value instead of asserting it",),
    ),
    Case(
        "N24",
        f"{STARVED}    assume(False)\n",
        *HYPOTHESIS,
        ("100 % of the inputs drawn were thrown away", "line 6", "draw only what fits"),
    ),
    Case(
        "N24-filter",
        "@given(st.integers(0, 10**6).filter(lambda n: n % 999 == 5))\n"
        "def test_few(n):\n    assert double(3) == 6\n",
        *HYPOTHESIS,
        (" % of the inputs drawn were thrown away",),
    ),
    Case(
        "N24-eight-percent",
        f"{STARVED}    assume(n % 13 == 5)\n    assert double(3) == 6\n",
        *HYPOTHESIS,
        (" % of the inputs drawn were thrown away",),
    ),
    Case("N25", UNSATISFIABLE, *HYPOTHESIS, ("Unsatisfiable", "all were thrown away", "loosen")),
    Case("N28", BESIDE_A_FIXTURE, *HYPOTHESIS, ("made once and not once an example",)),
    Case("N32", NESTED, *HYPOTHESIS, ("draw everything in one, with st.data()",)),
    Case(
        "N33",
        "@given(st.integers(min_value=9, max_value=0))\ndef test_none(n):\n    double(n)\n",
        *HYPOTHESIS,
        ("InvalidArgument at test_n33.py", "a least value over the greatest"),
    ),
    Case(
        "N33-names",
        "@given(m=st.integers(0, 9))\ndef test_it(n):\n    double(n)\n",
        *HYPOTHESIS,
        ("a name that the test doesn't take",),
    ),
    Case("N42", TIGHT, *INVALID, ("AssertionError at test_n42.py, line 6",)),
    Case("N42-near", NEAR, "valid"),
    Case("N43", WORDING, "too_strict", "too-strict", ("line 6", "the wording of an error")),
    Case("N43-private", LOCALS, "too_strict", "too-strict", ("line 6", "a private name")),
    Case("N44", MISREAD, *INVALID, ("ValueError at test_n44.py, line 7 on", "n=-", "the contract")),
    Case("N44-zero", MISREAD_ZERO, *INVALID, ("AssertionError", "n=0", "read the contract")),
    Case(
        "N53",
        CLEARS_UP_BADLY,
        "invalid",
        "invalid-teardown",
        ("fails when it clears up", "RuntimeError at test_n53.py, line 8"),
    ),
    Case(
        "N55",
        "def test_asks():\n    assert double(int(input())) == 6\n",
        "invalid",
        "invalid-input",
        ("waits for input", "nobody answers"),
    ),
)


@pytest.fixture(scope="module")
def graded(grading: Grading) -> Grade:
    """Return the grade of all cases together."""
    return grading(suite(CASES))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_says_what_is_wrong(case: Case, graded: Grade) -> None:
    """On which line and input, as far as there is one, and what to do."""
    check(case, graded)


def test_the_others_count_none_the_less(graded: Grade) -> None:
    """Nothing of it is held against them."""
    assert exit_of(graded) is Exit.PASSED


def test_what_counts_for_nothing_catches_nothing(graded: Grade) -> None:
    """Either way."""
    assert not any(one.kills for one in graded.tests if one.status.status.value != "valid")
