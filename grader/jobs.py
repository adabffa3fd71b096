"""From a cell to the text that a worker runs: which files, which modules, which seeds."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from .cells import Cell
from .course import Assignment
from .submission import Submission, is_test_file
from .worker import wire

ROOT = "tests"


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
    """Turns the cells of a grading into jobs."""

    assignment: Assignment
    submission: Submission
    own: bytes | None = None

    def __call__(self, cell: Cell) -> wire.Cell:
        """Return what a worker needs to run ``cell``."""
        files = {
            path: content
            for path, content in self.submission.files.items()
            if path not in cell.without
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
            last=list(cell.last),
            skip=list(cell.skip),
            most_tests=settings.limits.tests,
            most_examples=settings.limits.examples,
        )

    def _variant(self, cell: Cell) -> str | bytes:
        match cell.variant.kind:
            case "reference":
                return self.assignment.source
            case "mutant":
                return self.assignment.mutant(cell.variant.id).plant(self.assignment.source)
            case "own":
                return self.own or b""


def entropy(key: str, cell: Cell) -> int:
    """Return the seed of a cell's ``random`` state: another for each cell, the same everywhere."""
    parts = (key, cell.purpose, cell.variant.id, cell.draw, cell.number, cell.attempt, *cell.last)
    text = ":".join(map(str, parts)).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.sha256(text).digest()[:4])
