"""An audit hook that tells where a test looks at the form of code instead of what it does.

A flag for a person to look at, never a verdict: whoever knows of the hook finds ways round it.
"""

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
EVENTS = frozenset(
    {"object.__getattr__", "open", "code.__new__", "gc.get_objects", "gc.get_referents"}
    | {"gc.get_referrers", "marshal.dumps", "marshal.loads", "sys._current_frames"}
    | {"sys._getframe", "sys.addaudithook", "sys.monitoring.register_callback", "sys.setprofile"}
    | {"sys.settrace", "ctypes.PyObj_FromPtr", "ctypes.addressof", "ctypes.call_function"}
    | {"ctypes.cdata", "ctypes.cdata/buffer", "ctypes.dlopen", "ctypes.dlsym"}
    | {"ctypes.dlsym/handle", "ctypes.string_at", "ctypes.wstring_at"}
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
        self._foreign: set[object] = set()  # modules that touch on their own account

    def start(self) -> None:
        """Watch from now on, to the end of the process."""
        sys.addaudithook(self._hook())

    def stop(self) -> None:
        """Tell nothing more."""
        self._stopped = True

    def _hook(self) -> Callable[[str, tuple[Any, ...]], None]:
        """Return the hook: in an honest run it is called 20,000 times, and 2,500 times looks on.

        Nearly all of these are Hypothesis' and pytest's own, and are known by their module.
        """
        caller, foreign = sys._getframe, self._foreign  # noqa: SLF001 — the only way to a caller

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event not in EVENTS or self._busy or self._stopped:
                return
            self._busy = True  # looking at frames is a touch too
            try:
                frame = caller(1)
                if frame.f_globals.get("__name__") not in foreign:
                    self._tell(event, arguments, frame)
            except Exception:  # noqa: BLE001, S110 — a hook that raises would change what a test sees
                pass
            finally:
                self._busy = False

        return hook

    def _tell(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Say what was touched, if anything was, and a student's file did it."""
        place, what = self._place(frame), _touched(event, arguments)
        if place is None or what is None:
            return
        touch = (what[:NAME_CAP], *place)
        known = touch in self._told or len(self._told) >= MOST_TOUCHES
        if known or os.getpid() != self._process:
            return
        self._told.add(touch)
        self._reporter.say("touch", what=touch[0], path=touch[1], line=touch[2])

    def _place(self, frame: FrameType) -> tuple[str, int] | None:
        """Return the place in the student's files that acts here, by its own hand or by another."""
        above: FrameType | None = frame
        for _ in range(DEEPEST):
            if above is None:
                return None
            name = above.f_code.co_filename
            if name.startswith(self._prefix):
                return name.removeprefix(self._prefix)[:TEXT_CAP], above.f_lineno
            module = above.f_globals.get("__name__")
            if module not in HANDS and not name.startswith("<string>"):
                if above is frame:
                    self._foreign.add(module)
                return None
            above = above.f_back
        return None


def _touched(event: str, arguments: tuple[Any, ...]) -> str | None:
    """Return what of the form of code an event touches, or ``None``."""
    if event == "object.__getattr__":
        name: str = arguments[1]
        return name if name in ATTRIBUTES else None
    if event == "open":
        path = arguments[0]
        # By the type's own methods: a student's type of text might do anything.
        is_watched = isinstance(path, str) and str.startswith(path, WATCHED_FILES)
        return str.__str__(path) if is_watched else None
    return event
