"""Faults of the machine or of grader: exit 5, no score, a sentence, and never a traceback."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.cli import student as student_commands
from grader.sandbox import docker
from grader.sandbox.process import ProcessSandbox
from grader.sandbox.session import Session, WorkerLostError
from tests.grader.cli.conftest import GOOD, TOY, Ran, Student, call

Read = Callable[[Path], Mapping[str, Any]]


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no Docker engine answer."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")


@pytest.fixture
def ready(student: Student, request: pytest.FixtureRequest) -> Student:
    """Return a repository that would pass, of which nothing is known yet."""
    return student.build().test(f"{GOOD}# {request.node.name}\n")


def _assert_void(ran: Ran, found: Mapping[str, Any], fault: str, why: str) -> None:
    assert ran.code == 5
    assert found["fault"] == fault
    assert found["score"] is None
    assert (found["graded"], found["passed"]) == (False, False)
    assert found["submission"]["files"] == ["test_mine.py"]
    assert why in found["why"]
    last = ran.out.splitlines()[-1]
    assert last.startswith("not graded: ")
    assert why in last


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("command", ["mutate", "check"])
def test_an_engine_that_doesnt_answer_is_named(
    command: str, ready: Student, document: Read, tmp_path: Path
) -> None:
    """With two ways on, under the name that was typed; and the document says it too."""
    path = tmp_path / "out.json"
    ran = ready(command, "T1", "--sandbox", "docker", "--json", path, program="ol")
    _assert_void(ran, document(path), "machine", "the Docker engine doesn't answer: ")
    assert "choose --sandbox process (`ol doctor` says what works here)" in ran.out
    assert document(path)["settings"]["sandbox"] == "docker"


@pytest.mark.docker
@pytest.mark.usefixtures("worker_image")
def test_an_engine_that_went_away_is_named_even_where_the_grade_is_known(
    ready: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a grading says doesn't depend on which was made before."""
    assert ready("mutate", "T1", "--sandbox", "docker").code == 0
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    assert ready("mutate", "T1", "--sandbox", "docker").code == 5


def test_a_reference_that_cant_be_imported_is_no_students_fault(
    ready: Student, document: Read, tmp_path: Path
) -> None:
    """Though no test of theirs could be imported either."""
    course, path = tmp_path / "course", tmp_path / "out.json"
    shutil.copytree(TOY, course)
    reference = course / "reference" / "toy" / "double.py"
    reference.write_text(f"import nowhere\n{reference.read_text()}", encoding="utf-8")
    arguments = ("--sandbox", "process", "--course", course, "--repo", ready.root, "--json", path)
    ran = call("mutate", "T1", *arguments)
    _assert_void(ran, document(path), "harness", "importing it raises ModuleNotFoundError")


@pytest.mark.usefixtures("no_engine")
def test_every_command_that_needs_an_engine_names_it(ready: Student) -> None:
    """In one line."""
    course = ("--course", TOY, "--sandbox", "docker")
    for ran in (
        ready("tests", "T1", "--sandbox", "docker"),
        call("mutants", "verify", "T1", *course),
        call("fixtures", "verify", "L3.4", "--sandbox", "docker"),
        call("image", "build"),
    ):
        assert ran.code == 5
        (line,) = ran.err.splitlines()
        assert line.startswith("grade: the Docker engine doesn't answer: ")


@pytest.mark.usefixtures("no_engine")
def test_auto_takes_a_process_where_no_engine_answers(
    ready: Student, document: Read, tmp_path: Path
) -> None:
    """And says so in the document."""
    path = tmp_path / "out.json"
    assert ready("mutate", "T1", "--jobs", "1", "--json", path).code == 0
    assert document(path)["settings"]["sandbox"] == "process"


@pytest.mark.docker
@pytest.mark.usefixtures("worker_image")
def test_auto_takes_docker_where_its_engine_answers(
    ready: Student, document: Read, tmp_path: Path
) -> None:
    """And its verdicts are those of a process."""
    paths = {name: tmp_path / f"{name}.json" for name in ("auto", "process")}
    for name, path in paths.items():
        ran = ready("mutate", "T1", "--sandbox", name, "--jobs", "1", "--json", path)
        assert ran.code == 0
    auto, process = (document(path) for path in paths.values())
    assert auto["settings"]["sandbox"] == "docker"
    for key in ("score", "tests", "mutants"):
        assert auto[key] == process[key]


