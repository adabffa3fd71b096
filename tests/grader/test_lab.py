"""The lab: cells on several workers, faults of the machine retried and then said."""

import contextlib
import json
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from grader.cells import Cell
from grader.course import Limits
from grader.lab import Lab
from grader.messages import message
from grader.outcome import End, Outcome, Watch
from grader.problems import Void
from grader.sandbox import Channel, Sandbox, Site, limits, process
from grader.sandbox.process import ProcessSandbox
from grader.sandbox.session import Clock
from grader.worker import wire

MakeJob = Callable[..., wire.Cell]
CLOCK = Clock(60, 60)
HANGING = "import time\ndef test_it(): time.sleep(400)\n"


class Parrot:
    """A worker of a few words: a cell passes, hangs until it is ended, or ends the worker."""

    def __init__(self, *, is_ill: bool) -> None:
        self.closed = False
        self.closing: Callable[[], object] = lambda: None
        self.is_ill = is_ill
        self.busy: list[str] = []
        self._says: queue.Queue[bytes] = queue.Queue()

    def write(self, data: bytes) -> None:
        """Answer a frame."""
        kind, _ = wire.HEADER.unpack_from(data)
        if kind == wire.SETUP:
            ready = wire.Ready(versions={"python": "3.11.2"}, sealed=True, sees_little=True)
            self._says.put(wire.frame(wire.READY, json.dumps(ready).encode()))
        elif kind == wire.KILL:
            self._end(signal.SIGKILL)
        else:
            job = json.loads(data[wire.HEADER.size :])
            self.busy.append(job["root"])
            match "die" if self.is_ill else job["root"]:
                case "pass" | "tests":
                    lines = b'{"event": "collected"}\n{"event": "end", "exit": 0}\n'
                    self._says.put(wire.frame(wire.DATA, lines))
                    self._end(0)
                case "die":
                    self._says.put(b"")

    def _end(self, status: int) -> None:
        self._says.put(wire.frame(wire.END, wire.Ending(status, False, 0, 0).pack()))

    def read(self, seconds: float) -> bytes:
        """Say the next thing."""
        try:
            return self._says.get(timeout=seconds or 0.001)
        except queue.Empty:
            raise TimeoutError from None

    def close(self) -> str:
        """End."""
        self.closing()
        self.closed = True
        return ""


class Aviary:
    """A sandbox of parrots, which may refuse to open."""

    name = "aviary"

    def __init__(self) -> None:
        self.opened: list[Parrot] = []
        self.rooms: int | None = None
        self.refuse = False
        self.is_ill = False

    def open(self) -> tuple[Parrot, Site]:
        """Open one more."""
        if self.refuse:
            raise Void(message("worker-lost", why="refused"), "machine")
        self.opened.append(Parrot(is_ill=self.is_ill))
        return self.opened[-1], Site("/cells", None, limits(Limits(), None), rooms=self.rooms)

    @property
    def all_closed(self) -> bool:
        """Whether nothing is left."""
        return all(one.closed for one in self.opened)


@pytest.fixture
def aviary() -> Aviary:
    """Return a sandbox whose workers cost nothing."""
    return Aviary()


def cells(count: int) -> list[Cell]:
    """Return different cells."""
    return [Cell(purpose="control", number=number) for number in range(count)]


def never(cell: Cell, watch: Watch) -> bool:
    """Say that nothing is enough."""
    del cell, watch
    return False


def ends(lab: Lab, count: int, job: Callable[[Cell], wire.Cell]) -> list[End]:
    """Run cells and return how each ended."""
    outcomes = dict(lab.run(cells(count), job, CLOCK, never))
    return [outcomes[cell].end for cell in cells(count)]


def test_each_cell_has_its_outcome_and_one_worker_serves_many(
    aviary: Aviary, make_job: MakeJob
) -> None:
    """A worker is started once."""
    with Lab(aviary, {}, [], 1) as lab:
        assert ends(lab, 5, lambda cell: make_job("", root="pass")) == [End.COMPLETE] * 5
        assert lab.versions == {"python": "3.11.2"}
    assert len(aviary.opened) == 1
    assert aviary.all_closed


