"""The conversation with a worker, held against one that says what the test wants it to."""

import json
import os
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError

import pytest

from grader.course import Limits
from grader.outcome import End, Outcome, Watch
from grader.problems import Void
from grader.sandbox import Site, limits
from grader.sandbox import session as session_module
from grader.sandbox.session import Clock, Session, WorkerLostError
from grader.worker import wire

MakeJob = Callable[..., wire.Cell]
Said = bytes | float | Exception

READY = wire.frame(
    wire.READY, b'{"versions": {"python": "3.11.2"}, "sealed": true, "sees_little": true}'
)
CLOCK = Clock(per_test=30, in_all=30)


def line(event: str, **facts: object) -> bytes:
    """Return one fact of a cell."""
    return json.dumps({"event": event, **facts}).encode() + b"\n"


def data(*lines: bytes) -> bytes:
    """Return a frame with a cell's words."""
    return wire.frame(wire.DATA, b"".join(lines))


def end(status: int = 0, *, flooded: bool = False) -> bytes:
    """Return the frame that ends a cell."""
    return wire.frame(wire.END, wire.Ending(status, flooded, 0.25, 1000).pack())


def phases(test: str, outcome: str = "passed") -> bytes:
    """Return what a test that runs to its end says."""
    said = [line("start", id=test)]
    for when in ("setup", "call", "teardown"):
        result = outcome if when == "call" else "passed"
        facts = {"id": test, "when": when, "outcome": result, "expected_to_fail": False}
        said.append(line("phase", **facts))
    return b"".join(said)


WHOLE = line("file", path="t.py") + line("test", id="t.py::a") + line("collected")


class Script:
    """A channel that says what it is given: bytes, a pause in seconds, or an exception."""

    def __init__(self, said: Iterable[Said]) -> None:
        self.said = deque(said)
        self.heard = b""
        self.closed = 0

    def write(self, data: bytes) -> None:
        """Remember what the supervisor said."""
        self.heard += data

    def read(self, seconds: float) -> bytes:
        """Say the next thing, or wait."""
        if not self.said:
            return b""
        match self.said[0]:
            case bytes() as words:
                self.said.popleft()
                return words
            case float() as pause:
                if pause > seconds:
                    self.said[0] = pause - seconds
                    time.sleep(seconds)
                    raise TimeoutError
                self.said.popleft()
                time.sleep(pause)
                return self.read(seconds)
            case Exception() as problem:
                raise problem

    def close(self) -> str:
        """End."""
        self.closed += 1
        return "its last words"

    def kinds(self) -> bytes:
        """Return the kinds of the frames that the supervisor sent."""
        kinds, rest = b"", self.heard
        while rest:
            kind, size = wire.HEADER.unpack_from(rest)
            kinds, rest = kinds + kind, rest[wire.HEADER.size + size :]
        return kinds


class Stage:
    """A sandbox with one script."""

    name = "stage"

    def __init__(self, *said: Said) -> None:
        self.script = Script(said)
        self.rooms: int | None = None

    def open(self) -> tuple[Script, Site]:
        """Start the script."""
        return self.script, Site("/cells", None, limits(Limits(), None), rooms=self.rooms)


def converse(
    make_job: MakeJob,
    *said: Said,
    clock: Clock = CLOCK,
    enough: Callable[[Watch], bool] = lambda watch: False,
    **changes: object,
) -> tuple[Outcome, Script]:
    """Run one cell of a worker that says ``said``."""
    stage = Stage(READY, *said)
    with Session(stage, {}, []) as session:
        return session.run(make_job("", **changes), clock, enough), stage.script


def test_a_setup_is_sent_and_versions_are_received() -> None:
    """The first frame each way."""
    stage = Stage(READY)
    with Session(stage, {"a": wire.Module(source="x", package=False)}, ["numpy"]) as session:
        assert session.versions == {"python": "3.11.2"}
        assert session.sealed
    assert stage.script.kinds() == wire.SETUP
    setup = json.loads(stage.script.heard[wire.HEADER.size :])
    assert (setup["wire"], setup["preload"], setup["cells"]) == (wire.VERSION, ["numpy"], "/cells")
    assert stage.script.closed == 1


