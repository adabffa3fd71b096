"""A pytest plugin that fixes the order and the settings of a session and says what happens."""

import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest

from .reporter import Reporter, describe, property_of, short_id
from .session import enforce


class Selection(NamedTuple):
    """Which tests run, in what order, and how long."""

    only: str  # a part of their names
    skip: frozenset[str]
    last: tuple[str, ...]  # in the order in which they run after all others
    most_tests: int
    most_examples: int
    shrink: bool  # whether failing inputs are made small


class Recorder:
    """Fixes the settings and the order of a session, and reports its facts."""

    def __init__(
        self, selection: Selection, reporter: Reporter, root: Path, targets: Sequence[str]
    ) -> None:
        self.reporter, self.targets = reporter, targets
        self._selection, self._root = selection, root
        self._installed = len(sys.path)
        self._conftests: Iterator[str] = iter(())  # those that pytest has still to read
        self._collected = False

    @pytest.hookimpl(wrapper=True)
    def pytest_load_initial_conftests(self) -> Generator[None, None, None]:
        """Say which ``conftest.py`` is read, and why one can't be: pytest then gives up."""
        self._conftests = _conftests(self._root, self.targets)
        self._next_conftest()
        try:
            yield
        except BaseException as problem:
            cause: BaseException = getattr(problem, "cause", problem)
            path = str(getattr(problem, "path", "conftest.py")).removeprefix(f"{self._root}/")
            self.reporter.say("unreadable", path=path, failure=describe(cause, self._root))
            raise

    def pytest_plugin_registered(self, plugin_name: str) -> None:
        """Say which ``conftest.py`` is read next, once one has been."""
        if plugin_name.endswith("/conftest.py"):
            self._next_conftest()

    def _next_conftest(self) -> None:
        if path := next(self._conftests, None):
            self._read(path)

    def _read(self, path: str) -> None:
        """Say which file is read, and let it import what lies beside it.

        As at home, what lies beside it comes before what lies beside the other files; unlike
        there, it never comes before what is installed.
        """
        self.reporter.say("file", path=path)
        folder = (self._root / path).parent
        while (folder / "__init__.py").is_file():
            folder = folder.parent
        sys.path[self._installed :] = [
            str(folder),
            *(entry for entry in sys.path[self._installed :] if entry != str(folder)),
        ]

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Say which file is read, so that a file which never ends can be named."""
        if isinstance(collector, pytest.File):
            self._read(collector.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self,
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Say which file could not be imported, and why."""
        report = yield
        call: pytest.CallInfo[Any] | None = getattr(report, "call", None)
        if report.failed and call is not None and call.excinfo is not None:
            problem = call.excinfo.value
            if isinstance(problem, pytest.Collector.CollectError) and problem.__cause__:
                problem = problem.__cause__
            path = report.nodeid.partition("::")[0]
            self.reporter.say("unreadable", path=path, failure=describe(problem, self._root))
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Cap, leave out, put last, and say which tests there are."""
        chosen = self._selection
        wanted = [item for item in items if chosen.only in short_id(item.nodeid)]
        if len(wanted) > chosen.most_tests:
            self.reporter.say("too_many", count=len(wanted) - chosen.most_tests)
        kept = [
            item for item in wanted[: chosen.most_tests] if short_id(item.nodeid) not in chosen.skip
        ]
        place = {test: index for index, test in enumerate(chosen.last, 1)}
        kept.sort(key=lambda item: place.get(short_id(item.nodeid), 0))
        items[:] = kept
        for item in items:
            _settle(item, chosen)
            self.reporter.say("test", id=short_id(item.nodeid), property=property_of(item))
        self.reporter.say("collected")
        self._collected = True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test starts; the supervisor's clock for it starts here."""
        self.reporter.say("start", id=short_id(nodeid))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the facts of an exception with its report."""
        report = yield
        if report.failed and call.excinfo is not None:
            report.grader_failure = describe(call.excinfo.value, self._root)  # type: ignore[attr-defined] # reports carry extra attributes by design
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say how a phase of a test, or one of its sub-tests, ended."""
        self.reporter.say(
            "phase",
            id=short_id(report.nodeid),
            when=report.when,
            outcome=report.outcome,
            expected_to_fail=hasattr(report, "wasxfail") or _is_strict_pass(report),
            failure=getattr(report, "grader_failure", None),
        )

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Say which file of the student's raised where pytest does not expect it: in a hook."""
        facts = describe(excinfo.value, self._root)
        if facts["file"] is not None and not self._collected:
            self.reporter.say("unreadable", path=facts["file"], failure=facts)


def _conftests(root: Path, targets: Sequence[str]) -> Iterator[str]:
    """Yield the ``conftest.py`` files above ``targets``, in the order in which pytest reads them.

    Each is looked for when the one before has been read.
    """
    seen: set[Path] = set()
    for target in targets:
        for folder in reversed(Path(target).parents):
            path = folder / "conftest.py"
            if path not in seen and (root / path).is_file():
                seen.add(path)
                yield path.as_posix()


def _is_strict_pass(report: pytest.TestReport) -> bool:
    return isinstance(report.longrepr, str) and report.longrepr.startswith("[XPASS(strict)]")


def _settle(item: pytest.Item, chosen: Selection) -> None:
    """Enforce grader's settings where Hypothesis and its pytest plugin look for them."""
    test = getattr(item, "obj", None)
    function = getattr(test, "__func__", test)
    settings = getattr(function, "_hypothesis_internal_use_settings", None)
    if isinstance(settings, hypothesis.settings):
        enforced = enforce(settings, chosen.most_examples, shrink=chosen.shrink)
        function._hypothesis_internal_use_settings = enforced  # type: ignore[union-attr] # noqa: SLF001 — the attribute that Hypothesis' own plugin sets
    machine = getattr(item, "cls", None)
    if isinstance(getattr(machine, "settings", None), hypothesis.settings):
        enforced = enforce(machine.settings, chosen.most_examples, shrink=chosen.shrink)  # type: ignore[union-attr] # seen to be a class one line above
        machine.settings = enforced  # type: ignore[union-attr] # seen to be a class one line above
