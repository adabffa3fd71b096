"""The journal: outcomes outlive their grading, and nothing but whole outcomes is believed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cells import OWN, Cell, Variant
from grader.journal import Journal
from grader.outcome import End, Failure, Outcome, Phase, TestRun

CELL = Cell(purpose="control", draw=3)
COMPLETE = Outcome(end=End.COMPLETE, tests=("test_a.py::test_it",), collected=True, seconds=1.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a journal will lie, in a folder that is not there yet."""
    return tmp_path / "runs" / "journal.jsonl"


def kept(path: Path) -> dict[Cell, Outcome]:
    """Return what a journal finds."""
    with Journal(path) as journal:
        return journal.outcomes


def write(path: Path, *pairs: tuple[Cell, Outcome]) -> None:
    """Write a journal."""
    with Journal(path) as journal:
        for cell, outcome in pairs:
            journal.append(cell, outcome)


def test_a_new_journal_is_empty(path: Path) -> None:
    """Its folder is made."""
    assert kept(path) == {}
    assert path.is_file()


def test_what_was_appended_is_found_again(path: Path) -> None:
    """In the order in which it came, every field of it."""
    run = TestRun(
        phases=(
            Phase(
                id="test_a.py::test_it",
                when="call",
                outcome="failed",
                expected_to_fail=False,
                failure=Failure(kind="ordinary", exception="E", message="ünï\n", line=3),
            ),
        ),
        seconds=0.25,
    )
    full = COMPLETE.model_copy(update={"runs": {"test_a.py::test_it": run}, "left_out": 2})
    other = Cell(
        purpose="mutant",
        variant=Variant(kind="mutant", id="s01"),
        attempt=1,
        skip=("test_a.py::test_b",),
        last=("test_a.py::test_c",),
    )
    write(path, (CELL, full), (other, COMPLETE))
    assert list(kept(path).items()) == [(CELL, full), (other, COMPLETE)]


def test_an_outcome_is_known_as_soon_as_it_is_appended(path: Path) -> None:
    """And is on disk before anything is made of it."""
    with Journal(path) as journal:
        journal.append(CELL, COMPLETE)
        assert journal.outcomes == {CELL: COMPLETE}
        assert path.read_bytes().endswith(b"\n")


def test_a_journal_grows_over_several_gradings(path: Path) -> None:
    """A grading that was interrupted goes on where it was."""
    write(path, (CELL, COMPLETE))
    write(path, (CELL.but(draw=4), COMPLETE))
    assert list(kept(path)) == [CELL, CELL.but(draw=4)]


@pytest.mark.parametrize("end", [End.TIMEOUT, End.FAULT])
def test_what_the_machine_may_have_spoiled_is_written_but_not_found_again(
    path: Path, end: End
) -> None:
    """A busy machine must not be remembered against a student."""
    with Journal(path) as journal:
        journal.append(CELL, Outcome(end=end))
        assert journal.outcomes[CELL].end is end
    assert kept(path) == {}
    assert end.value.encode() in path.read_bytes()


@pytest.mark.parametrize("end", [End.COMPLETE, End.STOPPED, End.CRASH, End.GARBLED])
def test_every_other_end_is_found_again(path: Path, end: End) -> None:
    """It would come again."""
    write(path, (CELL, Outcome(end=end)))
    assert kept(path)[CELL].end is end


def test_a_later_outcome_of_a_cell_takes_the_place_of_an_earlier_one(path: Path) -> None:
    """As after a timeout that did not come again."""
    write(path, (CELL, Outcome(end=End.TIMEOUT)))
    write(path, (CELL, COMPLETE))
    assert kept(path) == {CELL: COMPLETE}


@pytest.mark.parametrize("lost", [1, 2, 30])
def test_a_line_that_was_cut_off_is_ignored_and_removed(path: Path, lost: int) -> None:
    """A crash in the middle of writing spoils neither what was before nor what comes after."""
    write(path, (CELL, COMPLETE), (CELL.but(draw=4), COMPLETE))
    path.write_bytes(path.read_bytes()[:-lost])
    assert list(kept(path)) == [CELL]
    write(path, (CELL.but(draw=5), COMPLETE))
    assert list(kept(path)) == [CELL, CELL.but(draw=5)]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"junk",
        b"\xff\xfe",
        b"{}",
        b'{"cell": {}, "outcome": {}}',
        b'{"cell": {"purpose": "control"}, "outcome": {"end": "victory"}}',
        b'{"cell": {"purpose": "control"}, "outcome": {"end": "complete", "grade": 1}}',
        b'{"cell": {"purpose": "party"}, "outcome": {"end": "complete"}}',
        b"[" * 10_000,
    ],
)
def test_a_foreign_line_is_ignored(path: Path, line: bytes) -> None:
    """Of another version, or of no version at all."""
    write(path, (CELL, COMPLETE))
    path.write_bytes(line + b"\n" + path.read_bytes() + line + b"\n")
    assert kept(path) == {CELL: COMPLETE}


@given(st.binary(max_size=200))
def test_no_content_of_the_file_stops_a_grading(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    """The worst is to run again."""
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    path.write_bytes(content)
    assert kept(path) == {}
    write(path, (CELL, COMPLETE))
    assert kept(path) == {CELL: COMPLETE}


def test_a_fresh_journal_forgets_what_was(path: Path) -> None:
    """As `--no-cache` asks for."""
    write(path, (CELL, COMPLETE))
    with Journal(path, fresh=True) as journal:
        assert journal.outcomes == {}
    assert kept(path) == {}


def test_a_journal_that_another_grading_holds_is_read_and_not_written(path: Path) -> None:
    """Two gradings of one submission do not mix their lines."""
    with Journal(path) as first:
        first.append(CELL, COMPLETE)
        before = path.read_bytes()
        with Journal(path) as second:
            assert second.outcomes == {CELL: COMPLETE}
            second.append(CELL.but(draw=4), COMPLETE)
            assert CELL.but(draw=4) in second.outcomes
        assert path.read_bytes() == before
        first.append(CELL.but(draw=5), COMPLETE)
    assert list(kept(path)) == [CELL, CELL.but(draw=5)]


def test_a_fresh_journal_leaves_alone_what_another_grading_holds(path: Path) -> None:
    """It starts empty all the same."""
    with Journal(path) as first:
        first.append(CELL, COMPLETE)
        with Journal(path, fresh=True) as second:
            assert second.outcomes == {}
    assert kept(path) == {CELL: COMPLETE}


def test_half_a_line_that_another_grading_is_writing_is_left_alone(path: Path) -> None:
    """Only its owner may cut it."""
    write(path, (CELL, COMPLETE))
    with Journal(path), path.open("ab") as other:
        other.write(b'{"cell"')
        other.flush()
        with Journal(path) as second:
            assert list(second.outcomes) == [CELL]
        assert path.read_bytes().endswith(b'{"cell"')


def test_the_lock_ends_with_the_journal(path: Path) -> None:
    """The next grading may write again."""
    write(path, (CELL, COMPLETE))
    write(path, (Cell(purpose="own", variant=OWN), COMPLETE))
    assert len(kept(path)) == 2
