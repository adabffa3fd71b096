"""The small loop: a few tests, a few faults, never a grade."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from .conftest import GOOD, Student

Read = Callable[[Path], Mapping[str, Any]]
PROPERTY = """
from hypothesis import given, strategies as st

from toy.double import double


@given(st.integers(0, 10**6))
def test_double_is_a_sum(n):
    assert double(n) == n + n
"""


@pytest.fixture
def ready(student: Student) -> Student:
    """Return a repository with good tests, and a property of its own."""
    return student.test(GOOD).test(PROPERTY, "test_property.py")


def test_only_tests_of_that_name_run(ready: Student, document: Read, tmp_path: Path) -> None:
    """In every file."""
    path = tmp_path / "out.json"
    ran = ready.graded("mutate", "-k", "is_a_sum", "--json", path)
    assert ran.code == 1
    found = document(path)
    assert [test["id"] for test in found["tests"]] == ["test_property.py::test_double_is_a_sum"]
    assert (found["partial"], found["passed"], found["score"]) == (True, False, None)


def test_only_the_faults_that_were_named_are_tried(
    ready: Student, document: Read, tmp_path: Path
) -> None:
    """And catching them all is no pass."""
    path = tmp_path / "out.json"
    ran = ready.graded("mutate", "--mutant", "s01", "--mutant", "s02", "--json", path)
    assert ran.code == 1
    found = document(path)
    assert {one["id"]: one["verdict"] for one in found["mutants"]} == {
        "s01": "killed",
        "s02": "killed",
    }
    assert (found["partial"], found["passed"]) == (True, False)
    assert ran.out.splitlines()[-1].startswith("a part, so no grade: 2 of 2 caught")


def test_a_failing_input_is_shown_and_made_small_on_request(ready: Student) -> None:
    """Which takes time, and so is no part of a grading."""
    chosen = ("-k", "is_a_sum", "--mutant", "s01")
    plain, small = ready.graded("mutate", *chosen), ready.graded("mutate", *chosen, "--shrink")
    assert "on test_double_is_a_sum( " in plain.out
    assert "n=1," in small.out or "n=0," in small.out


def test_shrinking_for_every_fault_is_refused(ready: Student) -> None:
    """It names what to add."""
    ran = ready.graded("mutate", "--shrink")
    assert ran.code == 2
    assert "--mutant" in ran.err


def test_a_name_that_no_test_has_is_told(ready: Student) -> None:
    """With what was asked for."""
    ran = ready.graded("mutate", "-k", "nowhere")
    assert ran.code == 3
    assert "no test has 'nowhere' in its name" in ran.out


def test_a_fault_that_there_is_not_is_told(ready: Student) -> None:
    """With those that there are."""
    ran = ready.graded("mutate", "--mutant", "s99")
    assert ran.code == 2
    assert "no mutant 's99' in T1; known: s01" in ran.err


def test_a_part_is_kept_apart_from_a_whole(ready: Student) -> None:
    """Neither is answered from the other's runs."""
    assert ready.graded("mutate").code == 0
    assert ready.graded("mutate", "--mutant", "s01").code == 1
    assert ready.graded("mutate").code == 0
