"""The list of what is covered says what is here, attack by attack."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "security.md"
ROW = re.compile(r"^\| ([A-Z]\d\d) \| .+ \| (.+) \|$", re.MULTILINE)
QUOTED = re.compile(r'"([A-Z]\d\d)(?:-[\w-]+)?"|def test_([a-z]\d\d)_')
# How many attacks of each class there are in the catalogue.
CATALOGUE = {"F": 18, "P": 12, "G": 24, "S": 14, "R": 29, "X": 13, "U": 15, "E": 13, "C": 11}


def _here() -> dict[str, set[str]]:
    """Return in which files each attack is tried."""
    found: dict[str, set[str]] = {}
    for path in FOLDER.glob("test_*.py"):
        for one, other in QUOTED.findall(path.read_text(encoding="utf-8")):
            found.setdefault(one or other.upper(), set()).add(path.name)
    return found


def _listed() -> dict[str, str]:
    """Return what the page says of where each attack is shown."""
    return dict(ROW.findall(PAGE.read_text(encoding="utf-8")))


def test_every_attack_of_the_catalogue_has_its_line() -> None:
    """Also one that nothing can be shown of."""
    numbers = [f"{name}{one:02}" for name, most in CATALOGUE.items() for one in range(1, most + 1)]
    assert list(_listed()) == numbers


def test_every_line_names_the_files_that_show_it() -> None:
    """No more and no less; what is shown elsewhere is named with its folder."""
    here = {number: ", ".join(sorted(files)) for number, files in _here().items()}
    listed = {number: ", ".join(sorted(shown.split(", "))) for number, shown in _listed().items()}
    assert {number: listed[number] for number in here} == here
    elsewhere = {shown for number, shown in listed.items() if number not in here} - {"not shown"}
    tests = FOLDER.parent / "grader"
    assert [
        one for one in elsewhere if not one.endswith(".py") or not (tests / one).is_file()
    ] == []


def test_more_than_a_hundred_are_tried() -> None:
    """By suites that are handed in, or by what such suites would do."""
    assert len(_here()) >= 110
