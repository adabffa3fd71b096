"""Files on a disk, read so that nothing outside their folder can be put in their place."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from grader.messages import message
from grader.problems import Unusable

from .entry import MOST_BYTES_EACH, MOST_ENTRIES


@dataclass(frozen=True)
class OnDisk:
    """A file or folder below ``root``.

    Its path is walked anew each time from ``root`` on, without following a link, since whoever owns
    the folder may swap any part of it meanwhile.
    """

    root: Path
    parts: tuple[str, ...] = ()
    is_folder: bool = True
    objection: str = ""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.parts[-1]

    def entries(self) -> Sequence["OnDisk"]:
        """Return what the folder holds."""
        with _folder(self.root, self.parts) as folder, os.scandir(folder) as found:
            owner = os.fstat(folder).st_uid
            entries = [self._below(one, owner) for one in islice(found, MOST_ENTRIES + 1)]
        return sorted(entries, key=lambda entry: entry.parts)

    def _below(self, entry: os.DirEntry[str], owner: int) -> "OnDisk":
        status = entry.stat(follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        why = "" if is_folder else objection(status, owner)
        return OnDisk(self.root, (*self.parts, entry.name), is_folder, why)

    def read(self) -> bytes:
        """Return the file's bytes."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with _folder(self.root, self.parts[:-1]) as folder:
            owner = os.fstat(folder).st_uid
            opened = os.open(self.name, flags, dir_fd=folder)
        with os.fdopen(opened, "rb") as file:
            if why := objection(os.fstat(opened), owner):
                raise OSError(errno.EINVAL, why)
            return file.read(MOST_BYTES_EACH + 1)


@dataclass(frozen=True)
class Repository:
    """A repository on disk."""

    root: Path

    @property
    def top(self) -> OnDisk:
        """The folder that holds all."""
        return OnDisk(self.root)

    @property
    def bare(self) -> None:
        """Return nothing: tests have their place in a repository."""

    @property
    def astray(self) -> tuple[()]:
        """Return nothing: every file of a disk has a place."""
        return ()

    def find(self, path: str) -> OnDisk | None:
        """Return the regular file or folder at ``path``; links that stay inside are followed.

        Raises
        ------
        Unusable
            If a link leads out.
        """
        named = self.root / path
        if not (named.is_dir() or named.is_file()):
            return None
        real = Path(os.path.realpath(named))
        if not real.is_relative_to(self.root):
            raise Unusable(message("leads-out", path=named))
        return OnDisk(self.root, real.relative_to(self.root).parts, real.is_dir())


@contextmanager
def _folder(root: Path, parts: tuple[str, ...]) -> Iterator[int]:
    """Open the folder at ``parts`` below ``root``; a link on the way is an `OSError`."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    found = os.open(root, flags)
    try:
        for part in parts:
            below = os.open(part, flags | os.O_NOFOLLOW, dir_fd=found)
            os.close(found)
            found = below
        yield found
    finally:
        os.close(found)


def objection(status: os.stat_result, owner: int) -> str:
    """Return why a file is not read, if it isn't; ``owner`` is its folder's.

    Package managers and copies of a folder save space by hard links, so that a file may have
    several names. Whose folder it lies in may not have been able to read somebody else's, though.
    """
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_nlink > 1 and status.st_uid != owner:
        return "it is a hard link to somebody else's file"
    return ""
