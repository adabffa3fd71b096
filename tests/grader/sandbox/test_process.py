"""The back-end without a container: what it promises, and that nothing of it is left."""

import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.course import Limits
from grader.outcome import End
from grader.problems import Void
from grader.sandbox import owner, some_users
from grader.sandbox import process as process_module
from grader.sandbox.process import ProcessSandbox
from grader.sandbox.session import Clock, Session
from grader.worker import wire

MakeJob = Callable[..., wire.Cell]
CLOCK = Clock(60, 60)
HANGING = """
import os, time
def test_it():
    time.sleep(600)
"""


@pytest.fixture
def folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Let private directories be made in a folder of this test's own, which others may enter.

    pytest keeps its folders to ourselves, and says so again whenever it starts.
    """
    tmp_path_factory.getbasetemp()  # not to be made in here
    with tempfile.TemporaryDirectory(prefix="process-") as name:
        Path(name).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)
        monkeypatch.undo()


@pytest.fixture
def sandbox(folder: Path) -> ProcessSandbox:
    """Return a sandbox whose private directories are in ``folder``."""
    assert folder
    return ProcessSandbox(Limits())


def pids_in(folder: Path) -> set[int]:
    """Return the processes that are at home in ``folder``."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder) in (entry / "cmdline").read_text():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def test_neither_process_nor_file_is_left(
    sandbox: ProcessSandbox, folder: Path, make_job: MakeJob
) -> None:
    """After an ordinary end."""
    with Session(sandbox, {}, []) as session:
        assert session.run(make_job("def test_it(): pass"), CLOCK, lambda watch: False).tests
        assert pids_in(folder)
    assert pids_in(folder) == set()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("killed", [False, True])
