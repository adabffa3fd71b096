"""An audit hook that tells where a test looks at the form of code instead of what it does.

A flag for a person to look at, never a verdict: whoever knows of the hook finds ways round it.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from .modules import HOME
from .reporter import NAME_CAP, TEXT_CAP, Reporter

MOST_TOUCHES, DEEPEST = 20, 12
ATTRIBUTES = frozenset(
    {"__code__", "f_code", "gi_code", "cr_code", "ag_code", "tb_frame", "gi_frame", "cr_frame"}
)
CALLS = frozenset(
    {"code.__new__", "gc.get_objects", "gc.get_referents", "gc.get_referrers"}
    | {"marshal.dumps", "marshal.loads", "sys._current_frames", "sys._getframe"}
    | {"sys.addaudithook", "sys.monitoring.register_callback", "sys.setprofile", "sys.settrace"}
)
WATCHED_FILES = (f"{HOME}/", "/proc/")
# Whoever calls these reads by them. Other libraries read on their own account.
HANDS = frozenset(
    {"codecs", "ctypes", "dis", "importlib.resources", "inspect", "io", "linecache"}
    | {"pathlib", "pickletools", "tokenize", "traceback"}
)


class Audit:
    """Tells of each place in the student's files that touches the form of code, once."""

    def __init__(self, reporter: Reporter, root: Path) -> None:
        self._reporter, self._prefix = reporter, f"{root}/"
        self._told: set[tuple[str, str, int]] = set()
        self._busy = self._stopped = False
        self._process = os.getpid()

    def start(self) -> None:
        """Watch from now on, to the end of the process."""
        sys.addaudithook(self._hook())

    def stop(self) -> None:
        """Tell nothing more."""
        self._stopped = True

    def _hook(self) -> Callable[[str, tuple[Any, ...]], None]:
        tell = self._tell

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "object.__getattr__":
                if arguments[1] in ATTRIBUTES:
                    tell(arguments[1])
            elif event == "open":
                path = arguments[0]
                # By the type's own method: a student's type of text might do anything.
                if isinstance(path, str) and str.startswith(path, WATCHED_FILES):
                    tell(str.__str__(path))
            elif event in CALLS or event.startswith("ctypes."):
                tell(event)

        return hook

    def _tell(self, what: str) -> None:
        """Say that ``what`` was touched, if a student's file did it; whatever fails is silent."""
        if self._busy or self._stopped:
            return
        self._busy = True  # looking at frames is a touch too
        try:
            # A hook that raises would change what a test sees.
            with contextlib.suppress(Exception):
                place = self._place(sys._getframe(2))  # noqa: SLF001 — the way to a caller's frame
                if place is not None:
                    self._say((what[:NAME_CAP], *place))
        finally:
            self._busy = False

    def _say(self, touch: tuple[str, str, int]) -> None:
        what, path, line = touch
        known = touch in self._told or len(self._told) >= MOST_TOUCHES
        if known or os.getpid() != self._process:
            return
        self._told.add(touch)
        self._reporter.say("touch", what=what, path=path, line=line)

    def _place(self, frame: FrameType | None) -> tuple[str, int] | None:
        """Return the place in the student's files that acts here, by its own hand or by another."""
        for _ in range(DEEPEST):
            if frame is None:
                return None
            name = frame.f_code.co_filename
            if name.startswith(self._prefix):
                return name.removeprefix(self._prefix)[:TEXT_CAP], frame.f_lineno
            module = str(frame.f_globals.get("__name__", ""))
            if module not in HANDS and not name.startswith("<string>"):
                return None
            frame = frame.f_back
        return None
