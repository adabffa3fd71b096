"""Candidates: the mechanical faults that mutmut finds in a module's functions."""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from grader.messages import message
from grader.problems import Unusable

if TYPE_CHECKING:
    import libcst

MUTMUT_VERSION = "3.8.1"
GENERATOR = f"mutmut {MUTMUT_VERSION}"

_OPERATORS = {
    "AnnAssign": "assignment-to-None",
    "Assign": "assignment-to-None",
    "BinaryOperation": "arithmetic",
    "BooleanOperation": "boolean",
    "Break": "loop-exit",
    "ComparisonTarget": "comparison",
    "Continue": "loop-exit",
    "Float": "number",
    "IfExp": "condition-forced",
    "Imaginary": "number",
    "In": "membership",
    "Integer": "number",
    "Is": "identity",
    "IsNot": "identity",
    "Lambda": "lambda-to-None",
    "Match": "case-dropped",
    "Name": "name-swapped",
    "NotIn": "membership",
    "SimpleString": "string",
}


@dataclass(frozen=True)
class Candidate:
    """One generated mutant: an edit that changes whole lines of the reference."""

    id: str
    operator: str
    function: str
    line: int
    replace: str
    replacement: str


def generate(module_name: str, source: str) -> list[Candidate]:
    """Return every mutant of the source's functions that mutmut knows, in its order.

    A mutant's id is a hash of its function's name and of the lines it takes and gives, so it
    outlives edits elsewhere. Two mutants of the same text are one.
    """
    candidates: dict[str, Candidate] = {}
    taken: set[str] = set()
    for function, operator, mutated in _mutations(module_name, source):
        if mutated in candidates or mutated == source:
            continue
        line, removed, added = _changed_lines(source, mutated)
        id_ = next(i for i in _ids(function, removed, added) if i not in taken)
        taken.add(id_)
        replace, replacement = _unique_edit(source, mutated)
        candidates[mutated] = Candidate(id_, operator, function, line, replace, replacement)
    return list(candidates.values())


def _require_mutmut() -> None:
    try:
        installed = version("mutmut")
    except PackageNotFoundError:
        installed = "none"
    if installed != MUTMUT_VERSION:
        raise Unusable(message("no-generator", wanted=GENERATOR, installed=installed))


def _mutations(module_name: str, source: str) -> Iterator[tuple[str, str, str]]:
    """Yield function, operator and the whole mutated text of each of mutmut's mutations."""
    _require_mutmut()
    # mutmut reads its configuration from the directory that it is imported and called in.
    with tempfile.TemporaryDirectory() as box, chdir(box):
        Path("setup.cfg").write_text("[mutmut]\nsource_paths=.\n", encoding="utf-8")
        from libcst import FunctionDef, Module, ensure_type
        from mutmut.mutation.file_mutation import (
            create_mutations,
            deep_replace,
        )

        file_name = module_name.replace(".", "/") + ".py"
        module, mutations, _, _ = create_mutations(file_name, source)
    for mutation in mutations:
        function = mutation.contained_by_top_level_function
        if isinstance(function, FunctionDef):
            nodes = mutation.original_node, mutation.mutated_node
            mutated = ensure_type(deep_replace(module, *nodes), Module)
            yield function.name.value, _operator(*nodes), mutated.code


def _operator(original: "libcst.CSTNode", mutated: "libcst.CSTNode") -> str:
    kind, became = type(original).__name__, type(mutated).__name__
    if kind == "Call":
        return _call_operator(original, mutated)
    if kind == "UnaryOperation":
        return "sign" if became == kind else "negation-dropped"
    if kind == "AugAssign":
        return "arithmetic" if became == kind else "accumulation-dropped"
    return _OPERATORS[kind]


def _call_operator(original: "libcst.CSTNode", mutated: "libcst.CSTNode") -> str:
    from libcst import Call, ensure_type

    before, after = ensure_type(original, Call), ensure_type(mutated, Call)
    if not before.func.deep_equals(after.func):
        return "method-swapped"
    if len(after.args) < len(before.args):
        return "argument-removed"
    pairs = zip(before.args, after.args, strict=True)
    if all(old.value.deep_equals(new.value) for old, new in pairs):
        return "keyword-renamed"
    return "argument-to-None"


def _changed_span(before: list[str], after: list[str]) -> tuple[int, int]:
    """Return how many lines the two share at the start and how many at the end."""
    shortest = min(len(before), len(after))
    same = [old == new for old, new in zip(before, after, strict=False)]
    head = same.index(False) if False in same else shortest
    same = [old == new for old, new in zip(before[::-1], after[::-1], strict=False)]
    tail = same.index(False) if False in same else shortest
    return head, min(tail, shortest - head)


def _changed_lines(source: str, mutated: str) -> tuple[int, list[str], list[str]]:
    """Return the first changed line's number, the lines taken out and the lines put in."""
    before, after = source.split("\n"), mutated.split("\n")
    head, tail = _changed_span(before, after)
    return head + 1, before[head : len(before) - tail], after[head : len(after) - tail]


def _unique_edit(source: str, mutated: str) -> tuple[str, str]:
    """Return the fewest whole lines that stand once in the source, and what replaces them."""
    before, after = source.split("\n"), mutated.split("\n")
    head, tail = _changed_span(before, after)
    for extra in count():
        for above in range(min(extra, head) + 1):
            below = extra - above
            if below > tail:
                continue
            start, rest = head - above, tail - below
            replace = "\n".join(before[start : len(before) - rest])
            replacement = "\n".join(after[start : len(after) - rest])
            if source.count(replace) == 1 and source.replace(replace, replacement) == mutated:
                return replace, replacement
    raise AssertionError("the whole text is unique")


def _ids(function: str, removed: list[str], added: list[str]) -> Iterator[str]:
    """Yield the mutant's id, then those for when the same change happens again elsewhere."""
    change = [function, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)]
    for occurrence in count():
        text = "\n".join(change + ([str(occurrence)] if occurrence else []))
        yield "m-" + hashlib.sha256(text.encode()).hexdigest()[:8]
