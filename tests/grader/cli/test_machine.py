"""Commands about the machine: doctor, and the building of the image."""

import importlib.metadata
from collections.abc import Callable

import pytest

from grader import doctor
from grader.cli import build as commands
from grader.messages import message
from grader.problems import Void
from grader.sandbox.process import ProcessSandbox
from tests.grader.cli.conftest import call

SUBJECTS = ["python", "hypothesis", "numpy", "pyseccomp", "pytest", "course", "disk"]
SUBJECTS += ["sandbox docker", "sandbox process", "torch"]


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no Docker engine answer."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")


def _findings(out: str) -> dict[str, tuple[str, str]]:
    """Return each subject's mark and text."""
    found = {}
    for line in out.splitlines():
        mark, rest = line[:6].strip(), line[6:]
        subject, _, text = rest.partition(": ")
        found[subject] = (mark, text)
    return found


def test_the_doctor_examines_what_grading_needs_by_using_it() -> None:
    """One sandbox that works is enough; what doesn't work comes with a way to mend it."""
    ran = call("doctor", program="ol")
    assert ran.code == 0
    found = _findings(ran.out)
    assert list(found) == SUBJECTS
    mark, text = found["sandbox docker"]
    assert mark == "mend"
    assert "(`ol doctor` says what works here)" in text
    mark, text = found["sandbox process"]
    assert mark == "ok"
    assert f"pytest {importlib.metadata.version('pytest')}" in text
    assert "it is no wall against hostile tests" in text
    mark, text = found["course"]
    assert mark == "ok"
    assert text.endswith("graded: L3.4")


def test_without_any_sandbox_the_doctor_exits_5(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be graded here."""

    def refuse(self: ProcessSandbox) -> None:
        raise Void(message("platform", system=type(self).__name__), "machine")

    monkeypatch.setattr(ProcessSandbox, "open", refuse)
    ran = call("doctor")
    assert ran.code == 5
    assert _findings(ran.out)["sandbox process"][0] == "mend"


def test_a_package_of_another_version_or_none_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It decides grades."""
    whole = importlib.metadata.version

    def version(name: str) -> str:
        if name == "pytest":
            return "1.0"
        if name in ("hypothesis", "torch"):
            raise importlib.metadata.PackageNotFoundError(name)
        return whole(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    found = {finding.subject: finding for finding in doctor.examine()}
    assert not found["pytest"].good
    assert found["pytest"].text.startswith("1.0, but ")
    assert "pip install pytest==" in found["pytest"].text
    assert not found["hypothesis"].good
    assert found["hypothesis"].text.startswith("not installed, but ")
    assert found["numpy"].good
    assert found["torch"].good
    assert "grader[fixtures]" in found["torch"].text


@pytest.mark.parametrize(
    ("name", "value", "subject", "said"),
    [
        ("sys.version_info", (3, 12, 1), "python", "3.12.1; the image has 3.11"),
        ("LEAST_FREE_BYTES", 1 << 60, "disk", "make room"),
    ],
)
def test_what_may_go_wrong_is_pointed_out(
    name: str, value: object, subject: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though gradings may work."""
    monkeypatch.setattr(f"grader.doctor.{name}", value)
    found = {finding.subject: finding for finding in doctor.examine()}
    assert not found[subject].good
    assert said in found[subject].text


@pytest.mark.docker
@pytest.mark.usefixtures("worker_image")
def test_the_doctor_runs_a_worker_in_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the engine answers and has the image."""
    monkeypatch.delenv("DOCKER_HOST")
    mark, text = _findings(call("doctor").out)["sandbox docker"]
    assert mark == "ok"
    assert f"pytest {importlib.metadata.version('pytest')}" in text


def test_building_the_image_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine says is shown inert."""

    def build(base: str, tell: Callable[[str], None]) -> str:
        tell(f"Step 1 : FROM {base}\x1b[31m")
        return "grader-worker:1"

    monkeypatch.setattr(commands, "build", build)
    ran = call("image", "build", "--base-image", "mine:3.11")
    assert ran.code == 0
    assert ran.out == "Step 1 : FROM mine:3.11\\x1b[31m\nbuilt grader-worker:1\n"
