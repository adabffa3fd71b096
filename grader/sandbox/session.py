"""The conversation with one worker: cells out, outcomes back, with a clock of our own."""

import json
import os
import signal
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from ..messages import message
from ..outcome import End, Outcome, Watch
from ..problems import Void
from ..worker import wire
from . import Channel, Sandbox

START_SECONDS = 120.0
GRACE_SECONDS = 15.0
FRAME_CAP = 8 << 20


class WorkerLost(Exception):
    """The worker ended or fell silent; its cell says nothing, and a new worker is needed."""


@dataclass(frozen=True)
class Clock:
    """Time limits of a cell, in seconds."""

    per_test: float
    in_all: float
    tests: Mapping[str, float] = field(default_factory=dict)

    def limit(self, test: str) -> float:
        """Return the limit of one test, or of reading one file."""
        return self.tests.get(test, self.per_test)


class Session:
    """A started worker; use it as a context manager."""

    def __init__(
        self, sandbox: Sandbox, modules: dict[str, wire.Module], preload: list[str]
    ) -> None:
        self._channel, site = sandbox.open()
        self._buffer = bytearray()
        setup = wire.Setup(
            wire=wire.VERSION,
            modules=modules,
            preload=preload,
            cells=site.cells,
            uids=site.uids,
            read_anything=site.read_anything,
            limits=site.limits,
        )
        try:
            self.versions = self._start(setup)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> str:
        """End the worker; returns what it said on standard error."""
        return self._channel.close()

    def run(self, job: wire.Cell, clock: Clock, enough: Callable[[Watch], bool]) -> Outcome:
        """Run one cell to its end.

        Parameters
        ----------
        job
            What the cell runs.
        clock
            Limits, measured here and not by the cell.
        enough
            Asked after each event; once true, the cell is ended.

        Raises
        ------
        WorkerLost
            If the worker ends or doesn't end its cell when told to.
        """
        return _Conversation(self, clock, enough).run(job)

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """Send one frame; raises `WorkerLost` if the worker has ended."""
        try:
            self._channel.write(wire.frame(kind, body))
        except OSError as problem:
            raise WorkerLost(self._last_words(str(problem))) from None

    def receive(self, seconds: float) -> tuple[bytes, bytes]:
        """Return the next frame; raises ``TimeoutError``, or `WorkerLost` at the end."""
        deadline = time.monotonic() + seconds
        self._fill(wire.HEADER.size, deadline)
        kind, size = wire.HEADER.unpack_from(self._buffer)
        if size > FRAME_CAP:
            raise WorkerLost(f"a frame of {size} bytes")
        self._fill(wire.HEADER.size + size, deadline)
        body = bytes(self._buffer[wire.HEADER.size : wire.HEADER.size + size])
        del self._buffer[: wire.HEADER.size + size]
        return kind, body

    def _fill(self, size: int, deadline: float) -> None:
        while len(self._buffer) < size:
            try:
                data = self._channel.read(max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise
            except OSError as problem:
                raise WorkerLost(self._last_words(str(problem))) from None
            if not data:
                raise WorkerLost(self._last_words("its stream ended"))
            self._buffer += data

    def _last_words(self, otherwise: str) -> str:
        return self.close().strip()[-500:] or otherwise

    def _start(self, setup: wire.Setup) -> dict[str, str]:
        try:
            self.send(wire.SETUP, json.dumps(setup).encode())
            kind, body = self.receive(START_SECONDS)
        except TimeoutError:
            raise Void(message("worker-mute", seconds=START_SECONDS), "machine") from None
        except WorkerLost as problem:
            raise Void(message("worker-lost", why=problem), "machine") from None
        if kind != wire.READY:
            raise Void(message("worker-refused", why=body.decode(errors="replace")), "harness")
        versions: dict[str, str] = json.loads(body)
        return versions


class _Conversation:
    """One cell's part of a session."""

    def __init__(self, session: Session, clock: Clock, enough: Callable[[Watch], bool]) -> None:
        self._session, self._clock, self._enough = session, clock, enough
        self._watch = Watch()
        self._rest = b""
        self._killed: End | None = None
        self._since = 0.0  # when what runs now began
        self._running: str | None = None
        self._looking = False

    def run(self, job: wire.Cell) -> Outcome:
        self._looking = job["mode"] == "look"
        began = self._since = time.monotonic()
        whole = began + self._clock.in_all
        self._session.send(wire.CELL, json.dumps(job).encode())
        while True:
            try:
                kind, body = self._session.receive(self._patience(whole))
            except TimeoutError:
                if self._killed:
                    raise WorkerLost("it didn't end its cell when told to") from None
                self._kill(End.TIMEOUT)
                continue
            if kind == wire.DATA:
                self._take(body)
            elif kind == wire.END:
                return self._outcome(body, time.monotonic() - began)
            else:
                raise WorkerLost(body.decode(errors="replace")[:500])

    def _patience(self, whole: float) -> float:
        now = time.monotonic()
        if self._killed:
            return self._since + GRACE_SECONDS - now
        limit = self._clock.limit(self._running or "")
        return max(0.0, min(whole, self._since + limit) - now)

    def _kill(self, end: End) -> None:
        self._killed, self._since = end, time.monotonic()
        self._session.send(wire.KILL)

    def _take(self, body: bytes) -> None:
        now = time.monotonic()
        *lines, self._rest = (self._rest + body).split(b"\n")
        if self._killed:
            return
        self._watch.feed(lines, now)
        if self._running != self._watch.at:
            self._running, self._since = self._watch.at, now
        if self._watch.garbled:
            self._kill(End.GARBLED)
        elif self._enough(self._watch):
            self._kill(End.STOPPED)

    def _outcome(self, body: bytes, seconds: float) -> Outcome:
        try:
            ending = wire.Ending.unpack(body)
        except struct.error:
            raise WorkerLost("its last frame made no sense") from None
        end, reason = self._end(ending)
        return self._watch.outcome(
            end,
            seconds=seconds,
            cpu_seconds=ending.cpu_seconds,
            peak_kilobytes=ending.peak_kilobytes,
            reason=reason,
        )

    def _end(self, ending: wire.Ending) -> tuple[End, str]:
        watch, status = self._watch, ending.wait_status
        whole = watch.collected or self._looking
        if ending.flooded:
            return End.GARBLED, "it said too much"
        if self._killed:
            return self._killed, ""
        if watch.finished and whole and status == 0 and set(watch.tests) <= watch.ended():
            return End.COMPLETE, ""
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return End.CRASH, f"signal {name}"
        if watch.finished:
            return End.CRASH, f"pytest ended early with exit code {watch.finished.exit}"
        return End.CRASH, f"exit status {os.waitstatus_to_exitcode(status)}"
