"""How a container is closed, as the engine tells it and as a test inside sees it."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.course import Limits
from grader.outcome import End, Outcome
from grader.sandbox.docker import ROOMS, WORKER_MEGABYTES, DockerSandbox
from grader.sandbox.engine import engine

pytestmark = pytest.mark.docker

Run = Callable[..., Outcome]
IT = "test_toy.py::test_it"


def told(outcome: Outcome) -> str:
    """Return what a test said by failing."""
    assert outcome.end is End.COMPLETE, outcome
    return outcome.runs[IT].failures[0].message


def assert_holds(docker_run: Run, suite: str) -> None:
    """Assert that no test of ``suite`` fails inside a container."""
    outcome = docker_run(suite)
    assert outcome.end is End.COMPLETE, outcome
    assert outcome.tests
    assert [ran.failures for ran in outcome.runs.values() if ran.failed] == []


@pytest.fixture(scope="module")
def inspected(worker_image: str) -> Iterator[dict[str, Any]]:
    """Return what the engine says of a running worker."""
    del worker_image
    channel, _ = DockerSandbox(Limits(memory_megabytes=512)).open()
    with contextlib.closing(channel), contextlib.closing(engine()) as client:
        yield client.inspect_container(channel._id)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NetworkMode", "none"),
        ("ReadonlyRootfs", True),
        ("Privileged", False),
        ("CapDrop", ["ALL"]),
        ("SecurityOpt", ["no-new-privileges"]),
        ("IpcMode", "none"),
        ("PidMode", ""),
        ("Binds", None),
        ("Devices", None),
        ("AutoRemove", True),
        ("NanoCpus", 10**9),
        ("PidsLimit", 64),
        ("Memory", 512 + WORKER_MEGABYTES << 20),
        ("MemorySwap", 512 + WORKER_MEGABYTES << 20),
        ("Ulimits", [{"Name": "core", "Soft": 0, "Hard": 0}]),
    ],
)
def test_the_engine_confines_the_worker(
    inspected: dict[str, Any], name: str, value: object
) -> None:
    """Each of these is a wall of its own."""
    assert inspected["HostConfig"][name] == value


def test_the_worker_keeps_only_what_it_needs_to_make_and_clear_cells(
    inspected: dict[str, Any],
) -> None:
    """To make a cell's user, root and folder; not to read or kill what is others'."""
    added = {name.removeprefix("CAP_") for name in inspected["HostConfig"]["CapAdd"]}
    assert added == {"SETUID", "SETGID", "CHOWN", "SYS_CHROOT"}


def test_nothing_is_mounted_but_a_bounded_folder_for_each_cell(inspected: dict[str, Any]) -> None:
    """No path of the host, and no room without end."""
    assert inspected["Mounts"] == []
    mounted = inspected["HostConfig"]["Tmpfs"]
    assert set(mounted) == {"/jail/cells", *(f"/jail/cells/{n:03x}" for n in range(ROOMS))}
    wanted = {"noexec", "nosuid", "nodev", "size=64m", "nr_inodes=4096", "mode=0711"}
    assert all(wanted <= set(options.split(",")) for options in mounted.values())


def test_nothing_is_logged(inspected: dict[str, Any]) -> None:
    """The engine's log would keep what cells say, without bounds."""
    assert inspected["HostConfig"]["LogConfig"]["Type"] == "none"


def test_no_argument_and_no_variable_speaks_of_a_course(inspected: dict[str, Any]) -> None:
    """They are the same for every grading."""
    configuration = inspected["Config"]
    said = " ".join([*configuration["Cmd"], *configuration["Env"]])
    assert not any(word in said.lower() for word in ("course", "mutant", "l3.4", "tinyllm"))
    assert configuration["Hostname"] == "sandbox"


def test_a_cell_has_no_network(docker_run: Run) -> None:
    """It gets no socket at all."""
    assert_holds(
        docker_run,
        """
import socket
import pytest
def test_interfaces():
    with pytest.raises(OSError):
        socket.if_nameindex()
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_VSOCK"])
def test_it(family):
    with pytest.raises(OSError):
        socket.socket(getattr(socket, family))
def test_names():
    with pytest.raises(OSError):
        socket.getaddrinfo("example.org", 80)
""",
    )


