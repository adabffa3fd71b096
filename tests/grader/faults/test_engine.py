"""An engine that hangs, freezes or is killed: said in time, and nothing is lost by it."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import psutil
import pytest

from grader.sandbox import engine, session

from .conftest import Place, soon

pytestmark = pytest.mark.docker

MakePlace = Callable[..., Place]
REAL = "/var/run/docker.sock"


class Proxy:
    """An engine in front of the real one, which can be frozen."""

    def __init__(self, path: Path) -> None:
        self.address = f"unix://{path}"
        self.frozen = threading.Event()
        self.served = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._ends: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.served += 1
                far = socket.socket(socket.AF_UNIX)
                far.connect(REAL)
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                if self.frozen.is_set():
                    return
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End every connection."""
        for one in self._ends:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Stand in front of the engine, for this process."""
    folder = tempfile.mkdtemp(prefix="proxy-")  # the name of a socket must be short
    made = Proxy(Path(folder) / "engine.sock")
    monkeypatch.setenv("DOCKER_HOST", made.address)
    monkeypatch.setattr(engine, "SECONDS", 1)
    monkeypatch.setattr(session, "GRACE_SECONDS", 1.0)
    yield made
    made.close()
    shutil.rmtree(folder)


def test_an_engine_that_never_answers_is_said_within_its_time(
    proxy: Proxy, place: MakePlace
) -> None:
    """With what to do."""
    here = place("docker")
    proxy.frozen.set()
    began = time.monotonic()
    ran = here.student("mutate", "T1", "--sandbox", "docker", "--run-dir", here.runs)
    assert ran.code == 5
    assert "the Docker engine doesn't answer" in ran.out
    assert "--sandbox process" in ran.out
    assert time.monotonic() - began < 30


def test_an_engine_that_freezes_in_the_middle_voids_a_grading_that_then_goes_on(
    proxy: Proxy, place: MakePlace
) -> None:
    """What was seen before is kept; no call waits for ever."""
    here, whole = place("docker"), place("docker", "whole")
    assert whole.grade()[0] == 0
    how = ("--sandbox", "docker", "--jobs", "1", "--run-dir", here.runs, "--json", here.report)

    def freeze() -> None:
        soon(lambda: len(here.kept()) >= 4)
        proxy.frozen.set()

    freezing = threading.Thread(target=freeze)
    freezing.start()
    ran = here.student("mutate", "T1", *how)
    freezing.join()
    assert ran.code == 5
    assert here.found()["fault"] == "machine"
    kept = here.kept()
    proxy.frozen.clear()
    assert here.student("mutate", "T1", *how).code == 0
    assert here.kept()[: len(kept)] == kept
    assert here.found() == whole.found()


class Second:
    """An engine of this test's own, that may be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = f"unix://{folder}/engine.sock"
        self._start()

    def _start(self) -> None:
        folder = self._folder
        for left in ("pid", "exec/containerd/containerd.pid"):
            (folder / left).unlink(missing_ok=True)
        places = [f"--data-root={folder}/data", f"--exec-root={folder}/exec"]
        network = ["--bridge=none", "--iptables=false", "--ip-masq=false"]
        with (folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["dockerd", f"--host={self.address}", f"--pidfile={folder}/pid", *places, *network],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        assert soon(self._answers, 60), (folder / "log").read_text(encoding="utf-8")[-2000:]

    def _answers(self) -> bool:
        # The client would leave a socket open where nobody answers.
        with socket.socket(socket.AF_UNIX) as asking:
            try:
                asking.connect(self.address.removeprefix("unix://"))
                asking.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b" 200 " in asking.recv(64)
            except OSError:
                return False

    def load(self, image: str) -> None:
        """Take an image over from the first engine."""
        with (
            contextlib.closing(docker.APIClient(f"unix://{REAL}", timeout=120)) as first,
            contextlib.closing(docker.APIClient(self.address, timeout=120)) as mine,
        ):
            for _ in mine.load_image(first.get_image(image)):
                pass

    def kill(self) -> None:
        """End it as nothing can prevent, with the process that keeps its containers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)

    def restart(self) -> None:
        """Start it again."""
        self._start()

    def containers(self) -> list[str]:
        """Return its containers."""
        with contextlib.closing(docker.APIClient(self.address, version="auto")) as client:
            return [one["Id"] for one in client.containers(all=True)]

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(30)
        for one in psutil.disk_partitions(all=True):  # that it was killed with
            if one.mountpoint.startswith(f"{self._folder}/"):
                subprocess.run(["umount", "--lazy", one.mountpoint], check=True)


@pytest.fixture
def second(worker_image: str) -> Iterator[Second]:
    """Start an engine of this test's own, which has the worker's image."""
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    made = Second(folder)
    try:
        made.load(worker_image)
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


def test_an_engine_that_is_killed_loses_no_outcome_and_leaves_no_container(
    second: Second, place: MakePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 5, the old report stays what it was but for the new one; then the same grade."""
    monkeypatch.setenv("DOCKER_HOST", second.address)
    here, whole = place("docker"), place("docker", "whole")
    assert whole.grade()[0] == 0
    process = here.start()
    assert soon(lambda: len(here.kept()) >= 4, 60)
    second.kill()
    process.communicate(timeout=120)
    assert process.returncode == 5
    assert json.loads(here.report.read_text(encoding="utf-8"))["score"] is None
    kept = here.kept()
    second.restart()
    assert here.grade()[0] == 0
    assert here.kept()[: len(kept)] == kept
    assert here.found() == whole.found()
    assert second.containers() == []
