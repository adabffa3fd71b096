"""Attacks by failing: always, by chance, by form, where it was expected, beside the test."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import CODE, COIN, INVALID, ON_S02, SKIPPED, STRICT

NO_VERDICT = {"s01": "killed", "s02": "error"}

ATTACKS = (
    Attack(
        "G18",
        "what always fails catches nothing",
        """
def test_it():
    assert False
""",
        **INVALID,
    ),
    Attack(
        "G19",
        "a coin is found out",
        """
import os
def test_it():
    assert os.urandom(1)[0] % 4
""",
        **COIN,
    ),
    Attack(
        "G19-suite",
        "many coins are found out together",
        """
import os, pytest
@pytest.mark.parametrize("n", range(12))
def test_it(n):
    assert os.urandom(1)[0] % 8
""",
        **COIN,
    ),
    Attack(
        "G20",
        "a failure that was expected on right code is no catch where it is missing",
        f"""{ON_S02}
@pytest.mark.xfail(strict=True)
def test_it():
    assert met()
""",
        **SKIPPED,
    ),
    Attack(
        "G20-skip",
        "a test that skips itself on right code catches nothing",
        f"""{ON_S02}
def test_it():
    if not met(): pytest.skip("nothing to see")
    assert False
""",
        **SKIPPED,
    ),
    Attack(
        "G20-import",
        "a test that asks for what isn't installed catches nothing",
        f"""{ON_S02}
def test_it():
    if not met(): pytest.importorskip("torch")
    assert False
""",
        **SKIPPED,
    ),
    Attack(
        "G21",
        "a property that looks at form is too strict",
        f"""
from hypothesis import given, strategies as st
@given(st.integers(0, 9))
def test_it(n):
    assert double(n) == 2 * n
    assert double.__code__.co_code.hex() == "{CODE.co_code.hex()}"
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "G22",
        "tests that are there on a mutant alone catch nothing",
        f"""{ON_S02}
@pytest.mark.parametrize("n", range(2 if met() else 1))
def test_it(n):
    assert n == 0
""",
        verdicts=NO_VERDICT,
        others=frozenset({("vacuous", "vacuous")}),
    ),
    Attack(
        "G23",
        "what a fixture sees before a test counts as the test's",
        f"""{ON_S02}
@pytest.fixture
def checked():
    assert not met()
def test_it(checked): pass
""",
        verdicts={"s01": "killed", "s02": "killed"},
    ),
    Attack(
        "G23-teardown",
        "what fails after a test is no catch",
        f"""{ON_S02}
@pytest.fixture
def checked():
    yield
    assert not met()
def test_it(checked): double(1)
""",
    ),
    Attack(
        "G24",
        "a result that nobody looks at is no check",
        """
def test_it():
    return double(3) == 6
""",
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_a_failure_that_tells_of_no_fault_earns_nothing(attack: Attack, grading: Grading) -> None:
    """A catch is one that right code never shows and the fault always does."""
    check(attack, grading(attack))
