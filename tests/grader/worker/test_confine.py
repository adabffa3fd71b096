"""What a cell gives up, tried in a forked child of this test's own."""

import contextlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.worker import confine
from grader.worker.wire import Limits

LIMITS = Limits(
    data_bytes=1 << 30,
    file_bytes=1 << 20,
    descriptors=64,
    processes=None,
    cpu_seconds=60,
    event_loop=False,
)
UID = 60_000_001


def in_child(action: Callable[[], object]) -> object:
    """Return what ``action`` returns in a child, or the name of what it raises."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        write = os.dup2(write, 900)
        try:
            said: object = action()
        except BaseException as problem:  # noqa: BLE001 — told to the parent
            said = f"{type(problem).__name__}: {problem}"
        os.write(write, json.dumps(said).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def status(name: str) -> str:
    """Return one line of this process' status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.partition(":")[2].strip()
    raise AssertionError(name)


def open_now() -> dict[int, str]:
    """Return the open descriptors and what they are."""
    found = {}
    for number in range(1000):
        with contextlib.suppress(OSError):
            found[number] = str(Path(f"/proc/self/fd/{number}").readlink())
    return found


@pytest.mark.parametrize("places", [(3, 4), (4, 3), (20, 21), (4, 20), (20, 3)])
def test_what_is_kept_moves_to_its_place(places: tuple[int, int]) -> None:
    """Also where it lies in another's."""
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        aside = [os.dup2(write, 40 + number) for number, (_, write) in enumerate(pipes)]
        kept = [os.dup2(one, place) for one, place in zip(aside, places, strict=True)]
        confine.keep_only(*kept)
        os.write(3, b"first")
        os.write(4, b"second")
        os._exit(0)
    os.waitpid(child, 0)
    said = []
    for read, write in pipes:
        os.close(write)
        with os.fdopen(read, "rb") as answers:
            said.append(answers.read())
    assert said == [b"first", b"second"]


def test_every_other_descriptor_is_closed() -> None:
    """The worker's own streams above all."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for high in (40, 200, 800):
            os.dup2(write, high)
        confine.keep_only(write)
        os.write(3, json.dumps(open_now()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        found = json.loads(answers.read())
    assert list(found) == ["0", "1", "2", "3"]
    assert [found[name] for name in "012"] == ["/dev/null"] * 3
    os.waitpid(child, 0)


def test_limits_hold_for_good() -> None:
    """Soft and hard alike."""

    def act() -> object:
        confine.limit(LIMITS)
        kinds = (
            resource.RLIMIT_CORE,
            resource.RLIMIT_MEMLOCK,
            resource.RLIMIT_MSGQUEUE,
            resource.RLIMIT_DATA,
            resource.RLIMIT_FSIZE,
            resource.RLIMIT_NOFILE,
            resource.RLIMIT_CPU,
        )
        return [resource.getrlimit(kind) for kind in kinds]

    assert in_child(act) == [[n, n] for n in (0, 0, 0, 1 << 30, 1 << 20, 64, 60)]


def test_a_limit_that_is_lower_already_stays() -> None:
    """The machine's owner may allow less."""

    def act() -> object:
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 40))
        confine.limit(LIMITS)
        return resource.getrlimit(resource.RLIMIT_NOFILE)

    assert in_child(act) == [40, 40]


def test_processes_are_limited_only_where_it_is_asked_for() -> None:
    """The kernel counts all of a user's."""
    before = resource.getrlimit(resource.RLIMIT_NPROC)

    def limited(processes: int | None) -> object:
        confine.limit(Limits(**{**LIMITS, "processes": processes}))
        return resource.getrlimit(resource.RLIMIT_NPROC)

    assert in_child(lambda: limited(None)) == list(before)
    assert in_child(lambda: limited(48)) == [48, 48]


def test_where_memory_runs_out_a_cell_goes_first() -> None:
    """And not its worker."""

    def act() -> object:
        confine.limit(LIMITS)
        return Path("/proc/self/oom_score_adj").read_text().strip()

    assert in_child(act) == "1000"


def test_an_identity_is_dropped_for_good() -> None:
    """Where there is one to drop; groups first, while it is still allowed."""

    def act() -> object:
        confine.become(UID, read_anything=False)
        try:
            os.setresuid(0, 0, 0)
        except PermissionError:
            return [os.getresuid(), os.getresgid(), os.getgroups(), status("CapPrm")]
        return "it came back"

    answer = in_child(act)
    if os.geteuid() == 0:
        assert answer == [[UID] * 3, [UID] * 3, [], "0" * 16]
    else:
        assert str(answer).startswith("PermissionError")


def test_one_right_may_be_kept_and_no_other(tmp_path: Path) -> None:
    """To read what is others', where Python's own files are."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o600)
    tmp_path.chmod(0o700)

    def act() -> object:
        confine.become(UID, read_anything=True)
        seen = [secret.read_text(), status("CapPrm"), status("CapEff"), status("CapInh")]
        try:
            secret.write_text("y")
        except PermissionError:
            return seen
        return "written"

    if os.geteuid() == 0:
        assert in_child(act) == ["x", f"{4:016x}", f"{4:016x}", "0" * 16]
    assert secret.read_text() == "x"


def test_no_program_gives_rights_back() -> None:
    """Nor can it be undone."""

    def act() -> object:
        confine.end_with_parent()
        return status("NoNewPrivs")

    assert in_child(act) == "1"


def test_a_cell_ends_with_the_process_that_started_it() -> None:
    """However that ends."""
    read, write = os.pipe()
    worker = os.fork()
    if worker == 0:
        if os.fork() == 0:
            confine.end_with_parent()
            os.write(write, f"{os.getpid()} ".encode())
            time.sleep(600)
        time.sleep(600)
    cell = int(os.read(read, 99))
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{cell}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                break
        except OSError:
            break
        time.sleep(0.01)
    else:
        pytest.fail("the cell lives on")
    os.close(read)
    os.close(write)


def test_a_call_that_the_kernel_refuses_raises() -> None:
    """A cell that could not give something up must not run."""
    with pytest.raises(OSError, match="prctl"):
        confine._prctl(10**6, 1)
