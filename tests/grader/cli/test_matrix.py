"""The kill matrix by command: every test on every fault, to JSON, to CSV and to the terminal."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.grader.cli.conftest import TOY, Ran, Student, call

Document = Mapping[str, Any]
Read = Callable[[Path], Document]
SUITE = """\
import pytest
from toy.double import double

@pytest.mark.property("doubling")
@pytest.mark.parametrize("n", [3, 4])
def test_doubles(n):
    assert double(n) == n + n

@pytest.mark.property("refusal")
def test_refuses():
    for n in (-1, -2):
        with pytest.raises(ValueError):
            double(n)

def test_idle():
    assert isinstance(double(1), int)

def test_wrong():
    assert double(1) == 1
"""
FOUR, THREE, REFUSES, IDLE = (
    f"test_mine.py::test_{name}" for name in ("doubles[4]", "doubles[3]", "refuses", "idle")
)
MUTANTS = ["s01", "s02", "m-00000001", "m-00000002", "m-00000003"]


@dataclass(frozen=True)
class Graded:
    """One grading with a matrix: what the command did and wrote."""

    student: Student
    ran: Ran
    document: Document
    rows: list[list[str]]


@pytest.fixture(scope="module")
def graded(repository: Callable[[], Student], document: Read) -> Graded:
    """Grade a suite; the table asks for the matrix by itself."""
    student = repository().test(SUITE)
    path, table = student.root.parent / "grade.json", student.root.parent / "matrix.csv"
    ran = student.graded("mutate", "--matrix-csv", table, "--json", path)
    with table.open(encoding="utf-8", newline="") as file:
        return Graded(student, ran, document(path), list(csv.reader(file)))


def test_every_valid_test_runs_on_every_mutant(graded: Graded) -> None:
    """None that doesn't count is in the table, and no cell is empty."""
    assert graded.ran.code == 0
    header, *rows = graded.rows
    assert header == ["test", "property", *MUTANTS]
    assert rows == [
        [THREE, "doubling", "1", "0", "0", "1", "0"],
        [FOUR, "doubling", "1", "0", "0", "1", "0"],
        [REFUSES, "refusal", "0", "1", "0", "0", "1"],
        [IDLE, "", "0", "0", "0", "0", "0"],
    ]


def test_the_document_and_the_table_agree(graded: Graded) -> None:
    """And so do the kills of tests and the catchers of mutants."""
    matrix = graded.document["matrix"]
    header, *rows = graded.rows
    assert matrix["tests"] == [row[0] for row in rows]
    for test, kills, row in zip(matrix["tests"], matrix["kills"], rows, strict=True):
        marked = zip(header[2:], row[2:], strict=True)
        assert kills == [name for name, mark in marked if mark == "1"]
        assert kills == next(t["kills"] for t in graded.document["tests"] if t["id"] == test)
    for mutant in graded.document["mutants"]:
        of_row = zip(matrix["tests"], matrix["kills"], strict=True)
        assert mutant["killed_by"] == [test for test, kills in of_row if mutant["id"] in kills]


def test_the_document_says_what_the_tests_are_to_each_other(graded: Graded) -> None:
    """Redundant, idle, alone; by property; without a reference set there is no score."""
    matrix = graded.document["matrix"]
    assert matrix["redundant"] == [[THREE, FOUR]]
    assert matrix["idle"] == [IDLE]
    assert matrix["sole_catchers"] == [{"test": REFUSES, "mutants": ["s02", "m-00000003"]}]
    assert [(one["name"], one["sole_kills"]) for one in matrix["properties"]] == [
        ("doubling", ["s01", "m-00000002"]),
        ("refusal", ["s02", "m-00000003"]),
    ]
    assert matrix["dominator_score"] is None


def test_the_report_has_a_section(graded: Graded) -> None:
    """With what a student may do about it."""
    assert f"Tests that catch nothing:\n  {IDLE}\n" in graded.ran.out
    assert f"  s02, m-00000003  by {REFUSES}\n" in graded.ran.out


def test_without_the_option_there_is_no_matrix(
    graded: Graded, document: Read, tmp_path: Path
) -> None:
    """Neither in the document nor in the report; the score is the same."""
    ran = graded.student.graded("mutate", "--json", tmp_path / "grade.json")
    found = document(tmp_path / "grade.json")
    assert found["matrix"] is None
    assert found["score"] == graded.document["score"]
    assert "catch nothing" not in ran.out


