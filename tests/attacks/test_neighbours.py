"""Attacks that take from a machine what they can, and the honest suites graded beside them."""

import ctypes
import gc
import json
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, Options, Progress
from grader.grading import grade
from grader.report.document import to_json
from grader.report.terminal import to_terminal
from grader.sandbox import owner
from grader.sandbox.docker import LABEL
from grader.sandbox.engine import engine
from grader.submission import Submission

from .case import HEAD, HONEST, HONEST_PATH, PATH, Attack
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


# --- beside others -------------------------------------------------------------------------

WORST = ("R01-raw", "R03-shared", "R09-report", "R10-endless", "R29-start")
ROUNDS = 3
ROOM = 32 << 20  # what a process may grow by, where a single flood alone is far more
FLOODS = {
    "lines": """
import os
def test_it():
    for n in range(10**9):
        os.write(3, b'{"event":"start","id":"%0400d"}\\n' % n)
""",
    "depth": """
import os
def test_it():
    os.write(3, b"[" * 8000 + b"\\n")
""",
    "bytes": """
import os
def test_it():
    while True: os.write(3, b"x" * 65536)
""",
    "names": """
import pytest
@pytest.mark.parametrize("n", range(20), ids=lambda n: str(n) * 400)
def test_it(n):
    assert list(range(9999)) == [], "m" * (1 << 22)
""",
    "output": """
import os
def test_it():
    for _ in range(200): os.write(1, b"x" * (1 << 20)); os.write(2, b"y" * (1 << 20))
""",
}


class Round(NamedTuple):
    """What a grader holds after it has graded every flood once more."""

    resident: int
    busy: int  # the most containers that it had at once
    containers: int
    children: int


def flooded(root: Path, place: Path) -> list[Round]:
    """Grade the floods time and again in this process, each time anew, and measure it."""
    assignment, found = load_course(root).assignment("T1"), []
    me, busy = psutil.Process(), [0]

    def look(progress: Progress) -> None:
        del progress
        busy.append(containers(me.pid))

    for number in range(ROUNDS):
        for name, text in FLOODS.items():
            suite = Submission({HONEST_PATH: HONEST.encode(), PATH: (HEAD + text).encode()})
            where = place / f"{number}-{name}"
            how = Options("docker", jobs=2, run_dir=where, seed=7, staff=True, tell=look)
            done = grade(assignment, suite, how)
            to_json(done), to_terminal(done)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what the allocator keeps for later is not held
        held, children = me.memory_info().rss, len(me.children(recursive=True))
        found.append(Round(held, max(busy), containers(me.pid), children))
    return found


def containers(pid: int) -> int:
    """Return how many containers there are of the grader that runs in a process."""
    with closing(engine()) as client:
        some = client.containers(all=True, filters={"label": LABEL})
    owners = [owner.read(one["Labels"][LABEL]) for one in some]
    return sum(one is not None and one.process == pid for one in owners)


@pytest.fixture(scope="module")
def rounds(
    assignment: Assignment,
    state: Path,
    worker_image: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Sequence[Round]:
    """Return what a grader in a process of its own holds after each round of floods."""
    del state, worker_image
    how = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=how) as pool:
        place = tmp_path_factory.mktemp("rounds")
        return pool.submit(flooded, assignment.course.root, place).result()


@pytest.mark.docker
def test_the_memory_of_the_grader_stays_flat(rounds: Sequence[Round]) -> None:
    """Whatever cells say, print and fail with, nothing of it is kept."""
    _, second, *_, last = rounds  # the first still imports what it needs
    assert last.resident - second.resident < ROOM


@pytest.mark.docker
def test_neither_container_nor_process_is_left(rounds: Sequence[Round]) -> None:
    """After each round, and not only in the end."""
    assert rounds[0].busy > 0
    assert {(one.containers, one.children) for one in rounds} == {(0, 0)}


@pytest.mark.docker
def test_an_honest_suite_that_is_graded_beside_them_is_graded_as_alone(
    assignment: Assignment, state: Path, worker_image: str, tmp_path: Path
) -> None:
    """Its tests, its catches and every word of its report."""
    del state, worker_image
    hostile = {one.id: HEAD + one.source for one in ATTACKS if one.id in WORST}

    def graded(name: str, text: str) -> Grade:
        suite = Submission({HONEST_PATH: HONEST.encode(), PATH: text.encode()})
        return grade(assignment, suite, Options("docker", jobs=1, run_dir=tmp_path / name, seed=7))

    def honest(name: str) -> object:
        found = graded(name, f"{HEAD}def test_two(): assert double(2) == 4")
        document = json.loads(to_json(found))
        del document["seconds"]
        # A run ends at the first catch, and what else was seen until then is chance.
        for one in document["mutants"]:
            one["killed_by"], one["witness"] = [], None
        for one in document["tests"]:
            one["kills"] = []
        return document

    alone = honest("alone")
    with ThreadPoolExecutor(1) as other:
        worst = [other.submit(graded, name, text) for name, text in hostile.items()]
        beside: list[object] = []
        while not worst[-1].done():
            beside.append(honest(f"beside-{len(beside)}"))
        assert {one.result().fault for one in worst} <= {None, "student"}
    assert beside
    assert [one for one in beside if one != alone] == []
