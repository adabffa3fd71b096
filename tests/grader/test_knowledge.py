"""What is learnt from outcomes, and where each run leads, against a simulated lab."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from grader import canary
from grader.cells import LONGEST_CHAIN, Cell
from grader.knowledge import Knowledge
from grader.outcome import End, Outcome
from grader.plan import next_cells
from grader.verdict import Result

from .facts import BEGUN, FILE, PASSED, T, U, ended, ran, unread
from .simulated import (
    GENERATED,
    GOOD,
    LOOP,
    MUTANTS,
    NAMED,
    NAMES,
    SETTINGS,
    Deed,
    Import,
    Sim,
    SimulatedLab,
    Suite,
    judgement,
    on,
    request,
    results,
    solved,
)

KILLED, SURVIVED, TIMEOUT, ERROR = Result.KILLED, Result.SURVIVED, Result.TIMEOUT, Result.ERROR


class TestStopping:
    """A run on a mutant is stopped once a test that may count has failed."""

    def test_it_is_stopped_at_the_first_failure(self) -> None:
        """What comes after it is not waited for."""
        known, _ = solved(GOOD, Sim("rest"), mutants=(GENERATED,))
        (cell,) = on(known, "m-01")
        assert known.outcomes[cell].end is End.STOPPED
        assert known.outcomes[cell].run("test_a.py::rest") is None

    def test_it_is_not_stopped_where_every_kill_is_to_be_known(self) -> None:
        """The matrix is complete."""
        both = [Sim(name, on={"m-01": "fail"}) for name in ("one", "two")]
        suite = Suite(tuple(both))
        asked = request(suite, (GENERATED,), SETTINGS, matrix=True)
        known = SimulatedLab(suite).solve(asked)
        assert judgement(known)[1]["m-01"].killed_by == tuple(test.id for test in both)

    def test_it_is_not_stopped_by_a_failure_that_is_no_kill(self) -> None:
        """Nor by a test that failed in the calibration."""
        known, _ = solved(
            Sim("balks", on={"m-01": "balk"}),
            Sim("wrong", at_home="fail", on={"m-01": "fail"}),
            Sim("last", on={"m-01": "fail"}),
            mutants=(GENERATED,),
        )
        assert judgement(known)[1]["m-01"].killed_by == ("test_a.py::last",)
        assert len(on(known, "m-01")) == 1

    def test_a_stop_by_a_test_that_turns_out_void_is_run_again(self) -> None:
        """And decides nothing."""
        coin = Sim("coin", fails_on=frozenset({2}), on=dict.fromkeys(NAMES, "fail"))
        known, _ = solved(coin, Sim("late", on={"s01": "fail"}))
        assert results(known) == {
            "s01": KILLED,
            "s02": SURVIVED,
            "m-01": SURVIVED,
            "m-02": SURVIVED,
        }

    def test_tests_that_turn_out_void_one_after_the_other_use_up_no_attempts(self) -> None:
        """Each of these is found out by the confirmation of a hang, long after the controls."""

        def betrays(index: int) -> Callable[[Cell], Deed]:
            def deed(cell: Cell) -> Deed:
                if cell.variant.kind == "mutant":
                    return "fail" if cell.variant.id == "m-01" else "pass"
                return "fail" if len(cell.last) == index + 1 else "pass"

            return deed

        betraying = [Sim(f"t{n}", chance=betrays(n)) for n in range(4)]
        hanging = [Sim(f"h{n}", on={"s02": "hang"}) for n in range(4)]
        honest = Sim("z", on={"m-01": "fail"})
        known, _ = solved(*betraying, *hanging, honest)
        stopped = [known.outcomes[cell].at for cell in on(known, "m-01")]
        assert sorted(map(str, stopped)) == sorted(test.id for test in (*betraying, honest))
        assert judgement(known)[1]["m-01"].killed_by == (honest.id,)

    def test_it_is_not_stopped_where_other_tests_were_collected(self) -> None:
        """No failure counts there, and the run is not repeated for it."""
        gone = Sim("gone", absent_on=frozenset({"m-01"}))
        known, _ = solved(GOOD, gone, mutants=(GENERATED,))
        (cell,) = on(known, "m-01")
        assert known.outcomes[cell].end is End.COMPLETE
        assert results(known) == {"m-01": ERROR}

    def test_it_is_not_stopped_by_a_test_that_some_control_of_the_draw_never_reached(self) -> None:
        """Its failure doesn't count at that draw."""

        def crashing(cell: Cell) -> Deed:
            unlucky = cell.purpose == "control" and (cell.draw, cell.number) == (22, 1)
            return "crash" if unlucky else "pass"

        crashes = [Sim(f"c{n}", chance=crashing) for n in range(LONGEST_CHAIN)]
        known, _ = solved(*crashes, Sim("late", at={("s01", 22): "fail"}), mutants=(NAMED,))
        assert "test_a.py::late" in known.valid
        assert len(on(known, "s01", draw=22)) == 2
        assert results(known) == {"s01": SURVIVED}


