"""Runs cells on the machine's cores, and retries what the machine spoiled."""

import queue
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from types import TracebackType
from typing import Self

from .cells import Cell
from .outcome import End, Outcome, Watch
from .sandbox import Sandbox
from .sandbox.session import Clock, Session, WorkerLostError
from .worker import wire

# Grader's own: what it does only a fault of the machine can stop.
TRIAL_CLOCK = Clock(60.0, 60.0)
TRIAL = wire.Cell(
    mode="tests",
    files={"tests/test_trial.py": b64encode(b"def test_it():\n    pass\n").decode()},
    root="tests",
    targets=["test_trial.py"],
    modules={},
    draw=0,
    entropy=0,
    only="",
    last=[],
    skip=[],
    most_tests=1,
    most_examples=1,
    shrink=False,
)


class Lab:
    """A set of workers, started when first needed; use it as a context manager.

    Parameters
    ----------
    sandbox
        Where workers run.
    modules, preload
        What every cell shares: modules served from memory, and what is imported beforehand.
    jobs
        How many workers run at once, each one cell at a time.
    fresh
        Whether each cell gets a worker of its own.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        modules: dict[str, wire.Module],
        preload: Sequence[str],
        jobs: int,
        *,
        fresh: bool = False,
    ) -> None:
        self._sandbox, self._modules, self._preload = sandbox, modules, list(preload)
        self._fresh = fresh
        self._idle: queue.LifoQueue[Session] = queue.LifoQueue()
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="lab")
        self.versions: dict[str, str] = {}
        self.sealed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Each busy thread notices and ends its own worker: a descriptor closed under a reader
        # could be another's by the time it is read.
        self._closing.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        # All at once: an engine that answers no more lets each wait for its deadline.
        idle = [self._idle.get_nowait() for _ in range(self._idle.qsize())]
        with ThreadPoolExecutor(max(1, len(idle))) as closing:
            for _ in closing.map(Session.close, idle):
                pass

    def run(
        self,
        cells: Sequence[Cell],
        job: Callable[[Cell], wire.Cell],
        clock: Clock,
        enough: Callable[[Cell, Watch], bool],
    ) -> Iterator[tuple[Cell, Outcome]]:
        """Run ``cells`` and yield each outcome as it comes.

        A cell that loses its worker twice ended it, if a cell of grader's own shows that the
        machine is well; else its outcome ends in `End.FAULT`.
        Raises `Void` if no worker can be started.
        """
        futures = {
            self._pool.submit(self._attempt, cell, job, clock, enough): cell for cell in cells
        }
        for future in as_completed(futures):
            yield futures[future], future.result()

    def _attempt(
        self,
        cell: Cell,
        job: Callable[[Cell], wire.Cell],
        clock: Clock,
        enough: Callable[[Cell, Watch], bool],
    ) -> Outcome:
        for take in (self._take, self._start):  # an idle one may have been lost with the first
            try:
                return self._try(take, lambda: job(cell), clock, lambda watch: enough(cell, watch))
            except WorkerLostError as problem:
                lost = problem
        if lost.outcome is not None and self._is_well():
            return lost.outcome
        return Outcome(end=End.FAULT, reason=str(lost))

    def _try(
        self,
        take: Callable[[], Session],
        job: Callable[[], wire.Cell],
        clock: Clock,
        enough: Callable[[Watch], bool],
    ) -> Outcome:
        """Run one cell once; raises `WorkerLostError`."""
        session = take()
        keep = False
        try:
            outcome = session.run(job(), clock, enough)
            keep = not self._fresh and not session.used_up
        finally:
            if keep:
                self._idle.put(session)
            else:
                session.close()
        return outcome

    def _is_well(self) -> bool:
        """Whether this machine runs a cell in which nobody has a hand."""
        try:
            trial = self._try(self._start, lambda: TRIAL, TRIAL_CLOCK, lambda watch: False)
        except WorkerLostError:
            return False
        return trial.end is End.COMPLETE

    def _take(self) -> Session:
        """Return an idle worker, or a new one."""
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._start()

    def _start(self) -> Session:
        """Return a new worker; raises ``CancelledError`` once all is to end."""
        session = Session(self._sandbox, self._modules, self._preload, self._closing)
        self.versions = session.versions
        self.sealed &= session.sealed
        return session
