"""Freezes a student's test files as bytes, and says what it left out and why.

Nothing is parsed here: reading a student's source is a sandbox's business.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .messages import message
from .problems import Unusable

MOST_FILES, MOST_BYTES, MOST_BYTES_EACH = 200, 4 << 20, 512 << 10
MOST_LEFT_OUT, DEEPEST, LONGEST = 2000, 8, 200
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]{0,99}")
# What tools and editors leave behind is nobody's mistake.
LITTER = re.compile(r"\..*|__pycache__|__MACOSX|Thumbs\.db|.*\.(pyc|pyo|swp)|.*~")
DATA = re.compile(r".*\.(json|csv|tsv|np[yz]|pkl|pickle|toml|ya?ml|dat|bin)")


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


def is_test_file(path: str) -> bool:
    """Return whether pytest collects tests from a file of this name."""
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def freeze(folder: Path) -> Submission:
    """Read the regular Python files below ``folder``.

    Raises
    ------
    Unusable
        If there are too many files, or they are too large, or ``folder`` can't be read.
    """
    if not os.access(folder, os.R_OK | os.X_OK):
        raise Unusable(message("unreadable", path=folder, why="no permission"))
    files: dict[str, bytes] = {}
    left_out: list[LeftOut] = []
    for path, name, reason in _walk(folder, ""):
        why = reason
        if not why:
            try:
                files[name] = read_regular(path)
            except OSError as problem:
                why = f"it can't be read: {problem.strerror}"
        if why:
            left_out.append(LeftOut(_printable(name), why))
        _check(folder, files, left_out)
    return Submission(files, tuple(left_out))


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file.

    Raises
    ------
    Unusable
        If it is too large.
    OSError
        If it can't be read, or is no regular file, or a link.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        content = file.read(MOST_BYTES_EACH + 1)
    if len(content) > MOST_BYTES_EACH:
        raise _too_large(path, f"{MOST_BYTES_EACH} bytes")
    return content


def _walk(folder: Path, prefix: str) -> Iterator[tuple[Path, str, str]]:
    """Yield each file, its name below the top, and the reason to leave it out, if any."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path, name = folder / entry.name, prefix + entry.name
        if LITTER.fullmatch(entry.name):
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        if reason := _objection(name, mode):
            yield path, name, reason
        elif not stat.S_ISDIR(mode):
            yield path, name, ""
        elif os.access(path, os.R_OK | os.X_OK):
            yield from _walk(path, f"{name}/")
        else:
            yield path, name, "the folder can't be read"


def _objection(name: str, mode: int) -> str:
    """Return the reason to leave out a file or folder, if there is one."""
    last = name.rpartition("/")[2]
    if stat.S_ISLNK(mode):
        return "it is a link"
    if not NAME.fullmatch(last):
        return "its name is unusual"
    if len(name) > LONGEST or name.count("/") > DEEPEST:
        return "it lies too deep, or its path is too long"
    if stat.S_ISDIR(mode):
        return ""
    if not stat.S_ISREG(mode):
        return "it is no regular file"
    return "" if last.endswith(".py") else _not_python(last)


def _not_python(name: str) -> str:
    reason = "it is no Python file"
    return f"{reason}: write its data into one" if DATA.fullmatch(name) else reason


def _check(folder: Path, files: Mapping[str, bytes], left_out: list[LeftOut]) -> None:
    if len(files) > MOST_FILES:
        raise _too_large(folder, f"{MOST_FILES} files")
    if len(left_out) > MOST_LEFT_OUT:
        raise _too_large(folder, f"{MOST_LEFT_OUT} files that are left out")
    if sum(map(len, files.values())) > MOST_BYTES:
        raise _too_large(folder, f"{MOST_BYTES} bytes")


def _too_large(path: Path, most: str) -> Unusable:
    return Unusable(message("too-large", path=path, most=most))


def _printable(name: str) -> str:
    """Return a name that is safe in a terminal and in JSON."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)
