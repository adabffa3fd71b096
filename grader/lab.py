"""Runs cells on the machine's cores, and retries what the machine spoiled."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from types import TracebackType
from typing import Self

from .cells import Cell
from .outcome import End, Outcome, Watch
from .sandbox import Sandbox
from .sandbox.session import Clock, Session, WorkerLost
from .worker import wire

ATTEMPTS = 2


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
        self._sessions: set[Session] = set()
        self._guard = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="lab")
        self.versions: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._guard:
            self._closed = True
            sessions = list(self._sessions)
        for session in sessions:
            session.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def run(
        self,
        cells: Sequence[Cell],
        job: Callable[[Cell], wire.Cell],
        clock: Clock,
        enough: Callable[[Cell, Watch], bool],
    ) -> Iterator[tuple[Cell, Outcome]]:
        """Run ``cells`` and yield each outcome as it comes.

        A cell that the machine spoils twice yields an outcome that ends in `End.FAULT`.
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
        why = ""
        for _ in range(ATTEMPTS):
            session = self._take()
            try:
                outcome = session.run(job(cell), clock, lambda watch: enough(cell, watch))
            except WorkerLost as problem:
                self._discard(session)
                why = str(problem)
                continue
            except BaseException:
                self._discard(session)
                raise
            if self._fresh:
                self._discard(session)
            else:
                self._idle.put(session)
            return outcome
        return Outcome(end=End.FAULT, reason=why)

    def _take(self) -> Session:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            session = Session(self._sandbox, self._modules, self._preload)
        with self._guard:
            if self._closed:
                session.close()
                raise CancelledError
            self._sessions.add(session)
            self.versions = session.versions
        return session

    def _discard(self, session: Session) -> None:
        with self._guard:
            self._sessions.discard(session)
        session.close()
