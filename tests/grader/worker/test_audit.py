"""The audit hook in a cell: which touches of the form of code it tells of, and which not."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.cells import Cell
from grader.course import Limits, load_course
from grader.jobs import Jobs, preload, shared_modules
from grader.outcome import End, Outcome
from grader.sandbox.process import ProcessSandbox
from grader.sandbox.session import Clock, Session
from grader.submission import freeze
from grader.twins.pool import Pool
from grader.worker.audit import Audit
from grader.worker.reporter import Reporter

Run = Callable[..., Outcome]
HEAD = "from toy.mod import double\ndef test_a():\n"
ROOT = Path(__file__).parents[3]


def touches(run: Run, body: str, head: str = HEAD) -> list[tuple[str, int]]:
    """Return what a test of one line, the third of its file, is seen to touch."""
    outcome = run(f"{head}    {body}\n")
    assert outcome.end is End.COMPLETE
    assert all(touch.path == "test_toy.py" for touch in outcome.touches)
    assert outcome.runs["test_toy.py::test_a"].finished
    return [(touch.what, touch.line) for touch in outcome.touches]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("double.__code__", "__code__"),
        ("getattr(double, '__co' + 'de__')", "__code__"),
        ("import operator; operator.attrgetter('__code__')(double)", "__code__"),
        ("import inspect; inspect.signature(double)", "__code__"),
        ("import inspect; inspect.getsource(double)", "__code__"),
        ("exec('f.__code__', {'f': double})", "__code__"),
        ("(n for n in ()).gi_code", "gi_code"),
        ("import sys; sys._getframe()", "sys._getframe"),
        ("import sys; sys._current_frames()", "sys._current_frames"),
        ("import sys; sys.settrace(None)", "sys.settrace"),
        ("import sys; sys.setprofile(None)", "sys.setprofile"),
        ("import sys; sys.addaudithook(print)", "sys.addaudithook"),
        ("import gc; gc.get_objects()", "gc.get_objects"),
        ("import gc; gc.get_referrers(double)", "gc.get_referrers"),
        ("import gc; gc.get_referents(double)", "gc.get_referents"),
        ("import ctypes; ctypes.string_at(id(double), 1)", "ctypes.string_at"),
        ("import marshal; marshal.dumps(1)", "marshal.dumps"),
        ("open('/proc/self/cmdline')", "/proc/self/cmdline"),
        ("open(double.__globals__['__file__'])", "/opt/course/lib/site-packages/toy/mod.py"),
        ("import linecache; linecache.updatecache('/proc/stat')", "/proc/stat"),
        ("import pathlib; pathlib.Path('/proc/stat').read_text()", "/proc/stat"),
    ],
)
def test_a_touch_is_told_with_its_line(process_run: Run, body: str, what: str) -> None:
    """By the test's own hand, or by that of a module which only does what it is told."""
    assert (what, 3) in touches(process_run, body)


def test_a_frame_of_a_traceback_is_a_touch(process_run: Run) -> None:
    """It leads to the code that raised."""
    body = "try: double(None)\n    except TypeError as e: e.__traceback__.tb_next.tb_frame.f_code"
    assert touches(process_run, body) == [("tb_frame", 4), ("f_code", 4)]


@pytest.mark.parametrize(
    "body",
    [
        "assert double(1) == 2",
        "import collections; collections.namedtuple('N', 'a b')",
        "import dataclasses; dataclasses.make_dataclass('D', ['a'])",
        "import enum; enum.Enum('E', 'a b')",
        "import warnings; warnings.warn('w')",
        "import functools; functools.wraps(double)(lambda n: n)",
        "import unittest; unittest.TestCase().assertRaises(TypeError, double, None)",
        "import numpy as np; np.testing.assert_allclose(double(1), 2)",
        "import numpy as np; np.vectorize(double)([1, 2])",
        "import copy; copy.deepcopy(double)",
        "import hypothesis; hypothesis.given(hypothesis.strategies.integers())(lambda n: None)()",
        "open('notes.txt', 'w').write('x')",
        "double.__name__, double.__doc__",
        "raise ValueError(double(1))",
        "import json",
    ],
)
def test_what_honest_tests_do_is_no_touch(process_run: Run, body: str) -> None:
    """Libraries touch code all the time, on their own account."""
    assert touches(process_run, body) == []


