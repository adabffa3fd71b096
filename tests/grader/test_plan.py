"""What runs next, against a simulated lab: it ends, it is fair, and it costs what it must."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.cells import LONGEST_CHAIN, Cell
from grader.knowledge import Knowledge
from grader.outcome import End, Outcome
from grader.plan import next_cells
from grader.verdict import Result

from .facts import mutant
from .simulated import (
    GENERATED,
    GOOD,
    LOOP,
    MUTANTS,
    NAMED,
    NAMES,
    OTHER,
    POLICY,
    SETTINGS,
    Deed,
    Sim,
    SimulatedLab,
    Suite,
    cells,
    judgement,
    on,
    request,
    results,
    solved,
)

KILLED, SURVIVED, TIMEOUT = Result.KILLED, Result.SURVIVED, Result.TIMEOUT


class TestOrder:
    """First a look, then a calibration, then controls and mutants mixed, then confirmations."""

    def test_a_look_and_a_calibration_come_first(self) -> None:
        """Order, exclusions and limits come from them; the canary says whether all is well."""
        _, lab = solved(GOOD)
        assert [[cell.purpose for cell in batch] for batch in lab.batches[:2]] == [
            ["look", "canary", "canary"],
            ["calibration"],
        ]

    def test_then_all_mutants_among_all_controls(self) -> None:
        """In one batch, so that none is told by when it runs."""
        _, lab = solved(GOOD)
        counts = Counter(cell.purpose for cell in lab.batches[2])
        expected = {"control": POLICY.references, "saboteur": 3, "mutant": len(MUTANTS)}
        assert counts == expected

    def test_the_students_own_code_is_run_once_if_there_is_some(self) -> None:
        """In the same batch, and not again for confirmations or draws."""
        suite = Suite((GOOD, Sim("bad", on={"m-02": "hang"})))
        lab = SimulatedLab(suite)
        known = lab.solve(request(suite, MUTANTS, SETTINGS, has_own_implementation=True))
        assert len(cells(known, "own")) == 1
        assert "own" in {cell.purpose for cell in lab.batches[2]}

    @settings(max_examples=20, deadline=None)
    @given(st.text(max_size=5), st.randoms(use_true_random=False))
    def test_the_shuffle_depends_on_the_seed_only(self, seed: str, chance: random.Random) -> None:
        """Not on the machine, nor on the order in which outcomes came."""
        suite = Suite((GOOD, Sim("slow", on={"m-02": "hang"})))
        asked = request(suite, MUTANTS, SETTINGS, shuffle=seed)
        lab = SimulatedLab(suite)
        whole = lab.solve(asked).outcomes
        known: list[tuple[Cell, Outcome]] = []
        for batch in lab.batches:
            assert next_cells(asked, dict(known)) == batch
            known += [(cell, whole[cell]) for cell in batch]
            chance.shuffle(known)
        assert next_cells(asked, dict(known)) == []

    def test_another_seed_gives_another_order_of_the_same_cells(self) -> None:
        """Of the blind batch."""
        suite = Suite((GOOD,))
        orders = set()
        for seed in "abcdef":
            lab = SimulatedLab(suite)
            lab.solve(request(suite, MUTANTS, SETTINGS, shuffle=seed))
            orders.add(tuple(lab.batches[2]))
        assert len(orders) > 1
        assert len({frozenset(order) for order in orders}) == 1

    def test_nothing_runs_where_nothing_can(self) -> None:
        """No file, no test file, no test, none that can be run, none that is allowed."""
        for suite in (
            Suite(()),
            Suite((), others=("helper.py",)),
            Suite((), others=("test_empty.py",)),
            Suite((Sim("stuck", at_home="hang"),)),
            Suite((Sim("good"),), looks={"test_a.py": "os"}),
            Suite((Sim("good"),), looks={"test_a.py": "crash"}),
            Suite((Sim("good"),), imports={("test_a.py", ""): "raise"}),
            Suite((Sim("good"),), imports={("test_a.py", ""): "hang"}),
        ):
            known = SimulatedLab(suite).solve(request(suite, MUTANTS, SETTINGS))
            assert {cell.purpose for cell in known.outcomes} <= {"look", "canary", "calibration"}
            assert not known.valid
            assert set(results(known).values()) == {Result.NOT_RUN}

    def test_no_mutant_runs_where_no_test_holds(self) -> None:
        """The controls say so for certain."""
        known, _ = solved(Sim("wrong", at_home="fail"), Sim("idle", at_home="skip"))
        assert len(cells(known, "control")) == POLICY.references
        assert not cells(known, "mutant")


def plain(cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what every run must have in common."""
    return cell.without, cell.skip


