"""Remarks on sloppy tests: each rule finds its habit, and lets what is sound alone."""

import ast
from pathlib import Path

import pytest

from grader.messages import TEXTS
from grader.worker.lint import RULES, remarks

ROOT = Path(__file__).parents[3]
HONEST = [
    *sorted(ROOT.glob("examples/complete/python/tests/*/*.py")),
    *sorted(ROOT.glob("examples/styles/python/tests/*/*.py")),
    *sorted(ROOT.glob("tests/gold/*/*.py")),
    *sorted(ROOT.glob("tests/course/*/*.py")),
    *sorted(ROOT.glob("tests/starter/*/*.py")),
]
HEAD = """\
import contextlib, math, random
import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st
from toy.mod import double
"""
SLOPPY = [
    ("duplicate", "def test_a(): assert double(1)\ndef test_a(): assert double(2)", "test_a"),
    (
        "duplicate",
        "class TestA:\n    def test_a(self): assert 1\n    def test_a(self): assert 2",
        "test_a",
    ),
    ("duplicate", "class TestA: pass\nclass TestA: pass", "TestA"),
    ("returns", "def test_a():\n    assert 1\n    return double(1) == 2", "test_a"),
    (
        "returns",
        "class TestA:\n    def test_a(self):\n        assert 1\n        return True",
        "TestA::test_a",
    ),
    ("returns", "def same(n): return n\ndef test_a():\n    return same(double(1))", "test_a"),
    ("tuple", "def test_a():\n    assert (double(1) == 2, 'message')", "assert (…, …)"),
    ("comparison", "def test_a():\n    assert 1\n    double(1) == 2", "a comparison"),
    ("comparison", "def test_a():\n    assert 1\n    np.allclose(double(1), 2)", "numpy.allclose"),
    ("comparison", "from numpy import isclose\nisclose(1, 2)", "numpy.isclose"),
    ("comparison", "def check(x):\n    not x.any()", "a comparison"),
    ("swallows", "try:\n    assert double(1)\nexcept Exception:\n    pass", "except"),
    ("swallows", "try:\n    assert double(1)\nexcept:\n    print('no')", "except"),
    (
        "swallows",
        "try:\n    assert double(1)\nexcept (OSError, AssertionError):\n    pass",
        "except",
    ),
    ("swallows", "with contextlib.suppress(Exception):\n    assert double(1)", "suppress"),
    (
        "one-example",
        "@settings(max_examples=1)\n@given(st.integers())\ndef test_a(n): assert n",
        None,
    ),
    ("no-example", "@settings(phases=[])\n@given(st.integers())\ndef test_a(n): assert n", None),
    ("no-example", "settings(phases=(Phase.explicit, Phase.reuse))", None),
    ("deadline", "@settings(deadline=200)\n@given(st.integers())\ndef test_a(n): assert n", None),
    ("profile", "settings.register_profile('x')\nsettings.load_profile('x')", "load_profile"),
    ("yield", "def test_a():\n    yield double(1)\n    assert 1", "test_a"),
    ("async", "async def test_a():\n    assert double(1)", "test_a"),
    ("star", "from toy.mod import *", "toy.mod"),
    (
        "unseeded",
        "def test_a():\n    assert np.random.default_rng().normal()",
        "numpy.random.default_rng",
    ),
    ("unseeded", "RNG = np.random.default_rng(None)", "numpy.random.default_rng"),
    ("unseeded", "def test_a():\n    assert double(random.random())", "random.random"),
    ("unseeded", "def test_a():\n    assert np.random.randn(3).any()", "numpy.random.randn"),
    ("stdin", "def test_a():\n    assert double(int(input()))", "input()"),
    ("nested", "def test_a():\n    assert pytest.main([]) == 0", "pytest.main"),
    ("idle", "def test_a():\n    double(1)", "test_a"),
    ("idle", "def test_a():\n    pass", "test_a"),
    ("idle", "@given(st.integers())\ndef test_a(n):\n    print(double(n))", "test_a"),
]
SOUND = [
    "def test_a(): assert double(1)\ndef test_b(): assert double(2)",
    "class TestA:\n    def test_a(self): assert 1\nclass TestB:\n    def test_a(self): assert 1",
    "def test_a():\n    def inner():\n        return 1\n    assert inner()\n    return",
    "def test_a():\n    assert double(1)\n    return None",
    "def same(n): assert n\ndef test_a():\n    return same(double(1))",
    "def test_a():\n    assert (double(1)), 'message'",
    "def test_a():\n    with pytest.raises(TypeError):\n        double(1) < None",
    "def test_a():\n    with pytest.raises(TypeError):\n        np.allclose(double(1), None)",
    "def test_a():\n    assert np.allclose(double(1), 2)",
    "def test_a():\n    try:\n        assert double(1)\n    except Exception:\n        raise",
    "def test_a():\n    try:\n        double(1)\n    except:\n        return\n    assert False",
    "def test_a():\n    try:\n        assert double(1)\n    except ValueError:\n        pass",
    "def test_a():\n    try:\n        assert double(1)\n    except:\n        pytest.fail()",
    "def test_a():\n    with contextlib.suppress(OSError):\n        assert double(1)",
    "@settings(max_examples=10, deadline=None)\n@given(st.integers())\ndef test_a(n): assert n",
    "settings(phases=[Phase.explicit, Phase.generate])",
    "@settings(phases=list(Phase))\n@given(st.integers())\ndef test_a(n): assert n",
    "settings.register_profile('x', max_examples=5)",
    "@pytest.fixture\ndef test_data():\n    yield 3",
    "def test_a():\n    def numbers():\n        yield 1\n    assert list(numbers())",
    "class TestA(IsolatedAsyncioTestCase):\n    async def test_a(self):\n        assert double(1)",
    "def test_a():\n    assert np.random.default_rng(3).normal()",
    "@given(st.integers())\ndef test_a(n):\n    assert random.random() < 1",
    "def test_a():\n    random.seed(3)\n    assert random.random() < 1",
    "def test_a(random):\n    assert random.Random(4).random() < 1",
    "@pytest.mark.parametrize('input', [int])\ndef test_a(input):\n    assert input() == 0",
    "if __name__ == '__main__':\n    pytest.main()",
    "def check(n): assert n\ndef test_a():\n    check(double(1))",
    "def same(n): assert n\ndef test_a():\n    same(double(1))",
    "from .helpers import same\ndef test_a():\n    same(double(1))",
    "from helpers import same\ndef test_a():\n    same(double(1))",
    "import helpers\ndef test_a():\n    helpers.same(double(1))",
    "def test_a(same):\n    same(double(1))",
    "class TestA(Base):\n    def test_a(self):\n        super().test_a()",
    "class TestA:\n    def same(self, n): assert n\n    def test_a(self): self.same(1)",
    "def test_a():\n    np.testing.assert_allclose(double(1), 2)",
    "def test_a():\n    with pytest.raises(ValueError):\n        double('x')",
    "def test_a():\n    if double(1) != 2:\n        raise AssertionError",
    "def test_a():\n    run_state_machine_as_test(Machine)",
    "def test_a(): ...",
    "def helper():\n    double(1)",
]


