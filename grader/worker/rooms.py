"""Where cells live, and as whom: each finds an empty folder, and nobody's traces.

Where every cell has a room, a file system of its own, its folder lies one level below the room:
what changes as a cell comes and goes is then in a folder that only this cell may enter. The time
of a change would tell later cells when it ended, which it may choose.
"""

import os
import random
from pathlib import Path
from typing import NamedTuple

from . import wire

CHANCE = random.SystemRandom()
ONLY_FOR_ITS_CELL = 0o710  # as a group of one, which can't change the room itself


class Place(NamedTuple):
    """A cell's own folder, and its user where that isn't ours."""

    folder: Path
    user: int | None


class UsedUpError(Exception):
    """There is no place for another cell."""


class Rooms:
    """Finds a place for one cell after another.

    In any order: a cell that knows its folder or user must not know how many came before.
    """

    def __init__(self, setup: wire.Setup) -> None:
        self._cells = Path(setup["cells"])
        self._uids = setup["uids"]
        self._users: set[int] = set()
        self._count = setup["rooms"]
        self._free = [self._furnish(wire.room(number)) for number in range(self._count or 0)]
        CHANCE.shuffle(self._free)

    @property
    def reaper(self) -> int:
        """The user that kills and deletes for all of them."""
        return self._uids[0] if self._uids else 0

    def take(self) -> Place:
        """Make the next cell's folder; raises `UsedUpError` where there is no place left."""
        if self._count is None:
            place = Place(self._cells / "cell", self._user())
        elif self._free:
            place = self._free.pop()
        else:
            raise UsedUpError(f"{self._count} folders are used up")
        place.folder.mkdir(mode=0o700)
        if place.user is not None:
            os.chown(place.folder, place.user, place.user)
        return place

    def _furnish(self, name: str) -> Place:
        room, user = self._cells / name, self._user()
        inside = room / "in"
        inside.mkdir(mode=0o711)
        if user is not None:
            os.chown(room, -1, user)
            room.chmod(ONLY_FOR_ITS_CELL)
        return Place(inside / "cell", user)

    def _user(self) -> int | None:
        """Return a user that no cell had before, or ``None`` where all share ours."""
        if self._uids is None:
            return None
        first, count = self._uids
        if len(self._users) >= count // 2:
            raise UsedUpError(f"{count // 2} users are used up")
        user = first
        while user == first or user in self._users:
            user = first + CHANCE.randrange(1, count)
        self._users.add(user)
        return user
