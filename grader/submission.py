"""Freezes a student's test files as bytes, and says what it left out and why.

Nothing is parsed here: reading a student's source is a sandbox's business.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .files.disk import OnDisk
from .files.entry import LITTER, MOST_BYTES_EACH, MOST_ENTRIES, Entry, too_large
from .messages import message
from .problems import Unusable
from .untrusted import visible

MOST_FILES, MOST_BYTES = 200, 4 << 20
MOST_LEFT_OUT, DEEPEST, LONGEST = 2000, 8, 200
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]{0,99}")
DATA = re.compile(r".*\.(json|csv|tsv|np[yz]|pkl|pickle|toml|ya?ml|dat|bin)")
PACKED = re.compile(r".*\.(zip|tar|t?gz|bz2|xz|7z|rar|whl|egg)")


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
    """Read the regular Python files below a folder on disk; raises as `take` does."""
    return take(OnDisk(folder), folder)


def take(folder: Entry, path: Path) -> Submission:
    """Read the regular Python files below ``folder``, which is called ``path``.

    Raises
    ------
    Unusable
        If there are too many files, or they are too large, or two have the same name on some
        computers, or ``folder`` can't be read.
    """
    try:
        entries = folder.entries()
    except OSError as problem:
        raise Unusable(message("unreadable", path=path, why=problem.strerror)) from None
    taking = _Taking(path)
    taking.walk(entries, "")
    return Submission(taking.files, tuple(taking.left_out))


@dataclass
class _Taking:
    """What was taken so far from the folder at ``path``."""

    path: Path
    files: dict[str, bytes] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    size: int = 0
    names: dict[str, str] = field(default_factory=dict)

    def walk(self, entries: Sequence[Entry], prefix: str) -> None:
        """Take what a folder holds, in the order of names; ``prefix`` is its path below the top."""
        if len(entries) > MOST_ENTRIES:
            raise too_large(self.path / prefix, f"{MOST_ENTRIES} files")
        for entry in entries:
            if LITTER.fullmatch(entry.name):
                continue
            name = prefix + entry.name
            why = _objection(name, entry)
            if why or not entry.is_folder:
                self._add(name, entry, why)
            else:
                self._enter(name, entry)

    def _enter(self, name: str, folder: Entry) -> None:
        try:
            inside = folder.entries()
        except OSError:
            self._leave_out(name, "the folder can't be read")
        else:
            self.walk(inside, f"{name}/")

    def _add(self, name: str, entry: Entry, why: str) -> None:
        """Take a file, or note why not."""
        content = b""
        if not why:
            try:
                content = entry.read()
            except OSError as problem:
                why = f"it can't be read: {problem.strerror}"
        if why:
            self._leave_out(name, why)
        else:
            self._keep(name, content)

    def _leave_out(self, name: str, why: str) -> None:
        self.left_out.append(LeftOut(visible(name), why))
        if len(self.left_out) > MOST_LEFT_OUT:
            raise too_large(self.path, f"{MOST_LEFT_OUT} files that are left out")

    def _keep(self, name: str, content: bytes) -> None:
        self._claim(name)
        self.files[name] = content
        self.size += len(content)
        if len(content) > MOST_BYTES_EACH:
            raise too_large(self.path / name, f"{MOST_BYTES_EACH} bytes")
        if len(self.files) > MOST_FILES:
            raise too_large(self.path, f"{MOST_FILES} files")
        if self.size > MOST_BYTES:
            raise too_large(self.path, f"{MOST_BYTES} bytes")

    def _claim(self, name: str) -> None:
        """Raise `Unusable` where a file, or a folder above it, differs from another by case only.

        Which of the two is meant depends on the computer. (Other letters than ASCII's, which may be
        written in several ways, no name has that comes this far.)
        """
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            mine = "/".join(parts[:end])
            other = self.names.setdefault(mine.casefold(), mine)
            if other != mine:
                raise Unusable(message("same-name", path=self.path, one=other, other=mine))


def _objection(name: str, entry: Entry) -> str:
    """Return the reason to leave out a file or folder, if there is one."""
    if entry.objection:
        return entry.objection
    if not NAME.fullmatch(entry.name):
        return "its name is unusual"
    if len(name) > LONGEST or name.count("/") > DEEPEST:
        return "it lies too deep, or its path is too long"
    return "" if entry.is_folder or name.endswith(".py") else _not_python(entry.name)


def _not_python(name: str) -> str:
    reason = "it is no Python file"
    if PACKED.fullmatch(name):
        return f"{reason}: archives inside are not unpacked"
    return f"{reason}: write its data into one" if DATA.fullmatch(name) else reason
