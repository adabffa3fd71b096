"""The conversation with one worker: cells out, outcomes back, with a clock of our own."""

import json
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from grader.messages import message
from grader.outcome import End, Outcome, Watch
from grader.problems import Void
from grader.worker import wire

from . import Sandbox

START_SECONDS = 120.0
GRACE_SECONDS = 15.0
GLANCE_SECONDS = 0.25  # how often a wait looks whether it is still wanted
LIFE_SECONDS = 3600.0  # of a worker, to which its last cell comes
FRAME_CAP = 8 << 20
MOST_SAID = 1 << 20  # by a cell that runs tests: twice what the most tests say that all fail
WORDS_CAP = 500


class WorkerLostError(Exception):
    """The worker ended or fell silent, and a new one is needed.

    ``outcome`` is what its cell had said until then, as that of a cell that crashed.
    """

    outcome: Outcome | None = None


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
    """A started worker; use it as a context manager, in one thread.

    Parameters
    ----------
    sandbox
        Where the worker runs.
    modules, preload
        What every cell shares: modules served from memory, and what is imported beforehand.
    cancelled
        Once it is set, whatever waits for the worker raises ``CancelledError``.

    Raises
    ------
    Void
        If the worker can't be started.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        modules: dict[str, wire.Module],
        preload: list[str],
        cancelled: threading.Event | None = None,
    ) -> None:
        self._cancelled = cancelled or threading.Event()
        self._buffer = bytearray()
        self._channel, site = sandbox.open()
        setup = wire.Setup(
            wire=wire.VERSION,
            modules=modules,
            preload=preload,
            cells=site.cells,
            rooms=site.rooms,
            jail=site.jail,
            readable=None if site.readable is None else list(site.readable),
            uids=site.uids,
            read_anything=site.read_anything,
            limits=site.limits,
        )
        self._left, self._began = site.rooms, time.monotonic()
        try:
            ready = self._start(setup)
        except BaseException:
            self.close()
            raise
        self.versions, self.sealed = ready["versions"], ready["sealed"]
        self.sees_little = ready["sees_little"]

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

    @property
    def used_up(self) -> bool:
        """Whether the worker has no room for a further cell, or is too old for one."""
        return self._left == 0 or time.monotonic() - self._began > LIFE_SECONDS

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
        WorkerLostError
            If the worker ends or doesn't end its cell when told to.
        """
        if self._left is not None:
            self._left -= 1
        conversation = _Conversation(self, clock, enough)
        try:
            return conversation.run(job)
        except WorkerLostError as problem:
            problem.outcome = conversation.lost(str(problem))
            raise

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """Send one frame; raises `WorkerLostError` if the worker has ended."""
        try:
            self._channel.write(wire.frame(kind, body))
        except OSError as problem:
            raise WorkerLostError(self._last_words(str(problem))) from None

    def receive(self, seconds: float) -> tuple[bytes, bytes]:
        """Return the next frame; raises ``TimeoutError``, or `WorkerLostError` at the end."""
        deadline = time.monotonic() + seconds
        self._fill(wire.HEADER.size, deadline)
        kind, size = wire.HEADER.unpack_from(self._buffer)
        if size > FRAME_CAP:
            raise WorkerLostError(self._last_words(f"a frame of {size} bytes"))
        self._fill(wire.HEADER.size + size, deadline)
        body = bytes(self._buffer[wire.HEADER.size : wire.HEADER.size + size])
        del self._buffer[: wire.HEADER.size + size]
        return kind, body

    def _fill(self, size: int, deadline: float) -> None:
        while len(self._buffer) < size:
            if self._cancelled.is_set():
                raise CancelledError
            if (left := deadline - time.monotonic()) <= 0:
                raise TimeoutError
            try:
                data = self._channel.read(min(left, GLANCE_SECONDS))
            except TimeoutError:
                continue
            except OSError as problem:
                raise WorkerLostError(self._last_words(str(problem))) from None
            if not data:
                raise WorkerLostError(self._last_words("its stream ended"))
            self._buffer += data

    def _last_words(self, otherwise: str) -> str:
        return self.close().strip()[-WORDS_CAP:] or otherwise

    def _start(self, setup: wire.Setup) -> wire.Ready:
        try:
            self.send(wire.SETUP, json.dumps(setup).encode())
            kind, body = self.receive(START_SECONDS)
        except TimeoutError:
            raise Void(message("worker-mute", seconds=START_SECONDS), "machine") from None
        except WorkerLostError as problem:
            raise Void(message("worker-lost", why=problem), "machine") from None
        if kind != wire.READY:
            raise Void(message("worker-refused", why=body.decode(errors="replace")), "harness")
        ready: wire.Ready = json.loads(body)
        return ready


