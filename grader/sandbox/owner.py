"""Who owns a worker: known again after its death, so that what it left behind can be removed."""

import hashlib
import os
import platform
import re
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

MOST_SECONDS = 24 * 3600  # no worker lasts longer
BOOT, TABLE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
DEAD, STARTED = ("Z", "X"), 18  # of `proc(5)`, where fields are counted after the state
TEXT = re.compile(r"([0-9a-f]{12})-([0-9]{1,9})-([0-9]{1,18})-([0-9]{1,12})")


class Owner(NamedTuple):
    """A process, told from all others: of other hosts, of other containers, and of later ones."""

    host: str
    process: int
    began: int
    at: int  # when it was written down, in seconds of the epoch

    def __str__(self) -> str:
        """Return a text that `gone` understands, and that may be a part of a file's name."""
        return "-".join(map(str, self))

    @property
    def is_gone(self) -> bool:
        """Whether it has ended; of one that can't be seen no more is known than that it must have.

        That is another host's, or another user's where a host hides those.
        """
        if self.host == _host():
            with suppress(OSError, psutil.Error):
                runs, began = _look(self.process)
                return not runs or began != self.began
            if not psutil.pid_exists(self.process):
                return True
        return time.time() - self.at > MOST_SECONDS


def me() -> Owner:
    """Return this process."""
    _, began = _look(os.getpid())
    return Owner(_host(), os.getpid(), began, int(time.time()))


def read(text: str) -> Owner | None:
    """Return the owner that a text names, ``None`` if no owner wrote it."""
    if found := TEXT.fullmatch(text):
        host, *numbers = found.groups()
        return Owner(host, *map(int, numbers))
    return None


def gone(text: str) -> bool:
    """Return whether the process that a text names has ended; what no owner wrote says no."""
    owner = read(text)
    return owner is not None and owner.is_gone


def _look(process: int) -> tuple[bool, int]:
    """Return whether a process still runs, and when it began, in hundredths of a second.

    On Linux that is counted since the start of the machine: the time of day is set now and then,
    and all processes would seem to be others.
    """
    if sys.platform == "linux":
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        state, *fields = text.rpartition(")")[2].split()
        return state not in DEAD, int(fields[STARTED])
    other = psutil.Process(process)
    return other.status() != psutil.STATUS_ZOMBIE, int(other.create_time() * 100)


def _host() -> str:
    """Return this start of this machine, and which of its tables of processes is ours.

    Two machines may have the same name, and their first tables have the same number.
    """
    try:
        found = f"{BOOT.read_text(encoding='ascii').strip()} {TABLE.readlink()}"
    except OSError:
        found = f"{platform.node()} {uuid.getnode()}"
    return hashlib.sha256(found.encode()).hexdigest()[:12]
