"""Landlock: a cell that shares the machine's files keeps sight of those that Python needs.

The kernel's own numbers, from ``landlock(7)``; they are the same on every architecture.
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

CREATE, ADD, RESTRICT = 444, 445, 446
GIVE_VERSION, BENEATH = 1, 1
READ_FILE, READ_FOLDER, WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
READ, READ_WRITE = READ_FILE | READ_FOLDER, READ_FILE | WRITE_FILE
# By version: the rights on files that it knows (each has all of those before it), and whether it
# knows ports and signals.
FILES = {1: 13, 2: 14, 3: 15, 5: 16}
PORTS_SINCE, SIGNALS_SINCE = 4, 6
PORTS, SIGNALS = 0b11, 0b11  # none may be bound or reached; no socket, no process but its own
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Return which version of Landlock the kernel has, or 0 where it has none."""
    found: int = LIBC.syscall(CREATE, None, ctypes.c_size_t(0), GIVE_VERSION)
    return max(0, found)


def make_rules(readable: Iterable[str], own: Path) -> int | None:
    """Return a descriptor of rules by which ``readable`` may be read, and ``own`` be used at will.

    Returns ``None`` where the kernel knows no Landlock; raises ``OSError`` where rules can't be
    made.
    """
    known = version()
    if not known:
        return None
    rights = (1 << FILES[max(one for one in FILES if one <= known)]) - 1
    attributes = struct.pack("=Q", rights)
    if known >= PORTS_SINCE:
        attributes += struct.pack("=Q", PORTS)
    if known >= SIGNALS_SINCE:
        attributes += struct.pack("=Q", SIGNALS)
    rules = _call(CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    _allow(rules, str(own), rights)
    for path in readable:
        _allow(rules, path, READ)
    for path in DEVICES:
        _allow(rules, path, READ_WRITE)
    return rules


def put_on(rules: int) -> None:
    """Give up all that ``rules`` don't allow, for good; raises ``OSError`` where that fails.

    A process must have sworn off new privileges before.
    """
    _call(RESTRICT, rules, 0)
    os.close(rules)


def around(folder: Path, hidden: Path) -> Iterator[str]:
    """Yield paths that hold all of ``folder`` but ``hidden``."""
    if not hidden.is_relative_to(folder):
        yield str(folder)
    elif hidden != folder:
        for path in folder.iterdir():
            yield from around(path, hidden)


def _allow(rules: int, path: str, rights: int) -> None:
    """Allow ``rights`` below ``path``, if there is such a place."""
    with contextlib.suppress(FileNotFoundError, PermissionError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(path):  # noqa: PTH112 — a thousand times faster than a Path's
                rights &= READ_WRITE
            _call(ADD, rules, BENEATH, struct.pack("=Qi", rights, place), 0)
        finally:
            os.close(place)


def _call(number: int, *arguments: object) -> int:
    result: int = LIBC.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
