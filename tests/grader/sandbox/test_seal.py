"""What a sealed cell can't do, tried in one, a kind of system call after the other."""

import errno
import os
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pyseccomp
import pytest

from grader.outcome import End, Outcome
from grader.worker import seal
from grader.worker.seal import Seal, make_seal

Run = Callable[..., Outcome]
Call = tuple[str, Sequence[object]]

IT = "test_toy.py::test_it"
UNKNOWN = {"fchmodat2"}  # to a library of Debian 12
NEWER = {"cachestat": 451}  # than the library's tables; the same number everywhere

# Tells the errors that calls end with.
CALLS = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def test_it():
    found = []
    for number, arguments in {calls}:
        ctypes.set_errno(0)
        if libc.syscall(*map(ctypes.c_long, (number, *arguments))) != -1:
            found.append("done")
        else:
            found.append(errno.errorcode[ctypes.get_errno()])
    raise AssertionError(" ".join(found))
"""

# Each with arguments that do no harm where it isn't denied.
DENIED: dict[str, str] = {
    "programs": "execve execveat",
    "sockets": "socket socketpair bind connect listen accept accept4 sendto recvfrom sendmsg "
    "recvmsg",
    "shared memory of System V": "shmget shmat shmctl",
    "queues of System V": "msgget msgsnd msgrcv msgctl",
    "semaphores of System V": "semget semop semctl semtimedop",
    "queues of POSIX": "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr",
    "keys": "add_key request_key keyctl",
    "tracing": "ptrace",
    "memory of others": "process_vm_readv process_vm_writev process_madvise kcmp",
    "handles of processes": "pidfd_open pidfd_getfd pidfd_send_signal",
    "rings": "io_uring_setup io_uring_enter io_uring_register io_setup io_submit",
    "files in memory": "memfd_create",
    "watching files": "inotify_init1 inotify_add_watch fanotify_init fanotify_mark",
    "file locks": "flock",
    "the page cache": "fadvise64 preadv2 pwritev2 mincore readahead cachestat sync_file_range",
    "moving pages": "splice tee vmsplice",
    "settings of the process": "prctl personality seccomp",
    "priorities": "getpriority setpriority sched_setscheduler sched_setaffinity sched_setattr "
    "sched_getscheduler ioprio_set ioprio_get",
    "signals with a payload": "rt_sigqueueinfo rt_tgsigqueueinfo",
    "counters": "sysinfo statfs fstatfs getrusage",
    "identities": "setuid setgid setresuid setresgid setgroups setsid setpgid capset",
    "trees and namespaces": "chroot mount umount2 pivot_root unshare setns open_tree move_mount",
    "the kernel's own": "bpf perf_event_open userfaultfd",
    "an event loop": "pipe2 epoll_create1 epoll_ctl eventfd2 signalfd4 timerfd_create",
    "nodes": "mknodat",
}


def numbered(*calls: Call) -> list[tuple[int, Sequence[object]]]:
    """Return calls with this machine's numbers."""
    found = [
        (
            NEWER.get(name) or pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name),
            arguments,
        )
        for name, arguments in calls
    ]
    assert all(number >= 0 for number, _ in found)
    return found


def errors(run: Run, *calls: Call) -> list[str]:
    """Return what a cell sees of ``calls``, whose arguments may be expressions."""
    text = ", ".join(
        f"({number}, ({''.join(f'{one}, ' for one in arguments)}))"
        for number, arguments in numbered(*calls)
    )
    outcome = run(CALLS.replace("{calls}", f"[{text}]"))
    assert outcome.end is End.COMPLETE, outcome
    return outcome.runs[IT].failures[0].message.split()


@pytest.mark.parametrize("kind", DENIED)
def test_a_cell_is_told_that_there_is_no_such_call(run: Run, kind: str) -> None:
    """Whatever it says to it."""
    calls = [(name, [-1] * 6) for name in DENIED[kind].split()]
    assert errors(run, *calls) == ["ENOSYS"] * len(calls)