def test_a_table_that_cant_be_written_is_refused_before_anything_runs(
    student: Student, tmp_path: Path
) -> None:
    """As a document is."""
    path = tmp_path / "missing" / "matrix.csv"
    ran = student.test(SUITE).graded("mutate", "--matrix-csv", path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"grade: can't write {path}: No such file or directory\n"


def test_where_no_test_holds_the_table_has_no_rows(student: Student, tmp_path: Path) -> None:
    """What an earlier grading left there is gone."""
    path = tmp_path / "matrix.csv"
    path.write_text("old", encoding="utf-8")
    ran = student.test("def test_no(): assert False\n").graded("mutate", "--matrix-csv", path)
    assert ran.code == 3
    assert path.read_text(encoding="utf-8") == f"test,property,{','.join(MUTANTS)}\n"


def test_where_nothing_could_be_graded_the_table_is_left_as_it_is(
    student: Student, tmp_path: Path
) -> None:
    """A prerequisite is missing: nothing ran, and nothing is overwritten."""
    path = tmp_path / "matrix.csv"
    path.write_text("old", encoding="utf-8")
    ran = student.test(SUITE).graded("check", "--matrix-csv", path)
    assert ran.code == 4
    assert path.read_text(encoding="utf-8") == "old"


# --- dominators ------------------------------------------------------------------------------


def _dominators(course: Path) -> Ran:
    how = ("--sandbox", "process", "--jobs", "1")
    return call("mutants", "dominators", "T1", "--course", course, *how)


def _score(course: Path, suite: str, student: Student, read: Read) -> object:
    path = student.root.parent / "grade.json"
    how = ("--sandbox", "process", "--jobs", "1", "--matrix", "--json", path)
    student.test(suite)
    call("mutate", "T1", "--course", course, "--repo", student.root, *how)
    return read(path)["matrix"]["dominator_score"]


def test_the_gold_suites_dominators_are_written_and_scored(
    toy: Path, student: Student, document: Read
) -> None:
    """The suite kills one class of two whole."""
    ran = _dominators(toy)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "s01, m-00000001, m-00000002",
        "s02, m-00000003",
        "2 dominators of 5 scored mutants",
    ]
    assert _score(toy, SUITE, student, document) == {"killed": 1, "dominators": 2}


def test_writing_them_again_changes_nothing(toy: Path) -> None:
    """Byte for byte."""
    path = toy / "mutants" / "T1" / "dominators.toml"
    assert _dominators(toy).code == 0
    before = path.read_bytes()
    assert _dominators(toy).code == 0
    assert path.read_bytes() == before


def test_dominators_of_another_pool_give_no_score(
    toy: Path, student: Student, document: Read
) -> None:
    """Until they are computed anew."""
    assert _dominators(toy).code == 0
    pool = toy / "mutants" / "T1" / "mechanical.toml"
    text = pool.read_text(encoding="utf-8").replace('"m-00000001"', '"m-00000005"')
    pool.write_text(text, encoding="utf-8")
    assert _score(toy, SUITE, student, document) is None


@pytest.mark.parametrize(
    ("classes", "why"),
    [
        ('[["s01"], ["s01"]]', "a mutant is in two classes"),
        ('[["s09"]]', "s09 is in a class and not among the mutants"),
        ("[[]]", "dominators.0"),
    ],
)
def test_a_malformed_set_is_refused_before_anything_runs(
    classes: str, why: str, toy: Path, student: Student
) -> None:
    """With what is wrong with it."""
    text = f'generator = "by hand"\nmutants = ["s01"]\ndominators = {classes}\n'
    (toy / "mutants" / "T1" / "dominators.toml").write_text(text, encoding="utf-8")
    student.test(SUITE)
    how = ("--sandbox", "process", "--matrix")
    ran = call("mutate", "T1", "--course", toy, "--repo", student.root, *how)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err


def test_a_course_without_a_gold_suite_has_no_dominators() -> None:
    """Exit 2, and nothing is written."""
    ran = call("mutants", "dominators", "T0", "--course", TOY)
    assert ran.code == 2
    assert "T0 has no gold suite" in ran.err
    assert not (TOY / "mutants" / "T0").exists()


def test_a_gold_suite_of_which_nothing_holds_has_no_dominators(toy: Path) -> None:
    """Exit 2, and nothing is written."""
    gold = toy / "tests" / "gold" / "T1" / "test_gold.py"
    gold.write_text("def test_no(): assert False\n", encoding="utf-8")
    ran = _dominators(toy)
    assert ran.code == 2
    assert not (toy / "mutants" / "T1" / "dominators.toml").exists()