class TestFairness:
    """A run can't be told from another by how it is run."""

    SUITE = (
        GOOD,
        Sim("slow", on={"m-02": "hang"}),
        Sim("wild", on={"m-02": "crash"}),
        Sim("gone", at_home="crash"),
        Sim("coin", fails_on=frozenset({1}), on={"m-02": "fail"}),
    )

    def test_every_cell_after_the_calibration_has_the_same_files_and_tests(self) -> None:
        """Those that can't be run are left out of all."""
        known, _ = solved(*self.SUITE, imports={("test_b.py", ""): "raise"}, others=("test_b.py",))
        found = [*cells(known, "control"), *cells(known, "mutant")]
        assert {plain(cell) for cell in found} == {(("test_b.py",), ("test_a.py::gone",))}

    def test_every_order_of_a_mutants_run_is_also_that_of_a_control(self) -> None:
        """Planned in the same batch, unless it was before."""
        _, lab = solved(*self.SUITE)
        known: set[tuple[int, tuple[str, ...]]] = set()
        confirmed = 0
        for batch in lab.batches[2:]:
            known |= {(cell.draw, cell.last) for cell in batch if cell.purpose == "control"}
            orders = [(cell.draw, cell.last) for cell in batch if cell.purpose == "mutant"]
            assert set(orders) <= known
            confirmed += sum(bool(last) for _, last in orders)
        assert confirmed > 0

    def test_the_reference_runs_as_often_as_the_policy_says_at_each_draw_that_is_used(self) -> None:
        """And not at the others."""
        for catches, used in (({}, 3), ({("s01", 22): "fail"}, 2), ({("s01", 11): "fail"}, 1)):
            at = cast(Mapping[tuple[str, int], Deed], catches)
            known, _ = solved(Sim("late", at=at), mutants=(NAMED, GENERATED))
            for index, draw in enumerate(SETTINGS.draws):
                numbers = {cell.number for cell in cells(known, "control", draw=draw)}
                assert len(numbers) == (POLICY.references if index < used else 0)

    def test_equal_cells_are_never_run_twice(self) -> None:
        """The lab itself refuses to."""
        _, lab = solved(*self.SUITE)
        found = [cell for batch in lab.batches for cell in batch]
        assert len(set(found)) == len(found)