class _Conversation:
    """One cell's part of a session."""

    def __init__(self, session: Session, clock: Clock, enough: Callable[[Watch], bool]) -> None:
        self._session, self._clock, self._enough = session, clock, enough
        self._watch = Watch()
        self._rest, self._said = b"", 0
        self._killed: End | None = None
        self._ran_out = False
        self._whole = 0.0  # when all must have ended
        self._told = 0.0  # when the worker was told to end the cell
        self._looking = False

    def run(self, job: wire.Cell) -> Outcome:
        self._looking = job["mode"] == "look"
        began = self._watch.since = time.monotonic()
        self._whole = began + self._clock.in_all
        self._session.send(wire.CELL, json.dumps(job).encode())
        while True:
            try:
                kind, body = self._session.receive(self._left())
            except TimeoutError:
                if self._killed:
                    raise WorkerLostError("it didn't end its cell when told to") from None
                self._ran_out = self._until() == self._whole
                self._kill(End.TIMEOUT)
                continue
            if kind == wire.DATA:
                self._take(body)
            elif kind == wire.END:
                return self._outcome(body, time.monotonic() - began)
            else:
                raise WorkerLostError(body.decode(errors="replace")[:WORDS_CAP])

    def lost(self, why: str) -> Outcome:
        """Return what was said by a cell whose worker was lost."""
        return self._watch.outcome(End.CRASH, reason=why[:WORDS_CAP])

    def _left(self) -> float:
        """Return how long to wait for the next frame; raises ``TimeoutError`` once it is late.

        A cell that never stops talking would else never be late.
        """
        left = self._until() - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _until(self) -> float:
        """Return when the next frame is late."""
        if self._killed:
            return self._told + GRACE_SECONDS
        return min(self._whole, self._watch.since + self._clock.limit(self._watch.at or ""))

    def _kill(self, end: End) -> None:
        self._killed, self._told = end, time.monotonic()
        self._session.send(wire.KILL)

    def _take(self, body: bytes) -> None:
        self._said += len(body)
        if self._said > 2 * wire.DATA_CAP:  # the worker's own cap, before and after
            raise WorkerLostError("it passed on too much")
        *lines, self._rest = (self._rest + body).split(b"\n")
        if self._killed:
            return
        self._watch.feed(lines, time.monotonic())
        if self._watch.garbled or (self._said > MOST_SAID and not self._looking):
            self._kill(End.GARBLED)
        elif self._enough(self._watch):
            self._kill(End.STOPPED)

    def _outcome(self, body: bytes, seconds: float) -> Outcome:
        try:
            ending = wire.Ending.unpack(body)
        except struct.error:
            raise WorkerLostError("its last frame made no sense") from None
        end, reason = self._end(ending)
        return self._watch.outcome(
            end,
            seconds=seconds,
            cpu_seconds=ending.cpu_seconds,
            peak_kilobytes=ending.peak_kilobytes,
            reason=reason,
            ran_out=self._ran_out,
        )

    def _end(self, ending: wire.Ending) -> tuple[End, str]:
        watch, status = self._watch, ending.wait_status
        whole = watch.collected or self._looking
        if ending.flooded or (self._killed is End.GARBLED and self._said > MOST_SAID):
            return End.GARBLED, "it said too much"
        if self._killed:
            return self._killed, ""
        if watch.finished and whole and status == 0 and set(watch.tests) <= watch.ended():
            return End.COMPLETE, ""
        if os.WIFSIGNALED(status):
            return End.CRASH, f"signal {_signal_name(os.WTERMSIG(status))}"
        if watch.finished:
            return End.CRASH, f"pytest ended early with exit code {watch.finished.exit}"
        return End.CRASH, f"exit status {os.waitstatus_to_exitcode(status)}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)  # a real-time signal has no name