def test_a_cell_is_nobody_and_stays_so(docker_run: Run) -> None:
    """No user of the image, no group, no capability, no way to gain one."""
    assert_holds(
        docker_run,
        """
import os, pwd
import pytest
def test_user():
    assert len(set(os.getresuid() + os.getresgid())) == 1
    assert os.getuid() >= 200_000
    assert os.getgroups() == []
    with pytest.raises(KeyError):
        pwd.getpwuid(os.getuid())
def test_back():
    for call in (os.setuid, os.setgid):
        with pytest.raises(OSError):
            call(0)
    with pytest.raises(OSError):
        os.setgroups([0])
    with pytest.raises(OSError):
        os.chroot("/")
""",
    )


def test_a_cell_can_write_to_its_own_folder_only(docker_run: Run) -> None:
    """The root is read-only, and what isn't belongs to others."""
    assert_holds(
        docker_run,
        """
import os, pathlib
def test_it():
    own = str(pathlib.Path.cwd().parent)
    found = []
    for folder, folders, files in os.walk("/"):
        if folder.startswith(own):
            folders.clear()
            continue
        for name in [folder, *(os.path.join(folder, one) for one in files)]:
            if not os.path.islink(name) and os.access(name, os.W_OK):
                found.append(name)
    assert found == ["/dev/null"]
def test_no_room_in_shared_memory():
    assert not os.path.isdir("/dev/shm") or not os.access("/dev/shm", os.W_OK)
def test_no_room_for_queues():
    try:
        open("/dev/mqueue/one", "w")
    except OSError:
        return
    raise AssertionError("made")
def test_others_cells_can_not_be_listed():
    try:
        os.listdir("/cells")
    except PermissionError:
        return
    raise AssertionError("listed")
""",
    )


def test_a_cell_can_leave_nothing_in_the_kernel(docker_run: Run) -> None:
    """No shared memory, no semaphore and no queue, of either kind."""
    assert_holds(
        docker_run,
        """
import ctypes
import pytest
libc = ctypes.CDLL("libc.so.6", use_errno=True)
CREATE = 0o1666
@pytest.mark.parametrize("make", [
    lambda: libc.shmget(1, 4096, CREATE),
    lambda: libc.msgget(1, CREATE),
    lambda: libc.semget(1, 1, CREATE),
    lambda: libc.mq_open(b"/one", 0o102, 0o666, None),
])
def test_it(make):
    assert make() == -1
def test_shared_memory():
    from multiprocessing import shared_memory
    with pytest.raises(OSError):
        shared_memory.SharedMemory("one", create=True, size=4096)
""",
    )


def test_a_cells_folder_is_small_and_runs_no_program(docker_run: Run) -> None:
    """Room and number of files are bounded, and so is what they may do."""
    assert_holds(
        docker_run,
        """
import os
import pytest
def test_room():
    with pytest.raises(OSError):
        for n in range(40):
            with open(str(n), "wb") as file:
                file.write(bytes(8 << 20))
    for n in range(40):
        if os.path.exists(str(n)):
            os.unlink(str(n))
def test_files():
    os.mkdir("many")
    with pytest.raises(OSError):
        for n in range(5000):
            open(f"many/{n}", "w").close()
    for name in os.listdir("many"):
        os.unlink(f"many/{name}")
def test_program():
    with open("run", "w") as file:
        file.write("#!/bin/sh")
    os.chmod("run", 0o700)
    with pytest.raises(OSError):
        os.execv("./run", ["run"])
def test_device():
    with pytest.raises(OSError):
        os.mknod("device", 0o20600, os.makedev(1, 3))
""",
    )


def test_the_worker_is_out_of_reach(docker_run: Run) -> None:
    """Its memory, its environment, its streams, and signals to it."""
    assert_holds(
        docker_run,
        """
import os
import pytest
@pytest.mark.parametrize("name", ["/proc", "/sys", "/jail", "/dev/shm", "/dev/pts", "/run"])
def test_it(name):
    assert not os.path.lexists(name)
def test_devices():
    assert os.listdir("/dev") == ["null"]
def test_up():
    assert os.path.samefile("/..", "/")
def test_signals():
    with pytest.raises(OSError):
        os.kill(1, 0)
def test_tracing():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.ptrace(16, 1, 0, 0) == -1
""",
    )