def test_workers_are_started_when_they_are_needed_and_no_more_than_asked_for(
    aviary: Aviary, make_job: MakeJob
) -> None:
    """One a core, each with one cell at a time."""
    together = threading.Barrier(2, timeout=30)

    def job(cell: Cell) -> wire.Cell:
        if cell.number < 2:
            together.wait()  # two cells are under way at once
        return make_job("", root="pass")

    with Lab(aviary, {}, [], 2) as lab:
        assert aviary.opened == []
        assert ends(lab, 8, job) == [End.COMPLETE] * 8
    assert len(aviary.opened) == 2


def test_a_fresh_worker_serves_one_cell(aviary: Aviary, make_job: MakeJob) -> None:
    """That is isolation by container."""
    with Lab(aviary, {}, [], 2, fresh=True) as lab:
        ends(lab, 4, lambda cell: make_job("", root="pass"))
        assert aviary.all_closed
    assert [one.busy for one in aviary.opened] == [["pass"]] * 4


def test_a_worker_that_is_used_up_makes_room_for_another(aviary: Aviary, make_job: MakeJob) -> None:
    """Before a cell could find no room in it."""
    aviary.rooms = 3
    with Lab(aviary, {}, [], 1) as lab:
        assert set(ends(lab, 7, lambda cell: make_job("", root="pass"))) == {End.COMPLETE}
        assert [one.closed for one in aviary.opened] == [True, True, False]
    assert [len(one.busy) for one in aviary.opened] == [3, 3, 1]


def test_a_cell_is_ended_when_it_has_shown_enough(aviary: Aviary, make_job: MakeJob) -> None:
    """The question is asked with the cell that it is about."""
    asked = set()

    def enough(cell: Cell, watch: Watch) -> bool:
        asked.add((cell, watch.collected))
        return True

    with Lab(aviary, {}, [], 1) as lab:
        job = make_job("", root="pass")
        [(cell, outcome)] = lab.run(cells(1), lambda cell: job, CLOCK, enough)
    assert outcome.end is End.STOPPED
    assert asked == {(cell, True)}


def test_a_cell_whose_worker_dies_runs_again_on_another(aviary: Aviary, make_job: MakeJob) -> None:
    """Once is an accident."""
    roots = iter(["die", "pass"])
    with Lab(aviary, {}, [], 1) as lab:
        assert ends(lab, 1, lambda cell: make_job("", root=next(roots))) == [End.COMPLETE]
    assert [one.busy for one in aviary.opened] == [["die"], ["pass"]]
    assert aviary.all_closed


def test_a_cell_whose_worker_dies_twice_is_to_blame_where_others_run(
    aviary: Aviary, make_job: MakeJob
) -> None:
    """Else a test could have a grading called off at will."""
    with Lab(aviary, {}, [], 1) as lab:
        found = ends(lab, 3, lambda cell: make_job("", root="die" if cell.number == 1 else "pass"))
    assert found == [End.COMPLETE, End.CRASH, End.COMPLETE]
    assert [one.busy for one in aviary.opened[1:]] == [["die"], ["tests", "pass"]]
    assert aviary.all_closed


def test_workers_that_were_lost_together_are_one_loss(aviary: Aviary, make_job: MakeJob) -> None:
    """As when the engine is started anew: no cell is to blame for the idle one beside its own."""
    together = threading.Barrier(2, timeout=30)
    first = [0]

    def job(cell: Cell) -> wire.Cell:
        if cell.number < 2:
            together.wait()
        elif not first[0]:
            first[0] = 1
            for parrot in aviary.opened:
                parrot.is_ill = True
        return make_job("", root="pass")

    with Lab(aviary, {}, [], 2) as lab:
        assert ends(lab, 2, job) == [End.COMPLETE] * 2
        [(_, outcome)] = lab.run(cells(3)[2:], job, CLOCK, never)
    assert outcome.end is End.COMPLETE
    assert len(aviary.opened) == 3


