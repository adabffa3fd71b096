"""What a test is worth: one function gives a test its status, from the runs on the reference."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .cells import REFERENCE
from .course import AssignmentSettings
from .evidence import Evidence, Place, Reading, Seen, function_of, governs
from .messages import Message, message
from .outcome import End, Failure, Look, TestRun
from .refusal import refusal
from .rejection import at, first_failure, rejection, witness


class Status(StrEnum):
    """What a test is worth."""

    REFUSED = "refused"
    BROKEN = "broken"
    INVALID = "invalid"
    FLAKY = "flaky"
    TOO_STRICT = "too_strict"
    VACUOUS = "vacuous"
    VALID = "valid"


NAMES = {"reference": "the course's code", "twin": "a rewrite of the course's code"}
# Exceptions on import whose text is shown; `Failed` is how pytest says what it doesn't collect.
TELLING = ("ImportError", "ModuleNotFoundError", "SyntaxError", "NameError", "Failed")
# What Python's parser raises in place of a syntax error, with neither a line nor a word on it.
UNPARSED = {
    "MemoryError": "something in it is nested too deeply to be read",
    "RecursionError": "something in it is nested too deeply to be read",
    "ValueError": "there is a null character in it",
}
# What one run can show and no further run can take back.
FOR_GOOD = frozenset({Status.INVALID, Status.FLAKY, Status.TOO_STRICT, Status.VACUOUS})


@dataclass(frozen=True)
class TestStatus:
    """The status of one test, or of a file that couldn't be run, and why."""

    __test__ = False
    id: str
    status: Status
    reason: Message | None = None

    @property
    def counts(self) -> bool:
        """Whether its kills count."""
        return self.status is Status.VALID

    @property
    def holds(self) -> bool:
        """Whether it ran and accepts every right implementation, if only since it accepts all."""
        return self.counts or (self.reason is not None and self.reason.slug == "vacuous")


def not_run(settings: AssignmentSettings, reading: Reading) -> dict[str, TestStatus]:
    """Return the files that are not run, judged by the look at their source."""
    found: dict[str, TestStatus] = {}
    for path, end in reading.ends.items():
        found[path] = TestStatus(path, Status.BROKEN, _unrunnable(path, end, settings))
    for look in reading.looks:
        status = _judged(settings, reading, look)
        if status is not None:
            found.setdefault(look.path, status)
    looked_at = {look.path for look in reading.looks}
    for path in reading.files:
        if path not in looked_at:
            unread = TestStatus(path, Status.BROKEN, message("broken-unread"))
            found.setdefault(path, unread)
    return found


def _judged(settings: AssignmentSettings, reading: Reading, look: Look) -> TestStatus | None:
    if reason := refusal(settings, reading.files, look):
        return TestStatus(look.path, Status.REFUSED, reason)
    if look.problem is not None:
        _, why, line = look.problem
        said = {"at": f"line {line}: " if line else "", "why": UNPARSED.get(why, why)}
        return TestStatus(look.path, Status.BROKEN, message("broken-syntax", **said))
    return None


def statuses(evidence: Evidence) -> dict[str, TestStatus]:
    """Return the status of every test, and of every file that couldn't be run."""
    settings, calibration = evidence.settings, evidence.calibration
    found = not_run(settings, evidence.reading)
    for path, failure in calibration.unreadable.items():
        found[path] = TestStatus(path, Status.BROKEN, _unimportable(failure))
    for name, end in calibration.unrunnable.items():
        found.setdefault(name, TestStatus(name, Status.BROKEN, _unrunnable(name, end, settings)))
    established = evidence.established(settings.draws[0])
    for test in calibration.tests:
        if test not in found:
            found[test] = _status(test, evidence, reached=test in established)
    return found


def _status(test: str, evidence: Evidence, *, reached: bool) -> TestStatus:
    """Return the status of a test that runs; the first rule that matches counts."""
    places = evidence.control_runs(test)
    if rejected := _rejected(test, evidence, places):
        return rejected
    if not reached:
        return TestStatus(test, Status.BROKEN, _unrunnable(test, None, evidence.settings))
    if any(run.skipped for runs in places.values() for run in runs):
        return TestStatus(test, Status.VACUOUS, message("vacuous-skipped"))
    if test in evidence.untouched:
        return TestStatus(test, Status.VACUOUS, message("vacuous"))
    return TestStatus(test, Status.VALID)


def _rejected(
    test: str, evidence: Evidence, places: Mapping[Place, Sequence[TestRun]]
) -> TestStatus | None:
    """Return the status of a test that disagrees with right code, or with itself."""
    reference = [runs for place, runs in places.items() if place[0] == REFERENCE]
    twins = [runs for place, runs in places.items() if place[0] != REFERENCE]
    if failing := _always_failing(reference):
        return _failing(test, failing)
    if where := _contradiction(test, evidence, places):
        return TestStatus(test, Status.FLAKY, message("flaky", where=where))
    if function_of(test) in evidence.unstable:
        return TestStatus(test, Status.FLAKY, message("flaky-ids"))
    if strict := _always_failing(twins):
        return TestStatus(test, Status.TOO_STRICT, message("too-strict", **_details(strict)))
    if misread := _failure_to_import(test, evidence):
        details = {"exception": _named(misread), "at": at(misread), "witness": ""}
        return TestStatus(test, Status.TOO_STRICT, message("too-strict", **details))
    return None