def test_a_later_cell_finds_another_file_system(docker_run: Run) -> None:
    """With the numbers of its files counted anew, in a folder that tells no order."""
    suite = """
import os
def test_it():
    open("one", "w").close()
    files = [os.stat(name).st_ino for name in ("..", "../tests", "one")]
    raise AssertionError(f"{os.stat('..').st_dev} {os.getcwd()} {files}")
"""
    (device, folder, *files), (other, place, *others) = (
        told(docker_run(suite)).split(" ", 2) for _ in range(2)
    )
    assert device != other
    assert folder != place
    assert files == others


def test_no_room_tells_when_an_earlier_cell_came_or_went(docker_run: Run) -> None:
    """It may choose when it ends, and so could tell a later one whatever it has seen."""
    suite = """
import os, pathlib
def test_it():
    own = pathlib.Path.cwd().parents[2].name
    seen = {}
    for number in range(ROOMS):
        name = f"{number:03x}"
        if name != own:
            seen[name] = tuple(os.stat(f"/cells/{name}"))
            for inner in ("in", "in/cell"):
                try:
                    os.stat(f"/cells/{name}/{inner}")
                except PermissionError:
                    continue
                raise SystemExit("it is open")
    times = pathlib.Path("..").stat()
    assert max(max(one[7:]) for one in seen.values()) < times.st_mtime - 0.2
    for change in (lambda: os.utime(f"/cells/{own}", (1, 1)), lambda: os.chmod(f"/cells/{own}", 0),
                   lambda: os.mkdir(f"/cells/{own}/left")):
        try:
            change()
        except PermissionError:
            continue
        raise SystemExit("it is its own")
""".replace("ROOMS", str(ROOMS))
    for _ in range(3):
        assert_holds(docker_run, "import time\ndef test_it(): time.sleep(0.3)\n")
        assert_holds(docker_run, suite)


def test_reading_a_file_leaves_no_trace_of_when(docker_run: Run) -> None:
    """Each could else carry a bit, and there are thousands."""
    suite = """
import os
def test_it():
    changed = []
    for folder, _, files in os.walk("/opt/worker/lib"):
        for path in (os.path.join(folder, name) for name in files[:5]):
            before = os.stat(path).st_atime_ns
            with open(path, "rb") as file:
                file.read(1)
            changed += [path] * (os.stat(path).st_atime_ns != before)
    assert changed == []
"""
    assert_holds(docker_run, suite)


def test_memory_that_no_limit_of_the_cell_counts_ends_it_and_not_the_worker(
    docker_run: Run,
) -> None:
    """What could be shared with others is no data of the cell; the container's limit holds."""
    outcome = docker_run("""
import mmap
def test_it():
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 64 << 20))
        kept[-1].write(bytes(64 << 20))
""")
    assert (outcome.end, outcome.reason) == (End.CRASH, "signal SIGKILL")
    assert_holds(docker_run, "def test_it(): pass\n")


def test_the_image_holds_no_course_no_installer_and_nothing_that_raises_privileges(
    docker_run: Run,
) -> None:
    """It holds Python, the pinned packages, the worker and Hypothesis' tables of characters."""
    assert_holds(
        docker_run,
        """
import importlib.util, os, pathlib, shutil, stat
import pytest
def test_privileges():
    found = []
    for folder, folders, files in os.walk("/"):
        if folder.startswith(("/proc", "/sys")):
            folders.clear()
            continue
        for name in files:
            try:
                mode = os.lstat(os.path.join(folder, name)).st_mode
            except OSError:
                continue
            if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                found.append(os.path.join(folder, name))
    assert found == []
@pytest.mark.parametrize("name", ["pip", "ensurepip", "torch", "mutmut", "grader", "docker",
                                  "tinyllm"])
def test_module(name):
    assert importlib.util.find_spec(name) is None
@pytest.mark.parametrize("name", ["gcc", "cc", "g++", "clang", "ld", "as", "make", "pip", "pip3",
                                  "git", "curl", "wget", "sudo", "docker"])
def test_program(name):
    assert shutil.which(name) is None
def test_course():
    words = ("semantic.toml", "mechanical.toml", "course.toml", "bi_torch.npz", "test_gold.py")
    found = [os.path.join(folder, name) for folder, _, files in os.walk("/")
             if not folder.startswith(("/proc", "/sys")) for name in files if name in words]
    assert found == []
def test_tables():
    assert len(list(pathlib.Path("/opt/worker/tables").rglob("*.json.gz"))) == 2
def test_worker():
    import grader_worker
    folder = pathlib.Path(grader_worker.__file__).parent
    assert folder.parent.name == "site-packages"
    assert not os.access(folder, os.W_OK)
""",
    )
