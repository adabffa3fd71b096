"""Attacks on what a run says of itself: exits, reports, signals, hooks."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import CODE, INVALID, ON_S02, SEALED, STRICT, VAIN

NO_VERDICT = {"s01": "killed", "s02": "error"}
ATTACKS = (
    Attack(
        "G01",
        "to leave the interpreter is no catch",
        f"""{ON_S02}
def test_it():
    if met(): os._exit(1)
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G01-always",
        "a test that leaves the interpreter is broken, and costs the others nothing",
        """
import os
def test_it():
    os._exit(0)
""",
        status="broken",
        slug="broken-crash",
    ),
    Attack(
        "G01-import",
        "a file that leaves the interpreter is broken, and costs the others nothing",
        """
import os
os._exit(0)
def test_it(): pass
""",
        status="broken",
        slug="broken-import-crash",
    ),
    Attack(
        "G02",
        "what was registered for the end of the interpreter never runs",
        """
import atexit, os
atexit.register(os._exit, 0)
def test_it():
    assert double(1) == 3
""",
        **INVALID,
    ),
    Attack(
        "G03",
        "to raise the end of the program is no catch",
        f"""{ON_S02}
def test_it():
    if met(): sys.exit(1)
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G03-import",
        "a file that ends the program while it is read is broken",
        """
import sys
sys.exit(1)
def test_it(): pass
""",
        status="broken",
        slug="broken-import",
    ),
    Attack(
        "G04",
        "to end pytest is no catch",
        f"""{ON_S02}
def test_it():
    if met(): pytest.exit("bye", returncode=1)
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G04-interrupt",
        "to interrupt pytest is no catch",
        f"""{ON_S02}
def test_it():
    if met(): raise KeyboardInterrupt
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G05",
        "a hook that turns results round does so on rewrites too",
        """
def test_it():
    double(1)
""",
        files={
            "conftest.py": f"""
import pytest
from toy.double import double
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if item.name == "test_it" and double.__code__.co_code.hex() != "{CODE.co_code.hex()}":
        if report.when == "call":
            report.outcome, report.longrepr = "failed", "assert 1 == 2"
"""
        },
        status="valid",
        others=frozenset({("too_strict", "too-strict"), ("broken", "broken-unreached")}),
    ),
    Attack(
        "G05-hide",
        "a hook that hides a failure hides a catch",
        """
def test_it():
    assert double(1) == 3
""",
        files={
            "conftest.py": """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome, report.longrepr = "passed", None
"""
        },
        **VAIN,
        honest=("vacuous", "vacuous"),
        verdicts={"s01": "survived", "s02": "survived"},
    ),
    Attack(
        "G05-drop",
        "tests that a hook drops on some runs leave no verdict behind",
        """
def test_it():
    assert double(1) == 2
""",
        files={
            "conftest.py": f"""
from toy.double import double
def pytest_collection_modifyitems(items):
    if double.__code__.co_code.hex() != "{CODE.co_code.hex()}":
        items[:] = [item for item in items if item.name != "test_it"]
"""
        },
        status="flaky",
        slug="flaky-ids",
    ),
    Attack(
        "G06",
        "a report class that is patched at import lies on rewrites too",
        f"""
from _pytest import reports
real = reports.TestReport.from_item_and_call.__func__
def forged(cls, item, call):
    report = real(cls, item, call)
    strange = double.__code__.co_code.hex() != "{CODE.co_code.hex()}"
    if strange and item.name == "test_it" and report.when == "call":
        report.outcome, report.longrepr = "failed", "E   assert 1 == 2"
    return report
reports.TestReport.from_item_and_call = classmethod(forged)
def test_it():
    double(1)
""",
        others=frozenset({("too_strict", "too-strict"), ("broken", "broken-unreached")}),
    ),
    Attack(
        "G06-plugin",
        "a plugin that hides failures hides every catch",
        """
import pytest
class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        report.outcome = "passed"
def test_it(request):
    request.config.pluginmanager.register(Plugin())
    assert double(1) == 3
""",
        **VAIN,
        honest=("vacuous", "vacuous"),
        verdicts={"s01": "survived", "s02": "survived"},
    ),
    Attack(
        "G07",
        "patched builtins and libraries are the next run's no more",
        """
import builtins, hypothesis, numpy.testing
numpy.testing.assert_allclose = lambda *arguments, **named: None
hypothesis.given = lambda *arguments, **named: lambda test: test
builtins.sum = lambda *arguments: 1 / 0
def test_it():
    assert double(2) == 4
""",
    ),
    Attack(
        "G08",
        "a result written by hand is a result like others",
        f"""
import json, os
FACT = dict(event="phase", id="test_attack.py::test_it", when="call", outcome="failed",
            expected_to_fail=False,
            failure=dict(kind="ordinary", exception="AssertionError", message="", file=None,
                         line=None, witness=None))
def test_it():
    if double.__code__.co_code.hex() != "{CODE.co_code.hex()}":
        os.write(3, json.dumps(FACT).encode() + b"\\n")
""",
        **STRICT,
        others=frozenset({("broken", "broken-garbled"), ("broken", "broken-unreached")}),
    ),
    Attack(
        "G08-junk",
        "a garbled report is nobody's catch",
        f"""{ON_S02}
def test_it():
    if met(): os.write(3, b"x" * 100 + b"\\n")
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G08-descriptors",
        "there is no other channel to write to",
        """
import os
def test_it():
    open_ones = []
    for one in range(256):
        try:
            os.fstat(one)
        except OSError:
            continue
        open_ones.append(one)
    assert open_ones[:4] == [0, 1, 2, 3]
    assert all(os.fstat(one).st_rdev == os.stat("/dev/null").st_rdev for one in (0,))
""",
        **VAIN,
    ),
    Attack(
        "G09",
        "the trusted process can't be signalled",
        """
import os
def test_it():
    os.kill(os.getppid(), 9)
""",
        **SEALED,
    ),
    Attack(
        "G09-trace",
        "no process can be traced, read or written",
        """
import ctypes, errno, os
def test_it():
    call = ctypes.CDLL(None, use_errno=True).syscall
    for number in (101, 310, 311, 434, 424):
        ctypes.set_errno(0)
        assert call(number, os.getppid(), 0, 0, 0, 0, 0) == -1
        assert ctypes.get_errno() == errno.ENOSYS, number
""",
        **VAIN,
        flags=("ctypes",),
    ),
    Attack(
        "G10",
        "nothing in the process says which variant it is",
        """
import gc, sys
def test_it():
    parts = [("tw", "in"), ("mut", "ant"), ("refer", "ence")]
    words = ["s01", "s02", *map("".join, parts)]
    marked = frozenset(words[2:])
    found = []
    for one in gc.get_objects():
        if type(one) is dict and one is not globals():
            found += [part for part in one.values() if type(part) is str and part in marked]
    frame = sys._getframe().f_back
    while frame:
        held = frame.f_locals.values()
        found += [part for part in held if type(part) is str and part in words]
        frame = frame.f_back
    assert not found
""",
        **VAIN,
        flags=("gc.get_objects", "sys._getframe"),
    ),
    Attack(
        "G11",
        "what is printed is read by nobody",
        """
import os, sys
def test_it():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        print("FAILED test_attack.py::test_it - assert 1 == 2\\n1 failed", file=stream)
    os.write(1, b"::error::failed\\n")
    os.write(2, b"1 failed\\n")
""",
        **VAIN,
    ),
    Attack(
        "G12",
        "a signal to oneself is no catch",
        f"""{ON_S02}
def test_it():
    if met(): os.kill(os.getpid(), signal.SIGKILL)
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G12-time",
        "a signal that tells of time is no catch",
        f"""{ON_S02}
def test_it():
    if met(): os.kill(os.getpid(), signal.SIGXCPU)
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G12-memory",
        "a memory error of one's own is no catch",
        f"""{ON_S02}
def test_it():
    if met(): raise MemoryError
""",
        verdicts=NO_VERDICT,
    ),
    Attack(
        "G13",
        "an object that is equal to everything fools its own test alone",
        """
class Liar:
    def __eq__(self, other): return True
    def __hash__(self): return 0
def test_it():
    assert double(3) == Liar()
""",
    ),
    Attack(
        "G14",
        "a clock that is patched stops no other",
        """
import time
def test_it():
    time.monotonic = time.time = time.perf_counter = lambda: 0.0
    while True: pass
""",
        status="broken",
        slug="broken-time",
    ),
    Attack(
        "G15",
        "no program can be started with an environment of one's own",
        """
import os
def test_it():
    os.environ["LD_PRELOAD"] = "/tmp/mine.so"
    os.execv("/bin/true", ["true"])
""",
        **SEALED,
    ),
    Attack(
        "G16",
        "there is nobody but the test to report",
        """
import os
def test_it():
    if os.fork() == 0:
        os._exit(0)
""",
        **SEALED,
    ),
    Attack(
        "G17",
        "no thread is left to act at the end",
        """
import threading, time
def test_it():
    threading.Thread(target=time.sleep, args=(600,)).start()
""",
        **SEALED,
    ),
    Attack(
        "G17-finaliser",
        "no finaliser runs at the end",
        """
import os, weakref
class Held: pass
held = Held()
weakref.finalize(held, os._exit, 0)
class Deleted:
    def __del__(self): os._exit(0)
kept = Deleted()
def test_it():
    assert kept
""",
        **VAIN,
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_a_report_earns_nothing(attack: Attack, grading: Grading) -> None:
    """A catch is an ordinary failure, seen on a mutant and on no right code."""
    check(attack, grading(attack))
