"""What to run next: a pure function from what is known to the cells that are still missing.

First a look at the suite's source, beside grader's own canary, and one calibration run on the
reference, from which exclusions, order and limits come; then the shuffled mix of controls,
saboteurs and mutants; then confirmations of what a single run can't settle. Resuming needs no
code of its own: the function is asked again with the outcomes of an earlier run.
"""

import hashlib
from collections.abc import Iterator, Sequence

from . import canary
from .cells import OWN, Cell, Chain, Outcomes
from .knowledge import Knowledge, Request
from .mutants import Mutant


def next_cells(request: Request, outcomes: Outcomes) -> list[Cell]:
    """Return the cells to run next, in the order to run them; nothing once all is known."""
    known = Knowledge(request, outcomes)
    # An earlier run may have ended between the look and the canary.
    unseen = [cell for cell in canary.CELLS if cell not in outcomes]
    if known.look.next or unseen:
        return [*filter(None, [known.look.next]), *unseen]
    if not known.targets:
        return []
    if known.calibration.next:
        return [known.calibration.next]
    if not known.calibrated.runnable:
        return []
    missing = dict.fromkeys(cell for cell in _missing(known) if cell not in outcomes)
    return sorted(missing, key=lambda cell: _shuffled(request.shuffle, cell))


def _shuffled(seed: str, cell: Cell) -> bytes:
    """Return a sort key that nobody can foretell who doesn't know the seed."""
    return hashlib.sha256(f"{seed}:{cell.model_dump_json()}".encode()).digest()


def _missing(known: Knowledge) -> list[Cell]:
    """Return what the draws miss that are used, a further one once those before are complete.

    What is known at a draw has no say in whether that draw is used: or it would be left half run.
    """
    draws = known.request.settings.draws
    for count in range(1, len(draws) + 1):
        so_far = known.at(draws[:count])
        for draw in draws[:count]:
            if cells := _missing_at(so_far, draw, _looked_for(so_far, draw)):
                return cells
        if not so_far.valid or count == len(draws) or not so_far.alive:
            break
    return []


def _looked_for(known: Knowledge, draw: int) -> Sequence[Mutant]:
    """Return the mutants to run at one draw: all at the first, then those that are alive.

    And those that were begun at it: what caught one may have been its unfinished part.
    """
    mutants, alive = known.request.mutants, known.alive
    if draw == known.request.settings.draws[0]:
        return mutants
    return [one for one in mutants if one in alive or known.start(one, draw) in known.outcomes]


def _missing_at(known: Knowledge, draw: int, mutants: Sequence[Mutant]) -> list[Cell]:
    """Return what is missing at one draw: blind runs first, then what they left open."""
    wanted = [one.next for one in known.controls(draw) if one.next]
    controlled = not wanted
    if controlled:
        wanted += [one.next for one in known.repetitions(draw) if one.next]
    if draw == known.request.settings.draws[0]:
        wanted += [one.next for one in known.saboteurs() if one.next]
        if known.request.has_own_implementation:
            wanted.append(known.template.but(purpose="own", variant=OWN, draw=draw))
    if not controlled and known.promising:
        wanted += [known.start(mutant, draw) for mutant in mutants]
    elif known.valid:
        chains = [one for mutant in mutants for one in known.mutant(mutant, draw)]
        wanted += _with_companions(known, chains)
    return [cell for cell in wanted if cell not in known.outcomes]


def _with_companions(known: Knowledge, chains: Sequence[Chain]) -> Iterator[Cell]:
    """Yield what mutants miss, and for each confirmation a control of the same tests and order.

    Also for one that has run: an earlier grading may have ended between the two.
    """
    for one in chains:
        cells = [cell for cell, _ in one.seen]
        if one.next is not None:
            cells.append(one.next)
            yield one.next
        for cell in cells:
            if cell.last:
                yield known.template.but(draw=cell.draw, last=cell.last)
