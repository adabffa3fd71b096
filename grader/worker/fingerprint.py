"""Fingerprints of functions: alike where the code is, whatever its variables are called.

A function's text is turned into a row of tokens, a window of them at a time is hashed, and the
hashes are what two functions share. The course's own functions get theirs from here too.
"""

import ast
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from .names import functions, imported_names

WINDOW = 6
MOST_TOKENS = 20_000
MOST_HASHES = 500  # of one function over the wire: the smallest, which are a fair sample
OWN = "\0"  # marks a name that the file chose itself
# What says nothing, or says it twice.
SILENT = (ast.Expr, ast.arguments, ast.expr_context, ast.Name, ast.arg, ast.keyword, ast.Constant)


class Fingerprint(NamedTuple):
    """A function's name and line, and the hashes of its windows, in ascending order."""

    name: str
    line: int
    hashes: tuple[int, ...]


def fingerprints(tree: ast.Module) -> Iterator[Fingerprint]:
    """Yield the fingerprint of each function and method in a module."""
    imported = imported_names(tree)
    own = _bound(tree)
    for name, node in functions(tree):
        tokens = list(islice(_tokens(node, imported, own), MOST_TOKENS))
        windows = (tokens[start : start + WINDOW] for start in range(len(tokens) - WINDOW + 1))
        hashes = {zlib.crc32(_numbered(window).encode("utf-8", "replace")) for window in windows}
        yield Fingerprint(name, node.lineno, tuple(sorted(hashes)))


def _bound(tree: ast.Module) -> frozenset[str]:
    """Return the names that a module gives to something itself."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
    return frozenset(found)


def _tokens(function: ast.AST, imported: Mapping[str, str], own: frozenset[str]) -> Iterator[str]:
    """Yield a function's tokens: no docstrings, annotations, decorators or assertion messages."""
    waiting: list[ast.AST] = list(reversed(_children(function)))
    while waiting:
        node = waiting.pop()
        yield from _token(node, imported, own)
        waiting += reversed(_children(node))


def _children(node: ast.AST) -> list[ast.AST]:
    left_out: set[ast.AST | None] = set()
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            left_out = {*node.decorator_list, node.returns}
        case ast.arg() | ast.AnnAssign():
            left_out = {node.annotation}
        case ast.Assert():
            left_out = {node.msg}
    return [
        child
        for child in ast.iter_child_nodes(node)
        if child not in left_out and not _is_text(child)
    ]


def _is_text(node: ast.AST) -> bool:
    """Return whether ``node`` is a statement that is only a text, as docstrings are."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _token(node: ast.AST, imported: Mapping[str, str], own: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            is_own = name in own and name not in imported
            yield f"{OWN}{name}" if is_own else imported.get(name, name).rpartition(".")[2]
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.keyword(arg=name):
            yield f"{name}="
        case ast.Constant(value=value):
            yield repr(value)[:40]
        case ast.AnnAssign():
            yield "Assign"
        case _ if not isinstance(node, SILENT):
            yield type(node).__name__


def _numbered(window: list[str]) -> str:
    """Return a window as one text, in which a file's own names are only told apart."""
    numbers: dict[str, str] = {}
    return " ".join(
        numbers.setdefault(token, f"_{len(numbers)}") if token.startswith(OWN) else token
        for token in window
    )
