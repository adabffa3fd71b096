"""Attacks on memory, disk, time and the machine: they cost their own submission alone."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import INVALID, LIMIT, SEALED, SLOW, VAIN

ATTACKS = (
    Attack(
        "R01",
        "a bomb of processes has no first one",
        """
import os
def test_it():
    while True:
        os.fork()
""",
        **SEALED,
    ),
    Attack(
        "R01-caught",
        "one that goes on where it is refused runs out of time",
        """
import os
def test_it():
    while True:
        try:
            os.fork()
        except OSError:
            pass
""",
        **SLOW,
    ),
    Attack(
        "R02",
        "a flood of threads has no first one",
        """
import threading, time
def test_it():
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(60,)).start()
""",
        **SEALED,
    ),
    Attack(
        "R03",
        "memory is refused and not taken from others",
        """
def test_it():
    held = []
    while True:
        held.append(bytearray(1 << 24))
""",
        **LIMIT,
    ),
    Attack(
        "R04",
        "there is no shared memory to fill",
        """
import multiprocessing.shared_memory as shared
def test_it():
    shared.SharedMemory(create=True, size=1 << 28)
""",
        status="invalid",
        slug="invalid-file",
    ),
    Attack(
        "R06",
        "a file has a greatest size, and a cell a disk of its own",
        """
def test_it():
    for number in range(100):
        with open(f"f{number}", "wb") as file:
            file.write(bytes(15 << 20))
""",
        **LIMIT,
    ),
    Attack(
        "R06-large",
        "a file that is too large is refused",
        """
def test_it():
    with open("f", "wb") as file:
        while True:
            file.write(bytes(1 << 20))
""",
        **LIMIT,
    ),
    Attack(
        "R06-sparse",
        "so is one that only claims to be large",
        """
import os
def test_it():
    with open("f", "wb") as file:
        os.truncate(file.fileno(), 1 << 40)
""",
        **LIMIT,
    ),
    Attack(
        "R07",
        "there is an end of files",
        """
import os
def test_it():
    for number in range(100_000):
        os.mknod(f"n{number}") if False else open(f"n{number}", "w").close()
""",
        **LIMIT,
    ),
    Attack(
        "R07-deep",
        "folders in folders that nobody may enter are deleted like others",
        """
import os
def test_it():
    try:
        while True:
            os.mkdir("d")
            os.chdir("d")
    except OSError:
        os.chmod(".", 0)
""",
        **VAIN,
    ),
    Attack(
        "R08",
        "there is an end of descriptors",
        """
def test_it():
    held = [open("/dev/null") for _ in range(10_000)]
""",
        **LIMIT,
    ),
    Attack(
        "R09",
        "a flood of output is no catch, and reaches nobody",
        """
import sys
def test_it():
    for _ in range(200):
        print("x" * 100_000)
        print("y" * 100_000, file=sys.stderr)
""",
        **VAIN,
    ),
    Attack(
        "R09-failing",
        "a failure after a flood is told in a line",
        """
def test_it():
    print("x" * 14_000_000)
    assert False, "z" * 10_000_000
""",
        **INVALID,
    ),
    Attack(
        "R09-property",
        "what a test notes down about itself goes nowhere",
        """
def test_it(record_property):
    for _ in range(10): record_property("k" * (1 << 20), "v" * (1 << 22))
    assert double(2) == 4
""",
    ),
    Attack(
        "R10",
        "a difference of long values costs its own test alone",
        """
def test_it():
    assert list(range(300_000)) == list(range(1, 300_001))
""",
        **INVALID,
        others=frozenset({("broken", "broken-time")}),
    ),
    Attack(
        "R10-repr",
        "a value whose text has no end runs out of time or memory",
        """
class Endless:
    def __repr__(self):
        return "x" * (1 << 29)
def test_it():
    assert Endless() == Endless()
""",
        **INVALID,
        others=frozenset({("broken", "broken-time")}),
    ),
    Attack(
        "R10-group",
        "a group of a group of exceptions, and so on, breaks its own test alone",
        """
def test_it():
    problem = AssertionError()
    for _ in range(5_000): problem = ExceptionGroup("", [problem])
    raise problem
""",
        status="broken",
        slug="broken-crash",
    ),
    Attack(
        "R10-nameless",
        "so does an exception whose class ends whoever asks for its name",
        """
class Nameless(type):
    @property
    def __name__(cls): raise SystemExit(1)
class Ending(AssertionError, metaclass=Nameless):
    def __str__(self): raise KeyboardInterrupt
def test_it():
    raise Ending
""",
        status="broken",
        slug="broken-crash",
    ),
    Attack(
        "R11",
        "names and messages that no format likes are told all the same",
        """
import pytest
@pytest.mark.parametrize("n", ["\\x00\\x1b]0;owned\\x07", "\\ud800", "]]><!--&lt;", "\\u202e"])
def test_it(n):
    assert False, n + "\\x00\\ud800\\x1b[2J"
