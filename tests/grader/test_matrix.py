"""The kill matrix: who caught what, and which mutants stand for all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from grader.evidence import Seen
from grader.matrix import DominatorScore, KillMatrix, dominator_score, kill_matrix
from grader.outcome import End
from grader.verdict import verdict
from tests.grader.facts import (
    BEGUN,
    DRAWS,
    FAILED,
    FILE,
    PASSED,
    T,
    U,
    ended,
    evidence,
    mutant,
    on_mutant,
    ran,
    unread,
)

TESTS, MUTANTS = ("a", "b", "c", "d"), ("m1", "m2", "m3", "m4", "m5")


def table(*rows: str, properties: Mapping[str, str] | None = None) -> KillMatrix:
    """Return a matrix of rows such as ``x.?``: a kill, none, and not reached."""
    tests, mutants = TESTS[: len(rows)], MUTANTS[: len(rows[0])]
    marked = {
        mark: {
            name: frozenset(test for test, row in zip(tests, rows, strict=True) if row[at] == mark)
            for at, name in enumerate(mutants)
        }
        for mark in "x?"
    }
    return KillMatrix(tests, mutants, marked["x"], marked["?"], properties or {})


MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.text("x.", min_size=width, max_size=width), min_size=1, max_size=4
    ).map(lambda rows: table(*rows))
)


def killed(matrix: KillMatrix, tests: Sequence[str]) -> set[str]:
    """Return what these tests kill together."""
    return {name for test in tests for name in matrix.kills(test)}


# --- rows ------------------------------------------------------------------------------------


def test_a_cell_is_a_kill_or_none_or_was_not_reached() -> None:
    """What was not reached is no kill, and is told apart from a test that passed."""
    matrix = table("x.?", "..x")
    assert [matrix.cell("a", name) for name in matrix.mutants] == [True, False, None]
    assert matrix.kills("a") == ("m1",)
    assert matrix.not_reached("a") == ("m3",)
    assert matrix.not_reached("b") == ()


def test_tests_that_kill_nothing_are_idle_and_not_redundant() -> None:
    """Two idle tests are no group: neither would do for the other's kills."""
    matrix = table("...", "x..", "...")
    assert matrix.idle == ("a", "c")
    assert matrix.redundant == ()


def test_tests_with_equal_rows_are_redundant() -> None:
    """A subset of another's kills is not the same kills."""
    assert table("xx.", "x..", "xx.", "x..").redundant == (("a", "c"), ("b", "d"))


def test_a_test_of_which_less_is_known_is_not_called_redundant() -> None:
    """It may kill what it did not reach."""
    assert table("x?", "x.").redundant == ()


def test_a_sole_catcher_has_the_mutants_that_no_other_kills() -> None:
    """A mutant that nobody kills has none."""
    assert table("xx.x.", ".x.x.", "....x").sole_catchers == {"a": ("m1",), "c": ("m5",)}


def test_a_property_has_what_its_tests_kill_together() -> None:
    """Its sole kills are those that no test of another property, or of none, sees."""
    named = {"a": "mirror", "b": "mirror", "c": "symmetry"}
    rows = table("x...", ".xx.", "..x.", "...x", properties=named).properties
    assert [(row.name, row.tests, row.kills, row.sole_kills) for row in rows] == [
        ("mirror", ("a", "b"), ("m1", "m2", "m3"), ("m1", "m2")),
        ("symmetry", ("c",), ("m3",), ()),
    ]


@given(MATRICES)
def test_one_of_each_redundant_group_and_no_idle_test_kill_as_much(matrix: KillMatrix) -> None:
    """So they may go."""
    extra = {test for group in matrix.redundant for test in group[1:]}
    kept = [test for test in matrix.tests if test not in extra and test not in matrix.idle]
    assert killed(matrix, kept) == killed(matrix, matrix.tests)


# --- dominators ------------------------------------------------------------------------------


def test_a_mutant_dominates_those_that_every_test_which_kills_it_kills_too() -> None:
    """m1 is killed by a alone, which kills m2 too; m4 and m5 can't be told apart."""
    matrix = table("xx...", ".x.xx", "..xxx")
    assert matrix.dominators == (("m1",), ("m3",))


def test_mutants_that_no_test_tells_apart_are_one_class() -> None:
    """And what nobody kills is in none."""
    assert table("xx..", "..x.").dominators == (("m1", "m2"), ("m3",))


def test_where_nothing_is_killed_nothing_dominates() -> None:
    """And nothing of nothing is killed."""
    matrix = table("..", "..")
    assert matrix.dominators == ()
    assert dominator_score(matrix.dominators, ["m1"]) == DominatorScore(0, 0)


