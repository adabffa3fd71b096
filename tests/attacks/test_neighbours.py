"""Attacks that take from a machine what they can, and the honest suites graded beside them."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import INVALID, SLOW, VAIN, Expected

# Where no run on right code reaches its end, nothing is known of any test of the submission.
LOST: Expected = {
    "honest": ("broken", "broken-unreached"),
    "graded": False,
    "verdicts": {"s01": "not_run", "s02": "not_run"},
}

ATTACKS = (
    Attack(
        "R01-raw",
        "no process can be started by the system call itself",
        """
import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
CLONE, CLONE3, SIGCHLD = (56 if X86 else 220), 435, 17
def test_it():
    for number in (CLONE, CLONE3, *((57, 58) if X86 else ())):
        ctypes.set_errno(0)
        assert libc.syscall(number, SIGCHLD, 0, 0, 0, 0) == -1
        assert ctypes.get_errno() in (errno.ENOSYS, errno.EAGAIN), number
""",
        **VAIN,
        flags=("ctypes",),
    ),
    Attack(
        "R03-shared",
        "memory that is shared with nobody else is counted too",
        """
import mmap
def test_it():
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 1 << 26))
        kept[-1][:] = bytes(1 << 26)
""",
        status="broken",
        slug="broken-crash",
    ),
    Attack(
        "R09-report",
        "a flood on the channel of results ends its cell",
        """
import os
def test_it():
    while True: os.write(3, b'{"event":"start","id":"test_attack.py::test_it"}\\n' * 1000)
""",
        status="broken",
        slug="broken-garbled",
        **LOST,
    ),
    Attack(
        "R10-endless",
        "an exception whose text never ends runs into the time limit",
        """
class Endless(AssertionError):
    def __str__(self):
        while True: pass
def test_it():
    raise Endless
""",
        **SLOW,
    ),
    Attack(
        "R10-verbose",
        "a comparison of huge things says no more where everything was asked for",
        """
import os
os.environ["CI"] = "1"
def test_it():
    assert list(range(20_000)) == list(range(1, 20_001))
""",
        **INVALID,
        files={"conftest.py": "def pytest_configure(config):\n    config.option.verbose = 4\n"},
        others=frozenset({("broken", "broken-time")}),
    ),
    Attack(
        "R17-endless",
        "a file that makes tests without end is left out",
        """
import itertools, pytest
@pytest.mark.parametrize("n", itertools.count())
def test_it(n): pass
""",
        status="broken",
        slug="broken-import-time",
        others=frozenset({("broken", "broken-import"), ("broken", "broken-import-crash")}),
    ),
    Attack(
        "R18-inner",
        "a property that is made inside a test has the test's time, and no more",
        """
from hypothesis import Phase, given, settings, strategies as st
def test_it():
    @settings(max_examples=10**9, deadline=None, database=None)
    @given(st.text())
    def inner(text):
        assert double(2) == 4
    inner()
""",
        **SLOW,
    ),
    Attack(
        "R27-wide",
        "a source of two thousand functions is read like others",
        "\n"
        + "\n".join(f"def helper{n}(a, b): return a * b" for n in range(2_000))
        + """
def test_it():
    assert double(2) == 4
""",
    ),
    Attack(
        "R29-start",
        "a test that begins time and again has one limit all the same",
        """
import os, time
def test_it():
    for n in range(10**9):
        os.write(3, b'{"event":"start","id":"test_attack.py::test_%d"}\\n' % (n % 2))
        time.sleep(0.2)
""",
        status="broken",
        slug="broken-unreached",
        **LOST,
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_exhaustion_earns_nothing(attack: Attack, grading: Grading) -> None:
    """What is used up is the attack's own."""
    check(attack, grading(attack))
