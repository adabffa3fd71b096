"""The grade's arithmetic: on integers, and never rounded up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.mutants import MechanicalMutant, Mutant, SemanticMutant
from grader.score import Score, score
from grader.verdict import Result, Verdict

EDITS = [{"replace": "x", "with": "y"}]


def rate(killed: int, scored: int, threshold: int = 80) -> Score:
    """Return a score without required mutants."""
    return Score(killed, scored, threshold, required_killed=0, required=0)


def required(name: str) -> Mutant:
    """Return a named mutant."""
    facts = {"title": "t", "pitfall": "p", "property": "q", "hint": ["1", "2", "3"]}
    return SemanticMutant.model_validate({"id": name, "edits": EDITS, **facts})


def optional(name: str) -> Mutant:
    """Return a generated mutant."""
    facts = {"operator": "o", "line": 1, "status": "scored"}
    return MechanicalMutant.model_validate({"id": name, "edits": EDITS, **facts})


@pytest.mark.parametrize(
    ("killed", "scored", "threshold", "passed"),
    [
        (1999, 2500, 80, False),  # 79.96 %
        (2000, 2500, 80, True),
        (3, 4, 75, True),
        (2, 3, 67, False),  # 66.67 %
        (2, 3, 66, True),
        (74, 93, 80, False),  # 79.57 %
        (75, 93, 80, True),  # 80.65 %
        (92, 93, 100, False),
        (93, 93, 100, True),
        (0, 93, 0, True),
        (0, 1, 1, False),
        (1, 1, 100, True),
    ],
)
def test_the_threshold_is_reached_or_not(
    killed: int, scored: int, threshold: int, passed: bool
) -> None:
    """Hand-checked edges: 79.96 % is not 80 %."""
    assert rate(killed, scored, threshold).passed is passed


@pytest.mark.parametrize(
    ("killed", "scored", "percent"),
    [(1999, 2500, 79), (2, 3, 66), (92, 93, 98), (999, 1000, 99), (1, 1, 100), (0, 5, 0)],
)
def test_the_percentage_is_rounded_down(killed: int, scored: int, percent: int) -> None:
    """100 is shown only where all are caught."""
    assert rate(killed, scored).percent == percent


@pytest.mark.parametrize(
    ("scored", "threshold", "needed"),
    [(93, 80, 75), (5, 80, 4), (6, 80, 5), (3, 67, 3), (7, 0, 0), (7, 100, 7), (1, 1, 1)],
)
def test_the_least_number_that_is_needed_is_told(scored: int, threshold: int, needed: int) -> None:
    """Reports show it beside what was caught."""
    assert rate(0, scored, threshold).needed == needed


@given(st.integers(1, 500), st.integers(0, 100), st.data())
def test_passed_needed_and_percent_agree(scored: int, threshold: int, data: st.DataObject) -> None:
    """No report can contradict the grade, whatever the numbers."""
    killed = data.draw(st.integers(0, scored))
    one = rate(killed, scored, threshold)
    assert one.passed == (100 * killed >= threshold * scored)
    assert one.passed == (killed >= one.needed)
    assert one.passed == (one.percent >= threshold)
    assert (one.percent == 100) == (killed == scored)
    assert one.points == (1.0 if one.passed else 0.0)


@pytest.mark.parametrize(("caught", "passed"), [(6, True), (5, False), (0, False)])
def test_one_required_mutant_alive_is_no_pass_at_any_rate(caught: int, passed: bool) -> None:
    """However many others are caught."""
    one = Score(killed=1000, scored=1000, threshold_percent=80, required_killed=caught, required=6)
    assert one.passed is passed


def test_where_nothing_is_scored_nothing_is_passed() -> None:
    """An empty library must not hand out grades."""
    empty = score([], 0)
    assert not empty.passed
    assert (empty.killed, empty.scored, empty.percent, empty.points) == (0, 0, 0, 0.0)


def test_only_kills_count_and_required_ones_count_twice() -> None:
    """Once toward the rate, and once by themselves."""
    others = [Verdict(optional(f"m-{n}"), result) for n, result in enumerate(Result)]
    named = [Verdict(required("s01"), Result.KILLED), Verdict(required("s02"), Result.TIMEOUT)]
    assert score([*others, *named], 80) == Score(
        killed=2,
        scored=len(Result) + 2,
        threshold_percent=80,
        required_killed=1,
        required=2,
    )