@pytest.mark.parametrize("kind", DENIED)
def test_without_the_seal_it_is_there(unsealed_run: Run, kind: str) -> None:
    """So that the test above can fail."""
    calls = [(name, [-1] * 6) for name in DENIED[kind].split()]
    assert set(errors(unsealed_run, *calls)) != {"ENOSYS"}


def test_no_process_and_no_thread_starts(run: Run) -> None:
    """As if there were too many already; Python and the C library know that error."""
    calls = [("fork", []), ("vfork", []), ("clone", [0x11, 0, 0, 0, 0])]
    here = [one for one in calls if pyseccomp.resolve_syscall(0, one[0]) >= 0]
    assert errors(run, *here) == ["EAGAIN"] * len(here)
    assert errors(run, ("clone3", [0, 0])) == ["ENOSYS"]


def test_no_extended_attributes(run: Run) -> None:
    """A copy of a file asks for them, and does without where a file system has none."""
    names = ["setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr"]
    names += ["listxattr", "llistxattr", "flistxattr", "removexattr", "lremovexattr"]
    assert errors(run, *((name, [0] * 5) for name in names)) == ["ENOTSUP"] * len(names)


def test_signals_reach_nobody_else(run: Run) -> None:
    """Not the worker, not a group, not all."""
    others = ["1", "os.getppid()", "0", "-1", "-os.getpid()", "os.getpid() + (1 << 31)"]
    denied = [("kill", [other, 0]) for other in others]
    denied += [("tkill", ["os.getppid()", 0]), ("tgkill", ["os.getppid()", "os.getppid()", 0])]
    assert errors(run, *denied) == ["ENOSYS"] * len(denied)
    own: list[Call] = [("kill", ["os.getpid()", 0]), ("tgkill", ["os.getpid()", "os.getpid()", 0])]
    assert errors(run, *own) == ["done", "done"]


def test_limits_of_others_can_not_be_seen(run: Run) -> None:
    """Its own can."""
    others = [("prlimit64", [who, 7, 0, 0]) for who in ("1", "os.getppid()")]
    assert errors(run, *others) == ["ENOSYS", "ENOSYS"]
    assert errors(run, ("prlimit64", [0, 7, 0, 0]), ("prlimit64", ["os.getpid()", 7, 0, 0])) == [
        "done",
        "done",
    ]


def test_the_clocks_of_others_can_not_be_read(run: Run) -> None:
    """A process has a clock under a negative number."""
    numbers = ["(~os.getppid() << 3) | 2", "(~1 << 3) | 2", "((~1 << 3) | 2) & 0xffffffff"]
    calls = [
        (name, [number, *rest])
        for number in numbers
        for name, rest in (("clock_gettime", [0]), ("clock_getres", [0]))
    ]
    assert errors(run, *calls) == ["ENOSYS"] * len(calls)
    assert errors(run, ("clock_getres", [1, 0]), ("clock_getres", [2, 0])) == ["done", "done"]


def test_descriptors_take_no_lock_no_lease_and_no_owner(run: Run) -> None:
    """Their flags stay, and they can be doubled."""
    locks = [5, 6, 7, 36, 37, 38]
    others = [8, 9, 10, 11, 15, 16, 1024, 1025, 1026, 1031, 1032, 1033, 1034]
    calls = [("fcntl", [1, command, 0]) for command in (*locks, *others)]
    assert errors(run, *calls) == ["ENOSYS"] * len(calls)
    kept: list[Call] = [("fcntl", [1, command, 0]) for command in (0, 1, 3, 1030)]
    assert errors(run, *kept) == ["done"] * len(kept)


def test_advice_tells_nothing_of_a_files_pages(run: Run) -> None:
    """What memory is no longer needed may be said."""
    told = [3, 20, 21, 22, 23]
    calls = [("madvise", [0, 0, advice]) for advice in told]
    assert errors(run, *calls) == ["ENOSYS"] * len(calls)
    assert errors(run, ("madvise", [0, 0, 4])) == ["done"]


