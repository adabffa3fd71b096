"""Twins, repetitions and sightings in whole gradings, against a simulated lab."""

from collections import Counter
from typing import Any

import pytest

from grader.cells import REFERENCE, Cell
from grader.knowledge import Knowledge
from grader.outcome import End
from grader.policy import policy
from grader.verdict import Result

from .facts import mutant
from .simulated import (
    GENERATED,
    GOOD,
    NAMED,
    SETTINGS,
    Deed,
    Sim,
    SimulatedLab,
    cells,
    judgement,
    on,
    results,
    solved,
)

ONCE = SETTINGS.model_copy(update={"controls": 1})
PRACTICE = {"policy": policy("practice", ONCE), "twins": ("a", "b")}
TWINS = tuple(f"twin-{number}" for number in range(11))
AUTHORITATIVE = {"policy": policy("authoritative", ONCE), "twins": TWINS}
HUNDRED = tuple(mutant(id=f"m-{number}") for number in range(100))
FIRST = SETTINGS.draws[0]


def practised(*tests: Sim, **facts: Any) -> tuple[Knowledge, SimulatedLab]:
    """Grade as at home."""
    return solved(*tests, asked=PRACTICE, **facts)


def graded(*tests: Sim, **facts: Any) -> tuple[Knowledge, SimulatedLab]:
    """Grade as where it counts."""
    return solved(*tests, asked=AUTHORITATIVE, **facts)


class TestRightCells:
    """The reference and its twins, mixed among the mutants."""

    def test_each_twin_of_the_policy_is_run_in_the_blind_batch(self) -> None:
        """Once, at the first draw."""
        known, lab = graded(GOOD)
        kinds = Counter(cell.variant.kind for cell in lab.batches[2])
        assert (kinds["reference"], kinds["twin"], kinds["saboteur"]) == (1, 11, 3)
        assert {cell.variant.id for cell in cells(known, "control", draw=FIRST)} == {"", *TWINS}

    def test_a_further_draw_asks_for_all_of_them_again(self) -> None:
        """A kill at that draw counts for nobody else."""
        known, _ = graded(Sim("weak", at={("s01", 22): "fail"}), mutants=(NAMED,))
        assert len(cells(known, "control", draw=22)) == 12
        assert results(known) == {"s01": Result.KILLED}

    def test_a_test_that_fails_on_twins_is_repeated_and_too_strict(self) -> None:
        """One repetition is enough, and nothing is killed by it."""
        strict = Sim("strict", on_twins="fail", on={"s01": "fail"})
        known, _ = practised(strict, Sim("idle"), mutants=(NAMED,))
        assert judgement(known)[0][strict.id] == "too_strict"
        assert results(known) == {"s01": Result.SURVIVED}
        numbers = Counter(cell.number for cell in cells(known, "control", draw=FIRST))
        assert numbers == {0: 3, 1: 1}

    def test_a_test_that_passed_in_the_calibration_and_fails_on_the_reference_is_flaky(
        self,
    ) -> None:
        """It needs no repetition: the calibration was one."""
        unlucky, wrong = Sim("unlucky", fails_on=frozenset({0, 1})), Sim("wrong", at_home="fail")
        known, _ = practised(unlucky, wrong, GOOD)
        expected = {unlucky.id: "flaky", wrong.id: "invalid", GOOD.id: "valid"}
        assert judgement(known)[0] == expected
        assert not cells(known, "control", draw=FIRST, number=1)

    def test_a_test_that_fails_on_the_reference_at_a_further_draw_is_repeated_there(self) -> None:
        """With one run on it, a wrong test and a flaky one look alike."""

        def unlucky(cell: Cell) -> Deed:
            return (
                "fail" if (cell.purpose, cell.draw, cell.number) == ("control", 22, 0) else "pass"
            )

        wrong = Sim("wrong", fails_at=frozenset({22}))
        known, _ = practised(wrong, Sim("unlucky", chance=unlucky), mutants=(NAMED,))
        assert judgement(known)[0] == {wrong.id: "invalid", "test_a.py::unlucky": "flaky"}
        (again,) = cells(known, "control", draw=22, number=1, variant=REFERENCE)
        assert known.outcomes[again].end is End.COMPLETE

    def test_a_suite_of_tests_that_touch_nothing_is_graded_and_catches_nothing(self) -> None:
        """It is weak, and not broken."""
        known, _ = practised(Sim("idle", on_saboteurs="pass"), mutants=(NAMED,))
        assert judgement(known)[0] == {"test_a.py::idle": "vacuous"}


