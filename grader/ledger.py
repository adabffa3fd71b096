"""The ledger: which of a student's submissions contradicted themselves, kept over gradings.

A coin that is caught nine times in ten is tried ten times. What the ledger says is a flag for
a person, and changes no grade.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from .whole import keeping

MOST_FLAKY = 2  # from the next on a person decides


class Entry(BaseModel):
    """One submission, and its tests that were flaky or too strict."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    submission: str
    flaky: tuple[str, ...]
    too_strict: tuple[str, ...]


@dataclass(frozen=True)
class Ledger:
    """The entries of one student in one assignment, a line each."""

    path: Path

    @classmethod
    def of(cls, folder: Path, assignment: str, student: str) -> "Ledger":
        """Return a student's ledger below ``folder``; its name doesn't tell the student's."""
        name = hashlib.sha256(student.encode()).hexdigest()[:24]
        return cls(folder / f"{assignment}-{name}.jsonl")

    def note(self, entry: Entry) -> None:
        """Keep an entry, unless that submission is known: a repetition is no further attempt."""
        if entry.submission in {one.submission for one in self.entries()}:
            return
        with keeping(self.path, "ledger-unwritable"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+", encoding="utf-8", errors="replace") as file:
                file.seek(0)
                is_cut_off = file.read()[-1:] not in ("", "\n")  # the disk was full
                file.write("\n" * is_cut_off + entry.model_dump_json() + "\n")

    def entries(self) -> Iterator[Entry]:
        """Yield what was kept; a line that was cut off is no entry."""
        if not self.path.is_file():
            return
        # A line may have been cut off within a letter.
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                yield Entry.model_validate_json(line)
            except ValidationError:
                continue

    @property
    def flaky(self) -> int:
        """How many submissions had tests that contradict themselves."""
        return sum(bool(entry.flaky) for entry in self.entries())
