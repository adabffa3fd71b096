"""A container's life: when it can't begin, that it ends, and that nothing is left."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from grader.course import Limits
from grader.outcome import End
from grader.problems import Void
from grader.sandbox import Channel
from grader.sandbox.docker import LABEL, DockerSandbox, _Container
from grader.sandbox.engine import engine
from grader.sandbox.session import Clock, Session, WorkerLostError
from grader.worker import wire

pytestmark = pytest.mark.docker

MakeJob = Callable[..., wire.Cell]
CLOCK = Clock(60, 60)


def containers() -> set[str]:
    """Return the ids of all workers' containers, running or not."""
    with contextlib.closing(engine()) as client:
        return {one["Id"] for one in client.containers(all=True, filters={"label": LABEL})}


@pytest.fixture
def sandbox(worker_image: str) -> DockerSandbox:
    """Return a sandbox whose image is there."""
    del worker_image
    return DockerSandbox(Limits())


@pytest.fixture
def session(sandbox: DockerSandbox) -> Iterator[Session]:
    """Return a worker of this test's own."""
    with Session(sandbox, {}, []) as started:
        yield started


def own(started: Session | Channel) -> str:
    """Return the id of a worker's container: others may run beside it."""
    channel = started._channel if isinstance(started, Session) else started
    return channel._id  # type: ignore[attr-defined,no-any-return] # a container's


def test_a_container_is_gone_once_its_session_is_closed(sandbox: DockerSandbox) -> None:
    """At once, and not only stopped."""
    with Session(sandbox, {}, []) as session:
        mine = own(session)
        assert mine in containers()
    assert mine not in containers()


def test_a_container_is_gone_after_it_was_killed_from_outside(sandbox: DockerSandbox) -> None:
    """The engine removes it by itself, and closing it is no error."""
    with Session(sandbox, {}, []) as session, contextlib.closing(engine()) as client:
        mine = own(session)
        client.kill(mine)
    assert mine not in containers()


def test_a_container_ends_when_its_grader_is_gone(sandbox: DockerSandbox) -> None:
    """Its standard input ends with the connection."""
    channel, _ = sandbox.open()
    mine = own(channel)
    channel._socket.shutdown(2)
    deadline = time.monotonic() + 30
    while mine in containers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert mine not in containers()
    channel.close()


def test_closing_twice_is_no_error(sandbox: DockerSandbox) -> None:
    """Whoever loses a worker closes it, and so does its owner."""
    channel, _ = sandbox.open()
    assert channel.close() == channel.close()


def test_a_worker_that_is_killed_while_a_cell_runs_is_lost(
    sandbox: DockerSandbox, make_job: MakeJob
) -> None:
    """The cell says nothing then."""
    with Session(sandbox, {}, []) as session, contextlib.closing(engine()) as client:
        killer = threading.Timer(0.7, client.kill, [own(session)])
        killer.start()
        with pytest.raises(WorkerLostError):
            session.run(make_job("import time\ntime.sleep(60)\n"), CLOCK, lambda watch: False)
        killer.join()


def test_two_workers_have_no_user_in_common(sandbox: DockerSandbox) -> None:
    """The kernel counts a user's processes across containers."""
    ranges = set()
    for _ in range(3):
        channel, site = sandbox.open()
        channel.close()
        assert site.uids is not None
        ranges.add(site.uids[0])
    assert len(ranges) == 3


def test_what_a_worker_says_on_standard_error_is_its_last_word(sandbox: DockerSandbox) -> None:
    """A setup that no worker understands makes it raise."""
    channel, _ = sandbox.open()
    channel.write(wire.frame(wire.SETUP, b"junk"))
    while channel.read(60):
        pass
    assert "JSONDecodeError" in channel.close()


def test_versions_are_those_inside(session: Session) -> None:
    """The report names what the grade depends on."""
    assert set(session.versions) == {"python", "pytest", "hypothesis", "numpy"}
    assert session.versions["python"].startswith("3.11.")


def test_many_cells_and_much_text_pass_through_one_container(
    session: Session, make_job: MakeJob
) -> None:
    """The engine's stream is cut at other places than the frames are."""
    lines = "".join(f"def test_{n}(): assert {n} < 60, 'x' * 400\n" for n in range(120))
    filler = "# " + "x" * 400_000 + "\n"
    for _ in range(2):
        outcome = session.run(make_job(filler + lines), CLOCK, lambda watch: False)
        assert outcome.end is End.COMPLETE
        assert sum(ran.failed for ran in outcome.runs.values()) == 60


@pytest.mark.parametrize(
    "host",
    [
        *("unix:///no/such/socket", "tcp://127.0.0.1:1", "nonsense", "ssh://nobody@127.0.0.1:1"),
        *("tcp://127.0.0.1:99999", "tcp://[::1"),
    ],
)
def test_an_engine_that_does_not_answer_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """With what to do about it."""
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(Void) as caught:
        DockerSandbox(Limits())
    assert caught.value.fault == "machine"
    assert caught.value.message.slug == "no-engine"
    assert "\n" not in str(caught.value)
    assert "--sandbox process" in str(caught.value)


def test_a_missing_image_names_the_command_that_builds_it(
    monkeypatch: pytest.MonkeyPatch, worker_image: str
) -> None:
    """It changes with the grader, so it may be missing after an update."""
    assert worker_image
    monkeypatch.setattr("grader.sandbox.docker.image_name", lambda: "grader-worker:missing")
    with pytest.raises(Void, match=r"grader-worker:missing.*grade image build") as caught:
        DockerSandbox(Limits())
    assert caught.value.message.slug == "no-image"


def test_an_image_that_vanishes_later_is_a_fault_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, sandbox: DockerSandbox
) -> None:
    """Between two workers of one grading."""
    monkeypatch.setattr(sandbox, "_image", "grader-worker:vanished")
    with pytest.raises(Void, match="vanished") as caught:
        sandbox.open()
    assert caught.value.fault == "machine"


def test_a_container_that_can_not_be_started_is_not_left_behind(
    monkeypatch: pytest.MonkeyPatch, sandbox: DockerSandbox
) -> None:
    """Created it is before it is started."""
    made = []
    create = _Container._create

    def noted(self: _Container, image: str, megabytes: int) -> str:
        made.append(create(self, image, megabytes))
        return made[-1]

    monkeypatch.setattr(_Container, "_create", noted)
    monkeypatch.setattr("grader.sandbox.docker.PYTHON", "/no/such/program")
    with pytest.raises(Void):
        sandbox.open()
    assert len(made) == 1
    assert made[0] not in containers()
