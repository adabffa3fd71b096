"""The console scripts, in processes of their own: both names, signals, pipes, terminals."""

import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.grader.cli.conftest import GOOD, TOY, WEAK, Student

SCRIPTS = Path(sys.executable).parent
HOW = ("--course", TOY, "--sandbox", "process", "--jobs", "1")


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return an environment whose temporary files can be told from everybody else's."""
    with tempfile.TemporaryDirectory() as folder:
        # A cell has a user of its own, who must get there.
        Path(folder).chmod(0o755)
        yield {**os.environ, "TMPDIR": folder, "XDG_STATE_HOME": str(tmp_path / "state")}


def _run(script: str, *arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
    command = [SCRIPTS / script, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, **options
    )


def test_both_names_are_one_program_that_echoes_the_name_that_was_typed(tmp_path: Path) -> None:
    """With the exit code of the problem."""
    for script in ("grade", "ol"):
        done = _run(script, "start", "T9", "--course", TOY, "--repo", tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith(f"{script}: no assignment 'T9' in the course toy")


def test_a_script_grades(student: Student, environment: dict[str, str]) -> None:
    """Silently where standard error is no terminal, and it leaves nothing behind."""
    for text, code in ((GOOD, 0), (WEAK, 1), ("def helper(): pass\n", 3)):
        student.test(text)
        done = _run("ol", "mutate", "T1", "--repo", student.root, *HOW, env=environment)
        assert done.returncode == code
        assert done.stderr == ""
        assert done.stdout.splitlines()[-1].startswith("passed" if code == 0 else "not passed: ")
        assert list(Path(environment["TMPDIR"]).iterdir()) == []


def test_progress_is_shown_at_a_terminal(student: Student, environment: dict[str, str]) -> None:
    """On standard error, so that a report can be piped on."""
    student.test(GOOD)
    ours, theirs = pty.openpty()
    command = [SCRIPTS / "grade", "mutate", "T1", "--repo", student.root, *HOW]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env={**environment, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        shown = b"".join(_read(ours))
        assert process.stdout is not None
        report = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"running them on faulty versions" in shown
    assert report.endswith(b"\npassed\n")
    assert b"\x1b" not in report


def _read(descriptor: int) -> Iterator[bytes]:
    with suppress(OSError):  # how Linux says that a terminal's other side has gone
        while data := os.read(descriptor, 1 << 16):
            yield data


def test_a_reader_that_goes_away_changes_no_exit_code(
    student: Student, environment: dict[str, str]
) -> None:
    """`grade … | head -1` must not turn a pass into a failure."""
    student.test(GOOD)
    reading, writing = os.pipe()
    os.close(reading)
    command = [SCRIPTS / "grade", "mutate", "T1", "--repo", student.root, *HOW]
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, env=environment, timeout=120, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_of_another_encoding_gets_the_report_all_the_same(
    student: Student, environment: dict[str, str]
) -> None:
    """With what it can't show spelled out."""
    student.test("from toy.double import double\n\ndef test_λ():\n    assert double(1) == 3\n")
    western = {**environment, "PYTHONIOENCODING": "latin-1"}
    done = _run("grade", "mutate", "T1", "--repo", student.root, *HOW, env=western)
    assert done.returncode == 3
    assert "test_mine.py::test_\\u03bb" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_grading_leaves_nothing_behind(
    how: signal.Signals, student: Student, environment: dict[str, str], tmp_path: Path
) -> None:
    """Exit 130; no process, no folder, no document, nothing in the repository."""
    student.test(GOOD).test("def test_slow():\n    while True:\n        pass\n", "test_slow.py")
    before = student.files()
    document = tmp_path / "out.json"
    arguments = ("mutate", "T1", "--repo", student.root, *HOW, "--json", document)
    command = [SCRIPTS / "ol", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        _wait_for_a_cell(Path(environment["TMPDIR"]))
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.split() == ["ol:", "interrupted"]
    assert list(Path(environment["TMPDIR"]).iterdir()) == []
    assert _inside(environment["TMPDIR"]) == []
    assert not document.exists()
    assert student.files() == before


def _wait_for_a_cell(folder: Path) -> None:
    """Wait until a worker runs a cell, which has a folder of its own."""
    deadline = time.monotonic() + 60
    while not list(folder.glob("*/cells/*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _inside(folder: str) -> list[str]:
    """Return the processes whose working directory lies in ``folder``."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and folder in str((process / "cwd").readlink()):
                found.append(process.name)
    return found
