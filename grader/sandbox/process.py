"""The back-end without a container: a process of its own, honest that it is no wall.

It sets limits, and as root it gives each cell a user of its own; it doesn't keep a hostile
test from reading what its user may read, nor from the network.
"""

import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .. import worker
from ..course import Limits
from ..messages import message
from ..problems import Void
from . import ENVIRONMENT, Channel, Site, command, limits

READ_SIZE = 1 << 16
END_SECONDS = 5.0
FIRST_UID, LAST_UID, UIDS_EACH = 200_000, 60_000_000, 100_000


class ProcessSandbox:
    """Runs a worker as a child process."""

    name = "process"
    sealed = False

    def __init__(self, allowed: Limits) -> None:
        self._limits = allowed

    def open(self) -> tuple[Channel, Site]:
        """Start a worker in a private directory."""
        if sys.platform != "linux":
            raise Void(message("platform", system=sys.platform), "machine")
        home = Path(tempfile.mkdtemp(prefix="grader-"))
        home.chmod(0o711)
        cells, package = home / "cells", home / "site-packages" / "grader_worker"
        cells.mkdir(mode=0o711)
        shutil.copytree(
            Path(worker.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
        )
        uids = _some_uids() if os.geteuid() == 0 else None
        site = Site(
            cells=str(cells),
            uids=uids,
            limits=limits(
                self._limits.memory_megabytes,
                self._limits.seconds_in_all,
                64 if uids else None,
            ),
            read_anything=uids is not None and not _readable_by_others(),
        )
        return _Process(home, uids), site


def _some_uids() -> tuple[int, int]:
    """Return a range of users that nobody else is likely to have."""
    slots = (LAST_UID - FIRST_UID) // UIDS_EACH
    start = FIRST_UID + random.SystemRandom().randrange(slots) * UIDS_EACH
    return start, UIDS_EACH


def _readable_by_others() -> bool:
    """Return whether a user who is nobody here can reach Python's own files."""
    places = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)}
    return all(
        folder.stat().st_mode & 0o005 == 0o005
        for place in places
        for folder in (place, *place.parents)
    )


class _Process:
    def __init__(self, home: Path, uids: tuple[int, int] | None) -> None:
        self._home, self._uids = home, uids
        self._errors = (home / "errors").open("w+b")
        self._process = subprocess.Popen(
            command(sys.executable, str(home / "site-packages")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=ENVIRONMENT,
            cwd=home,
            start_new_session=True,
            bufsize=0,
        )
        self._said: str | None = None

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) or 0 :]

    def read(self, seconds: float) -> bytes:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not ready:
            raise TimeoutError
        return os.read(self._process.stdout.fileno(), READ_SIZE)

    def close(self) -> str:
        if self._said is not None:
            return self._said
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._uids is not None:
            _kill_users(*self._uids)
        self._errors.seek(0)
        self._said = self._errors.read(READ_SIZE).decode(errors="replace")
        self._errors.close()
        shutil.rmtree(self._home, ignore_errors=True)
        return self._said


def _kill_users(start: int, count: int) -> None:
    """Kill what processes of these users are left; as a rule there are none."""
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        left = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and start <= entry.stat().st_uid < start + count:
                    left.append(int(entry.name))
        if not left:
            return
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
