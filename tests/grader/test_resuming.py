"""A grading that was ended anywhere and taken up again: no run that matters is left out for it."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.canary import CELLS
from grader.cells import Cell
from grader.knowledge import Knowledge, Request
from grader.outcome import Outcome
from grader.plan import next_cells

from .simulated import (
    GOOD,
    MUTANTS,
    NAMED,
    SETTINGS,
    Deed,
    Sim,
    SimulatedLab,
    Suite,
    judgement,
    request,
)

Keep = Callable[[list[Cell]], list[Cell]]


def fails_in_another_order(cell: Cell) -> Deed:
    """Do what only a control of the same order shows to be no kill."""
    return "fail" if cell.last and cell.purpose != "calibration" else "pass"


DISORDERLY = Sim("b", chance=fails_in_another_order)


def taken_up(asked: Request, lab: SimulatedLab, keep: Keep) -> Knowledge:
    """Return what is known in the end where of each batch only some runs are kept."""
    known: dict[Cell, Outcome] = {}
    while batch := next_cells(asked, known):
        enough = Knowledge(asked, dict(known)).enough
        kept = keep(batch)
        assert kept
        known |= {cell: lab.run(cell, enough) for cell in kept}
    return Knowledge(asked, known)


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_the_canary_runs_though_the_look_is_known(kept: int) -> None:
    """Nothing may be graded without either of its runs."""
    suite = Suite((GOOD,))
    asked, lab = request(suite, MUTANTS, SETTINGS), SimulatedLab(suite)
    begun = {cell: lab.run(cell) for cell in next_cells(asked, {})[: kept + 1]}
    assert [cell for cell in CELLS if cell not in begun] == [*CELLS][kept:]
    if kept < len(CELLS):
        assert next_cells(asked, begun) == [*CELLS][kept:]
    assert set(CELLS) <= set(lab.solve(asked, begun).outcomes)


@pytest.mark.parametrize("slow", [Sim("a", on={"s01": "hang"}), Sim("a", at={("s01", 22): "hang"})])
def test_a_confirmation_that_ran_still_gets_its_control(slow: Sim) -> None:
    """At the first draw and at a further one; else a kill would count that is none."""
    suite = Suite((slow, DISORDERLY))
    asked = request(suite, (NAMED,), SETTINGS)
    whole = SimulatedLab(suite).solve(asked)
    seen = []

    def confirmations(batch: list[Cell]) -> list[Cell]:
        found = [cell for cell in batch if cell.purpose == "mutant" and cell.last]
        seen.extend(found)
        return found or batch

    assert judgement(taken_up(asked, SimulatedLab(suite), confirmations)) == judgement(whole)
    assert seen
    assert judgement(whole)[0][DISORDERLY.id] == "flaky"


DEEDS: list[Deed] = ["pass", "fail", "hang", "crash"]
TESTS = st.builds(
    Sim,
    st.sampled_from("acdefg"),
    at_home=st.sampled_from(["pass", "pass", "pass", *DEEDS]),
    on=st.dictionaries(st.sampled_from([one.id for one in MUTANTS]), st.sampled_from(DEEDS)),
    at=st.dictionaries(
        st.tuples(st.just("s01"), st.sampled_from(SETTINGS.draws)), st.sampled_from(DEEDS)
    ),
    fails_at=st.frozensets(st.sampled_from(SETTINGS.draws), max_size=1),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(TESTS, max_size=4, unique_by=lambda test: test.name),
    st.randoms(use_true_random=False),
)
def test_the_grade_is_the_same_wherever_it_was_ended(
    tests: list[Sim], chance: random.Random
) -> None:
    """Time and again, with any of a batch's runs kept."""
    suite = Suite((*tests, DISORDERLY))
    asked = request(suite, MUTANTS, SETTINGS, has_own_implementation=True)

    def some(batch: list[Cell]) -> list[Cell]:
        return chance.sample(batch, chance.randint(1, len(batch)))

    whole = SimulatedLab(suite).solve(asked)
    assert judgement(taken_up(asked, SimulatedLab(suite), some)) == judgement(whole)
