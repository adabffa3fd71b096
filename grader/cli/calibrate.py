"""The command that shows how suites of known worth fare."""

from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from grader.instructor.calibration import HEAD, Row, calibrate, markdown, with_table

from .exits import Exit
from .files import require_writable, write
from .options import FOLDER, Chosen, Place, ProgressBar, course_option, sandbox_options
from .output import show


@click.command("calibrate")
@click.argument("assignment")
@click.option("--markdown", "document", type=FOLDER, help="Put the table into this document.")
@sandbox_options
@course_option
def calibrate_mutants(
    place: Place,
    assignment: str,
    *,
    document: Path | None,
    **typed: Any,  # noqa: ANN401 — click's own values
) -> int:
    """Show how suites of known worth fare: the gold suite, parts of it, and weak ones.

    It is wrong for the gold suite not to pass, for a weak one to pass, and for a test of either
    not to count.
    """
    chosen = place.assignment(assignment)
    if document is not None:
        require_writable(document)
    with ProgressBar() as bar:
        found = calibrate(chosen, Chosen(**typed).options(bar.tell))
    table = Table(*HEAD, box=None, pad_edge=False)
    for row in found.rows:
        table.add_row(*_coloured(row))
    show(table)
    for finding in found.findings:
        show(Text.assemble((finding.subject, "red"), f"  {finding.text}"))
    if document is not None:
        before = document.read_text(encoding="utf-8") if document.is_file() else ""
        write(document, with_table(before, markdown(found.rows)))
    return Exit.NOT_PASSED if found.findings else Exit.PASSED


def _coloured(row: Row) -> list[Text]:
    *cells, last = row.cells
    return [*map(Text, cells), Text(last, "green" if row.score.passed else "red")]
