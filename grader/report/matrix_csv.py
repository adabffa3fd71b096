"""The kill matrix as CSV: a row a test, a column a mutant."""

import csv
import io

from grader.matrix import KillMatrix

MARKS = {True: "1", False: "0", None: ""}
# What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def to_csv(matrix: KillMatrix) -> str:
    """Return ``matrix`` as text: 1 is a catch, 0 is none, nothing where no run came that far."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["test", "property", *map(_harmless, matrix.mutants)])
    for test in matrix.tests:
        marks = [MARKS[matrix.cell(test, mutant)] for mutant in matrix.mutants]
        table.writerow([_harmless(test), _harmless(matrix.property_of.get(test, "")), *marks])
    return text.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text
