"""The back-end with a container: one a worker, with everything in and out over its streams."""

import contextlib
import socket
import struct
import time
from typing import Any

import docker
from docker.errors import APIError, ImageNotFound
from docker.types import LogConfig, Ulimit

from grader.course import Limits
from grader.image import image_name
from grader.messages import message
from grader.problems import Void
from grader.worker import wire

from . import Channel, Site, command, engine, environment, limits, owner, some_users
from .engine import TROUBLE

READ_SIZE = 1 << 16
REMOVAL_SECONDS = 10.0
CELLS, PYTHON, PACKAGES = "/cells", "/opt/worker/bin/python", "/opt/worker/lib/site-packages"
TABLES = "/opt/worker/tables"
JAIL = "/jail"  # all that a cell needs of the image; the same paths outside lead into it
ROOMS = 256  # cells that a container serves: each has a file system of its own, used once
ROOM = "rw,noexec,nosuid,nodev,size=64m,nr_inodes=4096,mode=0711"
LABEL = "grader.worker"
WORKER_MEGABYTES = 256
PROCESSES, CELL_PROCESSES = 64, 48  # the worker needs some to end a cell that has used up its own
# A cell could leave a queue, a semaphore or shared memory behind for the next.
NO_QUEUES = {
    "kernel.shmmni": "0",
    "kernel.msgmni": "0",
    "kernel.sem": "0 0 0 0",
    "fs.mqueue.queues_max": "0",
}
MULTIPLEX = struct.Struct(">BxxxL")
STDERR = 2


class DockerSandbox:
    """Runs each worker in a container of its own."""

    name = "docker"

    def __init__(self, allowed: Limits) -> None:
        self._limits = allowed
        self._image = image_name()
        with engine.answering(), contextlib.closing(engine.engine()) as client:
            _remove_orphans(client)
            try:
                client.inspect_image(self._image)  # type: ignore[no-untyped-call] # a gap in the stubs
            except ImageNotFound:
                missing = message("no-image", image=self._image, program="grade")
                raise Void(missing, "machine") from None

    def open(self) -> tuple[Channel, Site]:
        """Start a worker in a fresh container."""
        megabytes = self._limits.memory_megabytes
        allowed = limits(self._limits, CELL_PROCESSES)
        client = engine.engine()
        with engine.answering():
            try:
                container = _Container(client, self._image, megabytes + WORKER_MEGABYTES)
            except APIError as refusal:
                raise Void(message("worker-lost", why=refusal), "machine") from None
        return container, Site(CELLS, some_users(), allowed, rooms=ROOMS, jail=JAIL)


class _Container:
    """A worker in a container, which goes with it."""

    def __init__(self, client: docker.APIClient, image: str, megabytes: int) -> None:
        self._client = client
        self._plain, self._errors, self._raw = bytearray(), bytearray(), bytearray()
        self._said: str | None = None
        self._ends = contextlib.ExitStack()
        self._ends.callback(client.close)
        try:
            self._id = self._create(image, megabytes)
            self._ends.callback(self._remove)
            self._socket = self._attach()
            client.start(self._id)
        except BaseException:
            self._ends.close()
            raise

    def _create(self, image: str, megabytes: int) -> str:
        made: dict[str, str] = self._client.create_container(
            image,
            command(PYTHON, PACKAGES),
            stdin_open=True,
            hostname="sandbox",
            user="0:0",
            working_dir="/",
            environment=environment(TABLES),
            labels={LABEL: str(owner.me())},
            network_disabled=True,
            host_config=_confinement(self._client, megabytes),
        )
        return made["Id"]

    def _attach(self) -> socket.socket:
        """Return the socket that carries the container's standard streams."""
        stream = self._client.attach_socket(
            self._id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        )
        plain: socket.socket = getattr(stream, "_sock", stream)
        self._ends.callback(plain.close)
        # What the client keeps of its answer would else complain of a stream closed under it.
        if response := getattr(stream, "_response", None):
            self._ends.callback(response.close)
        return plain

    def write(self, data: bytes) -> None:
        self._socket.settimeout(engine.SECONDS)
        self._socket.sendall(data)

    def read(self, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        while not self._plain:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            data = self._socket.recv(READ_SIZE)
            if not data:
                return b""
            self._raw += data
            self._split()
            if not self._plain and time.monotonic() > deadline:
                raise TimeoutError
        data = bytes(self._plain)
        self._plain.clear()
        return data

    def _split(self) -> None:
        """Take the engine's multiplexed stream apart."""
        while len(self._raw) >= MULTIPLEX.size:
            stream, size = MULTIPLEX.unpack_from(self._raw)
            if len(self._raw) < MULTIPLEX.size + size:
                return
            body = self._raw[MULTIPLEX.size : MULTIPLEX.size + size]
            del self._raw[: MULTIPLEX.size + size]
            if stream == STDERR:
                self._errors = (self._errors + body)[-READ_SIZE:]
            else:
                self._plain += body

    def close(self) -> str:
        if self._said is None:
            self._said = self._errors.decode(errors="replace")
            self._ends.close()
        return self._said

    def _remove(self) -> None:
        """Remove the container and wait until it is gone; the engine may be at it already."""
        with contextlib.suppress(*TROUBLE):
            with contextlib.suppress(APIError):
                self._client.remove_container(self._id, force=True, v=True)
            deadline = time.monotonic() + REMOVAL_SECONDS
            while time.monotonic() < deadline:
                self._client.inspect_container(self._id)  # raises `NotFound` in the end
                time.sleep(0.02)


def _remove_orphans(client: docker.APIClient) -> None:
    """Remove what was left by a grader that was killed, started or not."""
    with contextlib.suppress(*TROUBLE):
        for one in client.containers(all=True, filters={"label": LABEL}):
            if owner.gone(one["Labels"][LABEL]):
                with contextlib.suppress(APIError):  # it may be going already
                    client.remove_container(one["Id"], force=True, v=True)


def _file_systems() -> dict[str, str]:
    """Return what is mounted in memory: one for the worker's own, and one a cell."""
    top = f"{JAIL}{CELLS}"
    return {top: ROOM} | {f"{top}/{wire.room(number)}": ROOM for number in range(ROOMS)}


def _confinement(client: docker.APIClient, megabytes: int) -> dict[str, Any]:
    configuration: dict[str, Any] = client.create_host_config(
        network_mode="none",
        read_only=True,
        tmpfs=_file_systems(),
        cap_drop=["ALL"],
        cap_add=["SETUID", "SETGID", "CHOWN", "SYS_CHROOT"],
        security_opt=["no-new-privileges"],
        ipc_mode="none",
        sysctls=NO_QUEUES,
        mem_limit=megabytes << 20,
        memswap_limit=megabytes << 20,
        pids_limit=PROCESSES,
        nano_cpus=1_000_000_000,
        ulimits=[Ulimit(name="core", soft=0, hard=0)],
        log_config=LogConfig(type="none"),
        auto_remove=True,  # even if nobody is left to ask for it
    )
    return configuration
