"""Cells and their chains: what a run leaves open, the next one settles."""

from collections.abc import Callable

import pytest

from grader.cells import (
    LONGEST_CHAIN,
    OWN,
    REFERENCE,
    Cell,
    Variant,
    after_calibration,
    after_control,
    after_look,
    again,
    chain,
)
from grader.outcome import End, Failure, Outcome, Unreadable

LOOK = Cell(purpose="look")
CALIBRATION = Cell(purpose="calibration", draw=1)
CONTROL = Cell(purpose="control", draw=1)
A, B = "test_a.py::a", "test_a.py::b"


def ended(end: End, at: str | None = None, **facts: object) -> Outcome:
    """Return an outcome that had collected its tests."""
    return Outcome.model_validate({"end": end, "at": at, "collected": True, **facts})


def reading(end: End, at: str | None = None, *broken: str) -> Outcome:
    """Return an outcome that ended before its tests were collected."""
    failure = Failure(kind="ordinary", exception="E")
    unreadable = tuple(Unreadable(path=path, failure=failure) for path in broken)
    return Outcome(end=end, at=at, unreadable=unreadable)


def test_equal_cells_are_the_same_run() -> None:
    """They are keys of what is known."""
    assert {CONTROL: 1}[Cell(purpose="control", draw=1)] == 1
    assert CONTROL.but(number=1) != CONTROL
    assert CONTROL.but(number=1).but(number=0) == CONTROL
    assert CONTROL.variant == REFERENCE != OWN


def test_a_cell_survives_the_way_to_disk_and_back() -> None:
    """The journal relies on it, for lists as for texts."""
    cell = Cell(
        purpose="mutant",
        variant=Variant(kind="mutant", id="s01"),
        without=("a.py",),
        skip=(A,),
        last=(B, A),
    )
    assert Cell.model_validate_json(cell.model_dump_json()) == cell


@pytest.mark.parametrize("follow", [after_look, after_calibration, after_control])
@pytest.mark.parametrize("end", [End.COMPLETE, End.FAULT])
def test_a_run_that_is_whole_or_the_machines_fault_ends_its_chain(
    follow: Callable[[Cell, Outcome], Cell | None], end: End
) -> None:
    """One leaves nothing open, the other nothing to build on."""
    assert follow(CONTROL, ended(end, A)) is None


def test_another_attempt_is_made_only_so_often() -> None:
    """Once beside the first, unless said otherwise."""
    second = again(CONTROL)
    assert second == CONTROL.but(attempt=1)
    assert again(CONTROL.but(attempt=1)) is None
    assert again(CONTROL.but(attempt=1), most=2) == CONTROL.but(attempt=2)


class TestAChain:
    """Cells that have run, each because of the one before."""

    def test_its_first_cell_is_missing_at_first(self) -> None:
        """Nothing has run."""
        found = chain(CONTROL, {}, after_control)
        assert (found.seen, found.next) == ((), CONTROL)

    def test_it_goes_on_as_far_as_it_has_run(self) -> None:
        """The next cell follows from the last outcome."""
        crashed = ended(End.CRASH, A)
        found = chain(CONTROL, {CONTROL: crashed}, after_control)
        assert found.seen == ((CONTROL, crashed),)
        assert found.next == CONTROL.but(last=(A,))
        assert found.last == (CONTROL, crashed)

    def test_it_ends_with_a_whole_run(self) -> None:
        """Nothing is missing then."""
        outcomes = {
            CONTROL: ended(End.CRASH, A),
            CONTROL.but(last=(A,)): ended(End.COMPLETE),
        }
        found = chain(CONTROL, outcomes, after_control)
        assert found.next is None
        assert [cell for cell, _ in found.seen] == list(outcomes)

    def test_it_has_a_longest_length(self) -> None:
        """A suite of many crashing tests ends, too."""
        calls = []

        def follow(cell: Cell, outcome: Outcome) -> Cell:
            del outcome
            calls.append(cell)
            return cell

        found = chain(CONTROL, {CONTROL: ended(End.CRASH)}, follow)
        assert found.next is None
        assert len(found.seen) == len(calls) == LONGEST_CHAIN


class TestAfterALook:
    """A file whose inspection ends the interpreter is left out of the next look."""

    def test_the_file_that_was_read_is_left_out(self) -> None:
        """One after the other."""
        second = after_look(LOOK, reading(End.CRASH, "a.py"))
        assert second == LOOK.but(without=("a.py",))
        assert after_look(second, reading(End.TIMEOUT, "b.py")) == LOOK.but(
            without=("a.py", "b.py")
        )

    def test_with_no_file_to_blame_it_is_tried_again_once(self) -> None:
        """Then it is given up."""
        second = after_look(LOOK, reading(End.CRASH))
        assert second == LOOK.but(attempt=1)
        assert after_look(second, reading(End.CRASH)) is None


