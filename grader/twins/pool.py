"""The pool: the twins of one module that were seen to behave as it does, by seed."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from grader.mutants import Mutant

from . import TwinMaker
from .decoys import decoys

SIZE = 32


class PoolFile(BaseModel):
    """A pool on disk: what it was made from, which seeds are good, and what others got wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    made_from: str
    seeds: tuple[str, ...]
    discarded: Mapping[str, str] = {}


@dataclass(frozen=True)
class Pool:
    """Twins of one module, and mutants planted in them.

    Parameters
    ----------
    source
        The reference's text.
    mutants
        Those of which twins hold decoys.
    seeds
        Of the twins that were seen to behave as the reference does.
    """

    source: str
    mutants: tuple[Mutant, ...]
    seeds: tuple[str, ...]

    @cached_property
    def sha256(self) -> str:
        """Hash of all that decides what the twins look like."""
        return fingerprint(self.source, self.mutants, self.seeds)

    @cached_property
    def maker(self) -> TwinMaker:
        """The maker of the twins."""
        planted = [mutant.plant(self.source) for mutant in self.mutants]
        return TwinMaker(self.source, decoys(self.source, planted))

    def twin(self, seed: str) -> str:
        """Return the twin that belongs to ``seed``."""
        return self.maker.twin(seed)

    def plant(self, mutant: Mutant, seed: str) -> str:
        """Return a mutant's text as it looks in the twin that belongs to ``seed``."""
        return self.maker.rewrite(mutant.plant(self.source), seed)

    def order(self, key: bytes, purpose: str) -> list[str]:
        """Return the seeds in the order in which they serve a purpose; only the key tells it."""

        def rank(seed: str) -> bytes:
            return hmac.digest(key, f"{purpose}:{seed}".encode(), hashlib.sha256)

        return sorted(self.seeds, key=rank)


def candidates(key: bytes | None) -> list[str]:
    """Return the seeds that a pool is chosen from, which a course's key keeps secret."""
    names = [f"twin-{number:02}" for number in range(SIZE)]
    if key is None:
        return names
    return [hmac.digest(key, name.encode(), hashlib.sha256).hex()[:16] for name in names]


def fingerprint(source: str, mutants: Sequence[Mutant], seeds: Sequence[str]) -> str:
    """Return a hash of all that decides what twins look like: the maker, and what it is given."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    edits = [
        text for mutant in mutants for edit in mutant.edits for text in (edit.replace, edit.by)
    ]
    for part in (source, *edits, *seeds):
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()
