"""What a reader of archives gives: members in their order, and a word for an archive that is none.

Both readers count what really comes out, since a header may say anything.
"""

from collections.abc import Callable
from typing import NamedTuple


class Member(NamedTuple):
    """A member of an archive, under the name that the archive gives it."""

    name: str
    is_folder: bool
    objection: str
    read: Callable[[int], bytes]  # up to so many bytes; only until the next member is asked for


class Damaged(Exception):
    """An archive can't be read to its end."""
