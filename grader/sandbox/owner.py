"""Who owns a worker: known again after its death, so that what it left behind can be removed."""

import os
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

MOST_SECONDS = 24 * 3600.0  # no worker lasts longer
BOOT, TABLE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
DEAD, STARTED = ("Z", "X"), 18  # of `proc(5)`, where fields are counted after the state


class Owner(BaseModel):
    """A process, told from all others: of other hosts, of other containers, and of later ones."""

    model_config = ConfigDict(frozen=True)

    host: str
    process: int
    began: float
    at: float  # when it was written down, in seconds of the epoch

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


def me() -> str:
    """Return this process as a text that `gone` understands."""
    _, began = _look(os.getpid())
    owner = Owner(host=_host(), process=os.getpid(), began=began, at=time.time())
    return owner.model_dump_json()


def gone(text: str) -> bool:
    """Return whether the process that a text names has ended; what no owner wrote says no."""
    try:
        return Owner.model_validate_json(text).is_gone
    except ValidationError:
        return False


def _look(process: int) -> tuple[bool, float]:
    """Return whether a process still runs, and when it began.

    On Linux that is counted since the start of the machine: the time of day is set now and then,
    and all processes would seem to be others.
    """
    if sys.platform == "linux":
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        state, *fields = text.rpartition(")")[2].split()
        return state not in DEAD, float(fields[STARTED])
    other = psutil.Process(process)
    return other.status() != psutil.STATUS_ZOMBIE, other.create_time()


def _host() -> str:
    """Return this start of this machine, and which of its tables of processes is ours.

    Two machines may have the same name, and their first tables have the same number.
    """
    with suppress(OSError):
        return f"{BOOT.read_text(encoding='ascii').strip()} {TABLE.readlink()}"
    return platform.node()
