"""Computes an assignment's dominator set from the gold suite's kill matrix, and writes it down."""

import json
from collections.abc import Sequence
from dataclasses import replace

from grader.course import Assignment
from grader.dominators import DominatorSet
from grader.grade import Options

from .gold import gold_suite, graded

GENERATOR = "grade mutants dominators {assignment}, from the kill matrix of the gold suite"


def dominators(assignment: Assignment, options: Options) -> DominatorSet:
    """Run the gold suite on every mutant, and return which of them stand for all.

    Raises
    ------
    Unusable
        If there are no mutants, no gold suite, or no test in it that holds.
    Void
        If the machine can't run it.
    """
    found = graded(assignment, gold_suite(assignment), replace(options, matrix=True))
    if found.matrix is None:
        raise AssertionError("a grading with a matrix gives one")
    return DominatorSet(
        generator=GENERATOR.format(assignment=assignment.id),
        mutants=found.matrix.mutants,
        dominators=found.matrix.dominators,
    )


def render(found: DominatorSet) -> str:
    """Return a dominator set as the text of a ``dominators.toml``."""
    # JSON's strings are TOML's, for what a mutant may be called.
    lines = [
        f"generator = {json.dumps(found.generator)}",
        f"mutants = {_array([json.dumps(mutant) for mutant in found.mutants])}",
        f"dominators = {_array([json.dumps(same) for same in found.dominators])}",
    ]
    return "\n".join(lines) + "\n"


def _array(items: Sequence[str]) -> str:
    return "\n".join(["[", *(f"  {item}," for item in items), "]"])