class TestResuming:
    """What is known from an earlier run, on a machine that was busier."""

    def test_what_a_later_draw_shows_leaves_no_earlier_one_half_run(self) -> None:
        """Without the draw in between, nothing would seem to need it any more."""
        last = Sim("last", fails_at=frozenset({33}))
        between = Sim("between", at_home="skip", fails_at=frozenset({22}))
        suite = Suite((last, between))
        asked = request(suite, (NAMED,), SETTINGS)
        whole = SimulatedLab(suite).solve(asked)
        part = {cell: one for cell, one in whole.outcomes.items() if cell.draw != 22}
        resumed = SimulatedLab(suite).solve(asked, part)
        assert judgement(whole)[0] == {last.id: "invalid", between.id: "invalid"}
        assert judgement(resumed)[0] == judgement(whole)[0]

    def test_outcomes_that_belong_to_another_calibration_say_nothing(self) -> None:
        """Then one test was left out; now it is not, and nothing may miss it."""
        busy = Suite((GOOD, Sim("late", at_home="hang", on={"m-02": "hang"})))
        idle = Suite((GOOD, Sim("late", on={"m-02": "fail"})))
        asked = request(busy, MUTANTS, SETTINGS)
        old = SimulatedLab(busy).solve(asked).outcomes
        kept = {cell: one for cell, one in old.items() if one.end is not End.TIMEOUT}
        assert any(cell.skip for cell in kept)
        resumed, fresh = SimulatedLab(idle).solve(asked, kept), SimulatedLab(idle).solve(asked)
        assert judgement(resumed)[0] == judgement(fresh)[0]
        assert results(resumed) == results(fresh)
        assert results(fresh)["m-02"] is KILLED


class TestImports:
    """Files that can't be imported on a mutant."""

    def test_a_kill_at_import_is_seen_twice(self) -> None:
        """And not a third time."""
        imports: Mapping[tuple[str, str], Import] = {("test_a.py", "m-01"): "raise"}
        known, _ = solved(GOOD, imports=imports, mutants=(GENERATED,))
        assert len(on(known, "m-01")) == 2
        found = judgement(known)[1]["m-01"]
        assert (found.result, found.phase) == (KILLED, "collection")

    @pytest.mark.parametrize("how", ["raise", "exit"])
    def test_other_files_have_their_say(self, how: Import) -> None:
        """A kill in one of them needs no second sighting."""
        imports: Mapping[tuple[str, str], Import] = {("test_a.py", "m-01"): how}
        other = Sim("other", "test_b.py", on={"m-01": "fail"})
        known, _ = solved(GOOD, other, imports=imports, mutants=(GENERATED,))
        found = judgement(known)[1]["m-01"]
        assert (found.result, found.phase, len(on(known, "m-01"))) == (KILLED, "call", 1)

    def test_a_conftest_that_can_not_be_imported_is_left_out_and_told(self) -> None:
        """Nothing is collected before it is."""
        broken = unread("conftest.py")

        def given_up(cell: Cell, outcome: Outcome) -> Outcome:
            if cell.purpose == "look" or "conftest.py" in cell.without:
                return outcome
            return ended(End.CRASH, None, {}, collected=False, unreadable=(broken,))

        known, _ = solved(GOOD, others=("conftest.py",), mutants=(GENERATED,), spoil=given_up)
        assert judgement(known)[0] == {"conftest.py": "broken", GOOD.id: "valid"}
        assert results(known) == {"m-01": KILLED}

    def test_files_whose_look_crashes_hide_no_other(self) -> None:
        """Up to a number; the rest is not run unread."""
        few = {f"test_{n}.py": "crash" for n in range(5)}
        many = {f"test_{n:02}.py": "crash" for n in range(30)}
        for looks, status in ((few, "valid"), (many, "broken")):
            suite = Suite((Sim("x", "test_z.py"),), looks=cast(Any, looks), others=tuple(looks))
            known = SimulatedLab(suite).solve(request(suite, (GENERATED,), SETTINGS))
            found, _ = judgement(known)
            assert {found[name] for name in looks} == {"broken"}
            assert status in {found.get("test_z.py"), found.get("test_z.py::x")}