if os.uname().machine == "x86_64":  # which has a second table of numbers

    def test_numbers_of_another_table_end_the_cell(run: Run) -> None:
        """They would pass by a list that looks at numbers alone."""
        getpid = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "getpid")
        outcome = run(CALLS.replace("{calls}", f"[({0x40000000 + getpid}, ())]"))
        assert (outcome.end, outcome.reason) == (End.CRASH, "signal SIGSYS")


@pytest.mark.parametrize(
    ("code", "exception"),
    [
        ("threading.Thread(target=print).start()", "RuntimeError"),
        ("subprocess.run(['/bin/true'])", "OSError"),
        ("os.system('true')", "AssertionError"),
        ("os.fork()", "BlockingIOError"),
        ("os.posix_spawn('/bin/true', ['true'], {})", "BlockingIOError"),
        ("concurrent.futures.ThreadPoolExecutor().submit(print)", "RuntimeError"),
        ("multiprocessing.Process(target=print).start()", "OSError"),
        ("asyncio.run(asyncio.sleep(0))", "OSError"),
        ("socket.socket()", "OSError"),
        ("os.execv('/bin/true', ['true'])", "OSError"),
        ("fcntl.flock(1, fcntl.LOCK_EX)", "OSError"),
    ],
)
def test_what_python_makes_of_it_is_an_exception_of_the_test(
    run: Run, code: str, exception: str
) -> None:
    """The cell goes on, and so does its worker."""
    outcome = run(f"""
import asyncio, concurrent.futures, fcntl, multiprocessing, os, socket, subprocess, threading
def test_it():
    done = {code}
    assert done == 0
def test_after(): pass
""")
    assert outcome.end is End.COMPLETE
    assert outcome.runs[IT].failures[0].exception == exception
    assert not outcome.runs["test_toy.py::test_after"].failed


def test_an_honest_test_misses_nothing(run: Run) -> None:
    """Files, copies, links, time, alarms, memory, randomness, big arrays and their files."""
    outcome = run("""
import faulthandler, logging, os, pathlib, platform, random, secrets, shutil, signal, tempfile
import time, uuid, warnings, zipfile
import numpy
def test_files(tmp_path):
    (tmp_path / "a").write_text("x")
    shutil.copytree(tmp_path, tmp_path.parent / "copy")
    os.link(tmp_path / "a", tmp_path / "b")
    os.symlink("a", tmp_path / "c")
    os.replace(tmp_path / "b", tmp_path / "d")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c", "d"]
    shutil.rmtree(tmp_path)
    with tempfile.NamedTemporaryFile() as file, tempfile.TemporaryFile() as other:
        file.write(b"x")
        os.fsync(other.fileno())
def test_time():
    began = time.monotonic()
    time.sleep(0.001)
    assert time.time() and time.process_time() and time.thread_time() and time.perf_counter()
    assert time.monotonic() > began and os.times() and os.cpu_count()
def test_alarm():
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(0.05)
    signal.raise_signal(signal.SIGALRM)
    assert len(seen) == 2
def test_arrays(tmp_path):
    big = numpy.random.default_rng(1).normal(size=(1500, 1500))
    numpy.save(tmp_path / "big.npy", big[:9])
    assert (numpy.load(tmp_path / "big.npy", mmap_mode="r") == big[:9]).all()
    assert numpy.sort(big @ big, axis=None).size == 1500 ** 2
def test_others(capsys, caplog, recwarn, monkeypatch):
    print(platform.platform(), uuid.uuid4(), secrets.token_hex())
    logging.getLogger().warning("seen")
    warnings.warn("seen")
    assert capsys.readouterr().out and caplog.text and len(recwarn) == 1
""")
    assert outcome.end is End.COMPLETE, outcome
    assert {test: ran.failures for test, ran in outcome.runs.items() if ran.failed} == {}


