"""The program as its users start it, in a process of its own that can be killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.grader.cli.conftest import GOOD, TOY, Student

START = "from grader.cli import main; raise SystemExit(main())"
SLOW = f"{GOOD}\n\ndef test_slow():\n    assert sum(range(2_000_000)) + double(1) > 2\n"
PATIENCE = 120


@dataclass(frozen=True)
class Place:
    """Where gradings of one student's repository keep all that they keep."""

    root: Path
    sandbox: str
    student: Student
    scratch: Path  # where temporary files lie, which other users must be able to enter

    @property
    def runs(self) -> Path:
        """Where outcomes are kept."""
        return self.root / "runs"

    @property
    def report(self) -> Path:
        """The file of the grade."""
        return self.root / "grade.json"

    def start(self, *more: str) -> "subprocess.Popen[str]":
        """Start a grading."""
        how = ("--sandbox", self.sandbox, "--jobs", "2", "--run-dir", self.runs, *more)
        where = ("--course", TOY, "--repo", self.student.root, "--json", self.report)
        variables = {"TMPDIR": str(self.scratch), "XDG_STATE_HOME": str(self.root / "state")}
        return subprocess.Popen(
            [sys.executable, "-c", START, "mutate", "T1", *map(str, (*how, *where))],
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def grade(self) -> tuple[int, str]:
        """Grade, and return the exit code and what was printed."""
        with self.start() as process:
            printed, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, printed

    def found(self) -> Mapping[str, Any]:
        """Return the grade, without what no two gradings agree in."""
        found: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        del found["seconds"]
        return found

    def kept(self) -> list[str]:
        """Return the outcomes on disk, those alone that were written whole."""
        texts = [one.read_text(encoding="utf-8") for one in self.runs.glob("*/journal.jsonl")]
        lines = [line for text in texts for line in text.splitlines(keepends=True)]
        return [line for line in lines if line.endswith("\n")]

    def folders(self) -> list[Path]:
        """Return the private folders of workers."""
        return [one for one in self.scratch.glob("grader-*") if one.is_dir()]

    def workers(self) -> list[psutil.Process]:
        """Return the processes of workers and cells outside of containers."""
        return [
            one
            for one in psutil.process_iter(["cmdline"])
            if any(str(self.scratch) in part for part in one.info["cmdline"] or ())
        ]


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Place]]:
    """Return a function that makes places, each for one sandbox."""
    scratches = []

    def make(sandbox: str, name: str = "here", suite: str = SLOW) -> Place:
        if sandbox == "docker":
            request.getfixturevalue("worker_image")
        root = tmp_path / name
        scratches.append(Path(tempfile.mkdtemp(prefix="faults-")))
        scratches[-1].chmod(0o711)
        return Place(root, sandbox, Student(root / "repo").build().test(suite), scratches[-1])

    yield make
    for scratch in scratches:
        shutil.rmtree(scratch)


def kill(process: "subprocess.Popen[str]") -> None:
    """End a process as nothing can prevent."""
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    if process.stdout is not None:
        process.stdout.close()


def soon(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Wait until something holds; returns whether it did in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()
