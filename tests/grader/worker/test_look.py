"""The look at a student's source: can it be read, what does it import, what is nearly a test."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.outcome import End, Look, Outcome, Watch
from grader.sandbox.session import Clock
from grader.worker.look import imported, look_at, near_misses
from grader.worker.reporter import Reporter

Run = Callable[..., Outcome]


def look(run: Run, content: str | bytes, **changes: Any) -> Look:
    """Return what a look at one file finds."""
    outcome = run({"test_toy.py": content}, mode="look", **changes)
    assert outcome.end is End.COMPLETE, outcome
    [found] = outcome.looks
    return found


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os", [("os", 1)]),
        ("import os.path as p, sys", [("os.path", 1), ("sys", 1)]),
        ("from a.b import c, d as e", [("a.b:c", 1), ("a.b:d", 1)]),
        ("from a import *", [("a:*", 1)]),
        ("from . import a\nfrom .b import c\nfrom .. import d", []),
        ("def f():\n    import os\nclass C:\n    import sys", [("os", 2), ("sys", 4)]),
        ("try:\n    import a\nexcept ImportError:\n    import b", [("a", 2), ("b", 4)]),
        ("import b\nimport a\nimport b", [("b", 1), ("a", 2)]),
        ("x = 1", []),
    ],
)
def test_absolute_imports_are_found_wherever_they_are(
    source: str, names: list[tuple[str, int]]
) -> None:
    """Each once, with its first line; relative ones are the student's own."""
    assert imported(ast.parse(source)) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def check_it(): pass", ["check_it"]),
        ("def prop_it(): pass", ["prop_it"]),
        ("def tset_it(): pass", ["tset_it"]),
        ("def Test_it(): pass", ["Test_it"]),
        ("def tets_it(): pass", ["tets_it"]),
        ("def TEST_it(): pass", ["TEST_it"]),
        ("def it_holds(): pass", ["it_holds"]),
        ("class TestIt:\n    def tset_it(self): pass", ["TestIt.tset_it"]),
        ("class Case(TestCase):\n    def check_it(self): pass", ["Case.check_it"]),
        ("class TestIt(Machine):\n    @invariant()\n    def check_it(self): pass", []),
        ("class Case(TestCase):\n    @given(x)\n    def any(self, n): pass", ["Case.any"]),
        (
            "class TestIt:\n    def check(self): pass\n    def test_it(self): self.check()",
            [],
        ),
        ("def should_hold(): pass", ["should_hold"]),
        ("def it_test(): pass", ["it_test"]),
        ("async def check_it(): pass", ["check_it"]),
        ("@given(st.integers())\ndef mirrored(n): pass", ["mirrored"]),
        ("@hypothesis.given()\ndef mirrored(n): pass", ["mirrored"]),
        ("class Mirror:\n    def test_it(self): pass", ["Mirror"]),
        ("class TestIt:\n    def __init__(self): pass\n    def test_it(self): pass", ["TestIt"]),
        ("def test_it(): pass", []),
        ("def testit(): pass", []),
        ("def helper(): pass", []),
        ("class TestIt:\n    def test_it(self): pass", []),
        ("class Case(unittest.TestCase):\n    def test_it(self): pass", []),
        ("class Case(TestCase):\n    def test_it(self): pass", []),
        ("class Data:\n    def value(self): pass", []),
        ("class TestData:\n    def __init__(self): pass", []),
        ("def check(n): pass\ndef test_it(): check(1)", []),
        ("class Base:\n    def test_it(self): pass\nclass TestIt(Base): pass", []),
        ("@pytest.fixture\ndef property_net(): pass", []),
        ("@st.composite\ndef tests(draw): pass", []),
        ("if True:\n    def check_it(): pass", []),
    ],
)
def test_what_looks_like_a_test_and_is_none_is_found(source: str, names: list[str]) -> None:
    """But no helper that the file uses, no fixture, no base class."""
    assert [name for name, _ in near_misses(ast.parse(source))] == names