def unrepeated(evidence: Evidence) -> frozenset[Place]:
    """Return where tests have failed in a single run on right code, so that it must be repeated.

    The first such place of each test is enough to tell what it is worth.
    """
    found: set[Place] = set()
    for test in evidence.calibration.runnable:
        runs_at = evidence.control_runs(test).items()
        found |= _first_unrepeated({at: [_fails(run) for run in runs] for at, runs in runs_at})
    for path in evidence.misread:
        readings = evidence.readings_of(path).items()
        found |= _first_unrepeated({at: [not good for good in read] for at, read in readings})
    return frozenset(found)


def _first_unrepeated(failures: Mapping[Place, Sequence[bool]]) -> set[Place]:
    """Return the first place of a single failure, unless a repeated one has told already."""
    if any(len(failed) > 1 and any(failed) for failed in failures.values()):
        return set()
    return set([place for place, failed in failures.items() if any(failed)][:1])


def _always_failing(places: Iterable[Sequence[TestRun]]) -> TestRun | None:
    """Return a failing run of the first place at which all runs fail."""
    for runs in places:
        if all(_fails(run) for run in runs):
            return runs[0]
    return None


def _failure_to_import(test: str, evidence: Evidence) -> Failure | None:
    """Return why a file that ``test`` needs can never be imported on some twin."""
    for _, outcome in evidence.controls:
        for broken in outcome.unreadable:
            if broken.path in evidence.misread and governs(broken.path, test):
                return broken.failure
    return None


def _contradiction(
    test: str, evidence: Evidence, places: Mapping[Place, Sequence[TestRun]]
) -> str | None:
    """Return where ``test`` both passed and failed on the same code at the same draw."""
    for (variant, draw), runs in places.items():
        if len({_fails(run) for run in runs}) == 2:
            return f"{NAMES[variant.kind]}, draw {draw}"
    for path in evidence.misread:
        for (variant, _), read in evidence.readings_of(path).items():
            refuted = any(read) or variant == REFERENCE  # which the calibration could read
            if governs(path, test) and refuted and not all(read):
                return f"{NAMES[variant.kind]}, while its file was read"
    for mutant, seen in evidence.mutants.items():
        if _contradicts_itself(test, seen):
            return f"mutant {mutant}"
    return None


def _contradicts_itself(test: str, seen: Sequence[Seen]) -> bool:
    """Return whether ``test`` both passed and failed; a failure is one even if the run stopped."""
    results: dict[int, set[bool]] = {}
    for cell, outcome in seen:
        run = outcome.run(test)
        if run is not None and (run.failed or run.finished):
            results.setdefault(cell.draw, set()).add(run.failed)
    return any(len(both) == 2 for both in results.values())


def _fails(run: TestRun) -> bool:
    """Return whether a run is a failure; one that is expected tells nothing."""
    return run.failed and not run.skipped


def _failing(test: str, run: TestRun) -> TestStatus:
    failure = first_failure(run)
    if failure.exception == "FixtureLookupError":
        lines = failure.message.strip().splitlines() or ["a fixture is missing"]
        return TestStatus(test, Status.BROKEN, message("broken-fixture", why=lines[0]))
    return TestStatus(test, Status.INVALID, rejection(run))


def _details(run: TestRun) -> dict[str, str]:
    """Return what a failing run may tell: the exception, the student's own line, the input."""
    failure = first_failure(run)
    return {"exception": failure.exception, "at": at(failure), "witness": witness(failure)}


def _unimportable(failure: Failure) -> Message:
    """Say why a file could not be imported on the course's code."""
    if failure.exception == "ModuleNotFoundError":
        return message("broken-module", why=failure.message, at=at(failure))
    if failure.exception == "ImportPathMismatchError":
        return message("broken-same-name")
    return message("broken-import", exception=_named(failure), at=at(failure))


def _named(failure: Failure) -> str:
    """Name an exception; where its text is the student's own, or pytest's, that helps."""
    if failure.exception in TELLING:
        return f"{failure.exception}: {failure.message}"
    return failure.exception


def _unrunnable(name: str, end: End | None, settings: AssignmentSettings) -> Message:
    """Say why a test, or a file, didn't run; ``end`` is how it ended a run, if it did."""
    limits = settings.limits
    is_test = "::" in name
    match end:
        case End.TIMEOUT:
            slug = "broken-time" if is_test else "broken-import-time"
            return message(slug, seconds=limits.seconds_per_test)
        case End.CRASH:
            return message("broken-crash" if is_test else "broken-import-crash")
        case End.GARBLED:
            return message("broken-garbled")
        case _:
            return message("broken-unreached", seconds=limits.seconds_in_all)
