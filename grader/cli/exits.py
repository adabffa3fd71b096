"""Exit codes: one enumeration, and the one function that maps a grade to its code."""

from enum import IntEnum

from grader.grade import Grade
from grader.problems import PrerequisiteMissing, Problem, Void


class Exit(IntEnum):
    """What a command's exit code means."""

    PASSED = 0
    NOT_PASSED = 1  # graded, and not passed
    UNUSABLE = 2  # usage, or input that can't be used
    NOTHING_HOLDS = 3  # no test was found that can run and holds on the reference
    PREREQUISITE = 4  # a module that the assignment builds on is missing
    VOID = 5  # a fault of the harness or the machine: no score
    INTERRUPTED = 130


def exit_of(grade: Grade) -> Exit:
    """Return the exit code of a grade."""
    match grade.fault:
        case "harness" | "machine":
            return Exit.VOID
        case "student":
            return Exit.NOTHING_HOLDS
        case None:
            return Exit.PASSED if grade.passed else Exit.NOT_PASSED


def exit_of_problem(problem: Problem) -> Exit:
    """Return the exit code of a request that could not be met."""
    if isinstance(problem, PrerequisiteMissing):
        return Exit.PREREQUISITE
    if isinstance(problem, Void):
        return Exit.VOID
    return Exit.UNUSABLE
