"""What is said of a test that fails on right code: by the exception that ended it."""

import errno
import re

from .messages import TEXTS, Message, message
from .outcome import End, Failure, TestRun

# Exceptions that tell of the test, and not of what it expects.
BY_EXCEPTION = {
    "NameError": "invalid-name",
    "UnboundLocalError": "invalid-name",
    "FileNotFoundError": "invalid-file",
    "PermissionError": "invalid-forbidden",
    "EOFError": "invalid-input",
    "gaierror": "invalid-network",
    "ConnectionRefusedError": "invalid-network",
    "URLError": "invalid-network",
}
# What Python makes of a system call that a cell has given up.
SEALED = {
    "OSError": f"[Errno {errno.ENOSYS}]",
    "BlockingIOError": f"[Errno {errno.EAGAIN}]",
    "RuntimeError": "can't start new thread",
}
ASYNC = "async def functions are not natively supported"
# What Hypothesis' one exception for all health checks says in each case.
BY_HEALTH_CHECK = {
    "filtering out": "hypothesis-filtered",
    "function-scoped fixture": "hypothesis-fixture",
    "Nesting @given": "hypothesis-nested",
    "should return None": "hypothesis-returned",
    "maximum allowed entropy": "hypothesis-large",
    "smallest natural input": "hypothesis-large",
}
SHARE = re.compile(r"(\d{1,6}) inputs were generated successfully, while (\d{1,6}) inputs")


def rejection(run: TestRun) -> Message:
    """Return why a test whose ``run`` failed on right code can't count, and what to do."""
    phase = next(phase for phase in run.phases if phase.outcome == "failed")
    failure = first_failure(run)
    facts = {"exception": failure.exception, "at": at(failure)}
    if _is_sealed(failure):
        return message("invalid-sealed", **facts)
    match failure.kind:
        case "hypothesis":
            return message("invalid-hypothesis", **facts, advice=_advice(failure))
        case "exit" if failure.exception not in set(End):
            return message("invalid-exit", **facts)
        case "memory" | "limit" | "exit":
            return message("invalid-limit", **facts)
        case "ordinary" if phase.when == "teardown":
            return message("invalid-teardown", **facts)
        case "ordinary":
            return message(_ordinary(failure), **facts, witness=witness(failure))


def first_failure(run: TestRun) -> Failure:
    """Return the exception that ended the first phase that failed."""
    phase = next(phase for phase in run.phases if phase.outcome == "failed")
    return phase.failure or Failure(kind="ordinary", exception="failure")


def at(failure: Failure) -> str:
    """Return the student's own line, as a sentence goes on with it."""
    return f" at {failure.file}, line {failure.line}" if failure.file else ""


def witness(failure: Failure) -> str:
    """Return the input on which a test failed, as a sentence goes on with it."""
    return f" on {failure.witness}" if failure.witness else ""


def _is_sealed(failure: Failure) -> bool:
    words = SEALED.get(failure.exception)
    return words is not None and failure.message.startswith(words)


def _ordinary(failure: Failure) -> str:
    if failure.exception == "Failed" and failure.message.startswith(ASYNC):
        return "invalid-async"
    return BY_EXCEPTION.get(failure.exception, "invalid")


def _advice(failure: Failure) -> str:
    """Return what to do about one of Hypothesis' own exceptions."""
    slug = f"hypothesis-{failure.exception}"
    if failure.exception == "FailedHealthCheck":
        said = (found for words, found in BY_HEALTH_CHECK.items() if words in failure.message)
        slug = next(said, slug)
    return message(slug if slug in TEXTS else "hypothesis-other", share=_share(failure)).text


def _share(failure: Failure) -> str:
    """Return how much of what was drawn was thrown away: no more than a percentage is told."""
    if (counts := SHARE.search(failure.message)) is None:
        return "most"
    kept, discarded = (int(count) for count in counts.groups())
    return f"{100 * discarded // max(1, kept + discarded)} %"
