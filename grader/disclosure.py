"""What of a cell's words may be told: nothing that quotes code which the student hasn't got.

A test can put whatever it reads into its name, its parameters, its inputs or the name of an
exception. What is found here is left out of all that follows from it. It is no wall: the same
code in another notation passes, which a cap on each word and on their number keeps small.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import JsonValue

from .cells import Cell
from .course import Assignment
from .knowledge import Knowledge
from .outcome import Outcome
from .submission import Submission

LEAST = 16  # letters and digits in a row that are no accident
NO_LETTER = re.compile(r"\\[nrt]|[\W_]")  # what a repr makes of a line's end is no letter
QUOTED = "(quotes code of the course)"


@dataclass(frozen=True)
class Disclosure:
    """Tells words that quote hidden code, and puts others in their place.

    Parameters
    ----------
    assignment
        Whose reference and mutants are hidden, but for what its contract says.
    submission
        What the student wrote, and so may be told.
    """

    assignment: Assignment
    submission: Submission

    def of(self, known: Knowledge) -> Knowledge:
        """Return what is known, without words that quote hidden code and places that aren't."""
        facts = [
            (cell.model_dump(mode="json"), outcome.model_dump(mode="json"))
            for cell, outcome in known.outcomes.items()
        ]
        met = [outcome for cell, outcome in facts if cell["variant"]["kind"] != "own"]
        words = {text for outcome in met for text in _texts(outcome)}
        instead = {text: _instead(text) for text in words if self.quotes(text)}
        told = {
            Cell.model_validate(self._told(cell, instead)): Outcome.model_validate(
                self._told(outcome, instead)
            )
            for cell, outcome in facts
        }
        return replace(known, outcomes=told)

    def quotes(self, text: str) -> bool:
        """Whether ``text`` quotes code that is hidden."""
        return not self._hidden.isdisjoint(_pieces(text))

    @cached_property
    def _hidden(self) -> frozenset[str]:
        """What is written in the reference or a mutant, and nowhere that the student can read."""
        assignment = self.assignment
        hidden = [assignment.source, *assignment.dependencies().values()]
        hidden += [edit.by for mutant in assignment.mutants for edit in mutant.edits]
        mine = [content.decode(errors="replace") for content in self.submission.files.values()]
        return _all_pieces(hidden) - _all_pieces([*assignment.published(), *mine])

    @cached_property
    def _lines(self) -> dict[str, int]:
        """How many lines each file has."""
        return {path: content.count(b"\n") + 1 for path, content in self.submission.files.items()}

    def _told(self, fact: JsonValue, instead: Mapping[str, str]) -> JsonValue:
        match fact:
            case str():
                return instead.get(fact, fact)
            case list():
                return [self._told(part, instead) for part in fact]
            case dict():
                parts = fact.items()
                told = {instead.get(name, name): self._told(part, instead) for name, part in parts}
                return told if self._is_somewhere(told) else {**told, "file": None, "line": None}
            case _:
                return fact

    def _is_somewhere(self, fact: Mapping[str, JsonValue]) -> bool:
        """Whether the place that a fact names, if it names one, is in the submission."""
        match fact.get("file"), fact.get("line"):
            case str(file), int(line):
                return 0 < line <= self._lines.get(file, 0)
            case _:
                return True


def _instead(text: str) -> str:
    """Return what stands for a text that quotes hidden code; names of tests stay apart."""
    path, separator, name = text.partition("::")
    number = zlib.crc32(name.encode(errors="replace"))
    return f"{path}{separator}quotes-code-of-the-course-{number:08x}" if separator else QUOTED


def _texts(fact: JsonValue) -> Iterator[str]:
    """Yield every text in a fact, keys of what is filed by name among them."""
    match fact:
        case str():
            yield fact
        case list():
            for part in fact:
                yield from _texts(part)
        case dict():
            for name, part in fact.items():
                yield name
                yield from _texts(part)


def _pieces(text: str) -> Iterator[str]:
    """Yield every run of letters and digits that is just long enough, whatever stands between."""
    letters = NO_LETTER.sub("", text)
    return (letters[at : at + LEAST] for at in range(len(letters) - LEAST + 1))


def _all_pieces(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(piece for text in texts for piece in _pieces(text))
