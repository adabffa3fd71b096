"""The back-end without a container: a process of its own, honest that it is no wall.

It sets limits, cells are sealed where libseccomp is installed, and as root each has a user of
its own; a hostile test is not kept from reading what its user may read.
"""

import contextlib
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import platformdirs

from grader import worker
from grader.course import Limits
from grader.messages import message
from grader.problems import Void
from grader.worker.clearing import empty
from grader.worker.landlock import around

from . import Channel, Site, command, environment, limits, owner, some_users

READ_SIZE = 1 << 16
WRITE_SECONDS, END_SECONDS = 30.0, 5.0
PROCESSES = 64
PREFIX = "grader-"
DELETIONS = 3
PACKAGES = ("site-packages", "dist-packages")
# Of Python's own folder: a course may lie in it too, where it is a virtual environment's.
PARTS = ("lib", "lib32", "lib64", "share")
# Libraries and tables that Python's own modules open when they are first used.
SYSTEM = (
    *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/local/lib"),
    *("/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/python3.11"),
)


class ProcessSandbox:
    """Runs a worker as a child process."""

    name = "process"

    def __init__(self, allowed: Limits) -> None:
        self._limits = allowed
        _remove_orphans()

    def open(self) -> tuple[Channel, Site]:
        """Start a worker in a private directory."""
        if sys.platform != "linux":
            raise Void(message("platform", system=sys.platform), "machine")
        users = some_users() if os.geteuid() == 0 else None
        try:
            channel = _Process(users)
        except OSError as problem:
            raise Void(message("worker-lost", why=problem), "machine") from None
        site = Site(
            cells=str(channel.cells),
            uids=users,
            limits=limits(self._limits, PROCESSES if users else None),
            read_anything=users is not None and not _readable_by_others(),
            readable=readable(channel.packages),
        )
        return channel, site


def readable(packages: Path) -> tuple[str, ...]:
    """Return what a cell may read: Python, its packages and libraries, and of grader the worker."""
    elsewhere = [place for place in sys.path if Path(place).name in PACKAGES]
    own = [f"{top}/{part}" for top in (sys.prefix, sys.base_prefix) for part in PARTS]
    places = [Path(place).resolve() for place in (*own, *elsewhere, *SYSTEM)]
    hidden = Path(worker.__file__).resolve().parents[1]
    found = [path for place in dict.fromkeys(places) for path in around(place, hidden)]
    return (*found, str(_tables()), str(packages))


def _tables() -> Path:
    """Return where Hypothesis keeps its tables."""
    return platformdirs.user_cache_path("grader") / "tables"


def _readable_by_others() -> bool:
    """Return whether a user who is nobody here can reach Python's own files."""
    places = {Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)}
    return all(
        folder.stat().st_mode & 0o005 == 0o005
        for place in places
        for folder in (place, *place.parents)
    )


class _Process:
    """A worker in a folder of its own, which goes with it."""

    def __init__(self, users: tuple[int, int] | None) -> None:
        self._users = users
        self._said: str | None = None
        self._home = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner.me()}-")).resolve()
        self.cells, self.packages = self._home / "cells", self._home / "site-packages"
        # Without a name: a cell that shares our user could delete it, or put a pipe in its place.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 — closed with the worker
        try:
            self._process = self._start()
        except BaseException:
            self._errors.close()
            _delete(self._home)
            raise
        # Never to wait on a worker that has stopped reading.
        os.set_blocking(self._stdin, False)

    def _start(self) -> subprocess.Popen[bytes]:
        # A `site-packages`, since Hypothesis would take constants from the worker's own files.
        packages = self.packages
        self.cells.mkdir()
        shutil.copytree(
            Path(worker.__file__).parent,
            packages / "grader_worker",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        # Whatever our umask says: cells of other users pass here, to the worker and to their own.
        packages.chmod(0o755)
        for folder in (self._home, self.cells):
            folder.chmod(0o711)
        return subprocess.Popen(
            command(sys.executable, str(packages)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(str(_tables())),
            cwd=self._home,
            start_new_session=True,
            bufsize=0,
        )

    @property
    def _stdin(self) -> int:
        return self._process.stdin.fileno() if self._process.stdin else -1

    @property
    def _stdout(self) -> int:
        return self._process.stdout.fileno() if self._process.stdout else -1

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if not select.select([], [self._stdin], [], WRITE_SECONDS)[1]:
                raise TimeoutError(f"it read nothing for {WRITE_SECONDS:g} s")
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._stdin, view) :]

    def read(self, seconds: float) -> bytes:
        if not select.select([self._stdout], [], [], seconds)[0]:
            raise TimeoutError
        return os.read(self._stdout, READ_SIZE)

    def close(self) -> str:
        if self._said is None:
            self._end()
            _kill_left(self._home, self._users or (0, 0))
            with self._errors as errors:
                start = max(0, os.fstat(errors.fileno()).st_size - READ_SIZE)
                words = os.pread(errors.fileno(), READ_SIZE, start)
            self._said = words.decode(errors="replace")
            _delete(self._home)
        return self._said

    def _end(self) -> None:
        """Let the worker end by itself, which its closed standard input tells it to, or end it."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _remove_orphans() -> None:
    """Remove what was left by a grader that was killed: workers, their cells and their folders."""
    for home in Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = home.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            if owner.gone(home.name.removeprefix(PREFIX).rpartition("-")[0]):
                _kill_left(home, (0, 0))
                _delete(home)


def _delete(home: Path) -> None:
    """Delete a folder; another grader that starts may be about it too."""
    for _ in range(DELETIONS):
        with contextlib.suppress(OSError):
            empty(home)
            home.rmdir()
            return


def _kill_left(home: Path, users: tuple[int, int]) -> None:
    """Kill what is left where a worker was killed before it could end its cell.

    Its processes are known by their users, or by the command line that they have from it.
    """
    first, count = users
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        left = [
            process
            for process, user, line in _processes()
            if first <= user < first + count or bytes(home) in line
        ]
        if not left:
            return
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def _processes() -> list[tuple[int, int, bytes]]:
    """Return each process with its user and its command line."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit():
                line = (entry / "cmdline").read_bytes()
                found.append((int(entry.name), entry.stat().st_uid, line))
    return found