def found(source: str) -> list[tuple[str, str, int]]:
    """Return the remarks on a file that begins as most do; the student has a ``helpers.py``."""
    return remarks(ast.parse(f"{HEAD}{source}\n"), {"test_toy", "helpers"})


@pytest.mark.parametrize(("rule", "source", "name"), SLOPPY)
def test_a_sloppy_habit_is_found_and_nothing_else(rule: str, source: str, name: str | None) -> None:
    """By one rule alone, with what the remark is about."""
    said = found(source)
    assert {one for one, _, _ in said} == {rule}
    assert name is None or [what for _, what, _ in said] == [name]


def test_every_rule_is_tried_and_has_its_sentence() -> None:
    """A rule without words could tell nobody."""
    assert {rule for rule, _, _ in SLOPPY} == set(RULES)
    assert {f"remark-{rule}" for rule in RULES} <= set(TEXTS)


@pytest.mark.parametrize("source", SOUND)
def test_what_is_sound_is_left_alone(source: str) -> None:
    """A remark that is wrong teaches to ignore the others."""
    assert found(source) == []


@pytest.mark.parametrize("path", HONEST, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_courses_own_suites_and_the_good_examples_give_no_cause(path: Path) -> None:
    """Many styles, none of them sloppy."""
    own = {file.stem for file in path.parent.glob("*.py")}
    assert remarks(ast.parse(path.read_text(encoding="utf-8")), own) == []


def test_a_remark_names_the_line() -> None:
    """Where the student has to look."""
    assert found("\n\ndef test_a():\n    double(1)") == [("idle", "test_a", 8)]


def test_of_one_habit_a_few_places_are_named() -> None:
    """They show the pattern; twenty in all."""
    many = "".join(f"def test_{n}():\n    assert 1\n    double(1) == {n}\n" for n in range(90))
    assert len(found(many)) == 5
    lines = [
        f"def test_{n}():\n    double({n}) == 1\n    return (yield input())\n" for n in range(9)
    ]
    assert len(found("".join(lines))) == 20


def test_every_name_under_which_a_thing_is_imported_is_known() -> None:
    """Rules ask for what is called, not for its spelling."""
    source = "import numpy.random as r\nfrom hypothesis import settings as s\ns(deadline=1)\n"
    said = remarks(ast.parse(f"{source}RNG = r.default_rng()\n"))
    assert said == [("deadline", "deadline", 3), ("unseeded", "numpy.random.default_rng", 4)]