class TestAfterACalibration:
    """What ends it runs last in the next, and then not at all."""

    def test_a_test_that_ends_it_runs_last(self) -> None:
        """So that the others are seen."""
        assert after_calibration(CALIBRATION, ended(End.CRASH, A)) == CALIBRATION.but(last=(A,))

    def test_a_test_that_ends_it_when_run_last_is_left_out(self) -> None:
        """It can't be run at all."""
        second = CALIBRATION.but(last=(A, B))
        third = after_calibration(second, ended(End.TIMEOUT, A))
        assert third == CALIBRATION.but(last=(B,), skip=(A,))

    def test_files_that_can_not_be_read_are_left_out_where_nothing_was_collected(self) -> None:
        """As pytest gives up at a conftest.py; sorted, so that the cell is always the same."""
        outcome = reading(End.CRASH, None, "b/conftest.py", "a/conftest.py")
        assert after_calibration(CALIBRATION, outcome) == CALIBRATION.but(
            without=("a/conftest.py", "b/conftest.py")
        )

    def test_a_file_that_is_left_out_already_is_not_left_out_twice(self) -> None:
        """A cell that says so lies; the chain goes on as if it had not."""
        cell = CALIBRATION.but(without=("a.py",))
        assert after_calibration(cell, reading(End.CRASH, None, "a.py")) == cell.but(attempt=1)

    def test_a_file_that_ends_it_twice_while_it_is_read_is_left_out(self) -> None:
        """Once might have been the machine."""
        second = after_calibration(CALIBRATION, reading(End.CRASH, "a.py"))
        assert second == CALIBRATION.but(attempt=1)
        assert after_calibration(second, reading(End.CRASH, "a.py")) == CALIBRATION.but(
            without=("a.py",)
        )

    def test_a_file_that_can_not_be_read_beside_tests_changes_nothing(self) -> None:
        """The others were collected."""
        failure = Failure(kind="ordinary", exception="E")
        outcome = ended(End.CRASH, A, unreadable=(Unreadable(path="b.py", failure=failure),))
        assert after_calibration(CALIBRATION, outcome) == CALIBRATION.but(last=(A,))

    @pytest.mark.parametrize("outcome", [ended(End.CRASH), ended(End.GARBLED, A)])
    def test_with_nobody_to_blame_it_is_tried_again_once(self, outcome: Outcome) -> None:
        """Who forges a report can forge whom it names."""
        second = after_calibration(CALIBRATION, outcome)
        assert second == CALIBRATION.but(attempt=1)
        assert after_calibration(second, outcome) is None

    def test_a_suite_that_takes_too_long_in_all_is_not_run_again(self) -> None:
        """The test that happened to run then is not to blame."""
        outcome = ended(End.TIMEOUT, A, ran_out=True)
        assert after_calibration(CALIBRATION, outcome) is None

    def test_every_step_of_a_hopeless_suite_is_another_cell(self) -> None:
        """Until nothing is left to leave out, or the chain is at its longest."""
        outcomes: dict[Cell, Outcome] = {}
        tests = [f"test_a.py::{n}" for n in range(3)]
        cell: Cell | None = CALIBRATION
        while cell is not None:
            order = [t for t in tests if t not in (*cell.skip, *cell.last)] + list(cell.last)
            outcomes[cell] = ended(End.CRASH, order[0]) if order else ended(End.COMPLETE)
            cell = chain(CALIBRATION, outcomes, after_calibration).next
        last, outcome = chain(CALIBRATION, outcomes, after_calibration).last
        assert outcome.end is End.COMPLETE
        assert set(last.skip) == set(tests)


class TestAfterAControl:
    """A test that ends a run runs last in the next, so that it hides no other's result."""

    def test_a_test_that_ends_it_runs_last(self) -> None:
        """After those that ran last already."""
        second = after_control(CONTROL, ended(End.TIMEOUT, A))
        assert second == CONTROL.but(last=(A,))
        assert after_control(second, ended(End.CRASH, B)) == CONTROL.but(last=(A, B))

    def test_a_test_that_ends_it_when_run_last_has_told_all_it_can(self) -> None:
        """It is seen twice."""
        assert after_control(CONTROL.but(last=(A,)), ended(End.TIMEOUT, A)) is None

    @pytest.mark.parametrize(
        "outcome",
        [ended(End.CRASH), ended(End.GARBLED, A), reading(End.CRASH, "a.py"), ended(End.STOPPED)],
    )
    def test_with_no_test_to_blame_it_is_tried_again_once(self, outcome: Outcome) -> None:
        """Then it stays as it is."""
        second = after_control(CONTROL, outcome)
        assert second == CONTROL.but(attempt=1)
        assert after_control(second, outcome) is None