def test_honest_suites_touch_nothing() -> None:
    """Plain tests, properties, classes, fixtures, sub-tests, a state machine; the gold suite."""
    assignment = load_course().assignment("L3.4")
    folders = [ROOT / "examples" / name / "python/tests/l3-4-bi" for name in ("complete", "styles")]
    pool = Pool(assignment.source, (), ())
    modules, preloaded = shared_modules(assignment), preload(assignment)
    with contextlib.closing(Session(ProcessSandbox(Limits()), modules, preloaded)) as session:
        for folder in (*folders, assignment.gold_path):
            job = Jobs(assignment, freeze(folder), pool, b"")(Cell(purpose="calibration", draw=1))
            outcome = session.run(job, Clock(per_test=60, in_all=120), lambda watch: False)
            assert outcome.end is End.COMPLETE
            assert not any(run.failed for run in outcome.runs.values())
            assert outcome.touches == ()


def test_a_touch_is_told_on_each_implementation_alike(process_run: Run) -> None:
    """Cells must not differ."""
    suite = "from toy.mod import double\ndef test_a():\n    assert double.__code__\n"
    faulty = "def double(n):\n    return 3 * n\n"
    assert process_run(suite).touches == process_run(suite, variant=faulty).touches != ()


def test_touches_on_import_and_in_helpers_are_told(process_run: Run) -> None:
    """With the file that they are in."""
    files = {
        "helpers.py": "def code(f):\n    return f.__code__\n",
        "test_toy.py": "from helpers import code\nX = code(code)\ndef test_a(): assert X\n",
    }
    [touch] = process_run(files).touches
    assert (touch.what, touch.path, touch.line) == ("__code__", "helpers.py", 2)


def test_a_touch_is_told_once_and_many_are_cut_off(process_run: Run) -> None:
    """A loop of them is one place, and twenty places are enough."""
    assert touches(process_run, "for _ in range(999): double.__code__") == [("__code__", 3)]
    lines = "\n    ".join(["double.__code__"] * 50)
    assert len(touches(process_run, lines)) == 20


def test_a_hook_that_fails_disturbs_nothing(process_run: Run) -> None:
    """What a student puts where the hook looks changes no result."""
    odd = (
        "class Text(str):\n    def startswith(self, *_): raise SystemExit\n"
        "    __str__ = __hash__ = startswith\n"
    )
    outcome = process_run(
        f"{odd}__name__ = []\ndef test_a():\n    open(Text('x'), 'w')\n"
        "    exec('f.__code__', {'f': test_a, '__name__': []})\n"
    )
    assert outcome.end is End.COMPLETE
    assert not outcome.runs["test_toy.py::test_a"].failed


def test_a_process_that_a_test_starts_says_nothing(process_run: Run) -> None:
    """It would speak in between, or after the end."""
    body = "import os\n    if not os.fork():\n        double.__code__; os._exit(0)\n    os.wait()"
    assert touches(process_run, body) == []


def test_nothing_is_told_once_it_is_stopped(tmp_path: Path) -> None:
    """What a cell says after its end would make no sense."""
    said = tmp_path / "said"
    with said.open("wb") as file:
        audit = Audit(Reporter(file.fileno()), ROOT / "tests")
        audit.start()
        assert test_nothing_is_told_once_it_is_stopped.__code__
        before = said.read_bytes()
        audit.stop()
        assert test_a_hook_that_fails_disturbs_nothing.__code__
    assert b'"what": "__code__"' in before
    assert said.read_bytes() == before