def test_an_event_loop_runs_where_the_course_allows_it(looping_run: Run) -> None:
    """It brings no network, no name of a socket and no process."""
    outcome = looping_run("""
import asyncio, os, socket, threading
import pytest
def test_it():
    async def main():
        queue = asyncio.Queue()
        asyncio.get_running_loop().call_later(0.01, queue.put_nowait, 1)
        return await asyncio.wait_for(queue.get(), 5)
    assert asyncio.run(main()) == 1
def test_pipe():
    read, write = os.pipe()
    os.write(write, b"x")
    assert os.read(read, 1) == b"x"
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNIX])
def test_socket(family):
    with pytest.raises(OSError):
        socket.socket(family)
def test_pair():
    with pytest.raises(OSError):
        socket.socketpair(type=socket.SOCK_DGRAM)
def test_address():
    one, other = socket.socketpair()
    with pytest.raises(OSError):
        one.sendto(b"x", "\\0name")
    with pytest.raises(OSError):
        one.connect("/run/socket")
def test_thread():
    with pytest.raises(RuntimeError):
        threading.Thread(target=print).start()
""")
    assert outcome.end is End.COMPLETE, outcome
    assert {test: ran.failures for test, ran in outcome.runs.items() if ran.failed} == {}


def test_a_worker_that_finds_no_library_says_so_and_runs_its_cells(unsealed_run: Run) -> None:
    """The report repeats it."""
    outcome = unsealed_run("import os\ndef test_it(): os.waitpid(os.fork() or os._exit(0), 0)\n")
    assert outcome.end is End.COMPLETE
    assert not outcome.runs[IT].failed
    assert unsealed_run.sealed is False  # type: ignore[attr-defined] # a Runner


def test_a_seal_that_does_not_hold_is_none() -> None:
    """A kernel may take it and do nothing."""
    hollow = SimpleNamespace(**vars(pyseccomp))
    hollow.SyscallFilter = lambda default: SimpleNamespace(
        add_rule_exactly=lambda *rule: None, load=lambda: None
    )
    assert not Seal(hollow, event_loop=False).holds()  # type: ignore[arg-type] # as a module
    assert make_seal(event_loop=False) is not None


def test_an_architecture_that_nobody_looked_at_is_not_sealed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An honest suite might need what the list lacks there."""
    monkeypatch.setattr(pyseccomp, "system_arch", lambda: pyseccomp.Arch.S390X)
    assert make_seal(event_loop=False) is None


@pytest.mark.parametrize("name", ["X86_64", "AARCH64"])
def test_each_call_of_the_list_exists_where_cells_are_sealed(name: str) -> None:
    """On one architecture at least, or it is misspelt; what is vital, on both."""
    both = [pyseccomp.Arch.X86_64, pyseccomp.Arch.AARCH64]
    kept = (seal.FILES, seal.MEMORY, seal.SIGNALS, seal.ITSELF, seal.EVENT_LOOP, seal.CLOCKS)
    bounded = (seal.ON_ITSELF, seal.ON_ITSELF_OR_NOBODY, *seal.CHOICES)
    listed = " ".join([*kept, *bounded, *seal.REFUSED.values()])
    missing = [
        call
        for call in listed.split()
        if call not in UNKNOWN and all(pyseccomp.resolve_syscall(one, call) < 0 for one in both)
    ]
    assert missing == []
    vital = "openat read write close newfstatat lseek mmap munmap brk futex exit_group clone"
    architecture = getattr(pyseccomp.Arch, name)
    assert all(pyseccomp.resolve_syscall(architecture, call) >= 0 for call in vital.split())


def test_a_seal_that_can_not_be_put_on_does_not_hold() -> None:
    """A kernel may refuse it."""

    def refuse() -> None:
        raise OSError(errno.EINVAL, "no filters here")

    refusing = SimpleNamespace(**vars(pyseccomp))
    refusing.SyscallFilter = lambda default: SimpleNamespace(
        add_rule_exactly=lambda *rule: None, load=refuse
    )
    assert not Seal(refusing, event_loop=False).holds()  # type: ignore[arg-type] # as a module
