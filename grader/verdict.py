"""What outcomes mean: one function gives a test its status, one gives a mutant its verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from .cells import Cell
from .course import AssignmentSettings
from .messages import Message, message
from .mutants import Mutant
from .outcome import End, Failure, Look, Outcome, Phase, TestRun, Watch

Seen = tuple[Cell, Outcome]


class Status(StrEnum):
    """What a test is worth."""

    REFUSED = "refused"
    BROKEN = "broken"
    INVALID = "invalid"
    FLAKY = "flaky"
    TOO_STRICT = "too_strict"
    VACUOUS = "vacuous"
    VALID = "valid"


class Result(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    ERROR = "error"
    NOT_RUN = "not_run"


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


@dataclass(frozen=True)
class Verdict:
    """The verdict on one mutant, and what it rests on."""

    mutant: Mutant
    result: Result
    phase: str | None = None
    killed_by: tuple[str, ...] = ()
    witness: str | None = None
    reason: Message | None = None


@dataclass(frozen=True)
class Evidence:
    """All that statuses and verdicts rest on."""

    settings: AssignmentSettings
    files: Mapping[str, TestStatus]  # files that are not run
    calibration: Outcome | None = None
    unrunnable: Mapping[str, End] = field(default_factory=dict)
    controls: Sequence[Seen] = ()
    mutants: Mapping[str, Sequence[Seen]] = field(default_factory=dict)

    @property
    def tests(self) -> tuple[str, ...]:
        """Tests that were collected on the reference, in the suite's order."""
        return self.calibration.tests if self.calibration else ()

    @property
    def expected(self) -> frozenset[str]:
        """Tests that every cell must collect."""
        if self.calibration is None:
            return frozenset()
        unreadable = {broken.path for broken in self.calibration.unreadable}
        return frozenset(
            test
            for test in self.tests
            if test not in self.unrunnable and file_of(test) not in unreadable
        )


def file_of(test: str) -> str:
    """Return the file part of a test's id."""
    return test.partition("::")[0]


# --- files ---------------------------------------------------------------------------------


def refusals(
    settings: AssignmentSettings, files: Iterable[str], looks: Iterable[Look]
) -> dict[str, TestStatus]:
    """Return the files that are not run, judged by a look at their source."""
    files = tuple(files)
    own = {part for path in files for part in (path.partition("/")[0].removesuffix(".py"),)}
    found: dict[str, TestStatus] = {}
    for look in looks:
        status = _refusal(settings, own, look)
        if status is not None:
            found[look.path] = status
    return found


def _refusal(settings: AssignmentSettings, own: set[str], look: Look) -> TestStatus | None:
    top = look.path.partition("/")[0].removesuffix(".py")
    installed = {name.partition(".")[0] for name in settings.allowed_imports}
    shadowed = {settings.module.partition(".")[0], "pytest", "hypothesis", "numpy"} | installed
    if top in shadowed - {"*"}:
        return TestStatus(look.path, Status.REFUSED, message("refused-shadow", name=top))
    if look.problem is not None:
        kind, why, line = look.problem
        if kind == "encoding":
            return TestStatus(look.path, Status.REFUSED, message("refused-encoding", why=why))
        return TestStatus(look.path, Status.BROKEN, message("broken-syntax", line=line, why=why))
    for name, line in look.imports:
        if not allowed(name, settings.allowed_imports, own):
            reason = message(
                "refused-import",
                name=name.replace(":", "."),
                line=line,
                allowed=", ".join(settings.allowed_imports),
            )
            return TestStatus(look.path, Status.REFUSED, reason)
    return None


def allowed(name: str, permitted: Sequence[str], own: set[str]) -> bool:
    """Return whether an import is permitted; ``a:b`` stands for ``from a import b``."""
    module, _, attribute = name.partition(":")
    if "*" in permitted or module == "__future__" or module.partition(".")[0] in own:
        return True
    candidates = (module, f"{module}.{attribute}") if attribute else (module,)
    return any(
        candidate == one or candidate.startswith(f"{one}.")
        for candidate in candidates
        for one in permitted
    )


# --- tests ---------------------------------------------------------------------------------


def statuses(evidence: Evidence) -> dict[str, TestStatus]:
    """Return the status of every test, and of every file that couldn't be run."""
    found = dict(evidence.files)
    for broken in evidence.calibration.unreadable if evidence.calibration else ():
        found[broken.path] = TestStatus(broken.path, Status.BROKEN, _unreadable(broken.failure))
    for name, end in evidence.unrunnable.items():
        found[name] = TestStatus(name, Status.BROKEN, _unrunnable(name, end, evidence))
    for test in evidence.tests:
        found.setdefault(test, status(test, evidence))
    return found


