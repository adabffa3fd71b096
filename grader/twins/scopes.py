"""What names a function binds, and which of them can be renamed."""

import ast
from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
SEES_NAMES = frozenset({"locals", "globals", "vars", "eval", "exec", "dir"})


def functions(tree: ast.AST) -> Iterator[Function]:
    """Yield every function and method, the outer ones first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parameters(function: Function | ast.Lambda) -> set[str]:
    """Return the names of a function's parameters."""
    found = function.args
    every = [*found.posonlyargs, *found.args, *found.kwonlyargs]
    every += [extra for extra in (found.vararg, found.kwarg) if extra]
    return {argument.arg for argument in every}


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some nodes assign to, by assignment expressions and loops too."""
    return {
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store | ast.Del)
    }


def renamable(function: Function) -> set[str]:
    """Return the locals that can be renamed everywhere in ``function`` with the same meaning.

    These are plain variables: no parameters, imports, exceptions' names, or names that an inner
    scope declares or takes as a parameter.
    """
    found = stored(function.body) - parameters(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            found -= set(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.discard(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found -= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not function:
            found -= parameters(node) | {node.name}
        elif isinstance(node, ast.Lambda):
            found -= parameters(node)
        elif _hides_names(node):
            return set()
    return found


def _hides_names(node: ast.AST) -> bool:
    """Return whether ``node`` binds or reads names in a way that isn't followed here."""
    if isinstance(node, ast.ClassDef | ast.MatchAs | ast.MatchStar | ast.MatchMapping):
        return True
    return isinstance(node, ast.Name) and node.id in SEES_NAMES


def every_name(tree: ast.AST) -> set[str]:
    """Return every identifier in use, so that a fresh one can be chosen."""
    found = set()
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


def rename(tree: ast.AST, names: dict[str, str]) -> None:
    """Rename variables in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every list of statements inside functions."""
    for function in functions(tree):
        for node in ast.walk(function):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and block and not isinstance(node, ast.ClassDef):
                    yield block
