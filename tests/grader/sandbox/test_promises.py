"""What every back-end promises of a cell, whatever it is built from."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome
from grader.sandbox.session import Clock

Run = Callable[..., Outcome]

IT = "test_toy.py::test_it"

# Looks for a string in the memory of its own process, a fork of the worker's trusted one. The
# pattern doesn't contain what it finds.
SEARCH = """
import ctypes, re
def test_search():
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            area, rights, *rest = line.split()
            if rights.startswith("rw"):
                start, end = (int(part, 16) for part in area.split("-"))
                memory.seek(start)
                found += re.findall(rb"{pattern}", memory.read(end - start))
    assert not found, len(found)
"""

# Past the end of the C library's stack.
DEEP = """
    import sys
    sys.setrecursionlimit(10**9)
    def deeper(loop): return max(map(deeper, loop))
    loop = []
    loop.append(loop)
    deeper(loop)
"""
# Neither a signal nor an exception ends it.
IGNORING = """
    import signal
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        try: time.sleep(9)
        except BaseException: pass
"""


def told(outcome: Outcome, test: str = "test_it") -> str:
    """Return what a test said by failing."""
    assert outcome.end is End.COMPLETE, outcome
    return outcome.runs[f"test_toy.py::{test}"].failures[0].message


def assert_healthy(run: Run) -> None:
    """Assert that the next cell of the worker runs as if nothing had been."""
    outcome = run("from toy.mod import double\ndef test_it(): assert double(2) == 4\n")
    assert outcome.end is End.COMPLETE
    assert outcome.tests == (IT,)
    assert not outcome.runs[IT].failed


def test_a_suite_is_run_on_its_variant(run: Run) -> None:
    """Right code passes, wrong code is seen."""
    suite = """
from hypothesis import given, strategies as st
from toy.mod import double
@given(st.integers(1, 99))
def test_it(n): assert double(n) == n + n
"""
    assert not run(suite).runs[IT].failed
    wrong = run(suite, variant="def double(n):\n    return 3 * n\n")
    assert wrong.runs[IT].failures[0].witness


@pytest.mark.docker
def test_both_back_ends_draw_the_same_inputs(process_run: Run, docker_run: Run) -> None:
    """Or a verdict would depend on the sandbox."""
    suite = """
import hashlib
from hypothesis import given, settings, strategies as st
seen = []
@settings(max_examples=300)
@given(st.integers(), st.floats(), st.lists(st.booleans()))
def test_draws(*drawn): seen.append(repr(drawn))
def test_it(): raise AssertionError(hashlib.sha256(repr(seen).encode()).hexdigest())
"""
    assert told(process_run(suite)) == told(docker_run(suite))


def test_no_string_of_an_earlier_cell_is_in_the_workers_memory(unsealed_run: Run) -> None:
    """The trusted process passes a cell's bytes on without ever holding them.

    Looked for where the cell is not sealed: else it could not look so well.
    """
    marked = """
WORDS = ["marked-by-the-earlier-cell"] * 5
def test_it():
    print(WORDS)
    assert False, "marked-by-the-earlier-cell"
