"""From what is known of a submission to its grade: every judgement, brought together."""

from collections.abc import Iterator, Sequence

from .almost import named, near_misses
from .course import Assignment
from .disclosure import Disclosure
from .dominators import read_dominators
from .grade import Grade, GradedTest, Options
from .knowledge import Knowledge
from .matrix import DominatorScore, KillMatrix, dominator_score, kill_matrix
from .messages import TEXTS, Message, message
from .outcome import Look
from .resemblance import models
from .review import Flag, review
from .score import score
from .status import TestStatus
from .submission import Submission
from .verdict import Result, Verdict, verdict


def assess(
    assignment: Assignment, submission: Submission, options: Options, known: Knowledge
) -> Grade:
    """Return the grade that ``known`` amounts to."""
    known = Disclosure(assignment, submission).of(known)
    found = known.statuses
    holding = any(one.holds for one in found.values())
    verdicts = tuple(
        verdict(mutant, known.evidence, known.valid, holding=holding)
        for mutant in known.request.mutants
    )
    return Grade(
        assignment,
        options,
        graded=holding,
        fault=None if holding else "student",
        tests=tuple(_graded(one, known, verdicts) for one in found.values()),
        verdicts=verdicts,
        warnings=(*_warnings(assignment, submission, known), *_doubts(options)),
        why=None if holding else _nothing_holds(assignment, submission, options, known),
        score=None
        if options.partial
        else score(verdicts, known.request.settings.threshold_percent),
        matrix=_matrix(known, verdicts),
        dominator_score=_dominator_score(assignment, verdicts) if options.matrix else None,
        review=_review(assignment, known) if options.staff else None,
    )


def _matrix(known: Knowledge, verdicts: Sequence[Verdict]) -> KillMatrix | None:
    if not known.request.matrix:
        return None
    seen = known.evidence.mutants.items()
    runs = {mutant: [outcome for _, outcome in some] for mutant, some in seen}
    properties = known.calibration.last[1].properties if known.valid else {}
    tests = [test for test in known.statuses if test in known.valid]
    return kill_matrix(tests, verdicts, runs, properties)


def _dominator_score(assignment: Assignment, verdicts: Sequence[Verdict]) -> DominatorScore | None:
    dominators = read_dominators(assignment)
    if dominators is None:
        return None
    killed = [one.mutant.id for one in verdicts if one.result is Result.KILLED]
    return dominator_score(dominators, killed)


def _review(assignment: Assignment, known: Knowledge) -> tuple[Flag, ...]:
    looked, found = known.look.last[1], list(known.statuses.values())
    return review(looked, known.outcomes, models(assignment), found)


def _nothing_holds(
    assignment: Assignment, submission: Submission, options: Options, known: Knowledge
) -> Message:
    if options.only and not any("::" in name for name in known.statuses):
        return message("no-test-like", only=options.only)
    if known.statuses:
        return message("no-valid-test")
    almost = named(known.look.last[1].looks, submission)
    return message("no-tests", path=assignment.student_tests, almost=almost)


def _graded(status: TestStatus, known: Knowledge, verdicts: Sequence[Verdict]) -> GradedTest:
    kills = tuple(
        one.mutant.id
        for one in verdicts
        if one.result is Result.KILLED and status.id in one.killed_by
    )
    own = next((o for c, o in known.outcomes.items() if c.purpose == "own"), None)
    if own is None or "::" not in status.id:
        return GradedTest(status, kills)
    run = own.run(status.id)
    if run is None or not run.finished:
        return GradedTest(status, kills, "not run")
    if run.failed:
        failure = next((p.failure for p in run.phases if p.failure), None)
        text = f"{failure.exception}: {failure.message}" if failure else None
        return GradedTest(status, kills, "failed", text)
    return GradedTest(status, kills, "skipped" if run.skipped else "passed")


def _warnings(
    assignment: Assignment, submission: Submission, known: Knowledge
) -> Iterator[Message]:
    for one in submission.left_out:
        yield message("left-out", path=one.path, why=one.why)
    looks = known.look.last[1].looks
    yield from near_misses(looks)
    for look in looks:
        yield from _remarks(look)
    module = assignment.module
    names = {name.replace(":", ".") for look in looks for name, _ in look.imports}
    all_read = bool(looks) and all(look.problem is None for look in looks)
    if all_read and not any(f"{name}.".startswith(f"{module}.") for name in names):
        yield message("untested-module", module=module, assignment=assignment.id)
    calibration = known.calibration.last[1] if known.targets else None
    if calibration is not None and calibration.left_out:
        most = assignment.settings.limits.tests
        yield message("too-many-tests", count=calibration.left_out, most=most)


def _doubts(options: Options) -> Iterator[Message]:
    if options.policy == "authoritative" and options.course_key is None:
        yield message("no-course-key")


def _remarks(look: Look) -> Iterator[Message]:
    for rule, name, line in look.remarks:
        if (slug := f"remark-{rule}") in TEXTS:  # a cell's word, which may be any
            yield message(slug, path=look.path, line=line, name=name)
