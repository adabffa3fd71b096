"""What every rewrite is made with: a source of choices, names that nothing uses, and decoys."""

import ast
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .decoys import Decoy
from .scopes import every_name

FRESH = ("amount", "part", "item", "value", "entry", "whole", "piece", "field", "mark", "span")


class Fresh:
    """Names that nothing uses yet."""

    def __init__(self, taken: Iterable[str], choice: random.Random) -> None:
        self._taken, self._choice = set(taken), choice

    def __call__(self, prefix: str = "") -> str:
        """Return another one."""
        while True:
            name = f"{prefix}{self._choice.choice(FRESH)}_{self._choice.randrange(1000)}"
            if name not in self._taken:
                self._taken.add(name)
                return name


@dataclass(frozen=True)
class Means:
    """What the rewrites of one text share."""

    choice: random.Random
    fresh: Fresh
    decoys: Sequence[Decoy]

    @classmethod
    def of(cls, tree: ast.Module, seed: str | int, decoys: Sequence[Decoy]) -> "Means":
        """Return what a text is rewritten with; the seed decides all choices."""
        choice = random.Random(seed)  # noqa: S311 — reproducible, and no secret by itself
        # A decoy may name what the text doesn't.
        taken = every_name(tree).union(*(_words(one.text) for one in decoys))
        return cls(choice, Fresh(taken, choice), decoys)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def assignment(name: str, value: ast.expr) -> ast.Assign:
    """Return a statement that gives ``value`` a name."""
    # A line number is all that unparsing an assignment asks for.
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)
