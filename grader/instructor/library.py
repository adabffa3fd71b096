"""Verifies a library of mutants: that each is a fault, and that tests can see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.course import Assignment
from grader.course_tests import CourseTest, run_course_tests
from grader.grade import Grade, Options
from grader.grading import grade, make_sandbox
from grader.messages import message
from grader.mutants import SemanticMutant, defects
from grader.problems import Unusable
from grader.verdict import Result

from .decisions import decision_findings, drift_findings
from .finding import Finding
from .gold import gold_suite
from .properties import Catch, catches, named_properties, property_findings
from .suites import SUITES, faults


@dataclass(frozen=True)
class Verification:
    """What a verification of a library saw."""

    findings: tuple[Finding, ...]
    matrix: Mapping[str, Mapping[str, bool]]  # course test → mutant → whether it fails
    gold: Grade | None
    properties: tuple[Catch, ...] = ()
    notes: tuple[str, ...] = ()  # what could not be verified here, and why

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def verify(assignment: Assignment, options: Options) -> Verification:
    """Verify a library as a whole.

    Each edit applies once and makes another program; decisions are reviewed and the frozen pool is
    what its generator gives; the gold suite catches each scored mutant, the course's tests those
    that name them; each property of the chapter catches something, and, unless it follows from
    another, something that no other does.

    Raises
    ------
    Unusable
        If the assignment has no mutants, or no gold suite to try on them.
    Void
        If the machine can't run the course's tests.
    """
    if not assignment.mutants:
        raise Unusable(message("no-mutants", assignment=assignment.id))
    suite = gold_suite(assignment)
    everyone = (*assignment.semantic, *assignment.pool.mutant)
    broken = [Finding(name, text) for name, text in defects(everyone, assignment.source).items()]
    if broken:
        return Verification(tuple(broken), {}, None)
    gold = grade(assignment, suite, replace(options, matrix=True))
    matrix = course_matrix(assignment, options)
    drift, note = drift_findings(assignment)
    findings = [*decision_findings(assignment), *drift, *_gold(gold)]
    findings += _course(assignment.semantic, matrix)
    naming = named_properties(suite)
    found = catches(assignment.properties, naming, gold)
    if assignment.properties and gold.graded:
        findings += property_findings(assignment, naming, gold, found)
    for name in SUITES:
        for test, why in faults(assignment, name, options).items():
            findings.append(Finding(test, f"of the {name} suite {why}"))
    return Verification(tuple(findings), matrix, gold, tuple(found), (note,) if note else ())


def _gold(gold: Grade) -> list[Finding]:
    found = [
        Finding(test.status.id, f"of the gold suite is {test.status.status.replace('_', ' ')}")
        for test in gold.tests
        if not test.status.counts
    ]
    if gold.why is not None:
        return [*found, Finding("gold suite", gold.why.text)]
    return found + [
        Finding(one.mutant.id, f"is not caught by the gold suite: {one.result.replace('_', ' ')}")
        for one in gold.verdicts
        if one.result is not Result.KILLED
    ]


def course_matrix(assignment: Assignment, options: Options) -> dict[str, dict[str, bool]]:
    """Return, by course test and named mutant, whether the test fails; "" is the reference."""
    implementations = {"": assignment.source}
    for mutant in assignment.semantic:
        implementations[mutant.id] = mutant.plant(assignment.source)
    results = run_course_tests(
        assignment, implementations, make_sandbox(assignment, options), options.jobs
    )
    functions = dict.fromkeys(test.function for test in results[""])
    return {
        function: {name: _fails(function, tests) for name, tests in results.items()}
        for function in functions
    }


def _fails(function: str, tests: Sequence[CourseTest]) -> bool:
    """Return whether a test fails; one that isn't found, its file being broken, does."""
    cases = [test for test in tests if test.function == function]
    return not cases or not all(case.passed for case in cases)


def _course(
    mutants: Sequence[SemanticMutant], matrix: Mapping[str, Mapping[str, bool]]
) -> list[Finding]:
    found = [
        Finding(test, "of the course fails on the reference")
        for test, row in matrix.items()
        if row[""]
    ]
    for mutant in mutants:
        for test in mutant.caught_by:
            if test not in matrix:
                found.append(Finding(mutant.id, f"names {test}, which is no course test"))
            elif not matrix[test][mutant.id]:
                found.append(Finding(mutant.id, f"is not caught by {test}, which it names"))
        if not any(row[mutant.id] and not row[""] for row in matrix.values()):
            found.append(Finding(mutant.id, "is caught by no course test"))
    return found
