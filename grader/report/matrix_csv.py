"""The kill matrix as CSV: a row a test, a column a mutant."""

import csv
import io

from grader import untrusted
from grader.matrix import KillMatrix

MARKS = {True: "1", False: "0", None: ""}


def to_csv(matrix: KillMatrix) -> str:
    """Return ``matrix`` as text: 1 is a catch, 0 is none, nothing where no run came that far."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["test", "property", *map(untrusted.csv, matrix.mutants)])
    for test in matrix.tests:
        marks = [MARKS[matrix.cell(test, mutant)] for mutant in matrix.mutants]
        table.writerow(
            [untrusted.csv(test), untrusted.csv(matrix.property_of.get(test, "")), *marks]
        )
    return text.getvalue()
