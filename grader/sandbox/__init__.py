"""Where a worker runs: a protocol of two members, and a back-end a module.

A back-end only opens a channel, a stream of bytes to and from a worker that it has started;
what is said on it is the business of `grader.sandbox.session`.
"""

import random
from dataclasses import dataclass
from typing import Protocol

from grader.course import Limits
from grader.worker import wire


class Channel(Protocol):
    """A running worker, as a stream of bytes."""

    def write(self, data: bytes) -> None:
        """Send all of ``data``; raises ``OSError`` if the worker has ended."""

    def read(self, seconds: float) -> bytes:
        """Return what has come, empty at the end; raises ``TimeoutError`` after ``seconds``."""

    def close(self) -> str:
        """End the worker and all that it started; returns what it said on standard error."""


@dataclass(frozen=True)
class Site:
    """What a cell may have inside a sandbox: a folder, users of its own, limits.

    ``rooms`` is how many cells find a file system of their own in ``cells``, ``None`` where
    all use the same one after another; ``jail`` the folder that they take for the root, or
    ``readable`` what they may read of the machine's own files.
    """

    cells: str
    uids: tuple[int, int] | None
    limits: wire.Limits
    read_anything: bool = False
    rooms: int | None = None
    jail: str | None = None
    readable: tuple[str, ...] | None = None


class Sandbox(Protocol):
    """A way to run a worker."""

    @property
    def name(self) -> str:
        """What the report calls it."""

    def open(self) -> tuple[Channel, Site]:
        """Start a worker; raises `grader.problems.Void` if this machine can't."""


def limits(allowed: Limits, processes: int | None) -> wire.Limits:
    """Return a cell's limits: those of the assignment, and those that are the same for all."""
    seconds = int(allowed.seconds_in_all) + 60
    return wire.Limits(
        data_bytes=allowed.memory_megabytes << 20,
        file_bytes=16 << 20,
        descriptors=256,
        processes=processes,
        cpu_seconds=seconds,
        seconds=seconds,
        event_loop=allowed.event_loop,
    )


FIRST_USER, LAST_USER, USERS_EACH = 200_000, 60_000_000, 100_000


def some_users() -> tuple[int, int]:
    """Return the first and the number of a range of users that nobody else is likely to have.

    The kernel counts processes by user, across containers too.
    """
    slots = (LAST_USER - FIRST_USER) // USERS_EACH
    start = FIRST_USER + random.SystemRandom().randrange(slots) * USERS_EACH
    return start, USERS_EACH


def environment(tables: str) -> dict[str, str]:
    """Return a worker's environment, built anew; ``tables`` is where Hypothesis keeps its own."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": tables,
    }


def command(python: str, folder: str) -> list[str]:
    """Return the command line of a worker whose package ``grader_worker`` lies in ``folder``."""
    start = f"import sys; sys.path.append({folder!r}); from grader_worker.main import main; main()"
    return [python, "-P", "-s", "-B", "-c", start]
