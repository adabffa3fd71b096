"""Saboteurs: variants with no right answer, by which a test that touches nothing is found.

They are made from any module's text: its public functions, and the public methods of its
public classes, are wrapped at the end of the module.
"""

import ast
from enum import StrEnum


class Saboteur(StrEnum):
    """What every public function does in place of its work."""

    RAISES = "raises"
    ZEROS = "zeros"
    ECHOES = "echoes"


WRAPPERS = {
    Saboteur.RAISES: """
def _sabotaged(work, is_method):
    def broken(*arguments, **named):
        raise RuntimeError("sabotage")
    return broken
""",
    Saboteur.ZEROS: """
def _nothing(value):
    if isinstance(value, (tuple, list)):
        return type(value)(_nothing(part) for part in value)
    try:
        return value * 0
    except Exception:
        return value

def _sabotaged(work, is_method):
    def empty(*arguments, **named):
        return _nothing(work(*arguments, **named))
    return empty
""",
    Saboteur.ECHOES: """
def _sabotaged(work, is_method):
    def echo(*arguments, **named):
        given = (*arguments[is_method:], *named.values())
        return given[0] if given else None
    return echo
""",
}


def sabotage(source: str, kind: Saboteur) -> str:
    """Return ``source`` with every public function and method replaced."""
    lines = [source, WRAPPERS[kind]]
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and _public(node.name):
            lines.append(f"{node.name} = _sabotaged({node.name}, 0)")
        elif isinstance(node, ast.ClassDef) and _public(node.name):
            lines += _methods(node, kind)
    return "\n".join(lines) + "\n"


def _methods(node: ast.ClassDef, kind: Saboteur) -> list[str]:
    """Return the lines that replace a class's methods; only one that raises can be no instance."""
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    plain = [one.name for one in methods if not one.decorator_list]
    wanted = [
        name
        for name in plain
        if _public(name) or name == "__call__" or (name == "__init__" and kind is Saboteur.RAISES)
    ]
    return [f"{node.name}.{name} = _sabotaged({node.name}.{name}, 1)" for name in wanted]


def _public(name: str) -> bool:
    return not name.startswith("_")
