"""A test file's source, with what the rules of `lint` ask about it."""

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from .names import Function, full_name, functions, imported_names, last_name

RAISING = ("raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns", "RaisesGroup")


@dataclass(frozen=True)
class Source:
    """A file of tests, with what the rules ask about it."""

    tree: ast.Module
    modules: Collection[str] = ()  # names of the student's own files

    @cached_property
    def imported(self) -> dict[str, str]:
        """What each imported name stands for."""
        return imported_names(self.tree)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[tuple[str, Function]]:
        """Functions and methods, by the names that pytest gives them."""
        return list(functions(self.tree))

    @cached_property
    def tests(self) -> list[tuple[str, Function]]:
        """Those of them that are tests."""
        return [
            (name, node)
            for name, node in self.functions
            if node.name.startswith("test") and not self.decorated(node, "fixture", "composite")
        ]

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Every call that isn't made to be seen raising, by the full name of what is called."""
        return [
            (self.name(node.func), node)
            for node in self.nodes
            if isinstance(node, ast.Call) and node not in self.expected_to_raise
        ]

    @cached_property
    def expected_to_raise(self) -> frozenset[ast.AST]:
        """All that stands below ``with raises(...)``."""
        blocks = [
            node
            for node in self.nodes
            if isinstance(node, ast.With)
            if any(self.calls_one_of(item.context_expr, RAISING) for item in node.items)
        ]
        return frozenset(
            inner for block in blocks for part in block.body for inner in ast.walk(part)
        )

    @cached_property
    def helpers(self) -> frozenset[str]:
        """Names by which the file calls functions of the student's own."""
        mine = {
            name
            for name, full in self.imported.items()
            if full.startswith(".") or full.partition(".")[0] in self.modules
        }
        defined = {node.name for node in self.nodes if isinstance(node, Function | ast.ClassDef)}
        return frozenset(mine | defined)

    def name(self, node: ast.AST) -> str:
        """Return the full name of what ``node`` names, or nothing."""
        return full_name(node, self.imported)

    def decorated(self, node: Function, *words: str) -> bool:
        """Return whether one of a function's decorators ends in one of these words."""
        used = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
        return any(self.name(one).rpartition(".")[2] in words for one in used)

    def calls_one_of(self, node: ast.AST, words: Collection[str]) -> bool:
        """Return whether ``node`` calls something whose last name is one of ``words``."""
        return isinstance(node, ast.Call) and last_name(node.func) in words