@pytest.mark.parametrize(
    ("said", "slug", "fault"),
    [
        ([], "worker-lost", "machine"),
        ([OSError("gone")], "worker-lost", "machine"),
        ([b"R"], "worker-lost", "machine"),
        ([wire.HEADER.pack(b"R", 1 << 30)], "worker-lost", "machine"),
        ([wire.frame(wire.FATAL, b"no such module \xff")], "worker-refused", "harness"),
        ([wire.frame(wire.DATA, b"")], "worker-refused", "harness"),
    ],
)
def test_a_worker_that_does_not_get_ready_is_a_fault_with_a_name(
    said: list[Said], slug: str, fault: str
) -> None:
    """And it is closed."""
    stage = Stage(*said)
    with pytest.raises(Void) as caught:
        Session(stage, {}, [])
    assert (caught.value.message.slug, caught.value.fault) == (slug, fault)
    assert stage.script.closed


def test_a_worker_that_says_nothing_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message says how long it was."""
    monkeypatch.setattr(session_module, "START_SECONDS", 0.5)
    with pytest.raises(Void, match=r"within 0\.5 s"):
        Session(Stage(60.0), {}, [])


def test_a_complete_run_is_complete(make_job: MakeJob) -> None:
    """All tests ran to their end, and the session ended by itself."""
    outcome, script = converse(make_job, data(WHOLE, phases("t.py::a"), line("end", exit=0)), end())
    assert outcome.end is End.COMPLETE
    assert outcome.runs["t.py::a"].finished
    assert (outcome.cpu_seconds, outcome.peak_kilobytes) == (0.25, 1000)
    assert script.kinds() == wire.SETUP + wire.CELL


def test_a_worker_is_used_up_once_each_of_its_rooms_served_a_cell(make_job: MakeJob) -> None:
    """One where cells share a folder never is."""
    whole = [data(WHOLE, phases("t.py::a"), line("end", exit=0)), end()]
    for rooms, used_up in ((2, [False, False, True]), (None, [False] * 3)):
        stage = Stage(READY, *whole, *whole)
        stage.rooms = rooms
        with Session(stage, {}, []) as session:
            found = [session.used_up]
            for _ in range(2):
                session.run(make_job(""), CLOCK, lambda watch: False)
                found.append(session.used_up)
        assert found == used_up


def test_words_may_be_cut_anywhere(make_job: MakeJob) -> None:
    """Frames and lines are put together again from single bytes."""
    words = b"".join([WHOLE, phases("t.py::a"), line("end", exit=0)])
    frames = b"".join(data(words[i : i + 7]) for i in range(0, len(words), 7)) + end()
    outcome, _ = converse(make_job, *(frames[i : i + 1] for i in range(len(frames))))
    assert outcome.end is End.COMPLETE


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (b"", 0, "exit status 0"),
        (WHOLE, 0, "exit status 0"),
        (WHOLE + phases("t.py::a"), 0, "exit status 0"),
        (WHOLE + line("end", exit=0), 0, "pytest ended early with exit code 0"),
        (line("end", exit=4), 0, "pytest ended early with exit code 4"),
        (WHOLE + phases("t.py::a") + line("end", exit=0), 256, "pytest ended early"),
        (WHOLE, 9, "signal SIGKILL"),
        (WHOLE, 11 | 128, "signal SIGSEGV"),
        (WHOLE, 40, "signal 40"),
        (WHOLE, 3 << 8, "exit status 3"),
    ],
)
def test_a_run_that_is_not_whole_is_a_crash_with_a_reason(
    make_job: MakeJob, words: bytes, status: int, reason: str
) -> None:
    """Whatever the cell claims, its end is seen from outside."""
    outcome, _ = converse(make_job, data(words), end(status))
    assert outcome.end is End.CRASH
    assert outcome.reason.startswith(reason)


def test_a_look_is_complete_without_a_collection(make_job: MakeJob) -> None:
    """Nothing is collected when sources are only read."""
    outcome, _ = converse(make_job, data(line("end", exit=0)), end(), mode="look")
    assert outcome.end is End.COMPLETE


def test_a_flood_is_garbled_whatever_was_said(make_job: MakeJob) -> None:
    """The trusted process counts."""
    outcome, _ = converse(
        make_job, data(WHOLE, phases("t.py::a"), line("end", exit=0)), end(flooded=True)
    )
    assert (outcome.end, outcome.reason) == (End.GARBLED, "it said too much")


def test_a_cell_that_says_more_than_tests_have_to_say_is_garbled(make_job: MakeJob) -> None:
    """What was said is kept for all runs of a grading, in this machine's memory."""
    much = b"".join(phases(f"t.py::{number}", "failed") for number in range(3000))
    outcome, script = converse(make_job, data(WHOLE, much), end(9))
    assert len(much) > session_module.MOST_SAID
    assert outcome.end is End.GARBLED
    assert script.kinds() == wire.SETUP + wire.CELL + wire.KILL


