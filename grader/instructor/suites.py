"""Verifies a course's own suites on rewrites of the reference, and on code that does no work."""

from collections.abc import Mapping, Sequence

from grader.course import Assignment
from grader.course_tests import CourseTest, run_course_tests, run_gold_suite
from grader.grade import Options
from grader.grading import make_sandbox
from grader.saboteurs import Saboteur, sabotage
from grader.twins.pool import Pool

TWINS = ("first", "second", "third", "fourth")
SUITES = {"course": run_course_tests, "gold": run_gold_suite}


def faults(assignment: Assignment, suite: str, options: Options) -> dict[str, str]:
    """Return, by test, why it is no model: it reacts to form, or it can't catch anything.

    Parameters
    ----------
    assignment
        Whose suite is verified.
    suite
        One of `SUITES`.
    options
        How to run it.

    Raises
    ------
    Unusable
        If the course has no such suite.
    Void
        If the machine can't run it.
    """
    source = assignment.source
    pool = Pool(source, assignment.mutants, TWINS)
    implementations = {"": source}
    implementations |= {seed: pool.twin(seed) for seed in pool.seeds}
    implementations |= {kind.value: sabotage(source, kind) for kind in Saboteur}
    sandbox = make_sandbox(assignment, options)
    results = SUITES[suite](assignment, implementations, sandbox, options.jobs)
    holding = _passing(results[""])
    strict = holding - frozenset.intersection(*(_passing(results[seed]) for seed in TWINS))
    idle = frozenset.intersection(*(_passing(results[kind.value]) for kind in Saboteur))
    return {
        **dict.fromkeys(sorted(idle), "passes on code that does no work at all"),
        **dict.fromkeys(sorted(strict), "fails on a rewrite that behaves the same"),
    }


def _passing(tests: Sequence[CourseTest]) -> frozenset[str]:
    """Return the test functions all of whose cases pass."""
    found: Mapping[str, list[bool]] = {test.function: [] for test in tests}
    for test in tests:
        found[test.function].append(test.passed)
    return frozenset(name for name, passed in found.items() if all(passed))
