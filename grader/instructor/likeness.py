"""Likeness of two texts, found without running them: same bytecode, or other error texts only."""

import ast
import warnings
from collections.abc import Hashable
from types import CodeType

_WORDING = ast.Name("a text", ast.Load())


def fingerprint(source: str) -> Hashable:
    """Return what a text compiles to, but for docstrings, names of files and numbers of lines.

    Texts of equal fingerprints are the same program.
    """
    with warnings.catch_warnings(action="ignore"):
        tree = _without_docstrings(ast.parse(source))
        return _code(compile(tree, "", "exec", dont_inherit=True, optimize=0))


def same_but_for_wording(source: str, other: str) -> bool:
    """Return whether nothing but the texts in `raise` statements differs."""
    return _without_wording(source) == _without_wording(other)


def _code(code: CodeType) -> Hashable:
    return (
        code.co_name,
        code.co_code,
        code.co_exceptiontable,
        code.co_flags,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        tuple(_constant(value) for value in code.co_consts),
    )


def _constant(value: object) -> Hashable:
    """Return a constant in a form that tells 1 from True and 0.0 from -0.0."""
    match value:
        case CodeType():
            return _code(value)
        case tuple():
            return tuple(_constant(part) for part in value)
        case frozenset():
            return frozenset(_constant(part) for part in value)
        case _:
            return type(value).__name__, repr(value)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and _is_text(first.value):
                node.body[0] = ast.copy_location(ast.Pass(), first)
    return tree


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _without_wording(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = [_WORDING if _is_wording(one) else one for one in node.exc.args]
    return ast.dump(tree)


def _is_wording(node: ast.expr) -> bool:
    """Return whether an argument of an exception is a text, or stands where a text was dropped."""
    dropped = isinstance(node, ast.Constant) and node.value is None
    return _is_text(node) or isinstance(node, ast.JoinedStr) or dropped
