"""The Docker engine: a connection to it whose every call has a deadline."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import docker
import requests
from docker import utils
from docker.constants import DEFAULT_UNIX_SOCKET
from docker.errors import DockerException
from urllib3.exceptions import HTTPError

from grader.messages import message
from grader.problems import Void

SECONDS = 30  # for one answer; the slowest, a container's start, takes about one
# Also what the client lets through: of an answer that ends in the middle, and of an address that
# is none.
TROUBLE = (DockerException, requests.RequestException, HTTPError, ValueError, OSError)


class _Client(docker.APIClient):
    """Docker's own client, which would wait for ever when it attaches or builds."""

    def send(
        self,
        request: requests.PreparedRequest,
        **how: Any,  # noqa: ANN401 — passed on as it came
    ) -> requests.Response:
        """Send a request, with a deadline for its answer whoever made it."""
        return super().send(request, **how | {"timeout": how.get("timeout") or self.timeout})


def engine() -> docker.APIClient:
    """Connect to the Docker engine; raises `Void` if it doesn't answer in time."""
    with contextlib.ExitStack() as stack:
        with answering():
            address = utils.kwargs_from_env()
            _knock(address.get("base_url") or DEFAULT_UNIX_SOCKET.removeprefix("http+"))
            client = _Client(version="auto", timeout=SECONDS, **address)
            stack.callback(client.close)
            client.ping()
        stack.pop_all()
    return client


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Raise `Void` in place of whatever the client raises where the engine gives no answer."""
    try:
        yield
    except TROUBLE as problem:
        why = (str(problem).splitlines() or [type(problem).__name__])[0][:200]
        raise Void(message("no-engine", why=why, program="grade"), "machine") from None


def _knock(address: str) -> None:
    """Raise a plain ``OSError`` where nobody listens on a local socket.

    The client would say the same in a riddle, and leak the socket.
    """
    scheme, _, path = address.partition("://")
    if scheme.endswith("unix"):
        with socket.socket(socket.AF_UNIX) as knocking:
            knocking.settimeout(SECONDS)
            try:
                knocking.connect(f"/{path.lstrip('/')}")
            except OSError as problem:
                why = problem.strerror or "it doesn't let anybody in"
                raise OSError(f"{address}: {why}") from None
