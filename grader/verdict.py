"""What became of a mutant: one function from its outcomes to its verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .evidence import Evidence, Seen, governs
from .messages import Message, message
from .mutants import Mutant
from .outcome import End, Failure

Valid = frozenset[str]


class Result(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    ERROR = "error"
    NOT_RUN = "not_run"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one mutant, and what it rests on."""

    mutant: Mutant
    result: Result
    phase: str | None = None
    killed_by: tuple[str, ...] = ()
    witness: str | None = None
    reason: Message | None = None


def verdict(mutant: Mutant, evidence: Evidence, valid: Valid, *, holding: bool = False) -> Verdict:
    """Return what the runs on ``mutant`` mean; the first rule that matches counts.

    ``valid`` are the tests that count; without any, nothing can be said of a mutant, unless some
    are ``holding``: they accept all right code, since they accept any code at all.
    """
    seen = evidence.mutants.get(mutant.id, ())
    if killed := _killed(mutant, seen, evidence, valid):
        return killed
    if not valid and holding:
        return Verdict(mutant, Result.SURVIVED)
    if not valid or not seen or any(outcome.end is End.FAULT for _, outcome in seen):
        return Verdict(mutant, Result.NOT_RUN)
    draws = [(runs, valid & evidence.established(runs[0][0].draw)) for runs in _by_draw(seen)]
    for runs, counting in draws:
        if timed_out := _timed_out(mutant, runs, evidence, counting):
            return timed_out
    for runs, counting in draws:
        if reason := _error(runs, evidence, counting):
            return Verdict(mutant, Result.ERROR, reason=reason)
    return Verdict(mutant, Result.SURVIVED)


def _by_draw(seen: Sequence[Seen]) -> Iterator[Sequence[Seen]]:
    for draw in dict.fromkeys(cell.draw for cell, _ in seen):
        yield [one for one in seen if one[0].draw == draw]


# --- killed --------------------------------------------------------------------------------


def killers(one: Seen, evidence: Evidence, valid: Valid) -> dict[str, tuple[str, Failure]]:
    """Return the valid tests that saw a fault in one run, each with the phase and the failure.

    They are the tests that all controls have settled at the same draw.
    """
    cell, outcome = one
    found: dict[str, tuple[str, Failure]] = {}
    for test, run in outcome.runs.items():
        for phase in run.phases if test in valid else ():
            failure = phase.failure
            fails = phase.outcome == "failed" and phase.when != "teardown"
            if fails and failure is not None and failure.kind == "ordinary":
                found.setdefault(test, (phase.when, failure))
    if not found or not evidence.same_tests(outcome):
        return {}
    established = evidence.established(cell.draw)
    return {test: how for test, how in found.items() if test in established}


def suspects(seen: Sequence[Seen], evidence: Evidence, valid: Valid) -> dict[str, int]:
    """Return how often each file has raised at import on a mutant.

    They are files that import on every control, never did here, and keep a valid test from
    running. What was raised is such as a failing test may raise.
    """
    raised = [{one.path: one.failure.kind for one in outcome.unreadable} for _, outcome in seen]
    found = {
        path: sum(kinds.get(path) == "ordinary" for kinds in raised)
        for path in dict.fromkeys(path for kinds in raised for path in kinds)
        if path not in evidence.unreadable_on_controls and _holds(path, valid)
    }
    for (_, outcome), kinds in zip(seen, raised, strict=True):
        if outcome.collected:
            found = {path: times for path, times in found.items() if path in kinds}
    return {path: times for path, times in found.items() if times}


def unimportable(
    seen: Sequence[Seen], evidence: Evidence, valid: Valid, sightings: int = 1
) -> tuple[str, ...]:
    """Return the files whose import is a kill: they raised on this mutant, again when repeated."""
    least = max(2, sightings)
    return tuple(path for path, times in suspects(seen, evidence, valid).items() if times >= least)


def sighted(
    seen: Sequence[Seen], evidence: Evidence, valid: Valid
) -> dict[str, dict[int, tuple[str, Failure]]]:
    """Return the tests that saw a fault at one draw, by the sightings at which each did."""
    found: dict[str, dict[int, tuple[str, Failure]]] = {}
    for one in seen:
        for test, how in killers(one, evidence, valid).items():
            found.setdefault(test, {}).setdefault(one[0].number, how)
    return found


