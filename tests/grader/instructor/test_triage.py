"""Triage: the evidence on a mutant, and the status that it suggests."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course import Assignment, load_course
from grader.differential import Comparison
from grader.grade import Options
from grader.instructor.candidates import Candidate
from grader.instructor.pool import PROPOSED, extend
from grader.instructor.triage import Case, Evidence, proposals, propose, triage
from grader.mutants import MechanicalMutant, MechanicalPool
from grader.problems import Unusable

OPTIONS = Options(sandbox="process", jobs=2)
EDITS = {
    "m-same-code": ("range(n)", "range((n))"),
    "m-as-s01": ("range(n)", "range((n + 1))"),
    "m-like-s01": ("range(n)", "range(n + 2 - 1)"),
    "m-silent": ("total = n\n", "total = 0 + n\n"),
    "m-wording": ("n is negative", "n is below 0"),
    "m-caught": ("range(n)", "range(n - 1)"),
    "m-like-caught": ("range(n)", "range(n - 2 + 1)"),
    "m-lacking": ("if n < 0:", "if n < 0 and n != -2:"),
    "m-odd": ("step(total)", "step(total - (n == 14))"),
}
NOTHING = Evidence(gold=(), course=(), comparison=Comparison(made=6))
TOLD = Comparison(made=2, test="test_same[1]", witness="3 in place of 2: double(1)")


def _mutant(name: str, status: str = "scored", reason: str = "") -> MechanicalMutant:
    old, new = EDITS[name]
    return MechanicalMutant.model_validate(
        {
            "id": name,
            "operator": "number",
            "line": 9,
            "status": status,
            "reason": reason,
            "edits": [{"replace": old, "with": new}],
        }
    )


@pytest.fixture(scope="module")
def toy(toy_copy: Callable[[], Path]) -> Assignment:
    """Return T1 of a copy of the toy course."""
    return load_course(toy_copy()).assignment("T1")


@pytest.fixture(scope="module")
def cases(toy: Assignment) -> dict[str, Case]:
    """Triage undecided mutants of every kind."""
    new = [_mutant(name) for name in EDITS]
    return {case.mutant.id: case for case in triage(toy, new, OPTIONS, new)}


@pytest.mark.parametrize(
    ("mutant", "status", "reason"),
    [
        ("m-same-code", "equivalent", "It compiles to the reference's bytecode."),
        ("m-as-s01", "duplicate-of s01", "It compiles to the bytecode of s01."),
        (
            "m-like-s01",
            "duplicate-of s01",
            "The same tests catch s01, and 6 comparisons of the two find no difference.",
        ),
        (
            "m-silent",
            "equivalent",
            "No test catches it, and 6 comparisons with the reference find no difference.",
        ),
        (
            "m-wording",
            "message-only",
            "Only texts of errors differ; 6 comparisons find no other difference.",
        ),
        ("m-caught", "scored", "1 tests of the gold suite catch it."),
        (
            "m-like-caught",
            "duplicate-of m-caught",
            "The same tests catch m-caught, and 6 comparisons of the two find no difference.",
        ),
        (
            "m-lacking",
            None,
            "The gold suite lacks a test, or the input lies outside the contract.",
        ),
    ],
)
def test_each_kind_of_mutant_gets_its_proposal(
    mutant: str, status: str | None, reason: str, cases: dict[str, Case]
) -> None:
    """With the evidence as its reason."""
    proposal = cases[mutant].proposal
    assert (proposal.status, proposal.reason) == (status, reason)
    assert cases[mutant].open


def test_the_tests_that_catch_a_mutant_are_named(cases: dict[str, Case]) -> None:
    """The gold suite's and the course's, each case of its own."""
    evidence = cases["m-caught"].evidence
    assert evidence.gold == ("test_doubles",)
    assert evidence.course == ("test_doubles[10]", "test_doubles[1]", "test_doubles[3]")
    assert cases["m-silent"].evidence.gold == cases["m-silent"].evidence.course == ()


def test_the_input_that_tells_a_mutant_apart_is_kept(cases: dict[str, Case]) -> None:
    """Where tests miss it too: that is what a person needs."""
    comparison = cases["m-lacking"].evidence.comparison
    assert comparison.test == "test_same[-2]"
    assert (comparison.witness or "").startswith("-2 in place of ValueError: double(-2)")


def test_a_mutant_that_only_a_test_catches_is_no_equivalent(cases: dict[str, Case]) -> None:
    """Comparisons found nothing, and drew no 14."""
    evidence = cases["m-odd"].evidence
    assert evidence.comparison.witness is None
    assert evidence.gold == ("test_doubles",)
    assert cases["m-odd"].proposal.status == "scored"


def test_a_mutant_is_a_duplicate_of_an_earlier_one_only(toy: Assignment) -> None:
    """Of two that are the same, the first stays."""
    new = [_mutant("m-like-caught"), _mutant("m-caught")]
    first, second = triage(toy, new, OPTIONS, new)
    assert first.proposal.status == "scored"
    assert second.proposal.status == "duplicate-of m-like-caught"


def test_an_excluded_mutant_has_no_duplicates(toy: Assignment) -> None:
    """Or both would be gone."""
    excluded = _mutant("m-caught", "outside-the-contract", "So it was decided.")
    (case,) = triage(toy, [_mutant("m-like-caught")], OPTIONS, [excluded, _mutant("m-like-caught")])
    assert case.proposal.status == "scored"


def test_decisions_can_be_reviewed(toy: Assignment) -> None:
    """The toy's hold, as do its named mutants."""
    found = triage(toy, [*toy.semantic, *toy.pool.mutant], OPTIONS)
    assert [(case.mutant.id, case.decided, case.open) for case in found] == [
        (mutant.id, True, False) for mutant in (*toy.semantic, *toy.pool.mutant)
    ]


