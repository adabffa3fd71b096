"""Decoys: what mutants changed, for branches that never run.

With them, a test that looks for the shape of a mutant finds it in the reference too, and one
that looks for the shape of the reference finds it in every mutant.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .scopes import Function, functions, parameters, stored

# What would change a function by merely standing in it, or can't stand outside a loop.
FORBIDDEN = (
    ast.Yield
    | ast.YieldFrom
    | ast.Await
    | ast.Global
    | ast.Nonlocal
    | ast.NamedExpr
    | ast.Import
    | ast.ImportFrom
    | ast.FunctionDef
    | ast.ClassDef
    | ast.Break
    | ast.Continue
)


@dataclass(frozen=True)
class Decoy:
    """A statement for a branch that never runs, in one function."""

    function: str
    text: str


def decoys(source: str, planted: Sequence[str]) -> list[Decoy]:
    """Return the statements in which mutants differ from the reference, both sides of each."""
    reference = ast.parse(source)
    found: dict[Decoy, None] = {}
    for text in planted:
        try:
            mutant = ast.parse(text)
        except SyntaxError:
            continue
        pairs = zip(functions(reference), functions(mutant), strict=False)
        for mine, theirs in pairs:
            if mine.name == theirs.name:
                for one in _differing(mine.body, theirs.body):
                    found.update(dict.fromkeys(_harmless(mine, one)))
    return list(found)


def _differing(mine: list[ast.stmt], theirs: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the smallest statements that differ between two bodies."""
    texts = {ast.dump(one) for one in mine}, {ast.dump(one) for one in theirs}
    left = [one for one in mine if ast.dump(one) not in texts[1]]
    right = [one for one in theirs if ast.dump(one) not in texts[0]]
    if len(left) == len(right) == 1 and type(left[0]) is type(right[0]):
        inner = _inner(left[0], right[0])
        if inner is not None:
            yield from inner
            return
    yield from left
    yield from right


def _inner(left: ast.stmt, right: ast.stmt) -> Iterator[ast.stmt] | None:
    """Compare the bodies of two compound statements that begin alike."""
    if not isinstance(left, ast.If | ast.For | ast.While | ast.With | ast.Try):
        return None
    bodies = [field for field in ("body", "orelse", "finalbody") if hasattr(left, field)]
    heads = [
        {key: value for key, value in ast.iter_fields(one) if key not in bodies}
        for one in (left, right)
    ]
    if repr([_shape(value) for value in heads[0].values()]) != repr(
        [_shape(value) for value in heads[1].values()]
    ):
        return None
    return (
        one for field in bodies for one in _differing(getattr(left, field), getattr(right, field))
    )


def _shape(value: object) -> str:
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


def _harmless(function: Function, statement: ast.stmt) -> Iterator[Decoy]:
    """Yield a statement as a decoy, if merely standing in a function changes nothing there."""
    known = stored(function.body) | parameters(function)
    parts = list(ast.walk(statement))
    if any(isinstance(part, FORBIDDEN) for part in parts):
        return
    if stored([statement]) <= known:
        yield Decoy(function.name, ast.unparse(statement))
