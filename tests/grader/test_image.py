"""The worker's image: named by its content, built from a context of its own, free of a course."""

import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import image
from grader.image import build, dockerfile, download_wheels, image_name, pins, worker_files
from grader.problems import Void


@pytest.fixture
def no_wheels(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, str]]:
    """Download nothing, and remember what was asked for."""
    asked: list[tuple[Path, str]] = []
    monkeypatch.setattr(
        image, "download_wheels", lambda folder, machine: asked.append((folder, machine))
    )
    return asked


def test_the_pins_are_exact_and_are_what_a_grade_depends_on() -> None:
    """Everything else may move."""
    assert [pin.partition("==")[0] for pin in pins()] == [
        "hypothesis",
        "numpy",
        "pyseccomp",
        "pytest",
    ]
    assert all(pin.count("==") == 1 for pin in pins())


def test_the_workers_files_are_its_whole_package() -> None:
    """And nothing else of grader enters the image."""
    files = worker_files()
    assert {"__init__.py", "main.py", "zygote.py", "cell.py", "wire.py"} <= set(files)
    assert all(name.endswith(".py") for name in files)
    assert not any(b"from grader" in content for content in files.values())


def test_the_worker_imports_nothing_of_grader() -> None:
    """Inside the sandbox there is none."""
    for name, content in worker_files().items():
        for text in content.decode().splitlines():
            assert not text.lstrip().startswith(("from ..", "import grader")), (name, text)


def test_the_name_is_the_same_for_the_same_content() -> None:
    """Whoever builds it and wherever."""
    assert image_name() == image_name()
    repository, _, tag = image_name().partition(":")
    assert repository == "grader-worker"
    assert len(tag) == 16


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("pins", lambda: ["pytest==1"]),
        ("worker_files", lambda: {"main.py": b""}),
        ("worker_files", lambda: {**worker_files(), "cell.py": b"pass"}),
        ("worker_files", lambda: {**worker_files(), "more.py": b""}),
    ],
)
def test_the_name_changes_with_all_that_goes_in(
    monkeypatch: pytest.MonkeyPatch, name: str, changed: Callable[[], object]
) -> None:
    """A stale image is never taken for a new one."""
    before = image_name()
    monkeypatch.setattr(image, name, changed)
    assert image_name() != before


def test_the_name_changes_with_the_dockerfile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The recipe is content too."""
    before = image_name()
    other = tmp_path / "Dockerfile"
    other.write_bytes(dockerfile().read_bytes() + b"# more\n")
    monkeypatch.setattr(image, "dockerfile", lambda: other)
    assert image_name() != before


def test_moving_a_files_end_into_the_next_changes_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names and contents can't be told apart by their concatenation alone."""
    monkeypatch.setattr(image, "worker_files", lambda: {"a.py": b"xb.py:1:", "c.py": b"y"})
    before = image_name()
    monkeypatch.setattr(image, "worker_files", lambda: {"a.py": b"x", "b.py": b"", "c.py": b"y"})
    assert image_name() != before


def test_the_context_holds_dockerfile_worker_and_wheels(
    tmp_path: Path, no_wheels: list[tuple[Path, str]]
) -> None:
    """No course, no test, no other part of grader."""
    image.prepare(tmp_path, "x86_64")
    assert (tmp_path / "Dockerfile").read_bytes() == dockerfile().read_bytes()
    package = tmp_path / "grader_worker"
    assert {path.name for path in package.iterdir()} == set(worker_files())
    assert {path.name for path in tmp_path.iterdir()} == {"Dockerfile", "grader_worker"}
    assert no_wheels == [(tmp_path / "wheels", "x86_64")]


def test_wheels_are_asked_for_by_pin_and_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the image's Python, whatever Python runs grader."""
    asked: list[list[str]] = []

    def run(arguments: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        del options
        asked.append(arguments)
        return subprocess.CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    download_wheels(tmp_path, "aarch64")
    [arguments] = asked
    assert arguments[:4] == [sys.executable, "-m", "pip", "download"]
    assert set(pins()) <= set(arguments)
    assert "--only-binary=:all:" in arguments
    assert arguments[arguments.index("--python-version") + 1] == "3.11"
    assert all("aarch64" in one for one in arguments if one.startswith("--platform"))


def test_a_wheel_that_can_not_be_had_is_said_with_pips_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with its whole story."""
    monkeypatch.setattr(image, "pins", lambda: ["no-such-package-of-ours==0.0.0"])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Void, match="no-such-package-of-ours") as caught:
        download_wheels(tmp_path, "x86_64")
    assert caught.value.fault == "machine"
    assert "\n" not in str(caught.value)


def test_a_download_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With how long it took."""

    def run(arguments: list[str], **options: object) -> None:
        del options
        raise subprocess.TimeoutExpired(arguments, 1)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Void, match="1200 s"):
        download_wheels(tmp_path, "x86_64")


def test_no_engine_no_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before anything is downloaded."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    monkeypatch.setattr(image, "prepare", lambda *given: pytest.fail("too late"))
    with pytest.raises(Void) as caught:
        build()
    assert caught.value.message.slug == "no-engine"


@pytest.mark.docker
@pytest.mark.usefixtures("no_wheels")
@pytest.mark.parametrize("base", ["localhost:1/not-there:none", "Not A Name"])
def test_a_base_image_that_can_not_be_had_is_a_fault_of_the_machine(base: str) -> None:
    """And no traceback."""
    with pytest.raises(Void, match="image can't be built") as caught:
        build(base)
    assert caught.value.fault == "machine"


@pytest.mark.docker
def test_a_step_that_fails_is_said(
    monkeypatch: pytest.MonkeyPatch, worker_image: str, tmp_path: Path
) -> None:
    """With what the engine says of it; the lines until then are told."""
    recipe = tmp_path / "Dockerfile"
    recipe.write_text(f"FROM {worker_image}\nRUN echo so far && exit 3\n")
    monkeypatch.setattr(image, "prepare", lambda folder, machine: None)
    monkeypatch.setattr(image, "dockerfile", lambda: recipe)
    told: list[str] = []

    def prepare(folder: Path, machine: str) -> None:
        assert machine
        (folder / "Dockerfile").write_bytes(recipe.read_bytes())

    monkeypatch.setattr(image, "prepare", prepare)
    with pytest.raises(Void, match="non-zero code: 3"):
        build(tell=told.append)
    assert "so far" in told


@pytest.mark.docker
def test_the_image_is_there_under_its_name(worker_image: str) -> None:
    """Built on the base that was named."""
    from grader.sandbox.engine import engine

    assert worker_image == image_name()
    with contextlib.closing(engine()) as client:
        assert client.inspect_image(worker_image)["Config"]["Entrypoint"] is None
