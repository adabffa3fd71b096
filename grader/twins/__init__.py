"""Twins: rewrites of a module that behave the same and look different.

A test that fails on a twin reacts to form and not to behaviour. Mutants are planted in twins
as well, so that nothing about a text tells which one it is.
"""

import ast
import random
from collections.abc import Sequence
from dataclasses import dataclass

from .decoys import Decoy
from .means import Means
from .rewrites import REWRITES, Rewrite

__all__ = ["REWRITES", "Decoy", "Rewrite", "TwinMaker"]

COMMENTS = ("layout", "spacing", "order", "see the contract", "kept simple", "shapes as above")


@dataclass(frozen=True)
class TwinMaker:
    """Rewrites texts of one module.

    Parameters
    ----------
    source
        The reference's text.
    decoys
        Statements for branches that never run, of which each text gets some.
    """

    source: str
    decoys: Sequence[Decoy] = ()

    def twin(self, seed: str) -> str:
        """Return the twin of the reference that belongs to ``seed``."""
        return self.rewrite(self.source, seed)

    def rewrite(self, text: str, seed: str) -> str:
        """Return ``text``, the reference's or a mutant's, as it looks in the twin of ``seed``.

        Every kind of rewrite is used, at places that the seed chooses.
        """
        tree = ast.parse(text)
        means = Means.of(tree, seed, self.decoys)
        for rewrite in REWRITES:
            tree = rewrite.apply(tree, means)
        return _spread(ast.unparse(tree), means.choice)


def _spread(text: str, choice: random.Random) -> str:
    """Move line numbers: blank lines and comments between top-level statements."""
    lines = ["\n" * choice.randrange(5)]
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith((")", "]", "}", "else", "elif")):
            lines += [""] * choice.randrange(3)
            if choice.random() < 0.3:
                lines.append(f"# {choice.choice(COMMENTS)}")
        lines.append(line)
    return "\n".join(lines) + "\n"
