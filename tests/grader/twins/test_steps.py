"""Promises of steps that change nothing: what is executed tells no more than what is written."""

import ast
import sys
import textwrap
from collections import Counter
from types import FrameType, ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from grader.twins import TwinMaker
from grader.twins.decoys import decoys
from grader.twins.means import Means
from grader.twins.rewrites import REWRITES
from grader.twins.steps import idling, living, repeating

TEXT = textwrap.dedent("""
    import numpy as np
    from os.path import basename

    def _last(values):
        return values[-1]

    def ends(values, tell):
        first = values[0]
        tell(first)
        names = basename("a/b")
        return first + _last(values), names
""")
WRONG = TEXT.replace("first + _last(values)", "first + values[1]")
SEEDS = range(30)


class Counting(np.ndarray[Any, Any]):
    """An array that counts how often it is indexed."""

    counts: ClassVar[Counter[str]] = Counter()

    def __getitem__(self, key: Any) -> Any:
        """Count, and answer."""
        Counting.counts["index"] += 1
        return super().__getitem__(key)


def execute(text: str) -> dict[str, Any]:
    """Run a module's text and return its names."""
    module = ModuleType("toy")
    exec(compile(text, "toy.py", "exec"), module.__dict__)
    return module.__dict__


def indexed(text: str) -> int:
    """Return how often one call indexes its argument."""
    Counting.counts.clear()
    execute(text)["ends"](np.arange(3).view(Counting), lambda first: None)
    return Counting.counts["index"]


def opcodes(text: str) -> int:
    """Return how many operations of Python one call performs in the module itself."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        del argument
        frame.f_trace_opcodes = frame.f_code.co_filename == "toy.py"
        count += event == "opcode"
        return trace

    ends = execute(text)["ends"]
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ends([1, 2, 3], lambda first: None)
    finally:
        sys.settrace(before)
    return count


def twins(text: str) -> list[str]:
    """Return the reference, or the mutant, as it looks in many twins."""
    maker = TwinMaker(TEXT, decoys(TEXT, [WRONG]))
    return [maker.rewrite(text, str(seed)) for seed in SEEDS]


@pytest.mark.parametrize("count", [indexed, opcodes])
def test_how_often_something_is_done_tells_no_fault(count: Any) -> None:
    """Twins differ in it, and a mutant does it as often as they do."""
    right, wrong = ({count(text) for text in twins(one)} for one in (TEXT, WRONG))
    assert len(right) > 3
    assert min(right) <= max(wrong)
    assert min(wrong) <= max(right)
    assert {count(text) for text in twins(WRONG)} & right


def test_what_the_caller_hands_in_is_called_as_often_as_before() -> None:
    """How often a module that is passed in is called is behaviour."""
    for text in twins(TEXT):
        told: list[int] = []
        assert execute(text)["ends"]([4, 5, 6], told.append) == (10, "b")
        assert told == [4]


def test_what_a_mutant_changed_is_worked_out_in_every_text() -> None:
    """Both sides of it, so that neither is missing anywhere."""
    tree = ast.parse(TEXT)
    text = ast.unparse(living(tree, Means.of(tree, 1, decoys(TEXT, [WRONG]))))
    assert "_last(values)" in text.partition("try:")[2]
    assert "values[1]" in text


def test_an_error_comes_where_it_came_before() -> None:
    """Working something out beforehand may raise no sooner than the text itself."""
    text = textwrap.dedent("""
        def pick(values, check):
            check(values)
            return check(values) or values[7]
    """)

    def refuse(values: list[int]) -> None:
        raise KeyError(len(values))

    for seed in SEEDS:
        tree = ast.parse(text)
        means = Means.of(tree, seed, ())
        twin = execute(ast.unparse(repeating(idling(tree, means), means)))
        with pytest.raises(KeyError):
            twin["pick"]([1], refuse)


def test_a_name_that_the_module_took_for_its_own_is_not_used_as_pythons() -> None:
    """An idle step may call nothing that means something else here."""
    text = "def max(values):\n    raise ValueError\n\ndef use(x):\n    return x\n"
    for seed in SEEDS:
        tree = ast.parse(text)
        assert execute(ast.unparse(idling(tree, Means.of(tree, seed, ()))))["use"](3) == 3


def test_imported_names_are_hidden_but_for_those_that_others_may_import() -> None:
    """By `import x as x`, or by ``__all__``."""
    text = textwrap.dedent("""
        import math
        import os as os
        from json import dumps, loads
        __all__ = ["loads", "half"]

        def half(x):
            return math.floor(x / 2), dumps(x)
    """)
    names = execute(TwinMaker(text).twin("1"))
    assert {"os", "loads", "half"} <= names.keys()
    assert not {"math", "dumps"} & names.keys()
    assert names["half"](5) == (2, "5")


def test_steps_come_before_decoys_so_that_what_never_runs_is_not_repeated() -> None:
    """A text would else grow with each."""
    order = [rewrite.name for rewrite in REWRITES]
    assert order.index("repeated steps") < order.index("decoys")
    assert order.index("decoys at work") < order.index("repeated steps")
