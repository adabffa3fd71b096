"""The worker's trusted process, spoken to frame by frame."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import grader.worker
from grader.course import Limits
from grader.sandbox import command, environment, limits
from grader.worker import wire

MakeJob = Callable[..., wire.Cell]


class Worker:
    """A worker on two pipes, with nothing between it and the test."""

    def __init__(self, folder: Path, tables: Path) -> None:
        package = folder / "site-packages"
        package.mkdir()
        (package / "grader_worker").symlink_to(Path(grader.worker.__file__).parent)
        self.cells = folder / "cells"
        self.cells.mkdir()
        self.process = subprocess.Popen(
            command(sys.executable, str(package)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(str(tables)),
        )

    def send(self, kind: bytes, body: bytes = b"", size: int | None = None) -> None:
        """Send one frame, or one that promises another size."""
        assert self.process.stdin is not None
        header = wire.HEADER.pack(kind, len(body) if size is None else size)
        self.process.stdin.write(header + body)
        self.process.stdin.flush()

    def set_up(self, **changes: object) -> None:
        """Send a setup and wait until the worker is ready."""
        self.send(wire.SETUP, json.dumps({**self.setup(), **changes}).encode())
        kind, body = self.receive()
        assert kind == wire.READY, body

    def setup(self) -> wire.Setup:
        """Return a setup without users."""
        return wire.Setup(
            wire=wire.VERSION,
            modules={},
            preload=[],
            cells=str(self.cells),
            rooms=None,
            jail=None,
            readable=None,
            uids=None,
            read_anything=False,
            limits=limits(Limits(), None),
        )

    def receive(self) -> tuple[bytes, bytes]:
        """Return the next frame, two empty texts at the end."""
        assert self.process.stdout is not None
        header = self.process.stdout.read(wire.HEADER.size)
        if len(header) < wire.HEADER.size:
            return b"", b""
        kind, size = wire.HEADER.unpack(header)
        return kind, self.process.stdout.read(size)

    def until_end(self) -> tuple[bytes, wire.Ending]:
        """Return what a cell says, and how it ended."""
        said = b""
        while True:
            kind, body = self.receive()
            if kind == wire.END:
                return said, wire.Ending.unpack(body)
            assert kind == wire.DATA, (kind, body)
            said += body

    def end(self) -> tuple[int, str]:
        """Close its standard input; return how it ended and what it still said."""
        words, errors = self.process.communicate(timeout=60)
        return self.process.returncode, (words + errors).decode(errors="replace")


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where these workers keep Hypothesis' tables."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture
def worker(tmp_path: Path, tables: Path) -> Iterator[Worker]:
    """Return a worker that has heard nothing yet."""
    started = Worker(tmp_path, tables)
    yield started
    started.process.kill()
    started.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory, tables: Path) -> Iterator[Worker]:
    """Return a worker that is ready, for tests that leave it so."""
    started = Worker(tmp_path_factory.mktemp("lasting"), tables)
    started.set_up()
    yield started
    assert started.end() == (0, "")


def encoded(job: wire.Cell) -> bytes:
    """Return a job as it is sent."""
    return json.dumps(job).encode()


def test_it_ends_with_its_standard_input(worker: Worker) -> None:
    """Before a setup, and after one, without a word."""
    assert worker.end() == (0, "")


def test_it_tells_its_versions_once_it_is_ready(worker: Worker) -> None:
    """Those that a grade depends on."""
    worker.send(wire.SETUP, json.dumps(worker.setup()).encode())
    kind, body = worker.receive()
    assert kind == wire.READY
    ready = json.loads(body)
    assert set(ready["versions"]) == {"python", "pytest", "hypothesis", "numpy"}
    assert ready["sealed"] is True
    assert worker.end() == (0, "")
    assert list(worker.cells.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        (wire.SETUP, {"wire": wire.VERSION + 1}, b"rebuild the image"),
        (wire.CELL, {}, b"rebuild the image"),
        (wire.SETUP, {"preload": ["nothing_of_that_name"]}, b"nothing_of_that_name"),
        (
            wire.SETUP,
            {"modules": {"m": {"source": "1 / 0", "package": False}}, "preload": ["m"]},
            b"ZeroDivisionError",
        ),
        (
            wire.SETUP,
            {
                "modules": {"m": {"source": "print('x' * 10**6)\n1 / 0", "package": False}},
                "preload": ["m"],
            },
            b"ZeroDivisionError",
        ),
        (wire.SETUP, {"cells": "/no/such/folder"}, b"/no/such/folder"),
    ],
)
def test_what_it_can_not_serve_it_says_in_one_frame(
    worker: Worker, kind: bytes, changes: dict[str, object], words: bytes
) -> None:
    """What a preloaded module prints is no frame."""
    worker.send(kind, json.dumps({**worker.setup(), **changes}).encode())
    kind, body = worker.receive()
    assert kind == wire.FATAL
    assert words in body
    assert worker.receive() == (b"", b"")
    assert worker.end()[0] == 1


def test_an_order_to_end_a_cell_that_has_ended_is_no_error(
    lasting: Worker, make_job: MakeJob
) -> None:
    """It may cross the cell's end on its way; it is never meant for the next."""
    worker = lasting
    for _ in range(2):
        worker.send(wire.KILL)
        worker.send(wire.CELL, encoded(make_job("def test_it(): pass")))
        said, ending = worker.until_end()
        assert ending.wait_status == 0
        assert said.count(b'"phase"') == 3
        worker.send(wire.KILL)


