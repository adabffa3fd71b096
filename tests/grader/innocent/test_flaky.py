"""Tests that don't do the same twice: none of them counts, and none is a catch."""

import pytest

from grader.cli.exits import Exit, exit_of

from .case import HEAD, STRONG, Case, check, reasons, told, verdicts
from .conftest import Grading

RANDOM_NAMES = """\
import random

@pytest.mark.parametrize("n", [random.randint(0, 10**9) for _ in range(3)])
def test_some(n):
    assert double(n % 5) == n % 5 * 2
"""
STABLE_NAMES = """\
@pytest.mark.parametrize("n", {"one", "two", "three"})
def test_of_a_set(n):
    assert double(len(n)) == 2 * len(n)

@pytest.mark.parametrize("thing", [object(), object()])
def test_of_objects(thing):
    assert double(3) == 6
"""
COMPUTED_NAMES = """\
@pytest.mark.parametrize("n", range(double(2)))
def test_small(n):
    assert n < 4
"""
STATE = """\
calls = []

@given(st.integers(0, 9))
def test_counts(n):
    calls.append(n)
    assert double(n) == 2 * n
    assert len(calls) != 5
"""
COIN = """\
import numpy as np

@pytest.mark.parametrize("n", range(20))
def test_coin(n):
    assert np.random.default_rng().random() < 0.5
"""


@pytest.mark.parametrize("number", ["N18"])
def test_parameters_taken_from_chance_are_unstable(number: str, grading: Grading) -> None:
    """Which costs the other files nothing; sets and objects have names that stay."""
    path = f"test_{number}.py"
    stable = f"test_{number}_stable.py"
    files = {"test_0.py": HEAD + STRONG, path: HEAD + RANDOM_NAMES, stable: HEAD + STABLE_NAMES}
    found = grading(files)
    assert told(found, path) == {("flaky", "flaky-ids")}
    assert "take them from fixed values" in reasons(found, path)
    assert told(found, stable) == {("valid", None)}
    assert exit_of(found) is Exit.PASSED


@pytest.mark.parametrize("number", ["N19"])
def test_parameters_computed_from_the_code_under_test_catch_nothing(
    number: str, grading: Grading
) -> None:
    """A faulty version then has other tests; the student is told to compute them otherwise."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + COMPUTED_NAMES})
    assert told(found, path) <= {("valid", None), ("vacuous", "vacuous")}
    assert verdicts(found)["s01"] == "error"
    [reason] = [one.reason for one in found.verdicts if one.mutant.id == "s01"]
    assert reason is not None
    assert reason.slug == "error-tests"
    assert "don't compute names or parameters of tests from the code under test" in reason.text


@pytest.mark.parametrize("number", ["N29"])
def test_state_that_is_kept_between_examples_is_found(number: str, grading: Grading) -> None:
    """Hypothesis repeats an example that failed, and it passes."""
    words = ("FlakyFailure at test_n29.py", "the same twice on the same input")
    case = Case(number, STATE, "invalid", "invalid-hypothesis", words)
    check(case, grading({"test_0.py": HEAD + STRONG, case.path: case.content}))


@pytest.mark.parametrize("number", ["N36"])
def test_a_coin_without_a_seed_is_found_out(number: str, grading: Grading) -> None:
    """Of twenty at once, some show both sides on one code; none of those is a catch."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + COIN})
    assert ("flaky", "flaky") in told(found, path)
    assert "Take randomness from Hypothesis or a fixed seed" in reasons(found, path)
    flaky = [one for one in found.tests if one.status.status.value == "flaky"]
    assert not any(one.kills for one in flaky)