class TestSightings:
    """How often a kill is seen before it counts, each time in another text."""

    def test_a_required_kill_is_seen_three_times(self) -> None:
        """Others once, where there are enough of them."""
        honest = Sim("honest", on=dict.fromkeys(("s01", *(m.id for m in HUNDRED)), "fail"))
        known, _ = graded(honest, mutants=(NAMED, *HUNDRED))
        assert sorted(cell.number for cell in on(known, "s01")) == [0, 1, 2]
        assert {len(on(known, one.id)) for one in HUNDRED} == {1}

    @pytest.mark.parametrize(("caught", "times"), [(79, 1), (80, 5), (87, 5), (88, 1)])
    def test_a_count_that_barely_reaches_the_threshold_is_seen_five_times(
        self, caught: int, times: int
    ) -> None:
        """One that doesn't, or with eight to spare, needs it not."""
        honest = Sim("honest", on=dict.fromkeys([m.id for m in HUNDRED[:caught]], "fail"))
        known, _ = graded(honest, mutants=HUNDRED)
        assert {len(on(known, one.id)) for one in HUNDRED[:caught]} == {times}
        assert {len(on(known, one.id)) for one in HUNDRED[caught:]} == {1}

    def test_the_other_sightings_are_asked_for_at_once(self) -> None:
        """So that a batch doesn't tell what an earlier one found."""
        _, lab = graded(GOOD, mutants=(NAMED,))
        assert {cell.number for cell in lab.batches[3] if cell.purpose == "mutant"} == {1, 2, 3, 4}

    def test_a_sighting_goes_on_until_the_test_that_it_asks_about_has_run(self) -> None:
        """Another's failure is no answer."""

        def fickle(cell: Cell) -> Deed:
            return "fail" if cell.purpose == "mutant" and cell.number > 0 else "pass"

        first = Sim("a_fickle", chance=fickle)
        known, _ = graded(first, Sim("honest", on={"s01": "fail"}), mutants=(NAMED,))
        assert judgement(known)[0][first.id] == "flaky"
        assert judgement(known)[1]["s01"].killed_by == ("test_a.py::honest",)

    def test_a_test_that_does_not_fail_again_is_flaky_and_kills_nothing(self) -> None:
        """Whatever it failed on."""

        def once(cell: Cell) -> Deed:
            return "fail" if cell.purpose == "mutant" and cell.number == 0 else "pass"

        known, _ = graded(Sim("once", chance=once), Sim("idle"), mutants=(NAMED,))
        assert judgement(known)[0]["test_a.py::once"] == "flaky"
        assert results(known) == {"s01": Result.SURVIVED}

    def test_a_kill_that_a_crash_hides_from_then_on_is_an_error(self) -> None:
        """It was not seen often enough, and neither was it refuted."""

        def hidden(cell: Cell) -> Deed:
            if cell.purpose != "mutant":
                return "pass"
            return "fail" if cell.number == 0 else "crash"

        known, _ = graded(Sim("hidden", chance=hidden), mutants=(NAMED,))
        verdict = judgement(known)[1]["s01"]
        assert verdict.result is Result.ERROR

    def test_a_kill_at_import_is_seen_as_often_as_any_other(self) -> None:
        """Each time in another text."""
        suite = {"imports": {("test_a.py", "s01"): "raise"}}
        known, _ = graded(Sim("t"), mutants=(NAMED,), **suite)
        assert results(known) == {"s01": Result.KILLED}
        assert len(on(known, "s01")) >= 3

    def test_at_home_one_sighting_is_enough(self) -> None:
        """For speed."""
        known, _ = practised(GOOD, mutants=(NAMED, GENERATED))
        assert [len(on(known, name)) for name in ("s01", "m-01")] == [1, 1]
        assert all(known.outcomes[cell].end is End.STOPPED for cell in on(known, "s01"))

    def test_tests_that_contradict_themselves_make_all_kills_harder(self) -> None:
        """Where some coins were seen, others will have had luck."""
        coins = [
            Sim(f"coin{n}", chance=lambda cell, n=n: _toss(cell, n))  # type: ignore[misc] # a default binds n
            for n in range(5)
        ]
        known, _ = graded(*coins, GOOD, mutants=(NAMED,))
        assert max(cell.number for cell in on(known, "s01")) > 2
        assert results(known) == {"s01": Result.KILLED}


def _toss(cell: Cell, number: int) -> Deed:
    twin = cell.variant.id == TWINS[number]
    return "fail" if twin and cell.number == 0 else "pass"
