"""A file or folder of a student's, wherever it lies."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from grader.messages import message
from grader.problems import Unusable

MOST_BYTES_EACH = 512 << 10
MOST_ENTRIES = 10_000  # of one folder, or of a whole archive
# What tools and editors leave behind is nobody's mistake.
LITTER = re.compile(
    r"\..*|__pycache__|__MACOSX|site-packages|node_modules|Thumbs\.db|.*\.(pyc|pyo|swp)|.*~"
)


class Entry(Protocol):
    """A file or folder of a student's; nothing of it is believed."""

    @property
    def name(self) -> str:
        """The last part of its path."""

    @property
    def is_folder(self) -> bool:
        """Whether it holds others."""

    @property
    def objection(self) -> str:
        """Why it is neither a folder nor a regular file that can be read, if it isn't."""

    def entries(self) -> Sequence["Entry"]:
        """Return what a folder holds, by name, up to one over `MOST_ENTRIES`.

        Raises
        ------
        OSError
            If it can't be read.
        """

    def read(self) -> bytes:
        """Return a file's bytes, up to one over `MOST_BYTES_EACH`.

        Raises
        ------
        OSError
            If it can't be read, or is no regular file.
        """


class Source(Protocol):
    """Where a student's files lie: a repository on disk, or an archive."""

    @property
    def top(self) -> Entry:
        """The folder that holds all."""

    @property
    def bare(self) -> Entry | None:
        """The folder that may hold tests by itself, without a repository round it."""

    @property
    def astray(self) -> Sequence[tuple[str, str]]:
        """Names that have no place below the top, each with the reason."""

    def find(self, path: str) -> Entry | None:
        """Return the regular file or folder at ``path``, if there is one.

        Raises
        ------
        Unusable
            If it lies outside.
        """


def too_large(path: Path, most: str) -> Unusable:
    """Return the complaint that ``path`` holds over ``most``."""
    return Unusable(message("too-large", path=path, most=most))
