"""Attacks that run out of something on a mutant alone: to be ended is to have caught nothing."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import ON_S02

ATTACKS = (
    Attack(
        "R03-mutant",
        "to run out of memory is no catch",
        f"""{ON_S02}
def test_it():
    assert double(2) == 4
    if met(): bytearray(1 << 40)
""",
        verdicts={"s01": "killed", "s02": "error"},
    ),
    Attack(
        "R06-mutant",
        "to fill the disk is no catch",
        f"""{ON_S02}
def test_it():
    assert double(2) == 4
    for n in range(100 * met()):
        with open(f"f{{n}}", "wb") as file: file.write(bytes(15 << 20))
""",
        verdicts={"s01": "killed", "s02": "error"},
    ),
    Attack(
        "R09-mutant",
        "to flood the channel of results is no catch",
        f"""{ON_S02}
def test_it():
    assert double(2) == 4
    while met(): os.write(3, b'{{"event":"start","id":"test_attack.py::test_it"}}\\n' * 1000)
""",
        verdicts={"s01": "killed", "s02": "error"},
    ),
    Attack(
        "R12-mutant",
        "to hang is no catch",
        f"""{ON_S02}
def test_it():
    assert double(2) == 4
    while met(): pass
""",
        verdicts={"s01": "killed", "s02": "timeout"},
    ),
    Attack(
        "R12-mutant-import",
        "nor is it to hang while a file is read",
        f"""{ON_S02}
while met(): pass
def test_it():
    assert double(2) == 4
""",
        verdicts={"s01": "killed", "s02": "timeout"},
    ),
    Attack(
        "R16-mutant",
        "to overflow the stack is no catch",
        f"""{ON_S02}
def test_it():
    assert double(2) == 4
    sys.setrecursionlimit(1 << 30)
    held = []
    for _ in range(200_000 * met()): held = [held]
    repr(held)
""",
        verdicts={"s01": "killed", "s02": "error"},
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_to_run_out_of_something_is_no_catch(attack: Attack, grading: Grading) -> None:
    """Only a test that fails has seen what a mutant does."""
    check(attack, grading(attack))
