"""What the names in a module's source stand for, whatever it calls what it imports."""

import ast
from collections.abc import Iterator, Mapping, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Return the full name that each imported name stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                found[alias.asname or alias.name] = f"{module}.{alias.name}"
    return found


def full_name(node: ast.AST, imported: Mapping[str, str]) -> str:
    """Return the dotted name that ``node`` is, or nothing where it isn't one."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imported.get(node.id, node.id), *reversed(parts)])


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name, whatever stands before it."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield functions and methods under the names that pytest would give them.

    A function inside another is a part of it.
    """
    waiting: list[tuple[str, ast.stmt]] = [("", node) for node in reversed(tree.body)]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            inner = f"{prefix}{node.name}::"
            waiting += [(inner, part) for part in reversed(node.body)]
        elif isinstance(node, ast.If | ast.Try | ast.With):
            waiting += [(prefix, part) for part in reversed(_statements(node))]


def _statements(node: ast.If | ast.Try | ast.With) -> list[ast.stmt]:
    found: list[ast.stmt] = [*node.body]
    if not isinstance(node, ast.With):
        found += node.orelse
    if isinstance(node, ast.Try):
        found += [part for handler in node.handlers for part in handler.body] + node.finalbody
    return found


def inside(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes below ``body`` that run where it runs: nothing of inner functions."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += reversed(list(ast.iter_child_nodes(node)))