@pytest.mark.parametrize(
    "source",
    [
        "def test_it(): pass",
        "def check_it(): pass",
        "class TestIt:\n    def test_it(self): pass",
        "class Case(TestCase):\n    def test_it(self): pass",
    ],
)
def test_a_real_test_is_a_near_miss_in_a_file_of_another_name(run: Run, source: str) -> None:
    """Since nobody collects it there."""
    outcome = run({"mytests.py": source, "it_test.py": "def test_it(): pass"}, mode="look")
    assert [bool(one.near_misses) for one in outcome.looks] == [True, False]


def test_a_file_is_parsed_as_the_oldest_python_would(run: Run) -> None:
    """So that it is worth the same on every machine."""
    problem = look(run, "type Number = int\n").problem
    assert problem is not None
    assert problem[::2] == ("syntax", 1)


def test_the_line_of_a_near_miss_is_told() -> None:
    """Where the student has to look."""
    assert near_misses(ast.parse("\n\ndef check_it(): pass\n")) == [("check_it", 3)]


def test_near_misses_are_capped() -> None:
    """One or two are enough to see the pattern."""
    source = "".join(f"def check_{n}(): pass\n" for n in range(90))
    assert len(near_misses(ast.parse(source))) == 20


def test_a_file_is_looked_at_in_a_cell(run: Run) -> None:
    """All that is found comes back."""
    found = look(run, "import os\nfrom toy import mod\ndef check_it(): pass\n")
    assert found == Look(
        path="test_toy.py",
        problem=None,
        imports=(("os", 1), ("toy:mod", 2)),
        near_misses=(("check_it", 3),),
    )


def test_habits_readings_and_fingerprints_come_back_too(run: Run) -> None:
    """The first two with the file, the last a fact a function."""
    source = "def test_it():\n    x = [n.__code__ for n in (1, 2, 3)]\n"
    outcome = run({"test_toy.py": source}, mode="look")
    [found] = outcome.looks
    assert found.remarks == (("idle", "test_it", 1),)
    assert found.readings == (("__code__", 2),)
    [one] = outcome.fingerprints
    assert (one.path, one.name, one.line) == ("test_toy.py", "test_it", 1)
    assert len(one.hashes) > 3


def test_a_file_beside_it_is_known_as_the_students_own(run: Run) -> None:
    """A test that calls a helper checks what the helper checks."""
    source = "from common import same\ndef test_it():\n    same(1, 2)\n"
    outcome = run({"test_toy.py": source, "common.py": ""}, mode="look")
    assert [one.remarks for one in outcome.looks] == [(), ()]


def test_nothing_is_run(run: Run) -> None:
    """Its imports are only read."""
    assert look(run, "import os\nos._exit(1)\n").problem is None


def test_every_file_is_looked_at(run: Run) -> None:
    """In order, whatever is wrong with one of them."""
    files = {"b.py": "import b", "a.py": "import (", "c.py": b"\xff"}
    outcome = run(files, mode="look")
    assert [one.path for one in outcome.looks] == ["b.py", "a.py", "c.py"]
    assert [one.problem is None for one in outcome.looks] == [True, False, False]


@pytest.mark.parametrize(
    ("content", "kind", "words", "line"),
    [
        (b"def f(:\n", "syntax", "invalid syntax", 1),
        (b"x = 1\n  y = 2\n", "syntax", "unexpected indent", 2),
        (b"x = '\n", "syntax", "unterminated string", 1),
        (b"print 'x'\n", "syntax", "Missing parentheses", 1),
        (b"x = '\x00'\n", "syntax", "", None),
        (b"(" * 300, "syntax", "", None),
        (b"-" * 100_000 + b"1", "syntax", "", None),
        (b"x = '\xe4'\n", "encoding", "byte 5 is not UTF-8", None),
        (b"# -*- coding: latin-1 -*-\n", "encoding", "iso-8859-1", None),
        (b"# -*- coding: nonsense -*-\n", "encoding", "nonsense", None),
        ("x = 1".encode("utf-16"), "encoding", "not UTF-8", None),
    ],
)
def test_a_file_that_can_not_be_read_is_said_with_the_reason(
    run: Run, content: bytes, kind: str, words: str, line: int | None
) -> None:
    """Before anything of it runs."""
    problem = look(run, content).problem
    assert problem is not None
    assert problem[0] == kind
    assert words in problem[1]
    assert line is None or problem[2] == line


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: utf-8 -*-\n",
        b"# vim: set fileencoding=utf8 :\n",
        b"# coding: ascii\n",
        "größe = 'ö'\n".encode(),
        b"x = 1\r\ny = 2\r\n",
        b"x = '\\d'\n",
        b"'''" + b"x" * 400_000 + b"'''",
    ],
)
def test_a_file_that_python_reads_is_no_problem(run: Run, content: bytes) -> None:
    """A mark, a declaration, a line ending, a warning or a size is none."""
    assert look(run, content).problem is None