class TestConfirming:
    """Which of several tests that end a run is the one to wait for."""

    @pytest.mark.parametrize("first", [Sim("a", on={"m-02": "crash"}), Sim("a", at_home="fail")])
    def test_a_hang_is_confirmed_before_a_crash_and_before_what_does_not_count(
        self, first: Sim
    ) -> None:
        """It alone can decide, and is reached first in a run of its own order."""
        void = Sim("b", at_home="fail", on={"m-02": "hang"})
        known, _ = solved(first, void, Sim("c", on={"m-02": "hang"}), mutants=(LOOP,))
        assert judgement(known)[1]["m-02"].killed_by == ("test_a.py::c",)

    def test_orders_that_a_worker_does_not_keep_end_all_the_same(self) -> None:
        """Then nothing is confirmed, and nothing runs forever."""

        def by_suite(cell: Cell) -> Cell:
            return cell.but(last=tuple(sorted(cell.last)))

        void = Sim("a", at_home="fail", on={"m-02": "hang"})
        suite = Suite((void, Sim("b", on={"m-02": "hang"})))
        lab = SimulatedLab(suite)
        plain = lab.run
        lab.run = lambda cell, enough=lambda _: False: plain(by_suite(cell), enough)  # type: ignore[method-assign] # a worker with an order of its own
        known = lab.solve(request(suite, (LOOP,), SETTINGS))
        assert results(known) == {"m-02": TIMEOUT}
        assert len(on(known, "m-02")) == 4


class TestCalibration:
    """What the first runs on the reference say of tests and files."""

    def known(
        self, *seen: tuple[dict[str, Any], Outcome], files: tuple[str, ...] = ()
    ) -> Knowledge:
        """Return what is known after a look that found nothing and these calibrations."""
        suite = Suite((), others=(FILE, *files))
        asked = request(suite, MUTANTS, SETTINGS)
        look = Cell(purpose="look")
        start = Cell(purpose="calibration", draw=11)
        outcomes = {cell: SimulatedLab(suite).run(cell) for cell in (look, *canary.CELLS)}
        outcomes |= {start.but(**changes): outcome for changes, outcome in seen}
        return Knowledge(asked, outcomes)

    def test_a_file_that_could_be_read_in_the_end_can_be_read(self) -> None:
        """Whatever went wrong before."""
        other = "test_b.py::test_x"
        first = ended(End.TIMEOUT, T, {T: BEGUN}, unreadable=(unread("test_b.py"),))
        again = ran({other: PASSED, T: PASSED})
        known = self.known(({}, first), ({"last": (T,)}, again), files=("test_b.py",))
        assert not known.calibrated.unreadable
        assert known.calibrated.runnable == {T, other}

    def test_tests_behind_the_last_that_may_be_repeated_were_never_reached(self) -> None:
        """They are told apart from those that were seen to hang."""
        names = [f"{FILE}::test_{n:02}" for n in range(20)]
        seen: list[tuple[dict[str, Any], Outcome]] = [
            ({"last": tuple(names[:n])}, ended(End.TIMEOUT, names[n], {}, tests=names))
            for n in range(12)
        ]
        found = self.known(*seen).calibrated.unrunnable
        assert [found[name] for name in names] == [End.TIMEOUT] * 12 + [None] * 8

    @pytest.mark.parametrize("end", [End.CRASH, End.TIMEOUT, End.GARBLED])
    def test_where_nothing_was_collected_every_file_is_told(self, end: End) -> None:
        """A conftest that hangs must not end in "no test was found"."""
        failed = ended(end, None, {}, collected=False)
        known = self.known(({}, failed), ({"attempt": 1}, failed), files=("test_b.py", "help.py"))
        assert next_cells(known.request, known.outcomes) == []
        assert judgement(known)[0] == {FILE: "broken", "test_b.py": "broken"}

    def test_a_run_that_makes_no_sense_is_repeated_and_then_told(self) -> None:
        """By the test that was running."""
        garbled = ended(End.GARBLED, U, {T: PASSED, U: BEGUN})
        known = self.known(({}, garbled))
        assert next_cells(known.request, known.outcomes)[0].attempt == 1
        known = self.known(({}, garbled), ({"attempt": 1}, garbled))
        assert known.calibrated.unrunnable == {U: End.GARBLED}
        assert known.calibrated.runnable == {T}
