"""Outcomes on disk: appended as they come, found again by the cell, safe against any end."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ValidationError

from .cells import Cell
from .outcome import End, Outcome
from .whole import keeping

NOT_KEPT = (End.FAULT, End.TIMEOUT)


class Entry(BaseModel):
    """One line of a journal."""

    cell: Cell
    outcome: Outcome


class Journal:
    """The outcomes of one grading's inputs; use it as a context manager.

    An outcome that the machine may have spoiled is written, for whoever looks, and not found
    again. A line that was cut off by a crash is ignored, and so is a journal that another
    grading holds: this one then keeps its outcomes to itself.

    Raises
    ------
    Void
        If the journal can't be opened, or an outcome can't be kept: there is no room, or no right.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        with keeping(path, "journal-unwritable"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
        self._held = _lock(self._file.fileno())
        if fresh and self._held:
            self._file.truncate(0)
        self.outcomes: dict[Cell, Outcome] = {}
        if not fresh:
            self.outcomes.update(self._read())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome, on disk before it is used."""
        self.outcomes[cell] = outcome
        if self._held:
            line = Entry(cell=cell, outcome=outcome).model_dump_json().encode() + b"\n"
            with keeping(self.path, "journal-unwritable"):
                while line:
                    line = line[self._file.write(line) :]
                os.fsync(self._file.fileno())

    def _read(self) -> Iterator[tuple[Cell, Outcome]]:
        self._file.seek(0)
        whole = self._file.read()
        complete = whole[: whole.rfind(b"\n") + 1]
        if self._held and len(complete) < len(whole):
            self._file.truncate(len(complete))
        for line in complete.splitlines():
            try:
                entry = Entry.model_validate_json(line)
            except ValidationError:
                continue
            if entry.outcome.end not in NOT_KEPT:
                yield entry.cell, entry.outcome


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
