"""The ledger: what is kept of a student's submissions, and what isn't."""

from pathlib import Path

import pytest

from grader.ledger import Entry, Ledger
from grader.problems import Void


def entry(submission: str, *flaky: str) -> Entry:
    """Return the entry of a submission with these flaky tests."""
    return Entry(submission=submission, flaky=flaky, too_strict=())


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Return a new student's ledger."""
    return Ledger.of(tmp_path / "students", "L3.4", "ada@example.org")


def test_a_student_who_was_never_graded_has_no_entries(ledger: Ledger) -> None:
    """And nothing is made by asking."""
    assert list(ledger.entries()) == []
    assert ledger.flaky == 0
    assert not ledger.path.parent.exists()


def test_submissions_with_flaky_tests_are_counted(ledger: Ledger) -> None:
    """Those without are kept all the same."""
    for one in (entry("a", "t1", "t2"), entry("b"), entry("c", "t1")):
        ledger.note(one)
    assert ledger.flaky == 2
    assert len(list(ledger.entries())) == 3


def test_the_same_submission_counts_once(ledger: Ledger) -> None:
    """Grading again, after a fault of the machine for instance, is no further attempt."""
    ledger.note(entry("a", "t1"))
    ledger.note(entry("a", "t1"))
    assert ledger.flaky == 1


def test_students_and_assignments_are_kept_apart(tmp_path: Path) -> None:
    """And no name stands on the disk."""
    ledgers = [
        Ledger.of(tmp_path, assignment, student)
        for assignment in ("L3.3", "L3.4")
        for student in ("ada", "grace")
    ]
    ledgers[0].note(entry("a", "t1"))
    assert [one.flaky for one in ledgers] == [1, 0, 0, 0]
    assert not any("ada" in path.name for path in tmp_path.rglob("*"))


def test_a_line_that_was_cut_off_spoils_no_other(ledger: Ledger) -> None:
    """The machine may have lost its power."""
    ledger.note(entry("a", "t1"))
    with ledger.path.open("a") as file:
        file.write('{"submission": "b", "fl\n')
    ledger.note(entry("c", "t1"))
    assert ledger.flaky == 2


def test_what_a_full_disk_cut_off_takes_nothing_with_it(ledger: Ledger) -> None:
    """The next entry doesn't go on where the last one broke off."""
    ledger.note(entry("a", "t1"))
    whole = ledger.path.read_text(encoding="utf-8")
    ledger.path.write_text(whole + whole.replace("a", "b")[:20], encoding="utf-8")
    ledger.note(entry("c", "t1"))
    assert [one.submission for one in ledger.entries()] == ["a", "c"]


def test_an_entry_that_was_cut_off_within_a_letter_stops_no_grading(ledger: Ledger) -> None:
    """Names of tests may have letters of several bytes."""
    ledger.note(entry("a", "test_größe"))
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + whole.replace(b'"a"', b'"b"').partition(b"\xb6")[0])
    ledger.note(entry("c", "t1"))
    assert [one.submission for one in ledger.entries()] == ["a", "c"]
    assert ledger.flaky == 2


def test_a_ledger_that_can_not_be_written_is_named(ledger: Ledger) -> None:
    """It is the machine's fault, and no submission's."""
    ledger.path.parent.write_text("a file", encoding="utf-8")
    with pytest.raises(Void, match=r"can't keep.*students/L3\.4-.*make room") as caught:
        ledger.note(entry("a"))
    assert caught.value.fault == "machine"