def test_a_machine_on_which_no_cell_runs_is_at_fault(aviary: Aviary, make_job: MakeJob) -> None:
    """Not even one of grader's own; whoever mends the machine needs the reason."""
    aviary.is_ill = True
    with Lab(aviary, {}, [], 1) as lab:
        [(_, outcome)] = lab.run(cells(1), lambda cell: make_job("", root="pass"), CLOCK, never)
    assert outcome == Outcome(end=End.FAULT, reason="its stream ended")
    assert aviary.all_closed


def test_a_worker_that_can_not_be_started_ends_the_run(aviary: Aviary, make_job: MakeJob) -> None:
    """Nothing can be said then."""
    aviary.refuse = True
    with Lab(aviary, {}, [], 2) as lab, pytest.raises(Void, match="refused"):
        ends(lab, 3, lambda cell: make_job(""))


def test_an_error_of_the_callers_own_closes_the_worker(aviary: Aviary) -> None:
    """A job that can't be made is no fault of the machine."""

    def job(cell: Cell) -> wire.Cell:
        raise KeyError(cell.number)

    with Lab(aviary, {}, [], 1) as lab, pytest.raises(KeyError):
        ends(lab, 1, job)
    assert aviary.all_closed


def test_leaving_ends_cells_that_still_run(aviary: Aviary, make_job: MakeJob) -> None:
    """Soon, and without waiting for their limits."""
    clock = Clock(500, 500)
    began = time.monotonic()
    with Lab(aviary, {}, [], 2) as lab:
        results = lab.run(
            cells(6),
            lambda cell: make_job("", root="hang" if cell.number else "pass"),
            clock,
            never,
        )
        cell, outcome = next(iter(results))
        assert (cell.number, outcome.end) == (0, End.COMPLETE)
    assert time.monotonic() - began < 100
    assert aviary.all_closed


def test_idle_workers_are_ended_all_at_once(aviary: Aviary, make_job: MakeJob) -> None:
    """An engine that answers no more is waited for once, however many there are."""
    together = threading.Barrier(4, timeout=30)

    def job(cell: Cell) -> wire.Cell:
        assert cell
        together.wait()
        return make_job("", root="pass")

    with Lab(aviary, {}, [], 4) as lab:
        ends(lab, 4, job)
        for parrot in aviary.opened:
            parrot.closing = together.wait
    assert len(aviary.opened) == 4
    assert aviary.all_closed


def test_nothing_is_started_once_the_lab_is_left(aviary: Aviary, make_job: MakeJob) -> None:
    """A thread that comes late finds it closed."""
    with Lab(aviary, {}, [], 1) as lab:
        pass
    job = make_job("", root="pass")
    with pytest.raises(CancelledError):
        lab._attempt(cells(1)[0], lambda cell: job, CLOCK, never)
    assert aviary.all_closed


# --- real workers ---------------------------------------------------------------------------


class Watched:
    """A sandbox that remembers what it opened."""

    name = "watched"

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.opened: list[Channel] = []

    def open(self) -> tuple[Channel, Site]:
        """Open and remember."""
        channel, site = self._inner.open()
        self.opened.append(channel)
        return channel, site


def test_a_process_killed_in_the_middle_is_replaced_and_its_cell_runs_again(
    make_job: MakeJob,
) -> None:
    """The first time it hangs until it is killed; modules are shared by both workers."""
    sandbox = Watched(ProcessSandbox(Limits()))
    shared = {"base": wire.Module(source="VALUE = 5\n", package=False)}
    passing = "import sys\ndef test_it(): assert sys.modules['base'].VALUE == 5\n"
    tries = []

    def kill() -> None:
        os.kill(sandbox.opened[0]._process.pid, signal.SIGKILL)  # type: ignore[attr-defined] # a process

    def job(cell: Cell) -> wire.Cell:
        tries.append(cell)
        if len(tries) > 1:
            return make_job(passing)
        threading.Timer(0.4, kill).start()
        return make_job(HANGING)

    with Lab(sandbox, shared, ["base"], 1) as lab:
        [(_, outcome)] = lab.run(cells(1), job, CLOCK, never)
    assert outcome.end is End.COMPLETE
    assert not outcome.runs["test_toy.py::test_it"].failed
    assert len(tries) == len(sandbox.opened) == 2


