"""How a cell speaks: one bounded line of JSON a fact, and the facts of an exception."""

import errno
import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from hypothesis.errors import HypothesisException

from . import wire

TEXT_CAP, NAME_CAP, PROPERTY_CAP = 500, 100, 200
LIMIT_ERRORS = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EFBIG, errno.EAGAIN, errno.ENOMEM}
    | {errno.EDQUOT}
)
AVAILABLE = "available fixtures: "
UNUSUAL = ("_", "doctest_", "record_", "pytestconfig", "tmpdir")
EXAMPLE_LABELS = ("Failing test case", "Failing explicit example", "Falsifying")


class Reporter:
    """Writes facts to a descriptor, a line each."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def say(self, event: str, **facts: object) -> None:
        """Write one fact; the supervisor checks it, and believes only what lowers a verdict."""
        # A lone surrogate, legal in Python's strings, is not in JSON.
        text = json.dumps({"event": event, **facts}, ensure_ascii=False)
        line = text.encode("utf-8", "replace")
        if len(line) >= wire.LINE_CAP:
            line = json.dumps({"event": "oversized", "of": event}).encode()
        view = memoryview(line + b"\n")
        while view:
            view = view[os.write(self._descriptor, view) :]


def short_id(node: str) -> str:
    """Return a test's id, and of one too long (pytest puts parameters in it) a stand-in."""
    if len(node) <= TEXT_CAP:
        return node
    digest = hashlib.sha256(node.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{node[: TEXT_CAP - 20]}...{digest}"


def property_of(item: pytest.Item) -> str | None:
    """Return the property that a test says it checks: ``@pytest.mark.property("its name")``."""
    mark = item.get_closest_marker("property")
    match mark and mark.args:
        case (str(name),) if name.strip():
            return name.strip()[:PROPERTY_CAP]
    return None


def kind_of(problem: BaseException) -> str:
    """Say whether ``problem`` can mean that a test saw a behaviour ("ordinary"), or what else."""
    if isinstance(problem, HypothesisException):
        return "hypothesis"
    if isinstance(problem, MemoryError):
        return "memory"
    if isinstance(problem, SystemExit | KeyboardInterrupt | pytest.exit.Exception):
        return "exit"
    if isinstance(problem, OSError) and problem.errno in LIMIT_ERRORS:
        return "limit"
    return "ordinary"


def text_of(value: object) -> str:
    """Return ``str(value)`` capped, whatever its ``__str__`` does."""
    try:
        text = str(value)
    except Exception as problem:  # noqa: BLE001 — a student's __str__ may raise anything
        text = f"<{type(value).__name__} that can't be shown: {type(problem).__name__}>"
    return text[:TEXT_CAP]


def own_line(trace: TracebackType | None, root: Path) -> tuple[str | None, int | None]:
    """Return the innermost place of a traceback that lies in the student's own files."""
    place: tuple[str | None, int | None] = (None, None)
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(f"{root}/"):
            place = (name.removeprefix(f"{root}/")[:TEXT_CAP], trace.tb_lineno)
        trace = trace.tb_next
    return place


def _said(problem: BaseException) -> object:
    """Return what an exception says; pytest's own on a missing fixture says no sentence."""
    if not isinstance(problem, pytest.FixtureLookupError):
        return problem
    lines = problem.formatrepr().errorstring.splitlines()
    known = next((line.partition(AVAILABLE)[2] for line in lines if AVAILABLE in line), "")
    names = [name for name in known.split(", ") if name and not name.startswith(UNUSUAL)]
    return f"no fixture is named {problem.argname!r}; there are: {', '.join(names)}"


def describe(problem: BaseException, root: Path) -> dict[str, Any]:
    """Return the facts of an exception that a report may need."""
    notes = [note for note in getattr(problem, "__notes__", ()) if isinstance(note, str)]
    witness = next((note for note in notes if note.startswith(EXAMPLE_LABELS)), None)
    file, line = own_line(problem.__traceback__, root)
    if isinstance(problem, SyntaxError) and problem.lineno:
        line = problem.lineno
    return {
        "kind": kind_of(problem),
        "exception": type(problem).__name__[:NAME_CAP],
        "message": text_of(_said(problem)),
        "file": file,
        "line": line,
        "witness": witness.partition(":")[2].strip()[:TEXT_CAP] if witness else None,
    }
