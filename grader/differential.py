"""Compares implementations with the reference on generated inputs, and keeps what tells them apart.

A course's differential suite imports the module under test and, as `oracle`, the text that it is
compared with. It fails on the first difference, and the failure names the input.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .course import Assignment
from .course_tests import CourseTest, Suite, run_suite
from .sandbox import Sandbox

FOLDER = "differential"
ORACLE = "oracle.py"


@dataclass(frozen=True)
class Comparison:
    """What comparing one implementation came to."""

    made: int  # how many inputs gave the same, up to the first that didn't
    test: str | None = None  # the first that found a difference
    witness: str | None = None  # the input, and what came of it


def compare(
    assignment: Assignment,
    implementations: Mapping[str, str],
    sandbox: Sandbox,
    jobs: int,
) -> dict[str, str | None]:
    """Return, for each implementation, the input that tells it from the reference, or ``None``.

    Parameters
    ----------
    assignment
        Whose differential suite is run.
    implementations
        Texts of the module under test, under names of the caller's choice.
    sandbox, jobs
        Where, and on how many workers.

    Raises
    ------
    Unusable
        If the course has no differential suite of this assignment.
    Void
        If the machine spoils a run twice.
    """
    pairs = {name: (text, assignment.source) for name, text in implementations.items()}
    found = compare_pairs(assignment, pairs, sandbox, jobs)
    return {name: one.witness for name, one in found.items()}


def compare_pairs(
    assignment: Assignment, pairs: Mapping[str, tuple[str, str]], sandbox: Sandbox, jobs: int
) -> dict[str, Comparison]:
    """Compare the first text of each pair with the second; it raises what `compare` does."""
    oracles = {name: {ORACLE: other} for name, (_, other) in pairs.items()}
    suite = replace(Suite.read(assignment, FOLDER), beside=oracles, to_first_failure=True)
    texts = {name: text for name, (text, _) in pairs.items()}
    results = run_suite(suite, texts, sandbox, jobs)
    return {name: _comparison(tests) for name, tests in results.items()}


def _comparison(tests: list[CourseTest]) -> Comparison:
    first = next((test for test in tests if test.result == "failed"), None)
    # A run goes on for a moment after its first failure.
    until = tests.index(first) if first else len(tests)
    made = sum(test.passed for test in tests[:until])
    if first is None:
        # What was not compared is not known to be the same.
        left = next((test.name for test in tests if not test.passed), None)
        return Comparison(made, left, "there was no time to compare it" if left else None)
    failure = first.failure
    if failure is None or failure.exception == "AssertionError":
        return Comparison(made, first.name, failure.message if failure else "it fails")
    return Comparison(made, first.name, f"{failure.exception}: {failure.message}")
