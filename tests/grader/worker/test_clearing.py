"""How every trace of a cell ends: its files, however they lie; its processes, however they hide."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.worker.clearing import empty, in_helper, wipe


def alive(process: int) -> bool:
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a folder to be emptied, beside one that must stay."""
    (tmp_path / "stays").mkdir()
    (tmp_path / "stays" / "file").write_text("kept")
    (tmp_path / "top").mkdir()
    return tmp_path / "top"


def deep(top: Path) -> None:
    """Make a tree deeper than the stack and longer than a path may be."""
    here = Path.cwd()
    os.chdir(top)
    for _ in range(1100):
        os.mkdir("d" * 9)  # noqa: PTH102 — a path object would have the whole length
        os.chdir("d" * 9)
    os.chdir(here)


def wide(top: Path) -> None:
    """Make many files and folders of few levels."""
    for n in range(30):
        (top / f"{n}" / "inner").mkdir(parents=True)
        for m in range(5):
            (top / f"{n}" / "inner" / f"{m}").write_text("x")


def locked(top: Path) -> None:
    """Take all rights from folders that hold something."""
    inner = top / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    for folder in (inner, inner.parent, inner.parent.parent, top):
        folder.chmod(0)


def linked(top: Path) -> None:
    """Link to what must stay, to itself, and to nothing."""
    (top / "out").symlink_to(top.parent / "stays")
    (top / "file").symlink_to(top.parent / "stays" / "file")
    (top / "hard").hardlink_to(top.parent / "stays" / "file")
    (top / "loop").symlink_to("loop")
    (top / "gone").symlink_to("nothing")
    (top / "up").symlink_to("..")


def odd(top: Path) -> None:
    """Make what is neither file nor folder, under names that are hardly names."""
    os.mkfifo(top / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(top)
        listening.bind("socket")
        os.chdir(here)
    for name in (b"\xff\xfe", b"-rf", b"a\nb", b"x" * 255, b"..."):
        (Path(os.fsdecode(bytes(top) + b"/" + name))).mkdir()


@pytest.mark.parametrize("make", [deep, wide, locked, linked, odd, lambda top: None])
def test_a_folder_is_emptied_whatever_is_in_it(top: Path, make: Callable[[Path], None]) -> None:
    """And nothing beside it is touched."""
    make(top)
    empty(top)
    assert list(top.iterdir()) == []
    assert (top.parent / "stays" / "file").read_text() == "kept"


TREES = st.recursive(
    st.none(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)


@settings(suppress_health_check=list(HealthCheck), max_examples=60)
@given(tree=TREES)
def test_any_tree_is_emptied(tmp_path_factory: pytest.TempPathFactory, tree: object) -> None:
    """Names may come again at every level."""

    def make(place: Path, node: object) -> None:
        if isinstance(node, dict):
            place.mkdir()
            for name, inner in node.items():
                make(place / name, inner)
        else:
            place.write_text("x")

    top = tmp_path_factory.mktemp("top")
    make(top / "a", tree)
    empty(top)
    assert list(top.iterdir()) == []


@pytest.mark.parametrize("make", [wide, locked])
def test_a_cells_folder_is_wiped_with_its_own_rights(make: Callable[[Path], None]) -> None:
    """By its user, where it has one; the folder itself by the worker."""
    uid = 60_000_001 if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="clearing-") as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "cell"
        folder.mkdir()
        make(folder)
        if uid is not None:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, uid, uid)
        wipe(folder, uid, 60_000_000)
        assert list(Path(name).iterdir()) == []


def test_what_can_not_be_wiped_is_said(top: Path) -> None:
    """Or the next cell would find it."""
    if os.geteuid() == 0:
        (top / "roots").mkdir()
        with pytest.raises(OSError, match="not empty"):
            wipe(top, 60_000_001, 60_000_000)
    with pytest.raises(FileNotFoundError):
        wipe(top / "nothing", None, 0)