class TestDraws:
    """Required mutants that are alive get the further draws."""

    def test_only_required_ones_do(self) -> None:
        """A generated one gets the first."""
        known, _ = solved(Sim("idle"))
        draws = {name: [cell.draw for cell in on(known, name)] for name in NAMES}
        assert draws == {"s01": [11, 22, 33], "s02": [11, 22, 33], "m-01": [11], "m-02": [11]}

    def test_only_those_that_are_still_alive_do(self) -> None:
        """One is caught at the second draw, one never."""
        known, _ = solved(Sim("late", at={("s01", 22): "fail"}))
        assert [cell.draw for cell in on(known, "s01")] == [11, 22]
        assert [cell.draw for cell in on(known, "s02")] == [11, 22, 33]
        assert results(known)["s01"] is KILLED

    def test_one_that_is_said_to_hang_and_does_needs_no_more(self) -> None:
        """It is caught."""
        loop = mutant(required=True, id="s01", hangs=True)
        known, _ = solved(Sim("slow", on={"s01": "hang"}), mutants=(loop,))
        assert {cell.draw for cell in on(known, "s01")} == {11}
        assert results(known) == {"s01": KILLED}

    def test_a_test_that_fails_on_the_reference_at_a_later_draw_counts_at_none(self) -> None:
        """What it caught at the first draw is alive again, and gets the other draws."""
        wrong = Sim("wrong", fails_at=frozenset({22}), on={"s01": "fail"})
        known, _ = solved(wrong, Sim("idle"), mutants=(NAMED, OTHER))
        assert judgement(known)[0]["test_a.py::wrong"] == "invalid"
        assert results(known) == {"s01": SURVIVED, "s02": SURVIVED}
        assert [cell.draw for cell in on(known, "s01", attempt=1)] == [11, 22, 33][:1]
        assert {cell.draw for cell in on(known, "s01")} == {11, 22, 33}

    def test_a_draw_that_nobody_needs_voids_no_test(self) -> None:
        """It is not looked at."""
        wrong = Sim("wrong", fails_at=frozenset({22}), on={"s01": "fail"})
        known, _ = solved(wrong, mutants=(NAMED,))
        assert results(known) == {"s01": KILLED}

    @pytest.mark.parametrize("controls_first", [True, False])
    def test_the_controls_of_a_draw_are_completed_even_if_all_is_caught_meanwhile(
        self, controls_first: bool
    ) -> None:
        """A grading that was interrupted there must not miss that the catcher is wrong."""
        wrong = Sim("wrong", at={("s01", 22): "fail"}, fails_at=frozenset({22}))
        suite = Suite((wrong, Sim("idle")))
        asked = request(suite, (NAMED,), SETTINGS)
        lab = SimulatedLab(suite)
        outcomes: dict[Cell, Any] = {}
        while (batch := next_cells(asked, outcomes))[0].draw != 22:
            outcomes |= {cell: lab.run(cell) for cell in batch}
        batch.sort(key=lambda cell: (cell.purpose == "control") is not controls_first)
        outcomes[batch[0]] = lab.run(batch[0], Knowledge(asked, dict(outcomes)).enough)
        assert results(lab.solve(asked, outcomes)) == {"s01": SURVIVED}


