"""How often each thing is seen, and what luck gains by it: by arithmetic, and in gradings."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cells import Cell
from grader.course import AssignmentSettings
from grader.mutants import Mutant
from grader.policy import MOST_GAIN, Policy, best_gain, gain, policy
from grader.score import Score, score

from .facts import mutant
from .simulated import Deed, Sim, SimulatedLab, Suite, judgement, request

SETTINGS = AssignmentSettings(title="t", module="m", draws=(11, 22, 33))
PRACTICE, AUTHORITATIVE = policy("practice", SETTINGS), policy("authoritative", SETTINGS)
TEN = [mutant(id=f"m-{number}") for number in range(10)]
CAUGHT = [one.id for one in TEN[:7]]
GRADINGS = 80


def wanted(*, required: bool = False, spare: int = 20, flaky: int = 0) -> int:
    """Return how often the authoritative policy wants to see a kill."""
    return AUTHORITATIVE.sightings(required=required, spare=spare, flaky=flaky)


class TestPolicies:
    """Two of one engine."""

    def test_practice_sees_each_thing_once_on_the_reference_and_two_twins(self) -> None:
        """For speed."""
        assert (PRACTICE.references, PRACTICE.twins) == (1, 2)
        found = {
            PRACTICE.sightings(required=required, spare=spare, flaky=flaky)
            for required in (False, True)
            for spare in (-1, 0, 50)
            for flaky in (0, 300)
        }
        assert found == {1}

    def test_the_authoritative_one_has_twelve_right_cells(self) -> None:
        """All but one in twins."""
        assert (AUTHORITATIVE.references, AUTHORITATIVE.twins) == (1, 11)

    def test_the_course_says_how_many_right_cells_practice_has(self) -> None:
        """By its settings."""
        settings = SETTINGS.model_copy(update={"controls": 2, "twins": 5})
        assert policy("practice", settings) == Policy("practice", 2, 5)

    @pytest.mark.parametrize(
        ("required", "spare", "times"),
        [
            (True, 20, 3),
            (True, -1, 3),
            (False, 20, 1),
            (False, 8, 1),
            (False, 7, 5),
            (True, 7, 5),
            (False, 0, 5),
            (False, -1, 1),
        ],
    )
    def test_required_kills_and_close_counts_are_seen_more_often(
        self, required: bool, spare: int, times: int
    ) -> None:
        """The others need it not: luck alone doesn't reach so far."""
        assert wanted(required=required, spare=spare) == times

    def test_each_test_that_contradicts_itself_makes_the_policy_harder_to_please(self) -> None:
        """A suite of a hundred coins is as hard to please as one of a single coin."""
        counts = [wanted(required=True, flaky=flaky) for flaky in (0, 1, 10, 100, 300)]
        assert counts == sorted(counts)
        assert counts[0] == 3
        assert counts[1] > 3

    @given(st.integers(0, 300), st.booleans(), st.integers(-5, 30))
    def test_what_all_of_a_suites_coins_gain_together_stays_below_the_bound(
        self, flaky: int, required: bool, spare: int
    ) -> None:
        """Wherever a kill must be seen more than once."""
        times = wanted(required=required, spare=spare, flaky=flaky)
        if times > 1:
            assert (1 + flaky) * best_gain(12, times) <= MOST_GAIN


class TestArithmetic:
    """The chance that a coin passes on every right cell and fails at every sighting."""

    @pytest.mark.parametrize(
        ("right", "sightings", "expected"),
        [(1, 1, 0.25), (3, 1, 0.105), (12, 3, 0.00055), (12, 5, 0.0000336)],
    )
    def test_the_best_coin_gains(self, right: int, sightings: int, expected: float) -> None:
        """The figures that the policies were chosen by."""
        assert best_gain(right, sightings) == pytest.approx(expected, rel=0.02)

    @given(st.floats(0, 1), st.integers(1, 30), st.integers(1, 9))
    def test_no_coin_gains_more_than_the_best(
        self, chance: float, right: int, sightings: int
    ) -> None:
        """Whatever its chance to fail."""
        assert gain(chance, right, sightings) <= best_gain(right, sightings) * (1 + 1e-9)

    def test_all_draws_together_stay_below_the_bound(self) -> None:
        """A further draw asks for its own set of right cells."""
        chance = 3 / 15
        right, caught = (1 - chance) ** 12, chance**3
        in_all = sum(right ** (draw + 1) * caught * (1 - caught) ** draw for draw in range(3))
        assert in_all < MOST_GAIN


def coin(chance: float, seed: int, *, by_text: bool) -> Callable[[Cell], Deed]:
    """Return a test that fails at random, or by what it makes of the text that it meets."""

    def deed(cell: Cell) -> Deed:
        variant = cell.variant
        which = (variant, cell.number if variant.kind == "mutant" else 0) if by_text else cell
        return "fail" if random.Random(f"{seed}{which}").random() < chance else "pass"

    return deed


def grading(
    applied: Policy,
    chance: float,
    faults: Sequence[Mutant],
    seed: int,
    *,
    by_text: bool,
    caught: Sequence[str] = (),
) -> Score:
    """Return the score of a suite of one coin and one honest test, which has caught some faults."""
    twins = tuple(f"twin-{number}" for number in range(applied.twins))
    honest = Sim("honest", on=dict.fromkeys(caught, "fail"))
    suite = Suite((honest, Sim("coin", chance=coin(chance, seed, by_text=by_text))))
    asked = request(suite, tuple(faults), SETTINGS, policy=applied, twins=twins)
    verdicts = judgement(SimulatedLab(suite).solve(asked))[1]
    return score(list(verdicts.values()), SETTINGS.threshold_percent)


def gradings(applied: Policy, chance: float, faults: Sequence[Mutant], **how: Any) -> list[Score]:
    """Return the scores of many such suites."""
    return [grading(applied, chance, faults, seed, **how) for seed in range(GRADINGS)]


class TestSimulation:
    """What the arithmetic promises, in gradings of suites that toss coins."""

    @pytest.mark.parametrize("by_text", [False, True])
    def test_a_coin_gains_no_required_kill_under_the_authoritative_policy(
        self, by_text: bool
    ) -> None:
        """Whether it is tossed anew in each run, or taken from the text of the variant."""
        faults = [mutant(required=True, id="s01")]
        found = gradings(AUTHORITATIVE, 3 / 15, faults, by_text=by_text)
        assert sum(one.passed for one in found) <= 1

    def test_a_coin_gains_no_missing_kill_of_the_rate_under_the_authoritative_policy(self) -> None:
        """Where an honest test has caught all but one of those that are needed."""
        found = gradings(AUTHORITATIVE, 5 / 17, TEN, by_text=True, caught=CAUGHT)
        assert sum(one.passed for one in found) <= 1

    def test_in_practice_it_would_gain_either(self) -> None:
        """So that the simulation is seen to be able to tell."""
        required = gradings(PRACTICE, 1 / 4, [mutant(required=True, id="s01")], by_text=True)
        rate = gradings(PRACTICE, 1 / 4, TEN, by_text=True, caught=CAUGHT)
        assert sum(one.passed for one in required) > GRADINGS * 0.05
        assert sum(one.passed for one in rate) > GRADINGS * 0.05
