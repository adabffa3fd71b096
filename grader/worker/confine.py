"""What a cell gives up before it meets a student's code, and how every trace of it ends."""

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import struct
from collections.abc import Callable
from pathlib import Path

from .wire import Limits

PR_SET_KEEPCAPS, PR_SET_CHILD_SUBREAPER = 8, 36
CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_READ_SEARCH = 2
OUT_OF_MEMORY_FIRST = "1000"


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep_only(results: int) -> None:
    """Leave four descriptors: nothing on 0 to 2, the result pipe on 3."""
    os.dup2(results, 3)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))


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
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
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
        ctypes.CDLL(None).prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setresuid(uid, uid, uid)
    if read_anything:
        _keep_capability(CAP_DAC_READ_SEARCH)
    os.umask(0o077)


def _keep_capability(number: int) -> None:
    """Give up every capability but one, as ``capset(2)`` describes."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    low = struct.pack("=III", 1 << number, 1 << number, 0)
    ctypes.CDLL(None).capset(header, low + bytes(12))


def hide_processes_and_seal() -> bool:
    """Enter a tree without ``/proc`` and give up system calls: not built yet.

    Its place in the order is here, after the identity is dropped and before the variant is
    compiled. Returns whether the cell is sealed, which the report repeats.
    """
    return False


def end(cell: int, uid: int | None, reaper: int) -> tuple[int, resource.struct_rusage]:
    """Kill ``cell`` and all that it started, wait until nothing is left, and return its end.

    Parameters
    ----------
    cell
        Process id of the cell, a child of ours that nobody has waited for.
    uid
        The cell's own user, or ``None`` if it shares ours; then its descendants are found
        by their parent, which is us once theirs has ended.
    reaper
        A user that owns nothing else, for the helper that kills.

    Returns
    -------
    tuple
        Wait status and resource usage of the cell itself.
    """
    if uid is None:
        os.kill(cell, signal.SIGKILL)
    else:
        as_other_user(uid, reaper, lambda: os.kill(-1, signal.SIGKILL))
    _, status, usage = os.wait4(cell, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            if uid is None:
                _kill_children()
            os.waitpid(-1, 0)
    return status, usage


def _kill_children() -> None:
    for thread in Path("/proc/self/task").iterdir():
        for child in (thread / "children").read_text().split():
            os.kill(int(child), signal.SIGKILL)


def as_other_user(uid: int, reaper: int, action: Callable[[], None]) -> None:
    """Run ``action`` in a helper that has a cell's rights and that the cell can't kill.

    With ``reaper`` as its real and saved user, only the effective one is the cell's: the
    helper may signal the cell's processes, and none of them may signal it.
    """
    status = 1
    while status:
        helper = os.fork()
        if helper == 0:
            with contextlib.suppress(BaseException):
                os.setresuid(reaper, uid, reaper)
                action()
            os._exit(0)
        _, status = os.waitpid(helper, 0)


def wipe(directory: Path, uid: int | None, reaper: int) -> None:
    """Delete what a cell left in ``directory``, with no more rights than the cell had."""

    def delete() -> None:
        shutil.rmtree(directory, ignore_errors=True)

    if uid is None:
        delete()
    else:
        as_other_user(uid, reaper, delete)
    with contextlib.suppress(OSError):
        directory.rmdir()
