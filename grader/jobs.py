"""From a cell to the text that a worker runs: which files, which modules, which seeds."""

import base64
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from .canary import canary_files
from .cells import Cell
from .course import Assignment
from .saboteurs import Saboteur, sabotage
from .submission import Submission, is_test_file
from .twins.pool import Pool
from .worker import wire

ROOT = "tests"
# The parser of CPython 3.11 keeps one count for all threads, and ends in a SystemError where two
# of them parse at once.
PARSING = threading.Lock()
STRIDE = 11  # attempts at a sighting meet other texts than the sightings beside it


def as_modules(sources: Mapping[str, str | bytes]) -> dict[str, wire.Module]:
    """Turn files by path into modules by name; folders without ``__init__`` become packages too."""
    found: dict[str, wire.Module] = {}
    for path, content in sources.items():
        *folders, name = path.removesuffix(".py").split("/")
        for depth in range(1, len(folders) + 1):
            package = ".".join(folders[:depth])
            found.setdefault(package, wire.Module(source="", package=True))
        text = content if isinstance(content, str) else _decode(content)
        is_package = name == "__init__"
        dotted = ".".join(folders if is_package else [*folders, name])
        found[dotted] = wire.Module(source=text, package=is_package)
    return found


def _decode(content: bytes) -> str:
    """Return a student's text; what isn't UTF-8 stays recognisable and can't be compiled."""
    return content.decode("utf-8-sig", "surrogateescape")


def shared_modules(assignment: Assignment) -> dict[str, wire.Module]:
    """Return the reference's modules that every cell shares."""
    return as_modules(assignment.dependencies())


def preload(assignment: Assignment) -> list[str]:
    """Return what a worker imports before its first cell."""
    return [*assignment.settings.preload, *sorted(shared_modules(assignment))]


@dataclass(frozen=True)
class Jobs:
    """Turns the cells of a grading into jobs.

    Parameters
    ----------
    assignment, submission
        What is graded.
    pool
        Twins of the module under test, in which mutants are planted.
    key
        A secret from which it follows which mutant is planted in which twin.
    own
        The student's own implementation.
    only
        A part of the names of the tests to run; empty for all.
    shrink
        Whether failing inputs are made small, which takes time.
    """

    assignment: Assignment
    submission: Submission
    pool: Pool
    key: bytes
    own: bytes | None = None
    only: str = ""
    shrink: bool = False

    def __call__(self, cell: Cell) -> wire.Cell:
        """Return what a worker needs to run ``cell``; threads may ask at once."""
        with PARSING:
            return self._job(cell)

    def _job(self, cell: Cell) -> wire.Cell:
        is_canary = cell.purpose == "canary"
        submission = canary_files(self.assignment) if is_canary else self.submission
        files = {
            path: content for path, content in submission.files.items() if path not in cell.without
        }
        settings = self.assignment.settings
        looking = cell.purpose == "look"
        variant = self._variant(cell)
        return wire.Cell(
            mode="look" if looking else "tests",
            files={
                path if looking else f"{ROOT}/{path}": base64.b64encode(content).decode()
                for path, content in files.items()
            },
            root=ROOT,
            targets=[path for path in files if looking or is_test_file(path)],
            modules=as_modules({self.assignment.module_path: variant}),
            draw=cell.draw,
            # From the variant's text: whoever could compute it has that text in hand anyway.
            entropy=entropy(variant if isinstance(variant, str) else _decode(variant), cell),
            only="" if is_canary else self.only,
            last=list(cell.last),
            skip=list(cell.skip),
            most_tests=settings.limits.tests,
            most_examples=settings.limits.examples,
            shrink=self.shrink,
        )

    def _variant(self, cell: Cell) -> str | bytes:
        source, variant = self.assignment.source, cell.variant
        match variant.kind:
            case "reference":
                return source
            case "twin":
                return self.pool.twin(variant.id)
            case "saboteur":
                return sabotage(source, Saboteur(variant.id))
            case "mutant":
                return self.pool.plant(self.assignment.mutant(variant.id), self._seed(cell))
            case "own":
                return self.own or b""

    def _seed(self, cell: Cell) -> str:
        """Return the seed of the twin that a mutant is planted in: another at each sighting."""
        order = self.pool.order(self.key, f"mutant:{cell.variant.id}:{cell.draw}")
        return order[(cell.number + STRIDE * cell.attempt) % len(order)]


def entropy(key: str, cell: Cell) -> int:
    """Return the seed of a cell's ``random`` state: another for each cell, the same everywhere."""
    parts = (key, cell.purpose, cell.variant.id, cell.draw, cell.number, cell.attempt, *cell.last)
    text = ":".join(map(str, parts)).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.sha256(text).digest()[:4])
