"""What a cell gives up before it meets a student's code."""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import struct
from pathlib import Path

from .wire import Limits

PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 8, 36, 38
CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_READ_SEARCH = 2
OUT_OF_MEMORY_FIRST = "1000"
LIBC = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def keep_only(*kept: int) -> None:
    """Leave nothing on descriptors 0 to 2, and ``kept`` from 3 on."""
    # Moved out of the way first: one of them may lie where another belongs.
    moved = [fcntl.fcntl(one, fcntl.F_DUPFD, 3 + len(kept)) for one in kept]
    for place, one in enumerate(moved, 3):
        os.dup2(one, place)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(3 + len(kept), os.sysconf("SC_OPEN_MAX"))


def limit(limits: Limits) -> None:
    """Apply resource limits to this process and all that it starts."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        # Not the address space: OpenBLAS reserves more of it than it ever uses.
        resource.RLIMIT_DATA: limits["data_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["descriptors"],
        resource.RLIMIT_CPU: limits["cpu_seconds"],
    }
    if limits["processes"] is not None:
        wanted[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OUT_OF_MEMORY_FIRST)


def become(uid: int, *, read_anything: bool) -> None:
    """Drop groups, group and user for good.

    With ``read_anything``, one capability is kept: to read files of others, where Python's own
    lie in a folder that only root may enter.
    """
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    if read_anything:
        _prctl(PR_SET_KEEPCAPS, 1)
    os.setresuid(uid, uid, uid)
    if read_anything:
        _keep_capability(CAP_DAC_READ_SEARCH)


def end_with_parent() -> None:
    """Gain no rights from any program, and be killed when the worker's trusted process ends."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the identity, whose change undoes it


def _prctl(option: int, value: int) -> None:
    rest = [ctypes.c_ulong(one) for one in (value, 0, 0, 0)]
    _check(LIBC.prctl(option, *rest), "prctl")


def _keep_capability(number: int) -> None:
    """Give up every capability but one, as ``capset(2)`` describes."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    low = struct.pack("=III", 1 << number, 1 << number, 0)
    _check(LIBC.capset(header, low + bytes(12)), "capset")


def _check(result: int, call: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
