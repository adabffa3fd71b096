"""Freezes a student's test files as bytes, and says what it left out and why.

Nothing is parsed here: reading a student's source is a sandbox's business.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .messages import message
from .problems import Unusable

MOST_FILES, MOST_BYTES, MOST_BYTES_EACH, DEEPEST = 200, 4 << 20, 512 << 10, 8
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]{0,99}")
# What tools and editors leave behind is nobody's mistake.
LITTER = frozenset(
    {"__pycache__", ".pytest_cache", ".hypothesis", ".git", ".idea", ".vscode", "__MACOSX"}
    | {".DS_Store", ".venv", ".mypy_cache", ".ruff_cache"}
)


@dataclass(frozen=True)
class LeftOut:
    """A file that was not taken, and why."""

    path: str
    why: str


@dataclass(frozen=True)
class Submission:
    """A student's test files, never changed after they were read."""

    files: Mapping[str, bytes]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash of all files, by path and content."""
        digest = hashlib.sha256()
        for path, content in sorted(self.files.items()):
            digest.update(f"{len(path)}:{path}:{len(content)}:".encode() + content)
        return digest.hexdigest()


def freeze(folder: Path) -> Submission:
    """Read the regular Python files below ``folder``.

    Raises
    ------
    Unusable
        If there are too many files, or they are too large.
    """
    files: dict[str, bytes] = {}
    left_out: list[LeftOut] = []
    for path, why in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if why:
            left_out.append(LeftOut(name, why))
            continue
        if len(files) == MOST_FILES:
            why = f"it holds over {MOST_FILES} files"
            raise Unusable(message("too-large", path=folder, why=why, most=f"{MOST_FILES} are"))
        files[name] = _read(path)
        total = sum(map(len, files.values()))
        if total > MOST_BYTES:
            raise Unusable(
                message("too-large", path=folder, why=f"{total} bytes", most=f"{MOST_BYTES} are")
            )
    return Submission(files, tuple(left_out))


def _walk(folder: Path, depth: int = 0) -> Iterator[tuple[Path, str]]:
    """Yield each file with the reason to leave it out, empty for those to take."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = folder / entry.name
        if entry.name in LITTER or entry.name.endswith((".pyc", ".pyo")):
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            yield path, "it is a link"
        elif stat.S_ISDIR(mode):
            if not NAME.fullmatch(entry.name) or depth >= DEEPEST:
                yield path, "the folder's name or depth is unusual"
            else:
                yield from _walk(path, depth + 1)
        elif not stat.S_ISREG(mode):
            yield path, "it is no regular file"
        elif not NAME.fullmatch(entry.name):
            yield path, "its name is unusual"
        else:
            yield path, "" if entry.name.endswith(".py") else "it is no Python file"


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        content = file.read(MOST_BYTES_EACH + 1)
    if len(content) > MOST_BYTES_EACH:
        why = f"over {MOST_BYTES_EACH} bytes"
        raise Unusable(message("too-large", path=path, why=why, most=f"{MOST_BYTES_EACH} are"))
    return content
