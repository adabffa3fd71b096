"""The wire between supervisor and worker: frames, and the documents inside them.

A frame is a header (one byte of kind, four of length) and a body. To the worker go one
``SETUP``, then a ``CELL`` at a time and perhaps a ``KILL``; back come ``READY`` or
``FATAL``, then for each cell ``DATA`` frames and one ``END``. Everything but ``DATA`` is
written by the worker's trusted process; ``DATA`` carries what the cell itself said.
"""

import struct
from typing import Literal, NamedTuple, TypedDict

VERSION = 3
HEADER = struct.Struct(">cI")
ENDING = struct.Struct(">iBdQ")
DATA_CAP = 4 << 20
LINE_CAP = 8 << 10

SETUP, CELL, KILL = b"S", b"C", b"K"
READY, FATAL, DATA, END = b"R", b"F", b"D", b"E"


class Ending(NamedTuple):
    """What the worker's trusted process saw of a cell's end."""

    wait_status: int
    flooded: bool
    cpu_seconds: float
    peak_kilobytes: int

    def pack(self) -> bytes:
        """Return the body of an ``END`` frame."""
        return ENDING.pack(
            self.wait_status, self.flooded, self.cpu_seconds, max(0, self.peak_kilobytes)
        )

    @classmethod
    def unpack(cls, body: bytes) -> "Ending":
        """Read the body of an ``END`` frame; raises ``struct.error`` on another size."""
        status, flooded, cpu, peak = ENDING.unpack(body)
        return cls(status, bool(flooded), cpu, peak)


def frame(kind: bytes, body: bytes = b"") -> bytes:
    """Return a frame ready to be written."""
    return HEADER.pack(kind, len(body)) + body


def room(number: int) -> str:
    """Return the name of the folder that serves one cell."""
    return f"{number:03x}"


class Module(TypedDict):
    """A module to serve from memory."""

    source: str
    package: bool


class Limits(TypedDict):
    """Resource limits that a cell sets on itself before it meets a student's code.

    ``seconds`` is how long the worker lets it run if nobody tells it to end it.
    """

    data_bytes: int
    file_bytes: int
    descriptors: int
    processes: int | None
    cpu_seconds: int
    seconds: int
    event_loop: bool


class Setup(TypedDict):
    """The first frame: what every cell of this worker shares.

    ``rooms`` is how many folders below ``cells`` serve one cell each, named by ``room``;
    ``jail`` the folder that a cell takes for the root, ``readable`` what it may read where it
    shares the machine's files: all that there is, if nothing is said.
    """

    wire: int
    modules: dict[str, Module]
    preload: list[str]
    cells: str
    rooms: int | None
    jail: str | None
    readable: list[str] | None
    uids: tuple[int, int] | None
    read_anything: bool
    limits: Limits


class Ready(TypedDict):
    """The body of a ``READY`` frame.

    ``sealed`` says whether cells give up system calls, ``sees_little`` whether of files they see
    no more than they need.
    """

    versions: dict[str, str]
    sealed: bool
    sees_little: bool


class Cell(TypedDict):
    """One run. The worker's trusted process never reads it; the forked child does.

    ``files`` maps paths below the cell's directory to base64 text, ``root`` is the folder
    that test ids are relative to, ``targets`` the test files in order. Of the tests, those
    run whose ids contain ``only``.
    """

    mode: Literal["tests", "look"]
    files: dict[str, str]
    root: str
    targets: list[str]
    modules: dict[str, Module]
    draw: int
    entropy: int
    only: str
    last: list[str]
    skip: list[str]
    most_tests: int
    most_examples: int
    shrink: bool
