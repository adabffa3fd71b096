"""What is almost a test: told where less is collected than was meant."""

from collections.abc import Iterator, Sequence

from .messages import Message, message
from .outcome import Look
from .submission import Submission, is_test_file

MOST_NAMED = 8


def near_misses(looks: Sequence[Look]) -> Iterator[Message]:
    """Yield what looks like a test and is none, in files that pytest reads and in others."""
    for look in looks:
        for name, line in look.near_misses if is_test_file(look.path) else ():
            yield message("near-miss", path=look.path, line=line, name=name)
    for path in _files(looks):
        yield message("near-file", path=path)


def named(looks: Sequence[Look], submission: Submission) -> str:
    """Return all of that in short, as a sentence goes on with it."""
    almost = [
        f"{name} ({look.path}, line {line})"
        for look in looks
        if is_test_file(look.path)
        for name, line in look.near_misses
    ]
    almost += _files(looks)
    almost += [one.path for one in submission.left_out if is_test_file(one.path)]
    more = f" and {len(almost) - MOST_NAMED} more" if len(almost) > MOST_NAMED else ""
    return f"; found instead: {', '.join(almost[:MOST_NAMED])}{more}" if almost else ""


def _files(looks: Sequence[Look]) -> list[str]:
    """Return the files that may hold tests but are not read for them, nor used by one that is."""
    used = {name.partition(":")[0].partition(".")[0] for look in looks for name, _ in look.imports}
    return [
        look.path
        for look in looks
        if look.near_misses and not is_test_file(look.path)
        if look.path.rpartition("/")[2].removesuffix(".py") not in used
    ]