def test_an_order_to_end_ends_the_cell(lasting: Worker, make_job: MakeJob) -> None:
    """And what it had said by then has come."""
    worker = lasting
    worker.send(wire.CELL, encoded(make_job("import time\ndef test_it(): time.sleep(600)")))
    said = b""
    while b'"start"' not in said:
        said += worker.receive()[1]
    worker.send(wire.KILL)
    _, ending = worker.until_end()
    assert ending.wait_status == signal.SIGKILL
    assert not ending.flooded
    assert list(worker.cells.iterdir()) == []


def test_a_cell_that_nobody_ends_is_ended_all_the_same(worker: Worker, make_job: MakeJob) -> None:
    """The supervisor may have been stopped; a cell that says something all the time is no other."""
    worker.set_up(limits={**worker.setup()["limits"], "seconds": 2})
    chatter = "def test_it(n): sleep(0.01)\n"
    for text in (
        "def test_it(): sleep(600)\n",
        f"import pytest\n@pytest.mark.parametrize('n', range(1000))\n{chatter}",
    ):
        began = time.monotonic()
        worker.send(wire.CELL, encoded(make_job(f"from time import sleep\n{text}")))
        said, ending = worker.until_end()
        assert b'"start"' in said
        assert ending.wait_status == signal.SIGKILL
        assert 1.5 < time.monotonic() - began < 20


def test_a_cell_that_comes_too_early_ends_the_worker(worker: Worker, make_job: MakeJob) -> None:
    """One at a time."""
    worker.set_up()
    hanging = encoded(make_job("import time\ntime.sleep(600)"))
    worker.send(wire.CELL, hanging)
    assert worker.receive()[0] == wire.DATA
    worker.send(wire.CELL)
    kind, body = worker.receive()
    while kind == wire.DATA:
        kind, body = worker.receive()
    assert (kind, body) == (wire.FATAL, b"a cell came before the last one had ended")
    assert worker.end()[0] == 1


def test_an_unknown_frame_ends_the_worker(worker: Worker) -> None:
    """It can't know how to go on."""
    worker.set_up()
    worker.send(b"?")
    kind, body = worker.receive()
    assert kind == wire.FATAL
    assert b"another wire version" in body


def test_a_text_that_is_no_job_is_the_workers_end_and_no_cells(worker: Worker) -> None:
    """No student's code has run, so no student is to blame."""
    worker.set_up()
    worker.send(wire.CELL, b"junk")
    kind, said = worker.receive()
    assert kind == wire.FATAL
    assert b"could not be set up" in said


def test_a_cell_that_can_not_be_confined_says_why(worker: Worker, make_job: MakeJob) -> None:
    """And never meets a student's code: here a file lies where a folder should."""
    job = make_job({"test_toy.py": "def test_it(): pass"})
    job["files"]["tests/test_toy.py/inside.py"] = ""
    worker.set_up()
    worker.send(wire.CELL, encoded(job))
    kind, said = worker.receive()
    assert kind == wire.FATAL
    assert b"could not be set up: " in said
    assert b"Error" in said


def test_a_folder_that_can_not_be_deleted_ends_the_worker(
    worker: Worker, make_job: MakeJob
) -> None:
    """The next cell would find what is in it; the reason is told."""
    moved = f"os.rename({str(worker.cells / 'cell')!r}, {str(worker.cells / 'moved')!r})"
    worker.set_up()
    worker.send(wire.CELL, encoded(make_job(f"import os\ndef test_it(): {moved}\n")))
    kind, said = worker.receive()
    while kind == wire.DATA:
        kind, said = worker.receive()
    assert kind == wire.FATAL
    assert b"could not be deleted" in said


def test_users_that_are_used_up_end_the_worker(worker: Worker) -> None:
    """No cell gets a user that another had."""
    worker.set_up(uids=[60_000_000, 1])
    worker.send(wire.CELL, b"")
    assert worker.receive() == (wire.FATAL, b"0 users are used up")


@pytest.mark.parametrize("size", [0, 10**6])
def test_a_supervisor_that_vanishes_ends_worker_and_cell(
    worker: Worker, make_job: MakeJob, size: int
) -> None:
    """While a cell runs, or while its text is still on the way."""
    worker.set_up()
    hanging = encoded(make_job("import time\ntime.sleep(600)"))
    worker.send(wire.CELL, hanging, len(hanging) + size)
    if size == 0:
        assert worker.receive()[0] == wire.DATA
    worker.end()
    deadline = time.monotonic() + 10
    while list(worker.cells.glob("cell/tests/*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(worker.cells.glob("cell/tests/*")) == []


def test_usage_is_that_of_each_cell(lasting: Worker, make_job: MakeJob) -> None:
    """And does not add up."""
    worker = lasting
    used = []
    for count in (3_000_000, 1):
        suite = f"def test_it():\n    for _ in range({count}): pass\n"
        worker.send(wire.CELL, encoded(make_job(suite)))
        _, ending = worker.until_end()
        assert ending.peak_kilobytes > 10_000
        used.append(ending.cpu_seconds)
    assert used[0] > used[1] > 0
