"""The chapter's table of pitfalls, cell by cell: which course test sees which fault of L3.4."""

from collections.abc import Mapping

import pytest

from grader.course import Assignment, Limits, load_course
from grader.course_tests import run_course_tests
from grader.grade import Options
from grader.instructor.library import course_matrix
from grader.sandbox.process import ProcessSandbox

REVERSAL = "test_hand_example_reversal"
SUMS = "test_hand_example_running_sums"
INVOLUTION = "test_reversal_is_an_involution_that_keeps_padding"
FLIP = "test_no_lengths_is_a_plain_flip"
TORCH = "test_matches_torch_bidirectional"
LOOP = "test_matches_per_sequence_loop"
PADDING = "test_padding_never_reaches_either_direction"
LENGTHS = "test_bad_lengths"

KINDS = {
    REVERSAL: "unit",
    SUMS: "unit",
    INVOLUTION: "property",
    FLIP: "unit",
    TORCH: "golden",
    LOOP: "differential",
    PADDING: "boundary",
    LENGTHS: "boundary",
}
MUTANTS = ["s01", "s02", "s03", "s04", "s05", "s06"]
# A line a course test, a column a fault; x is a catch.
TABLE = {
    REVERSAL: "x..x..",
    SUMS: "xxx.xx",
    INVOLUTION: "x..x..",
    FLIP: ".xx...",
    TORCH: "xxx.xx",
    LOOP: "xxx.xx",
    PADDING: "xxx.xx",
    LENGTHS: "......",
}
# What the chapter's section on pitfalls names for each; other tests may catch it too.
PITFALLS = {
    "s01": {REVERSAL, INVOLUTION},
    "s02": {SUMS, TORCH},
    "s03": {SUMS, TORCH},
    "s04": {REVERSAL, INVOLUTION},
    "s05": {PADDING, LOOP},
    "s06": {PADDING, LOOP},
}

Matrix = Mapping[str, Mapping[str, bool]]


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    """Return L3.4 of the built-in course."""
    return load_course().assignment("L3.4")


@pytest.fixture(scope="module")
def matrix(assignment: Assignment) -> Matrix:
    """Run the course's tests on the reference and on each named fault."""
    return course_matrix(assignment, Options(sandbox="process"))


def test_the_named_faults_are_those_of_the_chapter(assignment: Assignment) -> None:
    """Six, all required, in its order."""
    assert [mutant.id for mutant in assignment.mutants if mutant.required] == MUTANTS


def test_the_eight_tests_are_those_of_the_chapter_and_pass_on_the_reference(
    matrix: Matrix,
) -> None:
    """In its order."""
    assert list(matrix) == list(KINDS)
    assert not any(row[""] for row in matrix.values())


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("test", TABLE)
def test_a_cell_of_the_table(test: str, mutant: str, matrix: Matrix) -> None:
    """This test sees this fault, or doesn't."""
    assert matrix[test][mutant] == (TABLE[test][MUTANTS.index(mutant)] == "x")


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_fault_is_seen_by_the_tests_that_the_chapter_names(
    mutant: str, matrix: Matrix, assignment: Assignment
) -> None:
    """And the library names the same."""
    assert all(matrix[test][mutant] for test in PITFALLS[mutant])
    (named,) = [one.caught_by for one in assignment.semantic if one.id == mutant]
    assert set(named) == PITFALLS[mutant]


def test_each_test_is_of_the_kind_that_the_chapter_says(assignment: Assignment) -> None:
    """By its mark; and every case of it passes on the reference."""
    sandbox = ProcessSandbox(Limits())
    found = run_course_tests(assignment, {"": assignment.source}, sandbox, 1)[""]
    assert {test.function: test.kind for test in found} == KINDS
    assert {test.result for test in found} == {"passed"}
    assert len(found) > len(KINDS)
