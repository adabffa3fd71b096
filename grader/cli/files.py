"""Files that a command was asked to write: refused before anything runs, or written."""

from pathlib import Path

from grader.messages import message
from grader.problems import Unusable
from grader.whole import write_whole


def require_writable(path: Path) -> None:
    """Raise `Unusable` if a file can't be written; what is there stays as it is."""
    is_new = not path.exists()
    try:
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as problem:
        raise Unusable(message("json-unwritable", path=path, why=problem.strerror)) from None


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all; raises `Unusable` if that fails."""
    try:
        write_whole(path, text)
    except OSError as problem:
        raise Unusable(message("json-unwritable", path=path, why=problem.strerror)) from None