def test_a_line_that_makes_no_sense_ends_the_cell(make_job: MakeJob) -> None:
    """The worker is told to end it, and what comes until then is not read."""
    outcome, script = converse(
        make_job, data(WHOLE, b"junk\n"), data(phases("t.py::a", "failed")), end(9)
    )
    assert outcome.end is End.GARBLED
    assert outcome.runs == {}
    assert script.kinds() == wire.SETUP + wire.CELL + wire.KILL


def test_a_cell_that_has_shown_enough_is_ended_once(make_job: MakeJob) -> None:
    """Asked after each frame, and not again once it has said yes."""
    asked = []

    def enough(watch: Watch) -> bool:
        asked.append(watch.failing())
        return bool(watch.failing())

    outcome, script = converse(
        make_job,
        data(WHOLE),
        data(
            line("start", id="t.py::a"),
            line(
                "phase",
                id="t.py::a",
                when="call",
                outcome="failed",
                expected_to_fail=False,
                failure={"kind": "ordinary", "exception": "E"},
            ),
        ),
        data(line("start", id="t.py::a")),
        end(9),
        enough=enough,
    )
    assert outcome.end is End.STOPPED
    assert len(asked) == 2
    assert script.kinds() == wire.SETUP + wire.CELL + wire.KILL


def test_each_test_has_its_time(make_job: MakeJob) -> None:
    """The clock starts again with each."""
    outcome, _ = converse(
        make_job,
        data(WHOLE),
        0.3,
        data(phases("t.py::a")),
        0.3,
        data(line("end", exit=0)),
        end(),
        clock=Clock(per_test=0.5, in_all=30),
    )
    assert outcome.end is End.COMPLETE


def test_a_test_over_its_time_is_ended_and_named(make_job: MakeJob) -> None:
    """By a limit of its own where it has one."""
    outcome, script = converse(
        make_job,
        data(WHOLE, line("start", id="t.py::a")),
        0.5,
        end(9),
        clock=Clock(per_test=30, in_all=30, tests={"t.py::a": 0.2}),
    )
    assert (outcome.end, outcome.at, outcome.ran_out) == (End.TIMEOUT, "t.py::a", False)
    assert script.kinds()[-1:] == wire.KILL


def test_a_trickle_of_words_does_not_stop_the_clock(make_job: MakeJob) -> None:
    """Only another test or file starts it again, and the limit of all holds in any case."""
    beats: list[Said] = [0.1, data(line("start", id="t.py::a"))] * 30
    outcome, _ = converse(
        make_job, data(WHOLE), *beats, end(9), clock=Clock(per_test=0.5, in_all=30)
    )
    assert (outcome.end, outcome.ran_out) == (End.TIMEOUT, False)
    steps: list[Said] = [part for n in range(30) for part in (0.1, data(line("file", path=f"{n}")))]
    outcome, _ = converse(make_job, *steps, end(9), clock=Clock(per_test=5, in_all=0.5))
    assert (outcome.end, outcome.ran_out) == (End.TIMEOUT, True)


