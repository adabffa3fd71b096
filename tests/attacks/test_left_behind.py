"""Attacks by what a suite types or leaves behind for whoever collects its results."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import VAIN

ATTACKS = (
    Attack(
        "E06",
        "there is no terminal to type into",
        """
import fcntl, os, termios
def test_it():
    assert not os.path.exists("/dev/tty") or not os.access("/dev/tty", os.R_OK | os.W_OK)
    for number in range(3):
        assert not os.isatty(number)
        try:
            fcntl.ioctl(number, termios.TIOCSTI, b"x")
        except OSError:
            continue
        assert False, number
""",
        **VAIN,
    ),
    Attack(
        "E07",
        "a pickle that is left behind is read by nobody",
        """
import os, pickle
class Trap:
    def __reduce__(self): return os.system, ("touch /tmp/owned",)
def test_it():
    for name in ("results.pkl", "results.json", "outcome.npy", "conftest.pkl"):
        try:
            with open(name, "wb") as file: file.write(pickle.dumps(Trap()))
        except OSError:
            pass
""",
        **VAIN,
    ),
    Attack(
        "E08",
        "a report that is left behind is read by nobody",
        """
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuite>&b;</testsuite>'
def test_it():
    for name in ("junit.xml", "report.xml", "results.xml"):
        try:
            with open(name, "w") as file: file.write(BOMB)
        except OSError:
            pass
""",
        **VAIN,
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_what_a_suite_leaves_behind_reaches_nobody(attack: Attack, grading: Grading) -> None:
    """Results come over one stream, as lines of JSON under a schema."""
    check(attack, grading(attack))
