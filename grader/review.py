"""What staff should look at with their own eyes: flags, never verdicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .cells import Outcomes
from .messages import Message, message
from .outcome import Outcome, Touch
from .resemblance import Models
from .status import Status, TestStatus

FlagKind = Literal["similar", "touch", "reading", "status", "history"]
# Runs that end only by themselves, so that two gradings see the same in them.
WHOLE = ("calibration", "control")


@dataclass(frozen=True)
class Flag:
    """A place in a student's tests that a person should look at, and why."""

    kind: FlagKind
    path: str
    line: int | None
    message: Message


def review(
    looked: Outcome, outcomes: Outcomes, models: Models, statuses: Sequence[TestStatus] = ()
) -> tuple[Flag, ...]:
    """Return what is to be looked at.

    Parameters
    ----------
    looked
        The last look at the sources.
    outcomes
        All runs; touches count where a run ended by itself.
    models
        The course's functions, which a student's own should not be like.
    statuses
        What the tests are worth: those that react to form, or contradict themselves, are named.
    """
    touches = sorted(
        {touch for cell, one in outcomes.items() if cell.purpose in WHOLE for touch in one.touches},
        key=lambda touch: (touch.path, touch.line, touch.what),
    )
    return (
        *_similar(looked, models),
        *map(_touched, touches),
        *_read(looked, touches),
        *_void(statuses),
    )


def often_flaky(count: int) -> Flag:
    """Return the flag of a student of whom so many submissions contradicted themselves."""
    return Flag("history", "", None, message("review-history", count=count))


def _void(statuses: Sequence[TestStatus]) -> Iterator[Flag]:
    for one in statuses:
        if one.status in (Status.FLAKY, Status.TOO_STRICT):
            what = one.status.replace("_", " ")
            yield Flag("status", one.id, None, message("review-status", test=one.id, status=what))


def _similar(looked: Outcome, models: Models) -> Iterator[Flag]:
    for found in models.resemblances(looked.fingerprints):
        mine, percent = found.mine, int(100 * found.share)
        facts = {"path": mine.path, "line": mine.line, "name": mine.name}
        text = message("review-similar", **facts, percent=percent, model=found.model.place)
        yield Flag("similar", mine.path, mine.line, text)


def _touched(touch: Touch) -> Flag:
    facts = {"path": touch.path, "line": touch.line, "what": touch.what}
    return Flag("touch", touch.path, touch.line, message("review-touch", **facts))


def _read(looked: Outcome, touches: Sequence[Touch]) -> Iterator[Flag]:
    """Yield what the sources name; what was seen at work is told of already."""
    seen = {(touch.path, touch.line) for touch in touches}
    for look in looked.looks:
        for what, line in look.readings:
            if (look.path, line) not in seen:
                text = message("review-reading", path=look.path, line=line, what=what)
                yield Flag("reading", look.path, line, text)
