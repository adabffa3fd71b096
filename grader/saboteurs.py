"""Saboteurs: variants with no right answer, by which a test that touches nothing is found.

They are made from any module's text: its public functions, and the public methods of its
public classes, are wrapped at the end of the module.
"""

import ast
from enum import StrEnum

CANARY_IMPORTS, CANARY_RAISES = "test_imports", "test_sabotage"


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


def canary(source: str, module: str) -> str:
    """Return a test file that tells whether a cell meets the variant that it was to meet.

    Its first test passes on any variant that can be imported; its second, where the module has
    a public function, on the saboteur that raises and on no other.
    """
    lines = [
        "import importlib",
        "",
        "",
        f"def {CANARY_IMPORTS}():",
        f'    importlib.import_module("{module}")',
    ]
    if (called := _callable(source)) is not None:
        lines += [
            "",
            "",
            f"def {CANARY_RAISES}():",
            "    try:",
            f'        importlib.import_module("{module}").{called}()',
            "    except Exception as problem:",
            '        assert str(problem) == "sabotage"',
            "    else:",
            "        raise AssertionError",
        ]
    return "\n".join(lines) + "\n"


def _callable(source: str) -> str | None:
    """Return a public function of a module, or a class that the saboteur keeps from being made."""
    nodes = ast.parse(source).body
    functions = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    classes = [
        node.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        if any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in node.body)
    ]
    return next((name for name in (*functions, *classes) if _public(name)), None)
