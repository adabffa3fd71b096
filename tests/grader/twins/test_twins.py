"""Promises of twins: the same behaviour, and nothing of the form left."""

import ast
import textwrap
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.course import Assignment, load_course
from grader.twins import REWRITES, TwinMaker
from grader.twins.decoys import decoys
from grader.twins.means import Means

TOY = textwrap.dedent('''
    """A module with a little of everything."""
    import math
    import numpy as np

    _LIMIT = 10

    class Counter:
        """Counts."""

        def __init__(self, start=0):
            self.total = start

        def add(self, amount):
            """Add an amount."""
            if amount < 0:
                raise ValueError(f"amount must not be negative, got {amount}")
            first = self.total + 0
            second = amount * 1
            self.total = first + second
            return self._checked(self.total)

        def _checked(self, total):
            return total if total <= _LIMIT * 100 else _LIMIT * 100

    def squares(numbers, offset=0):
        result = [n * n + offset for n in numbers]
        return result

    def collatz(n):
        steps = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
        return steps

    def window(values, width):
        total = 0.0
        for value in values[1:width]:
            if value == 3:
                continue
            elif value > 8:
                break
            total += value
        else:
            total += 100
        return total

    def _mean(x):
        count = len(x)
        whole = np.sum(x)
        return whole / count

    def spread(x):
        centre = _mean(x)
        return lambda y, centre_=centre: np.abs(y - centre_)[::-1]

    def hypot(a, b):
        try:
            return math.hypot(a, b)
        except TypeError as problem:
            raise ValueError("numbers only") from problem
''')
MUTANTS = (
    TOY.replace("3 * n + 1", "3 * n - 1"),
    TOY.replace("values[1:width]", "values[2:width]"),
    TOY.replace("whole / count", "whole * count"),
    TOY.replace("if amount < 0:", "if amount <= 0:"),
)

DECOYS = decoys(TOY, MUTANTS)


def execute(text: str) -> dict[str, Any]:
    """Run a module's text and return its names."""
    module = ModuleType("toy")
    exec(compile(text, "toy.py", "exec"), module.__dict__)
    return module.__dict__


def codes(code: CodeType) -> list[CodeType]:
    """Return a code object and all inside it."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return [code, *(each for part in inner for each in codes(part))]


def observe(toy: dict[str, Any], numbers: list[int]) -> list[Any]:
    """Return what a toy module does with some numbers, errors by their type."""
    actions = [
        lambda: toy["squares"](numbers, offset=2),
        lambda: toy["collatz"](abs(numbers[0]) % 30 + 1),
        lambda: toy["window"](numbers, 4),
        lambda: toy["spread"](np.array(numbers))(np.array([1.0, 2.0])).tolist(),
        lambda: toy["hypot"](numbers[0], 4),
        lambda: toy["hypot"]("x", 4),
        lambda: toy["Counter"](numbers[0]).add(numbers[-1]),
    ]
    seen: list[Any] = []
    for action in actions:
        try:
            seen.append(action())
        except Exception as problem:  # noqa: BLE001 — which error comes is what is compared
            seen.append(type(problem))
    return seen


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(), numbers=st.lists(st.integers(-9, 12), min_size=1, max_size=6))
def test_a_twin_does_what_the_module_does(seed: int, numbers: list[int]) -> None:
    twin = TwinMaker(TOY, DECOYS).twin(str(seed))
    assert observe(execute(twin), numbers) == observe(execute(TOY), numbers)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(),
    mutant=st.sampled_from(MUTANTS),
    numbers=st.lists(st.integers(-9, 12), min_size=1, max_size=6),
)
def test_a_mutant_planted_in_a_twin_does_what_the_mutant_does(
    seed: int, mutant: str, numbers: list[int]
) -> None:
    # The mutated walk need not reach 1, so the number that it starts from is kept at 1.
    numbers = [0, *numbers]
    planted = TwinMaker(TOY, DECOYS).rewrite(mutant, str(seed))
    assert observe(execute(planted), numbers) == observe(execute(mutant), numbers)


def test_one_seed_gives_one_text_and_two_seeds_give_two() -> None:
    maker = TwinMaker(TOY, DECOYS)
    assert maker.twin("a") == maker.twin("a")
    assert maker.twin("a") != maker.twin("b")


def _assignment() -> Assignment:
    return load_course().assignment("L3.4")


@pytest.mark.parametrize("seed", range(6))
def test_no_function_of_a_twin_keeps_its_bytecode_its_constants_or_its_names(seed: int) -> None:
    assignment = _assignment()
    planted = [mutant.plant(assignment.source) for mutant in assignment.mutants]
    twin = TwinMaker(assignment.source, decoys(assignment.source, planted)).twin(str(seed))
    public = {"reversal_index", "reverse_padded", "bidirectional"}
    before, after = (
        {code.co_name: code for code in codes(compile(text, "m.py", "exec"))}
        for text in (assignment.source, twin)
    )
    for name in public:
        old, new = before[name], after[name]
        assert old.co_code != new.co_code
        assert old.co_consts != new.co_consts
        assert (old.co_names, old.co_varnames) != (new.co_names, new.co_varnames)
        assert [*old.co_lines()] != [*new.co_lines()]
    assert not {name for name in after if name.startswith("_")} & before.keys()


def test_what_mutants_changed_stands_in_a_twin_in_branches_that_never_run() -> None:
    found = {decoy.text for decoy in decoys(TOY, MUTANTS)}
    assert "n = 3 * n - 1 if n % 2 else n // 2" in found, "the mutant's side"
    assert "n = 3 * n + 1 if n % 2 else n // 2" in found, "the reference's side"
    assert "return whole * count" in found
    twins = [TwinMaker(TOY, DECOYS).twin(str(seed)) for seed in range(5)]
    assert all(twin.count("if ") > TOY.count("if ") for twin in twins)


def test_a_decoy_binds_no_name_that_its_function_does_not_bind() -> None:
    mutant = TOY.replace("total = 0.0", "squares = 0.0; total = squares")
    assert not any(decoy.text.startswith("squares =") for decoy in decoys(TOY, [mutant]))


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.name)
def test_every_kind_of_rewrite_changes_the_text_alone_and_keeps_the_behaviour(
    rewrite: Any,
) -> None:
    found = decoys(TOY, MUTANTS)
    changed = 0
    for seed in range(12):
        tree = ast.parse(TOY)
        tree = rewrite.apply(tree, Means.of(tree, seed, found))
        text = ast.unparse(ast.fix_missing_locations(tree))
        changed += text != ast.unparse(ast.parse(TOY))
        numbers = [5, 3, 9, -2]
        assert observe(execute(text), numbers) == observe(execute(TOY), numbers)
    assert changed > 0


def test_every_kind_of_rewrite_names_the_clause_that_leaves_it_open() -> None:
    assert all(rewrite.clause.endswith(".") for rewrite in REWRITES)


def test_names_that_code_looks_up_by_text_keep_their_spelling() -> None:
    text = "def f(a):\n    seen = a\n    return sorted(locals())\n"
    twin = execute(TwinMaker(text).twin("1"))
    assert "seen" in twin["f"](1)


def test_a_closure_and_a_declared_global_keep_their_meaning() -> None:
    text = textwrap.dedent("""
        _count = 0

        def outer(x):
            held = x
            def inner(y):
                nonlocal held
                held += y
                return held
            inner(1)
            return held

        def bump():
            global _count
            _count += 1
            return _count
    """)
    for seed in range(10):
        twin = execute(TwinMaker(text).twin(str(seed)))
        assert twin["outer"](3) == 4
        assert (twin["bump"](), twin["bump"]()) == (1, 2)