def test_no_number_of_imports_hides_one(run: Run) -> None:
    """A forbidden one may come after hundreds of allowed ones; they come in several facts."""
    lines = "".join(f"from {'a' * 80}{n} import {'b' * 80}\n" for n in range(500))
    outcome = run({"test_toy.py": f"{lines}import forbidden\n"}, mode="look")
    assert outcome.end is End.COMPLETE
    names = [name for one in outcome.looks for name, _ in one.imports]
    assert len(names) == 501
    assert names[-1] == "forbidden"
    assert {one.path for one in outcome.looks} == {"test_toy.py"}


def test_long_lists_come_in_several_facts(run: Run) -> None:
    """Names of 100 bytes, twenty remarks, forty readings: none is too long to be told."""
    name = f"test_{'é' * 300}"
    lines = [f"def {name}{n}():\n    1 == 2\n    return open(f.__code__)\n" for n in range(30)]
    outcome = run({"test_toy.py": "".join(lines)}, mode="look")
    assert outcome.end is End.COMPLETE
    assert sum(len(one.remarks) for one in outcome.looks) == 15
    assert sum(len(one.readings) for one in outcome.looks) == 40
    assert {one.path for one in outcome.looks} == {"test_toy.py"}


def test_so_many_functions_are_fingerprinted_in_all(run: Run) -> None:
    """Over all files, each of at most 500 hashes: what a look says is bounded."""
    big = "def f(x):\n" + "".join(f"    x[{n}] = {n} * x\n" for n in range(500))
    many = "".join(f"def f{n}(x): return [x, {n}]\n" for n in range(250))
    outcome = run({"a.py": many, "b.py": many, "c.py": big}, mode="look")
    assert outcome.end is End.COMPLETE
    assert [one.path for one in outcome.fingerprints].count("b.py") == 50
    assert len(outcome.fingerprints) == 300
    [only] = run({"c.py": big}, mode="look").fingerprints
    assert len(only.hashes) == 500


@pytest.mark.parametrize("problem", [RecursionError, ValueError, MemoryError])
def test_what_only_a_remark_can_not_read_is_no_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, problem: type[Exception]
) -> None:
    """The file still runs: no test depends on what a look thinks of it."""

    def odd(*_: object) -> list[Any]:
        raise problem

    for name in ("remarks", "readings", "fingerprints"):
        monkeypatch.setattr(f"grader.worker.look.{name}", odd)
    with (tmp_path / "said").open("wb") as file:
        look_at({"test_toy.py": b"import os\ndef test_it(): pass\n"}, Reporter(file.fileno()))
    watch = Watch()
    watch.feed((tmp_path / "said").read_bytes().splitlines(), 0.0)
    [found] = watch.outcome(End.COMPLETE).looks
    assert (found.problem, found.imports, found.remarks) == (None, (("os", 1),), ())


def test_very_long_names_are_cut(run: Run) -> None:
    """They still can't be allowed ones."""
    found = look(run, f"import {'a' * 9000}\ndef check_{'b' * 9000}(): pass\n")
    assert len(found.imports[0][0]) == 200
    assert len(found.near_misses[0][0]) == 100


def test_a_file_whose_reading_never_ends_is_named(run: Run) -> None:
    """As is one that ends the interpreter; the time is a test's."""
    slow = "x = " + "+".join(["1"] * 200_000)
    outcome = run(
        {"a.py": "x = 1", "slow.py": slow}, mode="look", clock=Clock(per_test=0.001, in_all=60)
    )
    assert outcome.end is End.TIMEOUT
