"""The canary: grader's own two tests, by which a grading sees that its cells run what they should.

They run beside no student's file: on the reference, where only the first may pass, and on the
saboteur that raises, where both must.
"""

from .cells import REFERENCE, Cell, Outcomes, Variant
from .course import Assignment
from .messages import Message, message
from .outcome import End, Outcome
from .saboteurs import CANARY_IMPORTS, CANARY_RAISES, Saboteur, canary
from .submission import Submission

FILE = "test_canary.py"
SABOTEUR = Variant(kind="saboteur", id=Saboteur.RAISES.value)
CELLS = (Cell(purpose="canary"), Cell(purpose="canary", variant=SABOTEUR))


def canary_files(assignment: Assignment) -> Submission:
    """Return the canary as what a cell runs."""
    return Submission({FILE: canary(assignment.source, assignment.module).encode()})


def alarm(outcomes: Outcomes) -> Message | None:
    """Return what the canary says is wrong with the harness or the course, if anything is."""
    for cell, outcome in outcomes.items():
        if cell.purpose == "canary" and (message_ := _judge(cell, outcome)) is not None:
            return message_
    return None


def _judge(cell: Cell, outcome: Outcome) -> Message | None:
    if outcome.end is not End.COMPLETE:
        return message("reference-broken", why=f"the run ended early ({outcome.end})")
    runs = {test.rpartition("::")[2]: run for test, run in outcome.runs.items()}
    imports = runs.get(CANARY_IMPORTS)
    if imports is None or imports.failed:
        failures = imports.failures if imports else ()
        why = f"importing it raises {failures[0].exception}" if failures else "it wasn't imported"
        return message("reference-broken", why=why)
    if CANARY_RAISES in runs and runs[CANARY_RAISES].failed == (cell.variant != REFERENCE):
        return message("canary-silent")
    return None