def test_a_helper_that_fails_or_leaves_is_not_run_again(tmp_path: Path) -> None:
    """Only one that was killed is: a cell might have done it."""
    runs = tmp_path / "runs"

    def note() -> None:
        with runs.open("a") as file:
            file.write("x")

    def fail() -> None:
        note()
        raise ValueError

    def be_killed_once() -> None:
        note()
        if runs.stat().st_size == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    in_helper(None, 0, fail)
    assert runs.read_text() == "x"
    runs.unlink()
    in_helper(None, 0, be_killed_once)
    assert runs.read_text() == "xx"


def test_a_helper_has_a_cells_rights_and_is_out_of_its_reach(tmp_path: Path) -> None:
    """Its effective user is the cell's; its real and saved ones are not."""
    if os.geteuid() != 0:
        in_helper(None, 0, (tmp_path / "ran").touch)
        assert (tmp_path / "ran").exists()
        return
    seen = tmp_path / "seen"
    seen.touch()
    seen.chmod(0o666)
    file = seen.open("w")

    def tell() -> None:
        file.write(f"{os.getresuid()} {os.getresgid()} {os.getgroups()}")
        file.close()

    in_helper(60_000_001, 60_000_000, tell)
    file.close()
    assert seen.read_text() == ("(60000000, 60000001, 60000000) (60000001, 60000001, 60000001) []")


if os.geteuid() == 0:  # anybody else would end all that is theirs

    def test_a_helper_outlives_a_cell_that_kills_whatever_it_can() -> None:
        """And ends it."""
        uid = 60_000_003
        killer = os.fork()
        if killer == 0:
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            while True:
                try:
                    os.kill(-1, signal.SIGKILL)
                except OSError:
                    continue

        def end() -> None:
            time.sleep(0.3)  # under fire
            os.kill(-1, signal.SIGKILL)

        began = time.monotonic()
        in_helper(uid, 60_000_002, end)
        assert time.monotonic() - began < 10
        _, status = os.waitpid(killer, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


# Ends a child that has started daemons, and says whose they were, and how the child ended.
ENDING = """
import os, sys, time
sys.path.append({folder!r})
from worker import clearing, confine
confine.adopt_orphans()
read, write = os.pipe()
cell = os.fork()
if cell == 0:
    if {uid!r} is not None:
        confine.become({uid!r}, read_anything=False)
    for _ in range(3):
        if os.fork() == 0:
            {before}
            if os.fork() == 0:
                os.write(write, f"{{os.getpid()}} ".encode())
                time.sleep(600)
            os._exit(0)
    os.write(write, f"{{os.getpid()}} ".encode())
    {after}
    time.sleep(600)
said = b""
while said.count(b" ") < 4:
    said += os.read(read, 999)
if {code!r} > 0:
    os.waitid(os.P_PID, cell, os.WEXITED | os.WNOWAIT)
status, usage = clearing.end(cell, {uid!r}, 60_000_000)
print(said.decode(), "|", os.waitstatus_to_exitcode(status), usage.ru_maxrss > 0)
"""


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    "before",
    ["pass", "os.setsid()", "import signal; signal.pthread_sigmask(0, range(1, 32))"],
)
@pytest.mark.parametrize(("after", "code"), [("pass", -9), ("os._exit(7)", 7)])
def test_a_cell_and_all_its_descendants_are_ended(
    own: bool,
    before: str,
    after: str,
    code: int,
) -> None:
    """With a user of its own and without; an end of its own is told as it was."""
    import grader.worker

    uid = 60_000_001 if own and os.geteuid() == 0 else None
    folder = str(Path(grader.worker.__file__).parents[1])
    script = ENDING.format(folder=folder, uid=uid, before=before, after=after, code=code)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    processes, _, ending = done.stdout.partition("|")
    assert ending.split() == [str(code), "True"]
    for process in processes.split():
        deadline = time.monotonic() + 10
        while alive(int(process)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not alive(int(process))
