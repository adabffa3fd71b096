"""Every single call to an engine has a deadline, whichever it is that gets no answer."""

import contextlib
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from docker.errors import APIError

from grader import image
from grader.course import Limits
from grader.problems import Void
from grader.sandbox import engine, owner
from grader.sandbox.docker import LABEL, DockerSandbox
from grader.sandbox.engine import DEFAULT_UNIX_SOCKET

pytestmark = pytest.mark.docker

REAL = DEFAULT_UNIX_SOCKET.removeprefix("http+unix://")
Deaf = Callable[..., None]


class DeafEngine:
    """Stands before the engine, and keeps every request from it that contains some word."""

    def __init__(self, address: Path, word: bytes) -> None:
        self._word = word
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(address))
        self._listener.listen()
        self._ends = [self._listener]
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def _start(self, work: Callable[..., None], *ends: socket.socket) -> None:
        self._threads.append(threading.Thread(target=work, args=ends))
        self._threads[-1].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(REAL)
                self._ends += [near, far]
                self._start(self._ask, near, far)
                self._start(self._answer, far, near)

    def _ask(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (data := near.recv(1 << 16)) and self._word not in data.partition(b"\r\n")[0]:
                far.sendall(data)

    def _answer(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(1 << 16):
                near.sendall(data)

    def close(self) -> None:
        """End every connection."""
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()


class FalteringEngine(DeafEngine):
    """Hears every request, and lets the answer to one kind only begin."""

    def __init__(self, address: Path, word: bytes, *, hangs_up: bool) -> None:
        self._hangs_up, self._heard = hangs_up, threading.Event()
        super().__init__(address, word)

    def _ask(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := near.recv(1 << 16):
                if self._word in data.partition(b"\r\n")[0]:
                    self._heard.set()
                far.sendall(data)

    def _answer(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(1 << 16):
                if self._heard.is_set():
                    near.sendall(b"".join(data.partition(b"\r\n\r\n")[:2]))
                    if self._hangs_up:
                        near.shutdown(socket.SHUT_RDWR)
                    return
                near.sendall(data)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch, worker_image: str) -> Iterator[Deaf]:
    """Return a function that makes the engine deaf to one kind of request."""
    assert worker_image
    monkeypatch.setattr(engine, "SECONDS", 1)
    folder = Path(tempfile.mkdtemp(prefix="deaf-"))  # the name of a socket must be short
    made = []

    def make(word: bytes, kind: Callable[[Path, bytes], DeafEngine] = DeafEngine) -> None:
        made.append(kind(folder / "socket", word))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/socket")

    yield make
    monkeypatch.delenv("DOCKER_HOST")
    for one in made:
        one.close()
    shutil.rmtree(folder)
    _remove_ours()


def _remove_ours() -> None:
    """Remove what could not be removed while the engine was deaf."""
    with contextlib.closing(engine.engine()) as client:
        for one in client.containers(all=True, filters={"label": LABEL}):
            its = owner.read(one["Labels"][LABEL])
            if its is not None and its.process == os.getpid():
                # The engine may have heard of it, and be about it still.
                with contextlib.suppress(APIError):
                    client.remove_container(one["Id"], force=True)


@pytest.mark.parametrize(
    "word",
    [
        b"/version",
        b"/_ping",
        b"/images/",
        b"/containers/create",
        b"/attach",
        b"/start",
    ],
)
def test_an_engine_that_does_not_answer_to_a_call_is_said_in_time(deaf: Deaf, word: bytes) -> None:
    """With what to do about it; none waits for ever."""
    deaf(word)
    began = time.monotonic()
    with pytest.raises(Void, match=r"doesn't answer.*timed out.*--sandbox process") as caught:
        DockerSandbox(Limits()).open()[0].close()
    assert caught.value.fault == "machine"
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("word", [b"/containers/json", b"DELETE"])
def test_an_engine_that_does_not_clear_away_is_not_waited_for(deaf: Deaf, word: bytes) -> None:
    """A container that stays goes at the next start, or by itself."""
    deaf(word)
    began = time.monotonic()
    DockerSandbox(Limits()).open()[0].close()
    assert time.monotonic() - began < 20


def test_an_engine_that_does_not_build_is_said_in_time(
    deaf: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a build has more time than other calls."""
    deaf(b"/build")
    monkeypatch.setattr(image, "SECONDS", 1)
    monkeypatch.setattr(image, "download_wheels", lambda folder, machine: folder.mkdir())
    with pytest.raises(Void, match="timed out") as caught:
        image.build()
    assert caught.value.fault == "machine"


@pytest.mark.parametrize("hangs_up", [False, True])
def test_an_engine_that_fails_in_the_middle_of_a_build_is_said_in_time(
    hangs_up: bool, deaf: Deaf, monkeypatch: pytest.MonkeyPatch, worker_image: str
) -> None:
    """Its answer is read step by step, and each step has the same deadline."""
    monkeypatch.setattr(image, "SECONDS", 1)
    monkeypatch.setattr(image, "download_wheels", lambda folder, machine: folder.mkdir())
    deaf(b"/build", lambda *given: FalteringEngine(*given, hangs_up=hangs_up))
    with pytest.raises(Void, match=r"can't be built.*(timed out|broken)") as caught:
        image.build(worker_image)
    assert caught.value.fault == "machine"