@given(MATRICES, st.sets(st.sampled_from(TESTS)))
def test_tests_that_kill_all_dominators_kill_all_that_can_be_killed(
    matrix: KillMatrix, some: set[str]
) -> None:
    """And tests that kill all that can be killed kill all dominators."""
    tests = [test for test in matrix.tests if test in some]
    score = dominator_score(matrix.dominators, killed(matrix, tests))
    complete = killed(matrix, tests) == killed(matrix, matrix.tests)
    assert (score.killed == score.dominators) == complete


@given(MATRICES)
def test_no_dominator_can_be_left_out(matrix: KillMatrix) -> None:
    """The tests that don't kill it kill all others: those alone would not notice."""
    for same in matrix.dominators:
        others = [test for test in matrix.tests if not matrix.cell(test, same[0])]
        score = dominator_score(matrix.dominators, killed(matrix, others))
        assert score == DominatorScore(len(matrix.dominators) - 1, len(matrix.dominators))


@given(MATRICES, st.randoms(use_true_random=False))
def test_dominators_depend_on_no_order(matrix: KillMatrix, random: Random) -> None:
    """Neither on that of the tests nor on that of the mutants."""
    mutants = list(matrix.mutants)
    random.shuffle(mutants)
    other = replace(matrix, mutants=tuple(mutants), tests=matrix.tests[::-1])
    assert {frozenset(same) for same in other.dominators} == {
        frozenset(same) for same in matrix.dominators
    }


@given(MATRICES)
def test_a_suite_scores_in_full_on_its_own_dominators(matrix: KillMatrix) -> None:
    """Each class is of mutants that it kills."""
    score = dominator_score(matrix.dominators, killed(matrix, matrix.tests))
    assert score.killed == score.dominators == len(matrix.dominators)


def test_a_class_counts_once_all_of_it_is_killed() -> None:
    """Another suite may tell apart what the reference could not."""
    assert dominator_score((("m1", "m2"), ("m3",)), ["m1", "m3"]) == DominatorScore(1, 2)
    assert dominator_score((("m1", "m2"), ("m3",)), ["m1", "m2"]) == DominatorScore(1, 2)


# --- from the runs ---------------------------------------------------------------------------


def judged(*seen: Seen) -> KillMatrix:
    """Return the matrix of two valid tests and one mutant, from the runs on it."""
    found = evidence((T, U), on_mutants={"m-01": list(seen)})
    one = verdict(mutant(required=True), found, frozenset((T, U)))
    return kill_matrix((T, U), [one], {"m-01": [outcome for _, outcome in seen]}, {U: "symmetry"})


def test_every_catcher_of_a_run_is_in_the_matrix() -> None:
    """None is hidden by the one that came first."""
    matrix = judged(on_mutant(ran({T: FAILED, U: FAILED})))
    assert (matrix.kills(T), matrix.kills(U)) == (("m-01",), ("m-01",))
    assert matrix.property_of == {U: "symmetry"}


def test_a_kill_at_any_draw_is_in_the_matrix() -> None:
    """Every test had each of the draws."""
    seen = [on_mutant(ran({T: PASSED, U: PASSED}))]
    seen += [on_mutant(ran({T: PASSED, U: FAILED}), draw=DRAWS[1])]
    seen += [on_mutant(ran({T: FAILED, U: PASSED}), draw=DRAWS[2])]
    assert judged(*seen).killed_by == {"m-01": {T, U}}


def test_a_test_that_the_run_ended_before_was_not_reached() -> None:
    """It is not said to have passed; nor is the one that ended the run."""
    matrix = judged(on_mutant(ended(End.CRASH, U, {T: PASSED, U: BEGUN})))
    assert matrix.cell(T, "m-01") is False
    assert matrix.cell(U, "m-01") is None


def test_a_confirmation_fills_in_what_a_run_left_open() -> None:
    """What one of them reached is reached, once."""
    seen = [on_mutant(ended(End.TIMEOUT, T, {T: BEGUN}, tests=(T, U)))]
    seen += [on_mutant(ended(End.TIMEOUT, T, {U: FAILED, T: BEGUN}), last=(T,))]
    matrix = judged(*seen)
    assert matrix.cell(U, "m-01") is True
    assert matrix.cell(T, "m-01") is None


def test_a_file_whose_import_is_the_kill_is_a_row_of_its_own() -> None:
    """Its tests caught nothing there: none of them ran."""
    broken = ran({}, unreadable=(unread(FILE),))
    matrix = judged(on_mutant(broken), on_mutant(broken, attempt=1))
    assert matrix.tests == (T, U, FILE)
    assert matrix.kills(FILE) == ("m-01",)
    assert matrix.not_reached(T) == ("m-01",)
    assert matrix.sole_catchers == {FILE: ("m-01",)}