def test_neither_process_nor_file_is_left_while_a_cell_runs(
    sandbox: ProcessSandbox, folder: Path, make_job: MakeJob, *, killed: bool
) -> None:
    """Whether the worker is told to end or is killed, its cell ends too."""
    with Session(sandbox, {}, []) as session:
        session.send(wire.CELL, json.dumps(make_job(HANGING)).encode())
        deadline = time.monotonic() + 30
        while len(pids_in(folder)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(pids_in(folder)) == 2
        if killed:
            os.kill(session._channel._process.pid, signal.SIGKILL)
    assert pids_in(folder) == set()
    assert list(folder.iterdir()) == []


def test_a_worker_that_can_not_be_started_leaves_nothing(
    sandbox: ProcessSandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is a fault of the machine."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(Void, match="/no/such/python") as caught:
        sandbox.open()
    assert caught.value.fault == "machine"
    assert list(folder.iterdir()) == []


def test_a_folder_that_can_not_be_made_is_a_fault_of_the_machine(
    sandbox: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, for one."""
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(Void, match="/no/such/folder"):
        sandbox.open()


def test_only_linux_will_do(sandbox: ProcessSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere the message names the other back-end."""
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(Void, match=r"darwin.*--sandbox docker"):
        sandbox.open()


def test_closing_twice_is_no_error(sandbox: ProcessSandbox) -> None:
    """Whoever loses a worker closes it, and so does its owner."""
    channel, _ = sandbox.open()
    assert channel.close() == channel.close()


def test_a_worker_that_stops_reading_is_given_up(
    sandbox: ProcessSandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grading never waits on a full pipe."""
    monkeypatch.setattr(process_module, "WRITE_SECONDS", 0.3)
    monkeypatch.setattr(process_module, "END_SECONDS", 0.3)
    channel, _ = sandbox.open()
    with contextlib.closing(channel):
        os.kill(channel._process.pid, signal.SIGSTOP)
        with pytest.raises(TimeoutError):
            channel.write(bytes(1 << 22))
    assert pids_in(folder) == set()


def test_reading_waits_no_longer_than_it_should(sandbox: ProcessSandbox) -> None:
    """An unanswered question ends in an exception."""
    channel, _ = sandbox.open()
    with contextlib.closing(channel), pytest.raises(TimeoutError):
        channel.read(0.05)


def test_root_gives_cells_users_that_nobody_else_has(sandbox: ProcessSandbox) -> None:
    """Anyone else's cells are their own."""
    channel, site = sandbox.open()
    channel.close()
    if os.geteuid() == 0:
        assert site.uids is not None
        assert site.uids[0] >= 200_000
        assert site.limits["processes"] == 64
    else:
        assert site.uids is None
        assert site.limits["processes"] is None
        assert not site.read_anything


def test_users_are_drawn_anew_for_each_worker() -> None:
    """Two gradings on one machine do not end each other's cells."""
    drawn = {some_users() for _ in range(40)}
    assert len(drawn) > 30
    assert all(200_000 <= first <= 60_000_000 and count == 100_000 for first, count in drawn)


def test_cells_read_what_is_roots_only_where_python_is(
    sandbox: ProcessSandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one capability that a cell may keep is kept only where it is needed."""
    python = folder / "python"
    python.mkdir(mode=0o755)
    monkeypatch.setattr(sys, "prefix", str(python))
    monkeypatch.setattr(sys, "base_prefix", str(python))
    assert process_module._readable_by_others()
    python.chmod(0o700)
    assert not process_module._readable_by_others()
    channel, site = sandbox.open()
    channel.close()
    assert site.read_anything == (os.geteuid() == 0)


def test_nothing_of_the_callers_environment_reaches_a_test(
    sandbox: ProcessSandbox, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither secrets, nor what steers Python and pytest."""
    for name in ("SECRET", "PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "CI"):
        monkeypatch.setenv(name, "--co")
    suite = """
import os
def test_it():
    assert "--co" not in os.environ.values()
    assert os.environ["HOME"] == os.path.realpath("../home")
"""
    with Session(sandbox, {}, []) as session:
        outcome = session.run(make_job(suite), CLOCK, lambda watch: False)
    assert outcome.end is End.COMPLETE
    assert not outcome.runs["test_toy.py::test_it"].failed


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o027])
def test_whatever_umask_the_caller_has_cells_run(
    sandbox: ProcessSandbox, make_job: MakeJob, mask: int
) -> None:
    """A user of a cell's own must be able to reach its folder."""
    before = os.umask(mask)
    try:
        with Session(sandbox, {}, []) as session:
            outcome = session.run(make_job("def test_it(): pass"), CLOCK, lambda watch: False)
    finally:
        os.umask(before)
    assert outcome.end is End.COMPLETE


def test_tables_of_characters_are_made_once_for_all_gradings(
    sandbox: ProcessSandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They take a second; nothing else is kept with them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Session(sandbox, {}, []):
        pass
    tables = tmp_path / "grader" / "tables"
    assert {path.name for path in tables.iterdir()} <= {"unicode_data", "tmp", ".gitignore"}
    [made] = tables.rglob("charmap.json.gz")
    before = made.stat().st_mtime_ns
    with Session(sandbox, {}, []):
        pass
    assert made.stat().st_mtime_ns == before


def test_a_folder_is_its_owners_from_the_first_moment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """However early its grader is killed, the next one removes it; nobody else's is touched."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    alive = owner.me()
    names = {
        f"grader-{alive._replace(began=1)}-abc_d1": False,
        f"grader-{alive}-abc_d2": True,
        f"grader-{alive._replace(host='0' * 12)}-abc_d3": True,
        "grader-homework": True,
    }
    for name in names:
        (tmp_path / name).mkdir()
    ProcessSandbox(Limits())
    assert {name: (tmp_path / name).exists() for name in names} == names
    channel, _ = ProcessSandbox(Limits()).open()
    [made] = {one.name for one in tmp_path.iterdir()} - names.keys()
    assert owner.read(made.removeprefix("grader-").rpartition("-")[0]) is not None
    channel.close()
    assert not (tmp_path / made).exists()
