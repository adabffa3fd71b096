"""The worker's trusted process: it forks a cell at a time and passes its bytes on unread.

It never holds, parses or relays in memory what belongs to a cell: the forked child reads
its own text from standard input, and what the child says is spliced from pipe to pipe. The
child returns out of the serving loop, so that no frame of it is left to look at.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import platform
import select
import struct
import sys
import termios
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Never

from . import clearing, confine, landlock, modules, wire
from .rooms import Rooms, UsedUpError
from .seal import Seal, make_seal
from .warmup import warm_up

SPLICE_NONBLOCK = 0x02
STANDS = b"."  # a cell's word that it has read its text and confined itself


@dataclass
class Birth:
    """What a freshly forked cell knows of itself."""

    payload: int
    ready: int
    results: int
    directory: Path
    uid: int | None
    read_anything: bool
    limits: wire.Limits
    jail: str | None
    readable: list[str] | None
    seal: Seal | None


@dataclass
class Zygote:
    """Serves cells, one at a time."""

    setup: wire.Setup
    seal: Seal | None

    def __post_init__(self) -> None:
        self.rooms = Rooms(self.setup)

    def serve(self) -> Birth | None:
        """Serve until standard input ends; in each forked child, return its birth."""
        while (header := read_header()) is not None:
            kind, size = header
            if kind == wire.KILL:
                continue  # the cell it was meant for has ended
            if kind != wire.CELL:
                fail(f"unknown frame {kind!r}: the supervisor speaks another wire version")
            birth = self._birth(size)
            if birth is not None:
                return birth
        return None

    def _birth(self, size: int) -> Birth | None:
        """Fork a cell and see it to its end; in the child, return at once."""
        try:
            directory, uid = self.rooms.take()
        except UsedUpError as reason:
            fail(str(reason))
        reaper = self.rooms.reaper
        results, result_end = os.pipe()
        ready, ready_end = os.pipe()
        cell = os.fork()
        if cell == 0:
            return Birth(
                payload=size,
                ready=ready_end,
                results=result_end,
                directory=directory,
                uid=uid,
                read_anything=self.setup["read_anything"],
                limits=self.setup["limits"],
                jail=self.setup["jail"],
                readable=self.setup["readable"],
                seal=self.seal,
            )
        os.close(result_end)
        os.close(ready_end)
        word = os.read(ready, wire.LINE_CAP)
        os.close(ready)
        most = self.setup["limits"]["seconds"]
        flooded = relay(cell, results, most) if word == STANDS else False
        status, usage = clearing.end(cell, uid, reaper)
        if word != STANDS:
            fail(f"a cell could not be set up: {word.decode(errors='replace') or status}")
        if not flooded:
            pass_on(results, wire.DATA_CAP)
        os.close(results)
        try:
            clearing.wipe(directory, uid, reaper)
        except OSError as problem:
            fail(f"a cell's folder could not be deleted: {problem}")
        cpu = usage.ru_utime + usage.ru_stime
        write(wire.frame(wire.END, wire.Ending(status, flooded, cpu, usage.ru_maxrss).pack()))
        return None


def read_exactly(size: int) -> bytes:
    """Read ``size`` bytes from standard input; shorter only where it ends."""
    parts = []
    while size and (part := os.read(0, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_header() -> tuple[bytes, int] | None:
    """Read the next frame's kind and size, or ``None`` at the end of standard input."""
    header = read_exactly(wire.HEADER.size)
    if len(header) < wire.HEADER.size:
        return None
    kind, size = wire.HEADER.unpack(header)
    return kind, size


def write(data: bytes) -> None:
    """Write all of ``data`` to standard output."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def fail(reason: str) -> Never:
    """Tell the supervisor why no further cell can run, and end."""
    write(wire.frame(wire.FATAL, reason.encode()[: wire.LINE_CAP]))
    os._exit(1)


def relay(cell: int, results: int, seconds: float) -> bool:
    """Pass on what ``cell`` says until it ends, is to be killed, or says too much.

    Returns whether it said too much. After ``seconds`` the supervisor has either killed it or
    been stopped itself.
    """
    until = time.monotonic() + seconds
    ended = os.pidfd_open(cell)
    poll = select.poll()
    for descriptor in (0, results, ended):
        poll.register(descriptor, select.POLLIN)
    room = wire.DATA_CAP
    try:
        while room > 0:
            ready = dict(poll.poll(max(0.0, until - time.monotonic()) * 1000))
            if results in ready:
                room -= pass_on(results, room)
                if not ready[results] & select.POLLIN:
                    poll.unregister(results)
            elif ended in ready or time.monotonic() > until:
                return False
            if 0 in ready:
                if (header := read_header()) is None:
                    return False
                if header[0] == wire.KILL:
                    return False
                fail("a cell came before the last one had ended")
        return True
    finally:
        os.close(ended)


def pass_on(results: int, room: int) -> int:
    """Move what waits in ``results``, at most ``room`` bytes, to standard output unread."""
    waiting: int = struct.unpack("i", fcntl.ioctl(results, termios.FIONREAD, b"\0" * 4))[0]
    size = min(waiting, room)
    if size == 0:
        return 0
    write(wire.HEADER.pack(wire.DATA, size))
    left = size
    while left:
        try:
            moved = os.splice(results, 1, left, flags=SPLICE_NONBLOCK)
        except BlockingIOError:
            if select.select([results], [], [], 0)[0]:
                select.select([], [1], [])
                continue
            moved = 0
        if moved == 0:
            # The cell took back what it had said, and the frame is promised: say nothing in it.
            write(b"\n" * left)
            break
        left -= moved
    return size


def receive_setup() -> wire.Setup:
    """Read the first frame, which is the course's and trusted."""
    header = read_header()
    if header is None:
        os._exit(0)
    setup: wire.Setup = json.loads(read_exactly(header[1]))
    if header[0] != wire.SETUP or setup["wire"] != wire.VERSION:
        fail(f"wire version {wire.VERSION} was expected: rebuild the image")
    return setup


def serve() -> Birth | None:
    """Warm up, report readiness and serve; returns a birth in each cell, else ``None``."""
    setup = receive_setup()
    confine.adopt_orphans()
    modules.serve(setup["modules"])
    stream = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        for name in setup["preload"]:
            importlib.import_module(name)
        warm_up(Path(setup["cells"]))
    except Exception as problem:  # noqa: BLE001 — whatever a course raises is told, not raised
        os.dup2(stream, 1)
        fail(f"preparing it raised {type(problem).__name__}: {problem}")
    sys.stdout.flush()  # what was printed so far goes nowhere, and never into a frame
    os.dup2(stream, 1)
    seal = make_seal(event_loop=setup["limits"]["event_loop"])
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    gc.collect()
    gc.freeze()
    sees_little = setup["jail"] is not None or (
        setup["readable"] is not None and landlock.version() > 0
    )
    ready = wire.Ready(versions=versions(), sealed=seal is not None, sees_little=sees_little)
    write(wire.frame(wire.READY, json.dumps(ready).encode()))
    return Zygote(setup, seal).serve()


def versions() -> dict[str, str]:
    """Return the versions that a grade depends on, as they are in this sandbox."""
    found = {"python": platform.python_version()}
    for package in ("pytest", "hypothesis", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
