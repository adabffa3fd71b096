"""No case is forgotten."""

import re
from pathlib import Path

CASE = re.compile(r'"(N\d\d)[-"]')


def test_every_case_is_graded() -> None:
    """By its number, which is in the name of its test."""
    files = Path(__file__).parent.glob("test_*.py")
    found = {number for file in files for number in CASE.findall(file.read_text(encoding="utf-8"))}
    assert sorted(found) == [f"N{number:02}" for number in range(1, 58)]