def status(test: str, evidence: Evidence) -> TestStatus:
    """Return the status of a test that runs; the first rule that matches counts."""
    by_draw: dict[int, list[TestRun]] = {}
    for cell, outcome in evidence.controls:
        run = _settled(test, cell, outcome)
        if run is not None:
            by_draw.setdefault(cell.draw, []).append(run)
    for runs in by_draw.values():
        failing = [run for run in runs if run.failed and not run.skipped]
        if failing and len(failing) == len(runs):
            return _failing(test, failing[0])
    for draw, runs in by_draw.items():
        if any(run.failed and not run.skipped for run in runs):
            return _flaky(test, f"the course's code, draw {draw}")
    for mutant, seen in evidence.mutants.items():
        if _contradicts_itself(test, seen):
            return _flaky(test, f"mutant {mutant}")
    runs = [run for several in by_draw.values() for run in several]
    if not runs:
        return TestStatus(test, Status.BROKEN, _unrunnable(test, End.TIMEOUT, evidence))
    if any(run.skipped for run in runs):
        return TestStatus(test, Status.VACUOUS, message("vacuous-skipped"))
    return TestStatus(test, Status.VALID)


def _settled(test: str, cell: Cell, outcome: Outcome) -> TestRun | None:
    """Return what a cell says for certain about ``test``: how it ran, or that it ended the run."""
    run = outcome.run(test)
    if run is not None and run.finished:
        return run
    if outcome.at == test and test in cell.last:
        return TestRun(phases=(*(run.phases if run else ()), _ended(test, outcome.end)))
    return None


def _ended(test: str, end: End) -> Phase:
    failure = Failure(kind="exit", exception=end.value)
    return Phase(id=test, when="call", outcome="failed", expected_to_fail=False, failure=failure)


def _contradicts_itself(test: str, seen: Sequence[Seen]) -> bool:
    results: dict[int, set[bool]] = {}
    for cell, outcome in seen:
        run = outcome.run(test)
        if run is not None and run.finished:
            results.setdefault(cell.draw, set()).add(run.failed)
    return any(len(both) == 2 for both in results.values())


def _flaky(test: str, where: str) -> TestStatus:
    return TestStatus(test, Status.FLAKY, message("flaky", where=where))


def _failing(test: str, run: TestRun) -> TestStatus:
    phase = next(phase for phase in run.phases if phase.outcome == "failed")
    failure = phase.failure or Failure(kind="ordinary", exception="failure")
    facts = {"exception": failure.exception, "at": _at(failure)}
    if failure.exception == "FixtureLookupError":
        why = failure.message.strip().splitlines()[0] if failure.message.strip() else "a fixture"
        return TestStatus(test, Status.BROKEN, message("broken-fixture", why=why))
    match failure.kind:
        case "hypothesis":
            slug = f"hypothesis-{failure.exception}"
            advice = message(slug if slug in KNOWN_ADVICE else "hypothesis-other").text
            reason = message("invalid-hypothesis", **facts, advice=advice)
        case "memory" | "limit" | "exit":
            reason = message("invalid-limit", **facts)
        case "ordinary":
            witness = f" on {failure.witness}" if failure.witness else ""
            reason = message("invalid", **facts, witness=witness)
    return TestStatus(test, Status.INVALID, reason)


KNOWN_ADVICE = frozenset(
    f"hypothesis-{name}"
    for name in (
        "FailedHealthCheck",
        "Unsatisfiable",
        "InvalidArgument",
        "FlakyFailure",
        "DeadlineExceeded",
    )
)


def _at(failure: Failure) -> str:
    return f" at {failure.file}, line {failure.line}" if failure.file else ""


def _unreadable(failure: Failure) -> Message:
    return message("broken-import", exception=_named(failure), at=_at(failure))


def _named(failure: Failure) -> str:
    """Name an exception; the text of an import error is the student's own and helps."""
    if failure.exception in ("ImportError", "ModuleNotFoundError", "SyntaxError"):
        return f"{failure.exception}: {failure.message}"
    return failure.exception


def _unrunnable(name: str, end: End, evidence: Evidence) -> Message:
    limits = evidence.settings.limits
    is_test = "::" in name
    match end:
        case End.TIMEOUT if is_test:
            return message("broken-time", seconds=limits.seconds_per_test)
        case End.TIMEOUT:
            return message("broken-import-time", seconds=limits.seconds_per_test)
        case _ if is_test:
            return message("broken-crash")
        case _:
            return message("broken-import-crash")


# --- mutants -------------------------------------------------------------------------------


def killers(outcome: Outcome, evidence: Evidence, valid: frozenset[str]) -> tuple[str, ...]:
    """Return the valid tests that saw a fault in this run, in the order in which they ran."""
    if not same_tests(outcome, evidence):
        return ()
    return tuple(
        test
        for test, run in outcome.runs.items()
        if test in valid and any(failure.kind == "ordinary" for failure in run.failures)
    )