@pytest.mark.parametrize(
    ("evidence", "status"),
    [
        (NOTHING, "equivalent"),
        (replace(NOTHING, wording_only=True), "message-only"),
        (replace(NOTHING, same_code=""), "equivalent"),
        (replace(NOTHING, same_code="m-1"), "duplicate-of m-1"),
        (replace(NOTHING, gold=("test_a",)), "scored"),
        (replace(NOTHING, course=("test_a",)), None),
        (replace(NOTHING, comparison=TOLD), None),
        (replace(NOTHING, comparison=TOLD, wording_only=True), None),
        (replace(NOTHING, wording_only=True, gold=("test_a",)), "scored"),
        (replace(NOTHING, gold=("test_a",), same_behaviour=("m-1", 6)), "duplicate-of m-1"),
        (replace(NOTHING, gold=("test_a",), same_code="m-2"), "duplicate-of m-2"),
    ],
)
def test_what_evidence_suggests(evidence: Evidence, status: str | None) -> None:
    """A difference that the gold suite doesn't see is for a person to judge."""
    assert propose(evidence).status == status


@pytest.mark.parametrize(
    ("status", "evidence", "left_open"),
    [
        ("scored", replace(NOTHING, gold=("test_a",)), False),
        ("scored", NOTHING, True),
        ("equivalent", NOTHING, False),
        ("equivalent", replace(NOTHING, comparison=TOLD), True),
        ("outside-the-contract", replace(NOTHING, comparison=TOLD), False),
        ("outside-the-contract", replace(NOTHING, gold=("test_a",)), False),
        ("duplicate-of s01", replace(NOTHING, same_code="s02"), True),
    ],
)
def test_a_decision_that_the_evidence_contradicts_is_shown(
    status: str, evidence: Evidence, left_open: bool
) -> None:
    """But for what only the contract says."""
    mutant = _mutant("m-caught", status, "So it was decided.")
    assert Case(mutant, decided=True, evidence=evidence).open == left_open
    assert Case(mutant, decided=False, evidence=evidence).open


def test_only_proposals_on_undecided_mutants_are_written() -> None:
    """Marked as proposals; what was decided, and what only a person can tell, is left alone."""
    caught = replace(NOTHING, gold=("test_a",))
    found = proposals(
        [
            Case(_mutant("m-silent"), decided=False, evidence=NOTHING),
            Case(_mutant("m-caught"), decided=False, evidence=caught),
            Case(_mutant("m-odd"), decided=True, evidence=NOTHING),
            Case(_mutant("m-lacking"), decided=False, evidence=replace(NOTHING, comparison=TOLD)),
        ]
    )
    assert [(mutant.id, mutant.status) for mutant in found] == [
        ("m-silent", "equivalent"),
        ("m-caught", "scored"),
    ]
    assert all(mutant.reason.startswith(PROPOSED) for mutant in found)


def test_written_proposals_stand_where_they_are_generated() -> None:
    """And everything that was in the pool stays, also what is generated no more."""
    gone, first, second = (_mutant(name) for name in ("m-odd", "m-silent", "m-caught"))
    old = MechanicalPool(generator="g", module="m", mutant=(gone, second))
    order = [Candidate(one.id, "number", "f", 9, "a", "b") for one in (first, second)]
    assert extend(old, [first], order).mutant == (first, second, gone)


def test_a_mutant_that_doesnt_apply_is_refused(toy: Assignment) -> None:
    """As everywhere."""
    bad = _mutant("m-odd").model_copy(update={"edits": _mutant("m-odd").edits * 2})
    with pytest.raises(Unusable, match="overlaps another one"):
        triage(toy, [bad], OPTIONS, [bad])
