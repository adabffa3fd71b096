"""How every trace of a cell ends: its processes killed, its files deleted."""

import contextlib
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path


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
        in_helper(uid, reaper, lambda: os.kill(-1, signal.SIGKILL))
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


def in_helper(uid: int | None, reaper: int, action: Callable[[], None]) -> None:
    """Run ``action`` in a helper that has a cell's rights and that the cell can't kill.

    With ``reaper`` as its real and saved user, only the effective one is the cell's: the
    helper may signal the cell's processes, and none of them may signal it.
    """
    status = 1
    while status:
        helper = os.fork()
        if helper == 0:
            with contextlib.suppress(BaseException):
                if uid is not None:
                    os.setgroups([])
                    os.setresgid(uid, uid, uid)
                    os.setresuid(reaper, uid, reaper)
                action()
            os._exit(0)
        _, status = os.waitpid(helper, 0)


def wipe(directory: Path, uid: int | None, reaper: int) -> None:
    """Delete ``directory`` and all that a cell left in it, with no more rights than it had.

    The names in it are a cell's words, so a helper reads them; raises ``OSError`` where
    something is left.
    """
    in_helper(uid, reaper, lambda: empty(directory))
    directory.rmdir()


def empty(top: Path) -> None:
    """Delete all that is in ``top``, however deep, and whatever rights were taken from it.

    A folder's own folders are moved up beside it before it is deleted, so that neither the
    stack nor a path's length limits the depth.
    """
    while folders := _delete_files(top):
        for folder in folders:
            for inner in _delete_files(folder):
                inner.chmod(0o700)  # a folder that can't be written to can't be moved
                inner.rename(top / os.urandom(16).hex())
            folder.rmdir()


def _delete_files(folder: Path) -> list[Path]:
    """Delete the files in ``folder`` and return the folders in it."""
    folder.chmod(0o700)
    folders = []
    for path in folder.iterdir():
        if not path.is_symlink() and path.is_dir():
            folders.append(path)
        else:
            path.unlink()
    return folders