def same_tests(run: Outcome | Watch, evidence: Evidence) -> bool:
    """Return whether a run collected what the reference's runs collected.

    Tests of a file that can't be imported on this mutant are missing for that reason.
    """
    unreadable = {broken.path for broken in run.unreadable}
    expected = {test for test in evidence.expected if file_of(test) not in unreadable}
    return run.collected and set(run.tests) == expected


def verdict(mutant: Mutant, evidence: Evidence, valid: frozenset[str]) -> Verdict:
    """Return what the runs on ``mutant`` mean; the first rule that matches counts."""
    seen = evidence.mutants.get(mutant.id, ())
    for _, outcome in seen:
        killed_by = killers(outcome, evidence, valid)
        if killed_by:
            return _killed(mutant, outcome, killed_by, seen, evidence, valid)
    if at_import := unimportable(seen, evidence, valid):
        return Verdict(
            mutant, Result.KILLED, "collection", at_import, None, message("kill-at-import")
        )
    if not seen or any(outcome.end is End.FAULT for _, outcome in seen):
        return Verdict(mutant, Result.NOT_RUN)
    if timed_out := _ended_by(seen, End.TIMEOUT, valid):
        return _timed_out(mutant, timed_out, evidence)
    if reason := _error(seen, evidence, valid):
        return Verdict(mutant, Result.ERROR, reason=reason)
    return Verdict(mutant, Result.SURVIVED)


def _killed(
    mutant: Mutant,
    outcome: Outcome,
    killed_by: tuple[str, ...],
    seen: Sequence[Seen],
    evidence: Evidence,
    valid: frozenset[str],
) -> Verdict:
    everyone = dict.fromkeys(killed_by)
    for _, other in seen:
        everyone.update(dict.fromkeys(killers(other, evidence, valid)))
    phase, failure = next(
        (phase.when, failure)
        for phase in outcome.runs[killed_by[0]].phases
        if (failure := phase.failure) is not None and failure.kind == "ordinary"
    )
    return Verdict(mutant, Result.KILLED, phase, tuple(everyone), failure.witness)


def unimportable(
    seen: Sequence[Seen], evidence: Evidence, valid: frozenset[str]
) -> tuple[str, ...]:
    """Return the files that raised at import on this mutant, again when repeated.

    They import on every control, and hold a valid test.
    """
    counts: dict[str, int] = {}
    for _, outcome in seen:
        for broken in outcome.unreadable:
            if broken.failure.kind == "ordinary":
                counts[broken.path] = counts.get(broken.path, 0) + 1
    on_controls = {b.path for _, outcome in evidence.controls for b in outcome.unreadable}
    holding = {file_of(test) for test in valid}
    return tuple(
        path
        for path, count in counts.items()
        if count >= 2 and path not in on_controls and path in holding
    )


def _ended_by(seen: Sequence[Seen], end: End, valid: frozenset[str]) -> str | None:
    """Return the valid test, or the file, that ended a run, again when run last."""
    for cell, outcome in seen:
        if outcome.end is not end or outcome.at is None:
            continue
        if outcome.at in cell.last and outcome.at in valid:
            return outcome.at
        if not outcome.collected and cell.attempt:
            return outcome.at
    return None


def _timed_out(mutant: Mutant, test: str, evidence: Evidence) -> Verdict:
    if mutant.hangs:
        return Verdict(mutant, Result.KILLED, "call", (test,))
    seconds = evidence.settings.limits.seconds_per_test
    reason = message("timeout", test=test, seconds=seconds)
    if mutant.required:
        reason = reason._replace(text=reason.text + message("timeout-required").text)
    return Verdict(mutant, Result.TIMEOUT, reason=reason)


def _error(seen: Sequence[Seen], evidence: Evidence, valid: frozenset[str]) -> Message | None:
    culprit = _ended_by(seen, End.CRASH, valid)
    if culprit is not None:
        return message("error-crash", at=f" in {culprit}")
    _, final = seen[-1]
    if final.end in (End.GARBLED, End.STOPPED):
        return message("error-garbled")
    if final.end is End.CRASH and final.at is None:
        return message("error-crash", at="")
    on_controls = {b.path for _, outcome in evidence.controls for b in outcome.unreadable}
    if {b.path for b in final.unreadable} - on_controls or not same_tests(final, evidence):
        return message("error-tests")
    exceptions = {
        failure.exception
        for _, outcome in seen
        for test, run in outcome.runs.items()
        if test in valid
        for failure in run.failures
    }
    if exceptions:
        return message("error-no-kill", exceptions=", ".join(sorted(exceptions)))
    return None
