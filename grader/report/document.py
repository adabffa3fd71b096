"""The grade as a JSON document, whose schema is published beside this module."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from grader import untrusted
from grader.grade import Fault, Grade, GradedTest, Isolation, SandboxName
from grader.mutants import Kind, SemanticMutant
from grader.policy import PolicyName
from grader.review import FlagKind
from grader.status import Status
from grader.verdict import Result, Verdict

from .matrix_part import MatrixPart, matrix_part
from .part import Part

SCHEMA_PATH = Path(__file__).with_name("grade.schema.json")


class ScorePart(Part):
    """What the verdicts add up to."""

    killed: int
    scored: int
    threshold_percent: int
    required_killed: int
    required: int
    points: float


class TestPart(Part):
    """One test of the student, or a file that couldn't be run."""

    __test__ = False
    id: str
    status: Status
    reason: str | None
    own_implementation: Literal["passed", "failed", "skipped", "not run"] | None
    kills: tuple[str, ...]


class MutantPart(Part):
    """One scored mutant."""

    id: str
    kind: Kind
    required: bool
    title: str | None
    verdict: Result
    phase: str | None
    killed_by: tuple[str, ...]
    witness: str | None
    reason: str | None
    hint: str | None


class ControlsPart(Part):
    """How many right implementations the tests were run on, at each draw."""

    reference: int
    twins: int


class LeftOutPart(Part):
    """A file that was not taken."""

    path: str
    why: str


class SubmissionPart(Part):
    """What was graded."""

    sha256: str | None
    files: tuple[str, ...]
    left_out: tuple[LeftOutPart, ...]


class CoursePart(Part):
    """What it was graded against."""

    sha256: str


class SettingsPart(Part):
    """How it was graded."""

    sandbox: SandboxName
    isolation: Isolation
    policy: PolicyName
    sealed: bool
    draws: tuple[int, ...]


class CourseTestPart(Part):
    """One of the course's tests on the student's implementation."""

    name: str
    kind: str
    result: Literal["passed", "failed", "not run"]


class FlagPart(Part):
    """A place in the student's tests that a person should look at."""

    kind: FlagKind
    path: str
    line: int | None
    text: str


class GradeDocument(Part):
    """A grade."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Grade")

    schema_: Literal[1] = 1
    assignment: str
    graded: bool
    passed: bool
    fault: Fault | None
    why: str | None
    partial: bool
    score: ScorePart | None
    tests: tuple[TestPart, ...]
    mutants: tuple[MutantPart, ...]
    course_tests: tuple[CourseTestPart, ...] | None
    matrix: MatrixPart | None
    controls: ControlsPart
    warnings: tuple[str, ...]
    review: tuple[FlagPart, ...] | None
    submission: SubmissionPart
    course: CoursePart
    versions: Mapping[str, str]
    settings: SettingsPart
    seconds: Mapping[str, float]


def to_json(grade: Grade) -> str:
    """Return ``grade`` as JSON text."""
    content = to_document(grade).model_dump(mode="json")
    content = {"schema": content.pop("schema_"), **content}
    return untrusted.json(content) + "\n"


def json_schema() -> str:
    """Return the document's JSON schema, as it is published."""
    schema = GradeDocument.model_json_schema()
    properties = schema["properties"]
    schema["properties"] = {"schema": properties.pop("schema_"), **properties}
    schema["required"] = ["schema", *schema["required"]]
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=1) + "\n"


def to_document(grade: Grade) -> GradeDocument:
    """Return ``grade`` as a document."""
    settings = grade.assignment.settings
    submission = grade.submission
    applied = grade.policy
    return GradeDocument(
        assignment=grade.assignment.id,
        graded=grade.graded,
        passed=grade.passed,
        fault=grade.fault,
        why=grade.why.text if grade.why else None,
        partial=grade.partial,
        score=_score(grade),
        tests=tuple(_test(test) for test in grade.tests),
        mutants=tuple(_mutant(verdict, grade) for verdict in grade.verdicts),
        course_tests=_course_tests(grade),
        matrix=matrix_part(grade),
        controls=ControlsPart(reference=applied.references, twins=applied.twins),
        warnings=tuple(warning.text for warning in grade.warnings),
        review=_review(grade),
        submission=SubmissionPart(
            sha256=submission.sha256 if submission else None,
            files=tuple(sorted(submission.files)) if submission else (),
            left_out=tuple(LeftOutPart(path=one.path, why=one.why) for one in submission.left_out)
            if submission
            else (),
        ),
        course=CoursePart(sha256=grade.assignment.course.sha256),
        versions=grade.versions,
        settings=SettingsPart(
            sandbox=grade.options.sandbox,
            isolation=grade.options.isolation,
            policy=grade.options.policy,
            sealed=grade.sealed,
            draws=settings.draws,
        ),
        seconds=grade.seconds,
    )


def _score(grade: Grade) -> ScorePart | None:
    score = grade.score
    if score is None:
        return None
    return ScorePart(
        killed=score.killed,
        scored=score.scored,
        threshold_percent=score.threshold_percent,
        required_killed=score.required_killed,
        required=score.required,
        points=float(grade.passed),
    )


def _test(test: GradedTest) -> TestPart:
    status = test.status
    return TestPart(
        id=status.id,
        status=status.status,
        reason=status.reason.text if status.reason else None,
        own_implementation=test.own_implementation,
        kills=test.kills,
    )


def _mutant(verdict: Verdict, grade: Grade) -> MutantPart:
    mutant = verdict.mutant
    named = verdict.result is Result.KILLED or grade.reveal not in ("none", "count")
    return MutantPart(
        id=mutant.id,
        kind=mutant.kind,
        required=mutant.required,
        title=mutant.name if named else None,
        verdict=verdict.result,
        phase=verdict.phase,
        killed_by=verdict.killed_by,
        witness=verdict.witness,
        reason=verdict.reason.text if verdict.reason else None,
        hint=hint(verdict, grade),
    )


def hint(verdict: Verdict, grade: Grade) -> str | None:
    """Return what a report may say toward catching a mutant that was not caught."""
    mutant = verdict.mutant
    if verdict.result is Result.KILLED or not isinstance(mutant, SemanticMutant):
        return None
    match grade.reveal:
        case "none" | "count":
            return None
        case "pitfall":
            return " ".join(mutant.hint[:2])
        case "behaviour" | "diff":
            return " ".join(mutant.hint)


def _course_tests(grade: Grade) -> tuple[CourseTestPart, ...] | None:
    if grade.course_tests is None:
        return None
    return tuple(
        CourseTestPart(name=test.name, kind=test.kind, result=test.result)
        for test in grade.course_tests
    )


def _review(grade: Grade) -> tuple[FlagPart, ...] | None:
    if grade.review is None:
        return None
    return tuple(
        FlagPart(kind=flag.kind, path=flag.path, line=flag.line, text=flag.message.text)
        for flag in grade.review
    )