class TestHanging:
    """Tests that hang or crash hide no other, and cost a bounded number of runs."""

    @pytest.mark.parametrize("deed", ["hang", "crash"])
    def test_on_the_reference_they_are_left_out_after_a_confirmation(self, deed: Deed) -> None:
        """The others are graded."""
        ending = [Sim(f"end{n}", at_home=deed) for n in range(5)]
        known, _ = solved(*ending[:3], GOOD, *ending[3:])
        found, _ = judgement(known)
        assert found == {
            **{test.id: "broken" for test in ending},
            GOOD.id: "valid",
        }
        assert len(cells(known, "calibration")) == 11
        for test in ending:
            tried = [one for one in known.outcomes.values() if one.at == test.id]
            assert len(tried) == 2

    def test_on_the_reference_once_is_not_enough_to_be_left_out(self) -> None:
        """The machine may have been busy."""
        once = Sim("once", chance=lambda cell: "hang" if _first_calibration(cell) else "pass")
        known, _ = solved(once, GOOD)
        assert judgement(known)[0] == {once.id: "valid", GOOD.id: "valid"}

    @pytest.mark.parametrize("number", [1, 6, 40])
    @pytest.mark.parametrize("home", ["hang", "crash", "pass"])
    def test_any_number_of_them_costs_a_bounded_number_of_runs(
        self, number: int, home: Deed
    ) -> None:
        """On the reference, and where all tests hang on a mutant."""
        on_mutants = cast(Mapping[str, Deed], dict.fromkeys(NAMES, "hang"))
        tests = [Sim(f"t{n}", at_home=home, on=on_mutants) for n in range(number)]
        known, lab = solved(*tests)
        chains = 1 + POLICY.references * 3 + 2 * 3 + 2
        assert len(known.outcomes) <= 1 + LONGEST_CHAIN * 2 * chains
        assert len(lab.batches) <= 2 + LONGEST_CHAIN * 4
        if home == "pass":
            expected = {"s01": TIMEOUT, "s02": TIMEOUT, "m-01": TIMEOUT, "m-02": KILLED}
            assert results(known) == expected
        else:
            assert set(judgement(known)[0].values()) == {"broken"}

    @pytest.mark.parametrize("deed", ["hang", "crash"])
    def test_on_a_mutant_they_hide_no_killer(self, deed: Deed) -> None:
        """Whether they count or not."""
        first = Sim("first", on={"s01": deed})
        void = Sim("void", at_home="fail", on={"s01": deed})
        known, _ = solved(first, void, GOOD, mutants=(NAMED,))
        assert results(known) == {"s01": KILLED}

    @pytest.mark.parametrize("deed", ["hang", "crash"])
    def test_on_a_mutant_void_ones_do_not_decide(self, deed: Deed) -> None:
        """All tests that count passed."""
        void = Sim("void", at_home="fail", on=dict.fromkeys(NAMES, deed))
        known, _ = solved(void, Sim("idle"))
        assert set(results(known).values()) == {SURVIVED}

    def test_on_a_mutant_void_ones_hide_no_hang_of_one_that_counts(self) -> None:
        """They run after it."""
        void = [Sim(f"v{n}", at_home="fail", on={"m-02": "hang"}) for n in range(3)]
        known, _ = solved(*void, Sim("slow", on={"m-02": "hang"}), mutants=(LOOP,))
        assert results(known) == {"m-02": KILLED}

    def test_a_mutant_that_keeps_a_file_from_being_read_gets_a_second_chance(self) -> None:
        """And no third."""
        known, _ = solved(GOOD, imports={("test_a.py", "m-01"): "hang"}, mutants=(GENERATED,))
        assert len(on(known, "m-01")) == 2
        assert results(known) == {"m-01": TIMEOUT}

    def test_a_suite_that_takes_too_long_in_all_is_graded_as_far_as_it_goes(self) -> None:
        """The tests that were not reached are told so, and so is the one that was cut off."""
        late = Sim("late")
        known, _ = solved(GOOD, late, mutants=(GENERATED,), spoil=too_slow(late.id, "calibration"))
        assert judgement(known)[0] == {GOOD.id: "valid", late.id: "broken"}
        reason = known.statuses[late.id].reason
        assert reason is not None
        assert reason.slug == "broken-unreached"
        assert results(known) == {"m-01": KILLED}
        assert len(cells(known, "calibration")) == 1

    def test_a_mutant_that_slows_all_tests_down_gets_a_second_chance(self) -> None:
        """No test is put last for it: none is to blame."""
        late = Sim("late")
        known, _ = solved(late, mutants=(GENERATED,), spoil=too_slow(late.id, "mutant"))
        assert [cell.last for cell in on(known, "m-01")] == [(), ()]
        assert results(known) == {"m-01": TIMEOUT}


def _first_calibration(cell: Cell) -> bool:
    return cell.purpose == "calibration" and not cell.last


def too_slow(last: str, purpose: str) -> Callable[[Cell, Outcome], Outcome]:
    """Return what cuts a run short before its ``last`` test, as all together took too long."""

    def cut(cell: Cell, outcome: Outcome) -> Outcome:
        if cell.purpose != purpose or last not in outcome.tests:
            return outcome
        runs = {test: run for test, run in outcome.runs.items() if test != last}
        facts = {"end": End.TIMEOUT, "ran_out": True, "runs": runs, "at": last}
        return outcome.model_copy(update=facts)

    return cut
