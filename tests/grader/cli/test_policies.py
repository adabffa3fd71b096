"""Policies, keys and students by command."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from .conftest import GOOD, Student

Read = Callable[[Path], Mapping[str, Any]]
COIN = """
import random

import pytest
from toy.double import double


@pytest.mark.parametrize("n", range(12))
def test_now_and_then(n):
    assert double(n) == 2 * n
    assert random.random() < 0.5
"""


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a file with a course's key."""
    path = tmp_path / "key"
    path.write_text("a key that nobody else has\n")
    return path


def test_the_report_names_the_policy(student: Student, document: Read, tmp_path: Path) -> None:
    """With how much right code the tests ran on."""
    path = tmp_path / "out.json"
    student.test(GOOD)
    ran = student.graded("mutate", "--policy", "authoritative", "--json", path)
    assert ran.code == 0
    assert "note: without --course-key" in ran.out
    assert "Policy authoritative: on the course's code and on 11 rewrites of it" in ran.out
    assert document(path)["controls"] == {"reference": 1, "twins": 11}
    assert document(path)["settings"]["policy"] == "authoritative"


def test_a_course_with_a_key_grades_the_same(
    student: Student, document: Read, key: Path, tmp_path: Path
) -> None:
    """On rewrites that nobody else can compute."""
    student.test(GOOD)
    found = []
    for number, more in enumerate([(), ("--course-key", key), ("--course-key", key)]):
        path = tmp_path / f"{number}.json"
        how = ("--policy", "authoritative", "--json", path)
        assert student.graded("mutate", *how, *more).code == 0
        assert bool(document(path)["warnings"]) == (number == 0)
        verdicts = [(one["id"], one["verdict"]) for one in document(path)["mutants"]]
        found.append(verdicts)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("content", "said"), [("short", "holds 5 bytes"), (None, "can't read")])
def test_a_key_that_is_none_is_refused(
    student: Student, tmp_path: Path, content: str | None, said: str
) -> None:
    """Before anything runs."""
    path = tmp_path / "key"
    if content is not None:
        path.write_text(content)
    ran = student.test(GOOD).graded("mutate", "--course-key", path)
    assert ran.code == 2
    assert said in ran.err


def test_a_student_whose_tests_contradict_themselves_again_and_again_is_flagged(
    student: Student, document: Read, tmp_path: Path
) -> None:
    """For staff, at the third such submission; the same one again doesn't count."""
    flags = []
    for number in (0, 0, 1, 2):
        path = tmp_path / "out.json"
        student.test(f"{COIN}# {number}\n").test(GOOD, "test_good.py")
        student.graded("mutate", "--student", "ada", "--staff", "--json", path)
        kinds = [flag["kind"] for flag in document(path)["review"]]
        assert "status" in kinds
        flags.append("history" in kinds)
    assert flags == [False, False, False, True]
