"""The kill matrix in the reports: complete in JSON and CSV, a few lines at a terminal."""

import csv
import io
import json
from collections.abc import Callable

import jsonschema
import pytest
from rich.console import Console

from grader.grade import Grade
from grader.matrix import DominatorScore, KillMatrix
from grader.report.document import SCHEMA_PATH, to_json
from grader.report.matrix_csv import to_csv
from grader.report.terminal import to_terminal

Make = Callable[..., Grade]
A, B, C, D = (f"test_bi.py::test_{name}" for name in "abcd")
SMALL = KillMatrix(
    tests=(A, B, C, D),
    mutants=("s01", "s02", "s05"),
    killed_by={"s01": frozenset((A, B)), "s02": frozenset((C,)), "s05": frozenset()},
    unreached={"s05": frozenset((D,))},
    property_of={A: "mirror", C: "mirror"},
)


def _render(grade: Grade, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, record=True, force_terminal=True)
    console.print(to_terminal(grade))
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


# --- JSON ------------------------------------------------------------------------------------


def test_the_document_holds_the_whole_matrix(make_grade: Make) -> None:
    """By the published schema."""
    grade = make_grade(["s05"], matrix=SMALL, dominator_score=DominatorScore(2, 3))
    found = json.loads(to_json(grade))
    jsonschema.validate(found, json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))
    assert found["matrix"] == {
        "tests": [A, B, C, D],
        "mutants": ["s01", "s02", "s05"],
        "kills": [["s01"], ["s01"], ["s02"], []],
        "not_reached": [[], [], [], ["s05"]],
        "redundant": [[A, B]],
        "idle": [D],
        "sole_catchers": [{"test": C, "mutants": ["s02"]}],
        "properties": [
            {"name": "mirror", "tests": [A, C], "kills": ["s01", "s02"], "sole_kills": ["s02"]}
        ],
        "dominator_score": {"killed": 2, "dominators": 3},
    }


def test_without_a_reference_there_is_no_dominator_score(make_grade: Make) -> None:
    """And without a matrix there is none at all."""
    assert json.loads(to_json(make_grade(matrix=SMALL)))["matrix"]["dominator_score"] is None
    assert json.loads(to_json(make_grade()))["matrix"] is None


# --- CSV -------------------------------------------------------------------------------------


def test_the_table_has_a_row_a_test_and_a_column_a_mutant() -> None:
    """A cell that was not reached is empty."""
    assert to_csv(SMALL) == (
        f"test,property,s01,s02,s05\n{A},mirror,1,0,0\n{B},,1,0,0\n{C},mirror,0,1,0\n{D},,0,0,\n"
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(start: str) -> None:
    """A spreadsheet that opens the table runs nothing that a student wrote."""
    text = f'{start}cmd|" /C calc"!A0'
    matrix = KillMatrix((text,), ("s01",), {"s01": frozenset((text,))}, {}, {text: text})
    shown = f"'{start}" if start.isprintable() else repr(start).strip("'")
    assert [cell[:2] for cell in _rows(to_csv(matrix))[1]] == [shown, shown, "1"]


def test_commas_quotes_and_lines_stay_in_their_cell() -> None:
    """Parameters of a test are in its id."""
    test = 'test_bi.py::test_a[1,"x"\n2]'
    matrix = KillMatrix((test,), ("s01",), {"s01": frozenset()}, {}, {test: "a, b"})
    assert _rows(to_csv(matrix))[1] == [test.replace("\n", "\\n"), "a, b", "0"]


# --- terminal --------------------------------------------------------------------------------


def test_the_terminal_says_what_the_tests_are_to_each_other(make_grade: Make) -> None:
    """After the rate, before the last line."""
    text = _render(make_grade(["s05"], matrix=SMALL))
    _, _, after = text.partition("In all:")
    assert after.splitlines()[2:-2] == [
        "",
        "Tests that catch nothing:",
        f"  {D}",
        "",
        "Tests that catch the same faults as each other:",
        f"  {A}, {B}",
        "",
        "Faults that a single test catches:",
        f"  s02  by {C}",
    ]


def test_without_a_matrix_the_terminal_says_nothing_of_it(make_grade: Make) -> None:
    """A run that was stopped early doesn't know who else catches a fault."""
    for headline in ("Tests that catch", "Faults that a single"):
        assert headline in _render(make_grade(matrix=SMALL))
        assert headline not in _render(make_grade())


def test_cases_of_one_test_are_not_called_the_same(make_grade: Make) -> None:
    """Unless another test is among them; the document has all groups."""
    cases = (f"{A}[1]", f"{A}[2]")
    alone = KillMatrix(cases, ("s01",), {"s01": frozenset(cases)})
    mixed = KillMatrix((*cases, B), ("s01",), {"s01": frozenset((*cases, B))})
    assert "the same faults" not in _render(make_grade(matrix=alone))
    assert f"  {A}[1], {A}[2], {B}\n" in _render(make_grade(matrix=mixed))
    found = json.loads(to_json(make_grade(matrix=alone)))
    assert found["matrix"]["redundant"] == [list(cases)]


def test_a_test_that_alone_catches_many_faults_is_still_named(make_grade: Make) -> None:
    """After three of them and their number."""
    names = tuple(f"m-{number}" for number in range(9))
    matrix = KillMatrix((A,), names, dict.fromkeys(names, frozenset((A,))))
    assert f"  m-0, m-1, m-2 and 6 more  by {A}\n" in _render(make_grade(matrix=matrix))


@pytest.mark.parametrize("reveal", ["none", "count"])
def test_a_fault_that_was_not_caught_is_kept_quiet(reveal: str, make_grade: Make) -> None:
    """At ``none`` no fault is named at all."""
    verdict = _render(make_grade(["s05"], reveal=reveal)).count("s05")
    text = _render(make_grade(["s05"], reveal=reveal, matrix=SMALL))
    assert text.count("s05") == verdict
    assert f"  {D}\n" in text
    assert ("s02" in text) == (reveal != "none")


@pytest.mark.parametrize("width", [40, 80])
def test_the_matrix_takes_no_more_than_a_screen(width: int, make_grade: Make) -> None:
    """However many tests there are, and however long their names."""
    idle = [f"test_bi.py::test_{'idle' * 40}_{number}" for number in range(50)]
    same = [f"test_bi.py::test_{'same' * 40}_{number}" for number in range(60)]
    sole = [f"test_bi.py::test_{'sole' * 40}_{number}" for number in range(30)]
    kills = {f"m-{n}": frozenset((test,)) for n, test in enumerate(sole)}
    kills |= {f"t-{n}": frozenset(same[2 * n : 2 * n + 2]) for n in range(30)}
    matrix = KillMatrix((*idle, *same, *sole), tuple(kills), kills)
    plain, whole = _render(make_grade(), width), _render(make_grade(matrix=matrix), width)
    assert len(whole.splitlines()) - len(plain.splitlines()) <= 24
    assert all(len(line) <= width for line in whole.splitlines())
    assert "  … and 46 more\n" in whole


def test_nothing_in_the_matrix_is_obeyed(make_grade: Make) -> None:
    """A test's id is the student's own text."""
    evil = "test_bi.py::test_a[\x1b[2J[red]\u202e\npassed]"
    text = _render(make_grade(matrix=KillMatrix((evil,), ("s01",), {"s01": frozenset()})))
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert "[red]" in text
