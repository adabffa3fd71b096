"""What a cell says is told on, but for what quotes hidden code."""

from pathlib import Path

import pytest

from grader.cells import Cell, Variant
from grader.course import Assignment, load_course
from grader.disclosure import QUOTED, Disclosure
from grader.knowledge import Knowledge, Request
from grader.outcome import Outcome
from grader.submission import Submission

from .facts import failing, ran

TOY = Path(__file__).parent / "cli" / "toy"
HIDDEN = "for _ in range(n):\n        total = step(total)"
CALIBRATION = Cell(purpose="calibration", draw=11)
OWN = Cell(purpose="own", variant=Variant(kind="own"))
SUBMITTED = Submission({"test_a.py": b"import toy\n\n\ndef test_it():\n    assert False\n"})


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    """Return the toy course's assignment."""
    return load_course(TOY).assignment("T1")


def _told(assignment: Assignment, outcome: Outcome, cell: Cell = CALIBRATION) -> Outcome:
    """Return what is left of an outcome."""
    request = Request(assignment.settings, ("test_a.py",), (), False, "")
    known = Knowledge(request, {cell: outcome})
    [told] = Disclosure(assignment, SUBMITTED).of(known).outcomes.values()
    return told


def _failure(outcome: Outcome) -> tuple[str, str, str | None, str | None, int | None]:
    [run] = outcome.runs.values()
    [failure] = run.failures
    return failure.exception, failure.message, failure.witness, failure.file, failure.line


@pytest.mark.parametrize("word", ["exception", "message", "witness"])
def test_a_word_that_quotes_the_reference_is_left_out(assignment: Assignment, word: str) -> None:
    """Whole: what stands around it may be of the same source."""
    text = f"it is {HIDDEN[:60]}!"
    told = _told(assignment, ran({"test_a.py::test_it": failing(**{word: text})}))
    assert QUOTED in _failure(told)
    assert not [one for one in _failure(told) if one == text]


@pytest.mark.parametrize("change", [str.strip, lambda text: text.replace(" ", "_-\u200b "), repr])
def test_what_stands_between_letters_hides_no_quotation(
    assignment: Assignment, change: type[str]
) -> None:
    """Neither blanks nor quotes nor what can't be seen."""
    assert Disclosure(assignment, SUBMITTED).quotes(change(HIDDEN))


def test_a_mutants_code_is_hidden_too(assignment: Assignment) -> None:
    """Or a test could show what was changed."""
    mutants = [edit.by for mutant in assignment.mutants for edit in mutant.edits]
    long = [text for text in mutants if sum(map(str.isalnum, text)) >= 16]
    quotes = Disclosure(assignment, SUBMITTED).quotes
    assert all(quotes(text) for text in long)


@pytest.mark.parametrize(
    "text", ["test_it(\n    n=3,\n)", "Return twice n; raises ValueError below 0.", "x" * 500, ""]
)
def test_inputs_and_what_the_contract_says_are_told(assignment: Assignment, text: str) -> None:
    """They are what a student needs."""
    outcome = ran({"test_a.py::test_it": failing(witness=text)})
    assert _told(assignment, outcome) == outcome


def test_what_the_student_wrote_is_told(assignment: Assignment) -> None:
    """Though it stands in the reference as well."""
    mine = Submission({"test_a.py": HIDDEN.encode()})
    assert not Disclosure(assignment, mine).quotes(HIDDEN)


def test_tests_whose_names_quote_hidden_code_stay_apart(assignment: Assignment) -> None:
    """And each is the same wherever it is named."""
    ids = [f"test_a.py::test_it[{HIDDEN}{number}]" for number in range(2)]
    told = _told(assignment, ran({one: failing() for one in ids}))
    assert len(set(told.tests)) == 2
    assert list(told.tests) == list(told.runs)
    assert all(one.startswith("test_a.py::quotes-code-of-the-course-") for one in told.tests)


def test_what_the_students_own_code_says_is_told(assignment: Assignment) -> None:
    """Where it is as the reference is, it is the student's all the same."""
    outcome = ran({"test_a.py::test_it": failing(message=HIDDEN)})
    assert _told(assignment, outcome, OWN) == outcome


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("test_a.py", 5, ("test_a.py", 5)),
        ("test_a.py", 90_046, (None, None)),
        ("test_a.py", 0, (None, None)),
        ("test_other.py", 1, (None, None)),
    ],
)
def test_a_place_that_is_not_in_the_submission_is_left_out(
    assignment: Assignment, file: str, line: int, told: tuple[str | None, int | None]
) -> None:
    """A number could mean anything."""
    outcome = ran({"test_a.py::test_it": failing(file=file, line=line)})
    assert _failure(_told(assignment, outcome))[3:] == told