"""
    pattern = "[m]arked.by.the.earlier.cell"
    search = SEARCH.replace("{pattern}", pattern)
    unsealed_run({"test_toy.py": marked, "marked_by_the_earlier_cell.py": ""})
    assert not unsealed_run(search).runs["test_toy.py::test_search"].failed
    assert told(unsealed_run(marked + search), "test_search")  # it does find what is there


def test_no_text_of_an_earlier_variant_is_in_the_workers_memory(unsealed_run: Run) -> None:
    """Two variants could be compared."""
    unsealed_run("import toy.mod\ndef test_it(): pass\n", variant="NAME = 'the-earlier-variant'\n")
    search = SEARCH.replace("{pattern}", "[t]he.earlier.variant")
    assert not unsealed_run(search).runs["test_toy.py::test_search"].failed


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("os._exit(0)", End.CRASH),
        ("os.kill(os.getpid(), 9)", End.CRASH),
        ("import pytest; pytest.exit('bye')", End.CRASH),
        ("time.sleep(600)", End.TIMEOUT),
        ("10 ** 10 ** 10", End.TIMEOUT),
        (IGNORING, End.TIMEOUT),
        ("\n    while True: os.write(3, b'x'); time.sleep(0.02)", End.TIMEOUT),
        (DEEP, End.CRASH),
        ("os.write(3, b'junk\\n')", End.GARBLED),
        ("\n    while True: os.write(3, b'x' * 100_000)", End.GARBLED),
        ("os.close(3)", End.CRASH),
    ],
)
def test_a_cell_that_ends_badly_is_named_and_spoils_no_other(run: Run, body: str, end: End) -> None:
    """The worker outlives whatever a cell does to itself."""
    outcome = run(f"import os, time\ndef test_it():\n    {body}\n", clock=Clock(1.5, 60))
    assert (outcome.end, outcome.at) == (end, IT)
    assert_healthy(run)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("bytearray(1 << 36)", "memory"),
        ("kept = []\n    while True: kept.append(bytes(1 << 22))", "memory"),
        ("open('f', 'wb').write(bytes(17 << 20))", "limit"),
        ("kept = [open('f', 'w') for _ in range(300)]", "limit"),
        ("input()", "ordinary"),
    ],
)
def test_a_limit_raises_in_the_test(run: Run, body: str, kind: str) -> None:
    """It is an error of that test, and no end of the cell."""
    outcome = run(f"def test_it():\n    {body}\ndef test_after(): pass\n")
    assert outcome.end is End.COMPLETE
    assert [failure.kind for failure in outcome.runs[IT].failures] == [kind]
    assert_healthy(run)


def test_daemons_do_not_outlive_their_cell(unsealed_run: Run) -> None:
    """Not one that left its session, nor one that starts another without end."""
    unsealed_run("""
import os, time
def test_it():
    for kind in range(2):
        if os.fork() == 0:
            os.setsid()
            while kind:
                if os.fork():
                    os._exit(0)
            time.sleep(600)
""")
    outcome = unsealed_run("""
import os
def test_it():
    left = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
            if parent in (os.getppid(), os.getpid()) and int(name) != os.getpid():
                left.append(name)
        except OSError:
            pass
    assert left == []
""")
    assert not outcome.runs[IT].failed


@pytest.mark.parametrize(
    "body",
    [
        "for _ in range(1100):\n        os.mkdir('d' * 9); os.chdir('d' * 9)",
        "os.makedirs('a/b/c'); os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('..', 0)",
        "open('f', 'wb').write(bytes(15 << 20)); open('g', 'wb').write(bytes(15 << 20))",
    ],
)
def test_whatever_a_cell_leaves_in_its_folder_is_gone(run: Run, body: str) -> None:
    """However deep, and whatever rights were taken from it."""
    run(f"import os\ndef test_it():\n    {body}\n")
    outcome = run("""
import os
def test_it():
    assert sorted(os.listdir("..")) == ["home", "tests", "tmp"]
    assert sorted(set(os.listdir(".")) - {"__pycache__"}) == [".grader.ini", "test_toy.py"]
""")
    assert not outcome.runs[IT].failed


def test_any_module_of_the_standard_library_can_still_be_imported(run: Run) -> None:
    """Though the cell is nobody."""
    outcome = run("""
import importlib
import pytest
@pytest.mark.parametrize("name", ["wave", "xml.dom.minidom", "http.client", "tomllib", "numpy.ma"])
def test_it(name): importlib.import_module(name)
""")
    assert outcome.end is End.COMPLETE
    assert not any(ran.failed for ran in outcome.runs.values())


def test_a_look_at_the_sources_runs_nothing(run: Run) -> None:
    """Reading them alone could end the interpreter, so it happens inside."""
    files = {"test_toy.py": "import os\nos._exit(5)\n", "bad.py": "def"}
    outcome = run(files, mode="look")
    assert outcome.end is End.COMPLETE
    assert [look.path for look in outcome.looks] == ["test_toy.py", "bad.py"]
    assert outcome.looks[1].problem is not None
