"""Unpacks an archive into memory: what may be a student's source, in the folders that it names."""

import errno
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from grader.messages import message
from grader.problems import Unusable

from . import tarred, zipped
from .entry import LITTER, MOST_BYTES_EACH, MOST_ENTRIES, too_large
from .member import Damaged, Member

MOST_BYTES, MOST_ASTRAY = 16 << 20, 100
DEEPEST, LONGEST = 16, 1000
HEAD = 512  # bytes at the beginning by which an archive is known
DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(slots=True, eq=False)
class Unpacked:
    """A file or folder of an archive, in memory; only of Python files the content is there."""

    name: str
    is_folder: bool = True
    objection: str = ""
    content: bytes = b""
    inside: "dict[str, Unpacked]" = field(default_factory=dict)

    def entries(self) -> Sequence["Unpacked"]:
        """Return what the folder holds."""
        return sorted(self.inside.values(), key=lambda entry: entry.name)

    def read(self) -> bytes:
        """Return the file's bytes."""
        if self.objection:
            raise OSError(errno.EINVAL, self.objection)
        return self.content


@dataclass(frozen=True)
class Archive:
    """An unpacked archive; the members that have no place below its top are ``astray``."""

    top: Unpacked
    astray: tuple[tuple[str, str], ...]

    @property
    def bare(self) -> Unpacked:
        """The folder that may hold tests by itself."""
        return list(self._tops())[-1]

    def find(self, path: str) -> Unpacked | None:
        """Return the file or folder at ``path``, below the top or the only folder in it."""
        found = (_below(top, path) for top in self._tops())
        return next((entry for entry in found if entry is not None), None)

    def _tops(self) -> Iterator[Unpacked]:
        """Yield the top, and what it holds where that is a single folder, and so on."""
        top = self.top
        yield top
        while [one.is_folder for one in top.inside.values()] == [True]:
            [top] = top.inside.values()
            yield top


def _below(top: Unpacked, path: str) -> Unpacked | None:
    found: Unpacked | None = top
    for part in path.split("/"):
        found = found.inside.get(part) if found is not None else None
    return found


def unpack(path: Path) -> Archive:
    """Unpack the archive at ``path``.

    Raises
    ------
    Unusable
        If it is no archive, can't be read to its end, holds too much, or one name twice.
    """
    try:
        with path.open("rb") as file:
            unpacking = _Unpacking(path)
            for member in _members(file):
                unpacking.add(member)
    except Damaged as problem:
        raise Unusable(message("archive-unreadable", path=path, why=problem)) from None
    except OSError as problem:
        raise Unusable(message("unreadable", path=path, why=problem.strerror)) from None
    return Archive(unpacking.top, tuple(unpacking.astray))


def _members(file: BinaryIO) -> Iterator[Member]:
    head = file.read(HEAD)
    file.seek(0)
    if zipped.is_zip(head):
        return zipped.members(file)
    if tarred.is_tar(head):
        return tarred.members(file)
    raise Damaged("it is neither a zip nor a tar archive")


@dataclass
class _Unpacking:
    """What was unpacked so far."""

    path: Path
    top: Unpacked = field(default_factory=lambda: Unpacked(""))
    astray: list[tuple[str, str]] = field(default_factory=list)
    entries: int = 0
    size: int = 0

    def add(self, member: Member) -> None:
        """Put a member where it belongs."""
        self._count()
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if why := _astray(member.name, parts):
            self.astray.append((member.name[:LONGEST], why))
            if len(self.astray) > MOST_ASTRAY:
                raise too_large(self.path, f"{MOST_ASTRAY} files of impossible names")
        elif not any(map(LITTER.fullmatch, parts)):
            self._place(member, parts)

    def _place(self, member: Member, parts: list[str]) -> None:
        folders = parts if member.is_folder else parts[:-1]
        folder = self.top
        for part in folders:
            if part not in folder.inside:
                self._count()
                folder.inside[part] = Unpacked(part)
            folder = folder.inside[part]
            if not folder.is_folder:
                raise self._twice(member)
        if member.is_folder:
            return
        if not parts or parts[-1] in folder.inside:
            raise self._twice(member)
        folder.inside[parts[-1]] = self._file(member, parts[-1])

    def _file(self, member: Member, name: str) -> Unpacked:
        wanted = name.endswith(".py") and not member.objection
        content = member.read(MOST_BYTES_EACH + 1) if wanted else b""
        self.size += len(content)
        if self.size > MOST_BYTES:
            raise too_large(self.path, f"{MOST_BYTES} bytes of Python files")
        return Unpacked(name, False, member.objection, content)

    def _count(self) -> None:
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise too_large(self.path, f"{MOST_ENTRIES} files")

    def _twice(self, member: Member) -> Unusable:
        return Unusable(message("archive-twice", path=self.path, name=member.name))


def _astray(name: str, parts: list[str]) -> str:
    """Return why a name has no place below an archive's top, if it has none."""
    if not name.isprintable():
        return "its name holds characters that can't be seen"
    if "\\" in name:
        return "its name holds a backslash"
    if name.startswith("/") or DRIVE.match(name):
        return "its name begins at the root of a disk"
    if ".." in parts:
        return "its name leads out of the archive"
    if len(parts) > DEEPEST or len(name) > LONGEST:
        return "it lies too deep, or its path is too long"
    return ""