def _killed(
    mutant: Mutant, seen: Sequence[Seen], evidence: Evidence, valid: Valid
) -> Verdict | None:
    wanted = evidence.sightings.get(mutant.id, 1)
    catchers: dict[str, tuple[str, Failure]] = {}
    for runs in _by_draw(seen):
        for test, by_number in sighted(runs, evidence, valid).items():
            if len(by_number) >= wanted:
                catchers.setdefault(test, next(iter(by_number.values())))
    if catchers:
        phase, failure = next(iter(catchers.values()))
        return Verdict(mutant, Result.KILLED, phase, tuple(catchers), failure.witness)
    if files := unimportable(seen, evidence, valid, wanted):
        reason = message("kill-at-import")
        return Verdict(mutant, Result.KILLED, "collection", files, reason=reason)
    return None


# --- timeout -------------------------------------------------------------------------------


def _timed_out(
    mutant: Mutant, runs: Sequence[Seen], evidence: Evidence, valid: Valid
) -> Verdict | None:
    limits = evidence.settings.limits
    if sightings := _ended(runs, End.TIMEOUT, valid):
        culprit = sightings[0]
        if mutant.hangs and len(sightings) >= 2:
            phase = "call" if "::" in culprit else "collection"
            return Verdict(mutant, Result.KILLED, phase, tuple(dict.fromkeys(sightings)))
        reason = message("timeout", test=culprit)
    elif any(outcome.ran_out for _, outcome in runs) and _unfinished(runs, valid):
        reason = message("timeout-all", seconds=limits.seconds_in_all)
    else:
        return None
    if mutant.required:
        reason = reason._replace(text=reason.text + message("timeout-required").text)
    return Verdict(mutant, Result.TIMEOUT, reason=reason)


def _ended(runs: Sequence[Seen], end: End, valid: Valid) -> list[str]:
    """Return the valid test, or the file, that ended each of these runs.

    Tests that ran to their end in another of them are not meant, nor are files that were read.
    """
    collected = any(outcome.collected for _, outcome in runs)
    unfinished = _unfinished(runs, valid)
    return [
        outcome.at
        for _, outcome in runs
        if outcome.end is end and outcome.at is not None and not outcome.ran_out
        if outcome.at in unfinished or (not collected and _holds(outcome.at, valid))
    ]


def _unfinished(runs: Sequence[Seen], valid: Valid) -> Valid:
    """Return the valid tests that ran to their end in none of these runs."""
    ran = {test for _, outcome in runs for test, run in outcome.runs.items() if run.finished}
    return valid - ran


def _holds(path: str, valid: Valid) -> bool:
    return any(governs(path, test) for test in valid)


# --- error ---------------------------------------------------------------------------------


def _error(runs: Sequence[Seen], evidence: Evidence, valid: Valid) -> Message | None:
    """Return why the runs at one draw, none of which is a kill, don't show a survivor either."""
    if crashed := _ended(runs, End.CRASH, valid):
        return message("error-crash", at=f" in {crashed[0]}")
    if reason := _failed_as_a_whole(runs, evidence) or _failed_in_vain(runs, evidence, valid):
        return reason
    if not _unfinished(runs, valid):
        return None
    stopped = runs[-1][1].end is End.STOPPED
    return message("error-unsettled" if stopped else "error-hidden")


def _failed_in_vain(runs: Sequence[Seen], evidence: Evidence, valid: Valid) -> Message | None:
    """Return why the failures of valid tests, if there are any, are no kill."""
    if unconfirmed := sighted(runs, evidence, valid):
        return message("error-unconfirmed", test=next(iter(unconfirmed)))
    failures = [
        failure
        for _, outcome in runs
        for test, run in outcome.runs.items()
        if test in valid
        for failure in run.failures
    ]
    if failures and all(failure.kind == "memory" for failure in failures):
        return message("error-memory", at="")
    if failures:
        exceptions = sorted({failure.exception for failure in failures})
        return message("error-no-kill", exceptions=", ".join(exceptions))
    return None


def _failed_as_a_whole(runs: Sequence[Seen], evidence: Evidence) -> Message | None:
    """Return what is wrong with the runs at one draw, whichever test it was that did it.

    One that completed settles what others left open; those that were stopped say nothing.
    """
    outcomes = [outcome for _, outcome in runs if outcome.end is not End.STOPPED]
    completed = [outcome for outcome in outcomes if outcome.end is End.COMPLETE]
    for final in (completed or outcomes)[-1:]:
        if final.end is End.GARBLED:
            return message("error-garbled")
        if final.end is End.CRASH and final.at is None:
            return message("error-crash", at="")
        unreadable = {one.path for one in final.unreadable} - evidence.unreadable_on_controls
        if unreadable or (final.collected and not evidence.same_tests(final)):
            return message("error-tests")
    return None
