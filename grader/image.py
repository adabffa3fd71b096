"""The worker's image: free of any course, named by the content of all that goes into it."""

import contextlib
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import TYPE_CHECKING

from . import worker
from .course import BUILTIN, builtin_root
from .messages import message
from .problems import Void

if TYPE_CHECKING:
    from docker import APIClient

DEFAULT_BASE = "python:3.11-slim-bookworm"
PYTHON = "3.11"
PINNED = ("hypothesis", "numpy", "pyseccomp", "pytest")
SECONDS = 1200
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def dockerfile() -> Path:
    """Return the path of the Dockerfile that came with this grader."""
    return (BUILTIN if BUILTIN.is_dir() else builtin_root()) / "Dockerfile"


def pins() -> list[str]:
    """Return the exact requirements that a grade depends on."""
    wanted = [name.partition(";")[0].strip() for name in requires("grader") or ()]
    return sorted(one for one in wanted if one.partition("==")[0] in PINNED and "==" in one)


def worker_files() -> dict[str, bytes]:
    """Return the worker's package, by file name."""
    folder = Path(worker.__file__).parent
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))}


def image_name() -> str:
    """Return the image's name: it changes with the Dockerfile, the worker and the pins."""
    digest = hashlib.sha256(dockerfile().read_bytes() + "\n".join(pins()).encode())
    for name, content in worker_files().items():
        digest.update(f"{name}:{len(content)}:".encode() + content)
    return f"grader-worker:{digest.hexdigest()[:16]}"


def build(base: str = DEFAULT_BASE, tell: Callable[[str], None] = lambda line: None) -> str:
    """Build the image on ``base`` and return its name.

    The packages are downloaded as wheels beforehand, so that the build needs no network.

    Raises
    ------
    Void
        If the engine doesn't answer, a wheel can't be had, or a step fails.
    """
    from .sandbox.engine import TROUBLE, engine

    with (
        contextlib.closing(engine()) as client,
        tempfile.TemporaryDirectory(prefix="grader-image-") as folder,
    ):
        client.timeout = SECONDS
        context, name = Path(folder), image_name()
        try:
            architecture = client.version()["Arch"]
            tell(f"downloading {', '.join(pins())}")
            prepare(context, MACHINES.get(architecture, architecture))
            tell(f"building {name} on {base}")
            for line in _build_steps(client, context, base, name):
                tell(line)
        except TROUBLE as problem:
            raise Void(message("image-unbuildable", why=problem), "machine") from None
    return name


def _build_steps(client: "APIClient", context: Path, base: str, name: str) -> Iterator[str]:
    """Build, and yield what the engine says; raises `Void` where a step fails."""
    with tempfile.TemporaryFile() as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(context, ".")
        packed.seek(0)
        for step in client.build(
            fileobj=packed,
            custom_context=True,
            tag=name,
            buildargs={"BASE_IMAGE": base},
            network_mode="none",
            rm=True,
            forcerm=True,
            decode=True,
        ):
            if "error" in step:
                raise Void(message("image-unbuildable", why=step["error"].strip()), "machine")
            if line := step.get("stream", "").strip():
                yield line


def prepare(context: Path, machine: str) -> None:
    """Write all that the image is built from into ``context``."""
    shutil.copy(dockerfile(), context / "Dockerfile")
    package = context / "grader_worker"
    package.mkdir()
    for name, content in worker_files().items():
        (package / name).write_bytes(content)
    download_wheels(context / "wheels", machine)


def download_wheels(folder: Path, machine: str) -> None:
    """Fetch the pinned packages, and what they need, as wheels for the image's Python."""
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(17, 37)]
    arguments = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    arguments += ["--python-version", PYTHON, "--dest", str(folder)]
    arguments += [f"--platform={name}" for name in [*platforms, f"manylinux2014_{machine}"]]
    try:
        done = subprocess.run(
            [*arguments, *pins()], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"pip downloaded nothing within {SECONDS} s"
        raise Void(message("image-unbuildable", why=why), "machine") from None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise Void(message("image-unbuildable", why=why), "machine")
