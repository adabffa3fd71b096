"""Attacks that tell a mutant from the reference by something else than what it does.

Each knows the reference by heart, as a student of an open course may, and fails on whatever is
not that text.
"""

import dis
import hashlib
import marshal

import pytest

from .case import REFERENCE, Attack
from .checks import check
from .conftest import Grading
from .known import CODE, COIN, INVALID, NO_FILE, STRICT, VAIN

HASH = hashlib.sha256(REFERENCE.encode()).hexdigest()
INSTRUCTIONS = len(list(dis.get_instructions(CODE)))
LINES = len({line for *_, line in CODE.co_lines()})

ATTACKS = (
    Attack(
        "F01",
        "there is no source to compare with a hash that is known",
        f"""
import hashlib, inspect
def test_it():
    found = inspect.getsource(inspect.getmodule(double))
    assert hashlib.sha256(found.encode()).hexdigest() == "{HASH}"
""",
        **INVALID,
        flags=("inspect",),
    ),
    Attack(
        "F01-file",
        "no variant is a file that can be opened",
        """
import sys
def test_it():
    assert "if n < 0:" in open(sys.modules["toy.double"].__file__).read()
""",
        **NO_FILE,
        flags=("/opt/course",),
    ),
    Attack(
        "F01-cache",
        "no line of a variant is in the cache that tracebacks use",
        """
import linecache, sys
def test_it():
    assert not linecache.getlines(sys.modules["toy.double"].__file__)
""",
        **VAIN,
    ),
    Attack(
        "F01-loader",
        "the loader that a variant came by has no text to give",
        """
import sys
def test_it():
    loader = sys.modules["toy.double"].__loader__
    for name in ("get_source", "get_data", "get_code"):
        assert not hasattr(loader, name)
    assert not [one for one in vars(loader).values() if "def " in str(one)]
""",
        **VAIN,
    ),
    Attack(
        "F01-memory",
        "no object of the process holds a variant's text",
        """
import gc
def test_it():
    marked = "".join(["range", "(n)"])
    held = [one for one in gc.get_objects() if type(one) in (dict, list, tuple)]
    parts = [part for one in held for part in (one.values() if type(one) is dict else one)]
    assert not [part for part in parts if type(part) is str and marked in part]
""",
        **VAIN,
        flags=("gc.get_objects",),
    ),
    Attack(
        "F02",
        "a hash of bytecode that is known rejects every rewrite",
        f"""
def test_it():
    assert double.__code__.co_code.hex() == "{CODE.co_code.hex()}"
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "F02-size",
        "the size of the bytecode tells rewrites from the reference too",
        f"""
def test_it():
    assert len(double.__code__.co_code) == {len(CODE.co_code)}
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "F02-constants",
        "a constant that a mutant lacks is planted in rewrites too",
        """
def test_it():
    found = [one for one in double.__code__.co_consts if isinstance(one, str)]
    assert len(found) <= 2
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "F02-copy",
        "code that is copied into a function of one's own is as strict",
        f"""
import types
def test_it():
    mine = types.FunctionType(double.__code__, dict(double.__globals__))
    assert mine.__code__.co_names == {CODE.co_names!r}
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "F02-marshal",
        "code that is marshalled first is as strict",
        f"""
import marshal
def test_it():
    assert marshal.dumps(double.__code__.co_code).hex() == "{marshal.dumps(CODE.co_code).hex()}"
""",
        **STRICT,
        flags=("marshal.dumps",),
    ),
    Attack(
        "F02-wrapped",
        "a disassembly is as strict",
        f"""
import dis
def test_it():
    assert sum(1 for _ in dis.get_instructions(double)) == {INSTRUCTIONS}
""",
        **STRICT,
    ),
    Attack(
        "F03",
        "the file that a variant claims to come from has no size, no time and no neighbours",
        """
import os, sys
def test_it():
    path = sys.modules["toy.double"].__file__
    assert not os.path.lexists(path) and not os.path.lexists(os.path.dirname(path))
""",
        **VAIN,
    ),
    Attack(
        "F03-cached",
        "no bytecode of a variant lies anywhere",
        """
import os, sys
def test_it():
    found = [os.path.join(top, one) for top, _, some in os.walk("/") for one in some]
    assert not [one for one in found if "toy" in one or "course" in one]
""",
        **VAIN,
    ),
    Attack(
        "F04",
        "every variant has the same path and the same names",
        """
import sys
def test_it():
    module = sys.modules["toy.double"]
    where = "/opt/course/lib/site-packages/toy/double.py"
    names = (module.__name__, module.__file__, module.__spec__.origin, module.__spec__.name)
    assert names == ("toy.double", where, where, "toy.double")
    assert module.__package__ == "toy" and module.__cached__ is None
""",
        **INVALID,
    ),
    Attack(
        "F05",
        "names of locals tell rewrites from the reference too",
        f"""
def test_it():
    assert double.__code__.co_varnames == {CODE.co_varnames!r}
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "F05-line",
        "lines tell rewrites from the reference too",
        f"""
def test_it():
    assert len(set(line for *_, line in double.__code__.co_lines())) == {LINES}
""",
        **STRICT,
        flags=("__code__",),
    ),
    Attack(
        "F05-traceback",
        "where an exception was raised tells rewrites from the reference too",
        """
def test_it():
    try:
        double("x")
    except TypeError as problem:
        trace = problem.__traceback__.tb_next
        assert (trace.tb_lineno, trace.tb_lasti) == (LINE, LAST)
""".replace("LINE", "8").replace("LAST", "8"),
        **STRICT,
        others=frozenset({("invalid", "invalid")}),
    ),
    Attack(
        "F05-surface",
        "docstring, signature and list of names are the same for all that is public",
        """
import inspect
def test_it():
    assert str(inspect.signature(double)) == "(n: int) -> int"
    assert double.__qualname__ == "double" and double.__module__ == "toy.double"
""",
    ),
    Attack(
        "F05-names",
        "the list of a module's names tells rewrites from the reference too",
        """
import sys
def test_it():
    module = vars(sys.modules["toy.double"])
    assert [name for name in module if not name.startswith("__")] == ["step", "double"]
""",
        **STRICT,
    ),
    Attack(
        "F06",
        "environment, arguments and host name say nothing of the variant",
        """
import os, platform, sys
def test_it():
    told = repr((sorted(os.environ.items()), sys.argv, sys.orig_argv, platform.node()))
    assert "s0" not in told and "mutant" not in told and "toy" not in told and "T1" not in told
    assert platform.node() == "sandbox"
""",
        **VAIN,
    ),
    Attack(
        "F06-proc",
        "there is no /proc to read a container's name or a command line from",
        """
import os
def test_it():
    for name in ("self/cgroup", "self/mountinfo", "self/cmdline", "1/stat", "uptime", "loadavg"):
        assert not os.path.exists("/proc/" + name)
    assert not os.path.exists("/sys/fs/cgroup")
""",
        **VAIN,
    ),
    Attack(
        "F07",
        "no variable and no trampoline names the active mutant",
        """
import os, sys
def test_it():
    assert "MUTANT_UNDER_TEST" not in os.environ
    assert not [name for name in vars(sys.modules["toy.double"]) if "mutmut" in name]
    os.environ["MUTANT_UNDER_TEST"] = "mutmut_generation"
    assert double(2) in (4, 6)
""",
        "valid",
    ),
    Attack(
        "F08",
        "no other variant is there to compare with",
        """
import importlib, sys
def test_it():
    first = sys.modules.pop("toy.double")
    again = importlib.import_module("toy.double")
    assert again is not first
    assert again.double.__code__.co_code == first.double.__code__.co_code
""",
        **VAIN,
        others=frozenset({("invalid", "invalid"), ("too_strict", "too-strict")}),
    ),
    Attack(
        "F08-finder",
        "the finder that serves variants holds one of them",
        """
import sys
def test_it():
    held = [value for one in sys.meta_path for value in vars(one).values()]
    some = [one for one in held if isinstance(one, dict)]
    names = [name for one in some for name in one if hasattr(one[name], "exec_module")]
    assert sorted(set(names)) == ["toy", "toy.double", "toy.step"]
    assert names.count("toy.double") == 1
""",
        **VAIN,
    ),
    Attack(
        "F09",
        "a trace that counts lines rejects every rewrite",
        """
import sys
def test_it():
    lines = []
    def trace(frame, event, argument):
        if frame.f_code.co_filename.endswith("toy/double.py") and event == "line":
            lines.append(frame.f_lineno)
        return trace
    sys.settrace(trace)
    double(3)
    sys.settrace(None)
    assert len(lines) == 10, len(lines)
""",
        **STRICT,
        flags=("sys.settrace",),
    ),
    Attack(
        "F09-profile",
        "a profile that counts calls rejects rewrites",
        """
import sys
def test_it():
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    double(3)
    sys.setprofile(None)
    assert calls.count("call") == 4 and len(calls) <= 10
""",
        **STRICT,
        flags=("sys.setprofile",),
    ),
    Attack(
        "F09-spy",
        "a number that counts what is done with it rejects rewrites",
        """
seen = []
class Spy(int):
    def __lt__(self, other):
        seen.append(other)
        return int.__lt__(self, other)
def test_it():
    seen.clear()
    double(Spy(3))
    assert seen == [0]
""",
        **STRICT,
    ),
    Attack(
        "F09-dependency",
        "a spy in place of what the code under test calls rejects rewrites",
        """
import sys, toy.step
module = sys.modules["toy.double"]
def test_it():
    calls, real = [], toy.step.step
    module.step = lambda n: calls.append(n) or real(n)
    try:
        double(3)
    finally:
        module.step = real
    assert calls == [3, 4, 5]
""",
        **STRICT,
        others=frozenset({("invalid", "invalid")}),
    ),
    Attack(
        "F10",
        "what a call allocates hangs on the rewrite",
        """
import tracemalloc
def test_it():
    tracemalloc.start()
    double(300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak % 8 in (0, 1, 2, 3)
""",
        **COIN,
    ),
    Attack(
        "F10-time",
        "how long a call takes is no test",
        """
import time
def test_it():
    began = time.perf_counter_ns()
    for _ in range(2000):
        double(20)
    assert (time.perf_counter_ns() - began) % 3
""",
        **COIN,
    ),
    Attack(
        "F11",
        "the number of the process and the hour tell an order that is shuffled",
        """
import os, time
def test_it():
    assert os.getpid() % 3 and int(time.monotonic() * 7) % 3
""",
        **COIN,
    ),
    Attack(
        "F12",
        "no draw of chance is made by what has to make none",
        """
import random, numpy
def test_it():
    before = random.getstate(), numpy.random.get_state()[1].tolist()
    double(4)
    assert (random.getstate(), numpy.random.get_state()[1].tolist()) == before
""",
        **VAIN,
        others=frozenset({("valid", None)}),
    ),
    Attack(
        "F13",
        "the layout of a function tells rewrites from the reference too",
        """
def test_it():
    assert double.__closure__ is None and double.__defaults__ is None
    assert set(double.__globals__) - {"__builtins__"} == {
        "__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__", "__cached__",
        "step", "double"}
""",
        **STRICT,
        others=frozenset({("invalid", "invalid")}),
    ),
    Attack(
        "F15",
        "answers that are known by heart are a test like others, and a weak one",
        """
def test_it():
    for n, answer in enumerate([0, 2, 4, 6, 8, 10]):
        assert double(n) == answer
""",
    ),
    Attack(
        "F16",
        "nothing tells grading from a run at home",
        """
import os
def test_it():
    assert not os.path.exists("/.dockerenv") and not os.path.exists("/run/.containerenv")
    assert not {"GITHUB_ACTIONS", "GITLAB_CI"} & set(os.environ)
""",
        **VAIN,
    ),
    Attack(
        "F17",
        "the wording of an error rejects every rewrite",
        """
import pytest
def test_it():
    with pytest.raises(ValueError, match="^n is negative"):
        double(-1)
""",
        **STRICT,
    ),
    Attack(
        "F18",
        "addresses and counts of references are chance",
        """
import gc, sys
def test_it():
    assert (id(double) >> 4) % 3 and sys.getrefcount(double) and len(gc.get_objects()) % 3
""",
        **COIN,
    ),
    Attack(
        "F18-hash",
        "a coin taken from the bytecode falls both ways on right code",
        """
import hashlib
def test_it():
    assert hashlib.sha256(double.__code__.co_code).digest()[0] % 3
""",
        **COIN,
        flags=("__code__",),
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_form_earns_nothing(attack: Attack, grading: Grading) -> None:
    """Only what code does can earn a catch."""
    check(attack, grading(attack))