@pytest.mark.docker
def test_a_missing_image_is_named_with_the_command_that_builds_it(
    ready: Student, document: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the name that was typed."""
    monkeypatch.setattr(docker, "image_name", lambda: "grader-worker:absent")
    path = tmp_path / "out.json"
    ran = ready("mutate", "T1", "--sandbox", "docker", "--json", path, program="ol")
    why = "the engine has no image grader-worker:absent: run `"
    _assert_void(ran, document(path), "machine", why)
    assert ran.out.endswith("run `ol image build`\n")


@pytest.mark.parametrize("command", ["mutate", "check"])
def test_a_course_that_cant_be_prepared_is_graders_fault(
    command: str, ready: Student, toy: Path, document: Read, tmp_path: Path
) -> None:
    """A module of the reference raises."""
    with (toy / "reference" / "toy" / "step.py").open("a", encoding="utf-8") as file:
        file.write("raise RuntimeError('spoiled')\n")
    path = tmp_path / "out.json"
    places = ("--course", toy, "--repo", ready.root, "--sandbox", "process", "--json", path)
    ran = call(command, "T1", *places, *(["--ref-deps"] if command == "check" else []))
    _assert_void(ran, document(path), "harness", "RuntimeError: spoiled")


def test_workers_that_are_lost_twice_void_a_grading(
    ready: Student, document: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's fault, in the course's tests too."""

    def lose(self: Session, *_: object) -> None:
        raise WorkerLostError(f"{type(self).__name__}: it was killed")

    path = tmp_path / "out.json"
    monkeypatch.setattr(Session, "run", lose)
    ran = ready.graded("mutate", "--json", path, program="ol")
    _assert_void(ran, document(path), "machine", "runs failed twice on this machine")
    assert "it was killed" in ran.out
    assert "see `ol doctor`" in ran.out

    ran = ready.graded("tests")
    assert ran.code == 5
    assert "runs failed twice on this machine" in ran.err


def test_a_failing_machine_is_told_from_a_fault_of_grader(
    ready: Student, document: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is the one, an exception that nobody expected the other."""
    faults = {
        "machine": (OSError(28, "No space left on device", "/dev/full"), "this machine failed: "),
        "harness": (RuntimeError("spoiled"), "this is a fault of grader, not yours: RuntimeError"),
    }
    for fault, (problem, why) in faults.items():
        monkeypatch.setattr(ProcessSandbox, "open", _raising(problem))
        path = tmp_path / f"{fault}.json"
        ran = ready.graded("mutate", "--json", path)
        _assert_void(ran, document(path), fault, why)


def _raising(problem: Exception) -> Callable[..., None]:
    def function(*_: object, **__: object) -> None:
        raise problem

    return function


def test_a_fault_in_any_command_is_a_sentence(
    student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That names the exception, and how to see more."""
    monkeypatch.setattr(student_commands, "start", _raising(KeyError("spoiled")))
    ran = student("start", "T1")
    assert ran.code == 5
    assert ran.err.startswith("grade: this is a fault of grader, not yours: KeyError: 'spoiled'")
    assert "GRADER_TRACEBACK=1" in ran.err


def test_a_traceback_is_shown_to_whom_asks_for_it(
    student: Student, ready: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For whoever mends grader."""
    monkeypatch.setenv("GRADER_TRACEBACK", "1")
    monkeypatch.setattr(student_commands, "start", _raising(KeyError("spoiled")))
    with pytest.raises(KeyError, match="spoiled"):
        student("start", "T1")
    monkeypatch.setattr(ProcessSandbox, "open", _raising(KeyError("spoiled")))
    with pytest.raises(KeyError, match="spoiled"):
        ready.graded("mutate")


def test_a_void_grading_costs_nothing_that_was_known(
    ready: Student, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outcomes that were seen before the machine failed aren't run again."""
    counted: list[int] = []
    whole = os.fsync

    def fails_late(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name != "journal.jsonl":
            return
        counted.append(descriptor)
        if len(counted) == 8:
            raise OSError(5, "Input/output error", "/journal")
        whole(descriptor)

    runs = ("--run-dir", tmp_path / "runs")
    monkeypatch.setattr(os, "fsync", fails_late)
    assert ready.graded("mutate", *runs).code == 5
    assert ready.graded("mutate", *runs).code == 0
    (journal,) = (tmp_path / "runs").glob("*/journal.jsonl")
    lines = journal.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines))
    assert len(lines) in (len(counted), len(counted) - 1)


def test_a_void_grading_leaves_an_earlier_report_as_it_was(
    ready: Student, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No score takes the place of one; the exit code and a line tell that it is the earlier one."""
    path = tmp_path / "grade.json"
    assert ready.graded("mutate", "--json", path).code == 0
    before = path.read_bytes()
    monkeypatch.setattr(ProcessSandbox, "open", _raising(KeyError("spoiled")))
    ran = ready.graded("mutate", "--json", path, "--no-cache")
    assert ran.code == 5
    assert path.read_bytes() == before
    assert f"{path} is left as it was: the report of an earlier grading" in ran.out


def test_a_void_grading_fills_an_empty_file(
    ready: Student, tmp_path: Path, document: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that was made for it."""
    path = tmp_path / "grade.json"
    path.touch()
    monkeypatch.setattr(ProcessSandbox, "open", _raising(KeyError("spoiled")))
    assert ready.graded("mutate", "--json", path, "--no-cache").code == 5
    assert document(path)["score"] is None
