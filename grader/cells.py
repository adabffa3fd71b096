"""Cells, and the chains that they form: what one run leaves open, the next one settles."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from .outcome import End, Fact, Outcome

LONGEST_CHAIN = 12


class Variant(Fact):
    """One implementation of the module under test."""

    kind: Literal["reference", "twin", "mutant", "saboteur", "own"]
    id: str = ""


REFERENCE = Variant(kind="reference")
OWN = Variant(kind="own")


class Cell(Fact):
    """One run of the suite on one variant at one draw; equal cells are the same run."""

    purpose: Literal["canary", "look", "calibration", "control", "mutant", "saboteur", "own"]
    variant: Variant = REFERENCE
    draw: int = 0
    number: int = 0  # which repetition of a right cell, or which sighting of a mutant's kill
    attempt: int = 0  # counts up where an earlier attempt told too little
    without: tuple[str, ...] = ()  # files left out
    skip: tuple[str, ...] = ()  # tests left out
    last: tuple[str, ...] = ()  # tests that run after all others

    def but(self, **changes: object) -> "Cell":
        """Return this cell with ``changes``."""
        return self.model_copy(update=changes)


Outcomes = Mapping[Cell, Outcome]
Follow = Callable[[Cell, Outcome], Cell | None]


@dataclass(frozen=True)
class Chain:
    """Cells that have run, each because of the one before, and the one that is missing."""

    seen: tuple[tuple[Cell, Outcome], ...]
    next: Cell | None

    @property
    def last(self) -> tuple[Cell, Outcome]:
        """The newest cell and its outcome."""
        return self.seen[-1]


def chain(start: Cell, outcomes: Outcomes, follow: Follow) -> Chain:
    """Follow the cells from ``start`` as far as they have run."""
    seen: list[tuple[Cell, Outcome]] = []
    cell: Cell | None = start
    while cell is not None and len(seen) < LONGEST_CHAIN:
        outcome = outcomes.get(cell)
        if outcome is None:
            return Chain(tuple(seen), cell)
        seen.append((cell, outcome))
        cell = follow(cell, outcome)
    return Chain(tuple(seen), None)


def again(cell: Cell, most: int = 1) -> Cell | None:
    """Return another attempt at ``cell``, unless ``most`` have been made beside the first."""
    return cell.but(attempt=cell.attempt + 1) if cell.attempt < most else None


def after_look(cell: Cell, outcome: Outcome) -> Cell | None:
    """A file whose inspection ends the interpreter is left out of the next look."""
    if outcome.end in (End.COMPLETE, End.FAULT):
        return None
    if outcome.at is None:
        return again(cell)
    return cell.but(without=(*cell.without, outcome.at))


def after_calibration(cell: Cell, outcome: Outcome) -> Cell | None:
    """What ends a calibration runs last in the next, and then not at all."""
    if outcome.end in (End.COMPLETE, End.FAULT) or (outcome.ran_out and outcome.collected):
        return None  # where all tests together take too long, the one that ran is not to blame
    culprit = outcome.at
    broken = {one.path for one in outcome.unreadable} - set(cell.without)
    if not outcome.collected and broken:
        return cell.but(without=(*cell.without, *sorted(broken)))
    if culprit is None or outcome.end is End.GARBLED:
        return again(cell)
    if not outcome.collected:
        return again(cell) or cell.but(attempt=0, without=(*cell.without, culprit))
    if culprit in cell.last:
        last = tuple(test for test in cell.last if test != culprit)
        return cell.but(skip=(*cell.skip, culprit), last=last)
    return cell.but(last=(*cell.last, culprit))


def after_control(cell: Cell, outcome: Outcome) -> Cell | None:
    """A test that ends a run runs last in the next, so that it hides no other's result."""
    if outcome.end in (End.COMPLETE, End.FAULT):
        return None
    if outcome.end is End.GARBLED or outcome.at is None or not outcome.collected:
        return again(cell)
    if outcome.at in cell.last:
        return None
    return cell.but(last=(*cell.last, outcome.at))
