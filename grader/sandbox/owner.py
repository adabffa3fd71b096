"""Who owns a worker: known again after its death, so that what it left behind can be removed."""

import os
import platform
import time
from contextlib import suppress
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

MOST_SECONDS = 24 * 3600.0  # no grading lasts longer


class Owner(BaseModel):
    """A process, told from all others: of other hosts, of other containers, and of later ones."""

    model_config = ConfigDict(frozen=True)

    host: str
    process: int
    began: float  # in seconds of the epoch
    at: float  # when it was written down

    @property
    def is_gone(self) -> bool:
        """Whether it has ended; of another host's no more is known than that it must have."""
        if self.host != _host():
            return time.time() - self.at > MOST_SECONDS
        try:
            return psutil.Process(self.process).create_time() != self.began
        except psutil.NoSuchProcess:
            return True


def me() -> str:
    """Return this process as a text that `gone` understands."""
    began = psutil.Process().create_time()
    owner = Owner(host=_host(), process=os.getpid(), began=began, at=time.time())
    return owner.model_dump_json()


def gone(text: str) -> bool:
    """Return whether the process that a text names has ended; what no owner wrote says no."""
    try:
        return Owner.model_validate_json(text).is_gone
    except ValidationError:
        return False


def _host() -> str:
    """Return this host's name, and which of its tables of processes is ours."""
    table = ""
    with suppress(OSError):
        table = str(Path("/proc/self/ns/pid").readlink())
    return f"{platform.node()} {table}"
