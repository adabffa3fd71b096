"""The pool of L3.4: enough mutants, no two the same, and each property of the chapter needed."""

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, Options
from grader.grading import grade
from grader.instructor.likeness import fingerprint
from grader.instructor.properties import Catch, catches, named_properties, property_findings
from grader.submission import freeze

STRONG = ["mirror and fix", "plain flip", "per-sequence equivalence", "bad lengths"]


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    """Return L3.4 of the built-in course."""
    return load_course().assignment("L3.4")


@pytest.fixture(scope="module")
def gold(assignment: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Grade:
    """Grade the gold suite, every test on every mutant."""
    runs = tmp_path_factory.mktemp("runs")
    options = Options(sandbox="process", matrix=True, run_dir=runs)
    return grade(assignment, freeze(assignment.gold_path), options)


@pytest.fixture(scope="module")
def found(assignment: Assignment, gold: Grade) -> dict[str, Catch]:
    """Return what the gold suite's tests of each property catch."""
    naming = named_properties(freeze(assignment.gold_path))
    return {one.property.id: one for one in catches(assignment.properties, naming, gold)}


def test_at_least_fifty_mutants_count(assignment: Assignment) -> None:
    """The six required ones among them."""
    assert len(assignment.mutants) >= 50
    assert sum(mutant.required for mutant in assignment.mutants) == 6


def test_no_two_that_count_are_the_same_program(assignment: Assignment) -> None:
    """Nor is any the reference."""
    texts = [assignment.source]
    texts += [mutant.plant(assignment.source) for mutant in assignment.mutants]
    assert len({fingerprint(text) for text in texts}) == len(texts)


def test_running_a_direction_with_lengths_none_is_a_required_fault_already(
    assignment: Assignment,
) -> None:
    """So it doesn't count a second time."""
    statuses = {mutant.id: mutant.status for mutant in assignment.pool.mutant}
    for mutant, original in {
        "m-2b6d5ebf": "s06",
        "m-aac8d806": "s06",
        "m-219c55d5": "s05",
        "m-8993abf0": "s05",
    }.items():
        assert statuses[mutant] == f"duplicate-of {original}"


def test_the_gold_suite_catches_all_that_count(gold: Grade) -> None:
    """And each of its tests is valid."""
    assert gold.score is not None
    assert gold.score.killed == gold.score.scored
    assert all(test.status.counts for test in gold.tests)


@pytest.mark.parametrize("name", STRONG)
def test_leaving_out_a_property_that_follows_from_no_other_costs_something(
    name: str, found: dict[str, Catch]
) -> None:
    """Some mutant is caught by its tests alone."""
    assert found[name].alone
    assert not found[name].property.follows_from


def test_every_property_catches_something_and_is_named_by_each_test(
    assignment: Assignment, gold: Grade, found: dict[str, Catch]
) -> None:
    """Nothing is wrong with any of the six."""
    naming = named_properties(freeze(assignment.gold_path))
    assert property_findings(assignment, naming, gold, list(found.values())) == []
    assert len(found) == 6
