"""An assignment's gold suite, and gradings of a course's own suites where only a grade will do."""

from grader.course import Assignment
from grader.grade import Grade, Options
from grader.grading import grade
from grader.messages import message
from grader.problems import Unusable, Void
from grader.submission import Submission, freeze


def gold_suite(assignment: Assignment) -> Submission:
    """Return the gold suite; raises `Unusable` if there is none."""
    if not assignment.gold_path.is_dir():
        raise Unusable(message("no-gold-suite", assignment=assignment.id))
    return freeze(assignment.gold_path)


def graded(assignment: Assignment, suite: Submission, options: Options) -> Grade:
    """Grade one of a course's own suites.

    Raises
    ------
    Unusable
        If no test of it holds.
    Void
        If the machine can't run it.
    """
    found = grade(assignment, suite, options)
    if found.why is not None and found.fault != "student":
        raise Void(found.why, found.fault or "harness")
    if not found.graded:
        raise Unusable(found.why or message("no-valid-test"))
    return found