@pytest.fixture
def unsealed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sandbox:
    """Return a sandbox in which a test may do what its worker may."""
    (tmp_path / "pyseccomp.py").write_text('raise RuntimeError("Unable to find libseccomp")\n')
    found = {"PYTHONPATH": str(tmp_path)}
    real = process.environment
    monkeypatch.setattr(process, "environment", lambda tables: real(tables) | found)
    monkeypatch.setattr(process, "readable", lambda packages: None)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return ProcessSandbox(Limits())


def test_a_test_that_kills_its_worker_calls_nothing_off(
    unsealed: Sandbox, make_job: MakeJob
) -> None:
    """It can where it is not sealed and has the worker's own user."""
    hostile = "import os\ndef test_a(): pass\ndef test_it(): os.kill(os.getppid(), 9)\n"
    with Lab(unsealed, {}, [], 1) as lab:
        [(_, outcome)] = lab.run(cells(1), lambda cell: make_job(hostile), CLOCK, never)
    assert (outcome.end, outcome.reason) == (End.CRASH, "its stream ended")


WRECKING = """
import os, shutil
from pathlib import Path

def test_it():
    (home,) = [one for one in Path.cwd().parents if one.name.startswith("grader-")]
    shutil.rmtree(home)
    home.mkdir()
    os.mkfifo(home / "errors")
"""


def test_a_test_that_wrecks_its_workers_folder_calls_nothing_off(
    unsealed: Sandbox, make_job: MakeJob
) -> None:
    """And nothing waits for what it put there, nor is it left."""
    sandbox = Watched(unsealed)
    with Lab(sandbox, {}, [], 1) as lab:
        [(_, outcome)] = lab.run(cells(1), lambda cell: make_job(WRECKING), CLOCK, never)
    assert outcome.end is End.CRASH
    assert "folder could not be deleted" in outcome.reason
    assert len(sandbox.opened) == 3
    assert not any(one.cells.parent.exists() for one in sandbox.opened)  # type: ignore[attr-defined] # a process


def test_a_module_that_can_not_be_imported_is_the_harness_fault() -> None:
    """The message says which and why."""
    shared = {"base": wire.Module(source="raise ValueError('broken base')\n", package=False)}
    with (
        Lab(ProcessSandbox(Limits()), shared, ["base"], 1) as lab,
        pytest.raises(Void, match="broken base") as caught,
    ):
        ends(lab, 1, lambda cell: pytest.fail(f"{cell} can't run"))
    assert caught.value.fault == "harness"


@pytest.mark.docker
def test_a_cell_whose_container_is_killed_twice_is_to_blame(
    worker_image: str, make_job: MakeJob
) -> None:
    """The back-end makes no difference."""
    from grader.sandbox.docker import DockerSandbox
    from grader.sandbox.engine import engine

    assert worker_image
    sandbox = Watched(DockerSandbox(Limits()))

    def kill() -> None:
        with contextlib.closing(engine()) as client:
            client.kill(sandbox.opened[-1]._id)  # type: ignore[attr-defined] # a container

    def job(cell: Cell) -> wire.Cell:
        threading.Timer(0.5, kill).start()
        return make_job(HANGING, draw=cell.draw)

    with Lab(sandbox, {}, [], 1) as lab:
        [(_, outcome)] = lab.run(cells(1), job, CLOCK, never)
    assert outcome.end is End.CRASH
    assert len(sandbox.opened) == 3
