"""Verifies a library of mutants: that each is a fault, and that tests can see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course import Assignment
from grader.course_tests import CourseTest, run_course_tests
from grader.grade import Grade, Options
from grader.grading import grade, make_sandbox
from grader.mutants import SemanticMutant, defects
from grader.submission import freeze
from grader.verdict import Result


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a library."""

    subject: str
    text: str


@dataclass(frozen=True)
class Verification:
    """What a verification of a library saw."""

    findings: tuple[Finding, ...]
    matrix: Mapping[str, Mapping[str, bool]]  # course test → mutant → whether it fails
    gold: Grade | None

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def verify(assignment: Assignment, options: Options) -> Verification:
    """Verify that each mutant applies, differs, and is caught by those who should catch it."""
    everyone = (*assignment.semantic, *assignment.pool.mutant)
    broken = [Finding(name, text) for name, text in defects(everyone, assignment.source).items()]
    if broken:
        return Verification(tuple(broken), {}, None)
    findings: list[Finding] = _names(assignment)
    gold = grade(assignment, freeze(assignment.gold_path), options)
    findings += _gold(gold)
    matrix = course_matrix(assignment, options)
    findings += _course(assignment.semantic, matrix)
    return Verification(tuple(findings), matrix, gold)


def _names(assignment: Assignment) -> list[Finding]:
    ids = [mutant.id for mutant in (*assignment.semantic, *assignment.pool.mutant)]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    return [Finding(name, "stands twice") for name in twice]


def _gold(gold: Grade) -> list[Finding]:
    if gold.fault in ("harness", "machine"):
        return [Finding("gold suite", gold.why.text if gold.why else "could not be run")]
    found = [
        Finding(test.status.id, f"of the gold suite is {test.status.status}")
        for test in gold.tests
        if not test.status.counts
    ]
    found += [
        Finding(one.mutant.id, f"the gold suite: {one.result.replace('_', ' ')}")
        for one in gold.verdicts
        if one.result is not Result.KILLED
    ]
    return found


def course_matrix(assignment: Assignment, options: Options) -> dict[str, dict[str, bool]]:
    """Return, by course test and named mutant, whether the test fails; "" is the reference."""
    implementations = {"": assignment.source}
    for mutant in assignment.semantic:
        implementations[mutant.id] = mutant.plant(assignment.source)
    results = run_course_tests(
        assignment, implementations, make_sandbox(assignment, options), options.jobs
    )
    matrix: dict[str, dict[str, bool]] = {}
    for name, tests in results.items():
        for test in tests:
            row = matrix.setdefault(_function(test), {})
            row[name] = row.get(name, False) or not test.passed
    return matrix


def _function(test: CourseTest) -> str:
    return test.name.partition("[")[0]


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
        if not any(row[mutant.id] for row in matrix.values()):
            found.append(Finding(mutant.id, "is caught by no course test"))
    return found
