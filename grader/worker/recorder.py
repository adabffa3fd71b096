"""A pytest plugin that says what happens, one bounded line of JSON a fact."""

import errno
import json
import os
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Any

import hypothesis
import pytest
from hypothesis.errors import HypothesisException

from . import wire
from .session import enforce

TEXT_CAP = 500
LIMIT_ERRORS = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EFBIG, errno.EAGAIN, errno.ENOMEM}
    | {errno.EDQUOT}
)
EXAMPLE_LABELS = ("Failing test case", "Failing explicit example", "Falsifying")


class Reporter:
    """Writes facts to a descriptor, a line each."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def say(self, event: str, **facts: object) -> None:
        """Write one fact; the supervisor checks it, and believes only what lowers a verdict."""
        line = json.dumps({"event": event, **facts}).encode()
        if len(line) >= wire.LINE_CAP:
            line = json.dumps({"event": "oversized", "of": event}).encode()
        view = memoryview(line + b"\n")
        while view:
            view = view[os.write(self._descriptor, view) :]


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


def describe(problem: BaseException, root: Path) -> dict[str, Any]:
    """Return the facts of an exception that a report may need."""
    notes = [note for note in getattr(problem, "__notes__", ()) if isinstance(note, str)]
    witness = next((note for note in notes if note.startswith(EXAMPLE_LABELS)), None)
    file, line = own_line(problem.__traceback__, root)
    return {
        "kind": kind_of(problem),
        "exception": type(problem).__name__[:100],
        "message": text_of(problem),
        "file": file,
        "line": line,
        "witness": witness.partition(":")[2].strip()[:TEXT_CAP] if witness else None,
    }


class Recorder:
    """Fixes the settings and the order of a session, and reports its facts."""

    def __init__(self, job: wire.Cell, reporter: Reporter, root: Path) -> None:
        self._job, self._reporter, self._root = job, reporter, root

    @pytest.hookimpl(wrapper=True)
    def pytest_load_initial_conftests(self) -> Generator[None, None, None]:
        """Say why a ``conftest.py`` could not be imported: pytest then gives up at once."""
        try:
            yield
        except Exception as problem:
            cause: BaseException = getattr(problem, "cause", problem)
            path = str(getattr(problem, "path", "conftest.py")).removeprefix(f"{self._root}/")
            self._reporter.say("unreadable", path=path, failure=describe(cause, self._root))
            raise

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Say which file is read, so that a file which never ends can be named."""
        if isinstance(collector, pytest.File):
            self._reporter.say("file", path=collector.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Say which file could not be imported, and why."""
        report = yield
        call: pytest.CallInfo[Any] | None = getattr(report, "call", None)
        if report.failed and call is not None and call.excinfo is not None:
            problem = call.excinfo.value
            if isinstance(problem, pytest.Collector.CollectError) and problem.__cause__:
                problem = problem.__cause__
            facts = describe(problem, self._root)
            if isinstance(problem, SyntaxError) and problem.lineno:
                facts["line"] = problem.lineno
            path = report.nodeid.partition("::")[0]
            self._reporter.say("unreadable", path=path, failure=facts)
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out, put last, cap, and say which tests there are."""
        skip, last = set(self._job["skip"]), set(self._job["last"])
        kept = [item for item in items if item.nodeid not in skip]
        kept.sort(key=lambda item: item.nodeid in last)
        most = self._job["most_tests"]
        if len(kept) > most:
            self._reporter.say("too_many", count=len(kept) - most)
        items[:] = kept[:most]
        for item in items:
            _settle(item, self._job["most_examples"])
            self._reporter.say("test", id=item.nodeid)
        self._reporter.say("collected")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test starts; the supervisor's clock for it starts here."""
        self._reporter.say("start", id=nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the facts of an exception with its report."""
        del item
        report = yield
        if report.failed and call.excinfo is not None:
            report.grader_failure = describe(call.excinfo.value, self._root)  # type: ignore[attr-defined] # reports carry extra attributes by design
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say how a phase of a test, or one of its sub-tests, ended."""
        self._reporter.say(
            "phase",
            id=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            expected_to_fail=hasattr(report, "wasxfail") or _is_strict_pass(report),
            failure=getattr(report, "grader_failure", None),
        )


def _is_strict_pass(report: pytest.TestReport) -> bool:
    return isinstance(report.longrepr, str) and report.longrepr.startswith("[XPASS(strict)]")


def _settle(item: pytest.Item, most_examples: int) -> None:
    """Enforce grader's settings where Hypothesis and its pytest plugin look for them."""
    test = getattr(item, "obj", None)
    function = getattr(test, "__func__", test)
    settings = getattr(function, "_hypothesis_internal_use_settings", None)
    if isinstance(settings, hypothesis.settings):
        function._hypothesis_internal_use_settings = enforce(settings, most_examples)  # type: ignore[union-attr] # noqa: SLF001 — the attribute that Hypothesis' own plugin sets
    machine = getattr(item, "cls", None)
    if isinstance(getattr(machine, "settings", None), hypothesis.settings):
        machine.settings = enforce(machine.settings, most_examples)  # type: ignore[union-attr] # seen to be a class one line above