@pytest.mark.parametrize(
    "said",
    [
        [],
        [OSError("reset")],
        [data(WHOLE)],
        [wire.frame(wire.FATAL, b"a cell could not be set up")],
        [wire.frame(wire.READY, b"{}")],
        [wire.frame(wire.END, b"short")],
        [wire.HEADER.pack(wire.DATA, 1 << 31)],
        [b"\0" * 3],
    ],
)
def test_a_worker_that_fails_is_lost_and_its_cell_says_nothing(
    make_job: MakeJob, said: list[Said]
) -> None:
    """No outcome is made up."""
    with pytest.raises(WorkerLostError):
        converse(make_job, *said)


def test_the_last_words_of_a_worker_are_told(make_job: MakeJob) -> None:
    """They say more than that its stream ended."""
    with pytest.raises(WorkerLostError, match="its last words"):
        converse(make_job)


def test_a_worker_that_does_not_end_its_cell_is_lost(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a while to do so."""
    monkeypatch.setattr(session_module, "GRACE_SECONDS", 0.3)
    with pytest.raises(WorkerLostError, match="didn't end its cell"):
        converse(make_job, data(WHOLE), 60.0, clock=Clock(per_test=0.1, in_all=30))


def test_a_worker_that_never_ends_its_frame_is_lost(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though there is always one byte more to read."""
    monkeypatch.setattr(session_module, "GRACE_SECONDS", 0.2)

    class Dripping(Script):
        def read(self, seconds: float) -> bytes:
            time.sleep(0.001)
            return super().read(seconds) or b"x"

    stage = Stage(READY, wire.HEADER.pack(wire.DATA, session_module.FRAME_CAP))
    stage.script.__class__ = Dripping
    with Session(stage, {}, []) as session, pytest.raises(WorkerLostError, match="didn't end"):
        session.run(make_job(""), Clock(0.2, 0.2), lambda watch: False)


def test_a_worker_that_passes_on_more_than_it_may_is_lost(make_job: MakeJob) -> None:
    """It would fill this machine's memory, with a line that never ends or after it was told off."""
    flood = [wire.frame(wire.DATA, bytes(wire.DATA_CAP))] * 3
    with pytest.raises(WorkerLostError, match="too much"):
        converse(make_job, *flood, end())


def test_a_worker_that_is_old_gets_no_further_cell(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever builds up in it has an end."""
    whole = [data(WHOLE, phases("t.py::a"), line("end", exit=0)), end()]
    with Session(Stage(READY, *whole), {}, []) as session:
        assert not session.used_up
        monkeypatch.setattr(session_module, "LIFE_SECONDS", -1.0)
        assert session.run(make_job(""), CLOCK, lambda watch: False).end is End.COMPLETE
        assert session.used_up


def test_whatever_waits_ends_soon_after_it_is_cancelled(make_job: MakeJob) -> None:
    """In the thread that waits, so that no stream is closed under its reader."""
    cancelled = threading.Event()
    stage = Stage(READY, 600.0)
    with Session(stage, {}, [], cancelled) as session:
        timer = threading.Timer(0.2, cancelled.set)
        timer.start()
        with pytest.raises(CancelledError):
            session.run(make_job(""), Clock(500, 500), lambda watch: False)
        timer.join()


def test_a_session_that_is_cancelled_does_not_start() -> None:
    """And leaves nothing."""
    cancelled = threading.Event()
    cancelled.set()
    stage = Stage(600.0)
    with pytest.raises(CancelledError):
        Session(stage, {}, [], cancelled)
    assert stage.script.closed == 1


def test_the_ending_frame_has_one_size() -> None:
    """Anything else comes from another version."""
    assert wire.Ending.unpack(wire.Ending(9, True, 1.5, -1).pack()) == (9, True, 1.5, 0)
    with pytest.raises(struct.error):
        wire.Ending.unpack(b"")


def test_a_limit_is_its_tests_or_the_common_one() -> None:
    """What was never measured has the common one."""
    clock = Clock(per_test=20, in_all=300, tests={"t.py::a": 5})
    assert (clock.limit("t.py::a"), clock.limit("t.py::b"), clock.limit("")) == (5, 20, 20)


def test_exit_codes_are_read_as_the_system_means_them() -> None:
    """A guard for the statuses that these tests make up."""
    assert os.WIFSIGNALED(9)
    assert os.waitstatus_to_exitcode(3 << 8) == 3