""",
        **INVALID,
    ),
    Attack(
        "R12",
        "a loop without end is broken, and costs the others nothing",
        """
def test_it():
    while True:
        pass
""",
        **SLOW,
    ),
    Attack(
        "R12-import",
        "a file that never ends to be read is broken, and costs the others nothing",
        """
while True:
    pass
def test_it(): pass
""",
        status="broken",
        slug="broken-import-time",
    ),
    Attack(
        "R13",
        "nothing that is asked to end is asked, it is ended",
        """
import signal
def test_it():
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""",
        **SLOW,
    ),
    Attack(
        "R14",
        "a computation that no signal reaches is ended from outside",
        """
def test_it():
    9 ** 9 ** 9
""",
        **SLOW,
    ),
    Attack(
        "R15",
        "nobody answers a question",
        """
def test_it():
    input()
""",
        status="invalid",
        slug="invalid-input",
    ),
    Attack(
        "R16",
        "a recursion without end is a failure like others",
        """
def deeper(n): return deeper(n + 1)
def test_it(): deeper(0)
""",
        **INVALID,
    ),
    Attack(
        "R16-stack",
        "a stack that overflows breaks its own test alone",
        """
import sys
def test_it():
    sys.setrecursionlimit(1 << 30)
    held = []
    for _ in range(1_000_000):
        held = [held]
    repr(held)
""",
        status="broken",
        slug="broken-crash",
    ),
    Attack(
        "R17",
        "of too many tests the first count, and the rest are left out",
        """
import pytest
@pytest.mark.parametrize("n", range(2000))
def test_it(n):
    assert double(1) == 2
""",
        honest=None,
    ),
    Attack(
        "R18",
        "examples without end have one",
        """
from hypothesis import HealthCheck, given, settings, strategies as st
@settings(max_examples=10**9, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6))
def test_it(n):
    assert n + 1 > n
""",
        **VAIN,
        others=frozenset({("broken", "broken-time")}),
    ),
    Attack(
        "R18-slow",
        "a property that sleeps an example runs out of time",
        """
import time
from hypothesis import given, settings, strategies as st
@settings(max_examples=10**9, deadline=None)
@given(st.integers(0, 10**6))
def test_it(n):
    time.sleep(0.5)
""",
        **SLOW,
    ),
    Attack(
        "R21",
        "to sleep is to run out of time",
        """
import time
def test_it():
    time.sleep(3600)
""",
        **SLOW,
    ),
    Attack(
        "R23",
        "there is no child to leave behind",
        """
import subprocess
def test_it():
    subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
""",
        **SEALED,
    ),
    Attack(
        "R24",
        "who crashes leaves no image of memory",
        """
import ctypes, resource
def test_it():
    assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
    ctypes.string_at(0)
""",
        status="broken",
        slug="broken-crash",
    ),
    Attack(
        "R25",
        "there is no pipe, pair of sockets, watch, key or queue to collect",
        """
import ctypes, errno, os, socket
def refused(call):
    try:
        call()
    except OSError as problem:
        return problem.errno == errno.ENOSYS
    return False
def test_it():
    assert refused(os.pipe) and refused(socket.socketpair) and refused(lambda: os.eventfd(0))
    call = ctypes.CDLL(None, use_errno=True).syscall
    for number in (253, 254, 248, 249, 250, 240, 29, 64, 68, 319, 425):
        ctypes.set_errno(0)
        assert call(number, 0, 0, 0, 0, 0) == -1
        assert ctypes.get_errno() == errno.ENOSYS, number
""",
        **VAIN,
    ),
    Attack(
        "R27",
        "a source that no parser survives is broken, and costs the others nothing",
        "\ndef test_it():\n    assert " + "(" * 100_000 + ")" * 100_000 + "\n",
        status="broken",
        slug="broken-syntax",
    ),
    Attack(
        "R27-deep",
        "nor one that is deep without being long",
        "\nx = " + "-" * 90_000 + "1\ndef test_it(): pass\n",
        status="broken",
        slug="broken-syntax",
    ),
    Attack(
        "R27-number",
        "nor one with a number of many digits",
        "\nx = " + "9" * 400_000 + "\ndef test_it(): pass\n",
        status="broken",
        slug="broken-syntax",
    ),
    Attack(
        "R27-null",
        "nor one with a null in it",
        "\nx = '\0'\ndef test_it(): pass\n",
        status="broken",
        slug="broken-syntax",
    ),
    Attack(
        "R29",
        "who reports a byte at a time runs out of time",
        """
import os, time
def test_it():
    while True:
        os.write(3, b" ")
        time.sleep(0.05)
""",
        **SLOW,
        others=frozenset({("broken", "broken-garbled")}),
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_what_a_suite_uses_up_is_its_own(attack: Attack, grading: Grading) -> None:
    """Nobody else has less of it."""
    check(attack, grading(attack))
