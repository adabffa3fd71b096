"""How alike a student's functions and the course's own are: by the fingerprints of both."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .course import Assignment
from .outcome import Fingerprint
from .worker.fingerprint import MOST_HASHES, fingerprints

# Measured on the examples: honest functions share at most 24 windows with any one of the course's,
# and where they share most, it is a helper of three lines that everybody writes alike. A copy with
# other variables shares all, and with other shapes, seeds and tolerances more than half.
LEAST_SHARED, ALIKE = 30, 0.5
LEAST_SAMPLE = 8


@dataclass(frozen=True)
class Model:
    """A function of the course that a student should not have copied."""

    place: str  # the file below the course's folder, and the function in it
    hashes: frozenset[int]


@dataclass(frozen=True)
class Resemblance:
    """A student's function and the function of the course that it is most like."""

    mine: Fingerprint
    model: Model
    share: float  # of the shorter one's windows that are in the other


@dataclass(frozen=True)
class Models:
    """The course's functions, and what every student is given to start from."""

    functions: tuple[Model, ...] = ()
    given: frozenset[int] = frozenset()

    def resemblances(self, mine: Iterable[Fingerprint]) -> Iterator[Resemblance]:
        """Yield each of ``mine`` that is like a function of the course."""
        for one in mine:
            found = [
                Resemblance(one, model, share)
                for model in self.functions
                if (share := self._share(one, model)) >= ALIKE
            ]
            if found:
                yield max(found, key=lambda resemblance: resemblance.share)

    def _share(self, mine: Fingerprint, model: Model) -> float:
        """Return how much of the shorter one is in the other, without what was given."""
        hashes, whole = frozenset(mine.hashes) - self.given, model.hashes - self.given
        part = whole
        if len(mine.hashes) == MOST_HASHES:  # only a sample, the smallest: compare with such a one
            part = frozenset(one for one in whole if one <= max(mine.hashes))
        shared = len(hashes & part)
        too_few = shared * len(whole) < LEAST_SHARED * len(part)  # of all, as far as can be told
        if len(part) < LEAST_SAMPLE or too_few:
            return 0.0
        return shared / min(len(hashes), len(part))


def models(assignment: Assignment) -> Models:
    """Return the functions of an assignment's reference, course tests and gold suite."""
    root = assignment.course.root
    paths = [root / "reference" / assignment.module_path]
    for folder in (assignment.tests_path, assignment.gold_path):
        paths += sorted(folder.rglob("*.py"))
    functions = [
        Model(f"{path.relative_to(root).as_posix()}::{name}", hashes)
        for path in paths
        for name, hashes in _functions(path)
    ]
    starter = sorted(assignment.starter_path.rglob("*.py"))
    given = {one for path in starter for _, hashes in _functions(path) for one in hashes}
    return Models(tuple(functions), frozenset(given))


def _functions(path: Path) -> Iterator[tuple[str, frozenset[int]]]:
    for name, _, hashes in fingerprints(ast.parse(path.read_text(encoding="utf-8"))):
        yield name, frozenset(hashes)
