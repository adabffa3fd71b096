"""A grader that is killed: nothing is lost, nothing is left, and the grade is the same."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from grader.cells import Cell
from grader.journal import Journal
from grader.outcome import Outcome
from grader.sandbox import owner
from grader.sandbox.docker import LABEL
from grader.sandbox.engine import engine
from tests.grader.cli.conftest import TOY, Student, call

from .conftest import Place, kill, soon

MakePlace = Callable[..., Place]
SANDBOXES = ["process", pytest.param("docker", marks=pytest.mark.docker)]
HANGING = "def test_hangs():\n    while True:\n        pass\n"


def end_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let gradings in this process end as soon as so many outcomes are kept."""
    append = Journal.append

    def ending(journal: Journal, cell: Cell, outcome: Outcome) -> None:
        append(journal, cell, outcome)
        if len(journal.outcomes) == count:
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "append", ending)


def containers(processes: Sequence[int]) -> list[str]:
    """Return the containers that belong to any of these processes."""
    client = engine()
    try:
        found = client.containers(all=True, filters={"label": LABEL})
        return [
            one["Id"]
            for one in found
            if (its := owner.read(one["Labels"][LABEL])) and its.process in processes
        ]
    finally:
        client.close()


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_grading_that_is_killed_time_and_again_ends_as_one_that_never_was(
    sandbox: str, place: MakePlace
) -> None:
    """Before there is a worker, while it starts, between runs; no outcome is lost or seen twice."""
    spoiled, whole = place(sandbox), place(sandbox, "whole")
    assert whole.grade()[0] == 0
    killed, before = [], []
    for lines in (0, 1, 3, 6, 9):
        process = spoiled.start()
        killed.append(process.pid)
        assert soon(lambda wanted=lines, at=process: len(spoiled.kept()) >= wanted or at.poll())
        kill(process)
        kept = spoiled.kept()
        assert kept[: len(before)] == before
        before = kept
        assert not spoiled.report.exists()
    assert spoiled.grade()[0] == 0
    assert spoiled.found() == whole.found()
    cells = [json.dumps(json.loads(line)["cell"]) for line in spoiled.kept()]
    assert len(cells) == len(set(cells))
    assert spoiled.folders() == []
    assert spoiled.workers() == []
    if sandbox == "docker":
        assert containers(killed) == []


def test_a_grading_that_ends_right_after_an_outcome_is_taken_up_whole(
    place: MakePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after the last, when no worker is left to say what it is."""
    unreadable = "def test_it(:\n"
    spoiled, whole = place("process", suite=unreadable), place("process", "whole", unreadable)
    assert whole.grade()[0] == 3
    wanted = len(whole.kept())
    end_after(monkeypatch, wanted)
    how = ("--sandbox", "process", "--run-dir", spoiled.runs)
    assert spoiled.student("mutate", "T1", *how).code == 130
    monkeypatch.undo()
    assert len(spoiled.kept()) == wanted
    assert spoiled.grade()[0] == 3
    assert spoiled.found() == whole.found()


@pytest.mark.parametrize("outcomes", [1, 2, 3])
@pytest.mark.parametrize("suite", ["def test_it():\n    assert True\n", "def test_it(:\n"])
def test_a_course_that_is_broken_is_found_out_wherever_a_grading_ended(
    outcomes: int, suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fault is never told as the student's, and as often as one asks."""
    course, runs = Path(shutil.copytree(TOY, tmp_path / "course")), tmp_path / "runs"
    reference = course / "reference" / "toy" / "double.py"
    reference.write_text(f"import nowhere\n{reference.read_text()}", encoding="utf-8")
    repo = Student(tmp_path / "repo").build().test(suite).root
    where = ("--course", course, "--repo", repo, "--run-dir", runs)
    how = ("--sandbox", "process", "--jobs", "1")
    end_after(monkeypatch, outcomes)
    assert call("mutate", "T1", *where, *how).code == 130
    monkeypatch.undo()
    for _ in range(2):
        ran = call("mutate", "T1", *where, *how)
        assert ran.code == 5
        assert "importing it raises ModuleNotFoundError" in ran.out


def test_a_worker_ends_soon_after_the_grader_that_was_killed(place: MakePlace) -> None:
    """Though its cell hangs; what it leaves on disk goes at the next start."""
    here = place("process", suite=HANGING)
    process = here.start()
    assert soon(lambda: len(here.workers()) >= 2)
    kill(process)
    assert soon(lambda: here.workers() == [])
    here.student.test("def test_it():\n    assert True\n")
    here.grade()
    assert here.folders() == []


@pytest.mark.docker
def test_a_container_ends_soon_after_the_grader_that_was_killed(place: MakePlace) -> None:
    """By itself, and without the next start."""
    here = place("docker", suite=HANGING)
    process = here.start()
    assert soon(lambda: containers([process.pid]) != [] and len(here.kept()) >= 2)
    kill(process)
    assert soon(lambda: containers([process.pid]) == [])


@pytest.mark.docker
@pytest.mark.parametrize("is_started", [False, True])
def test_a_container_without_an_owner_is_removed_at_the_next_start(
    is_started: bool, place: MakePlace, worker_image: str
) -> None:
    """Also one that never ran; and one whose owner lives, or that is another's, stays."""
    here = place("docker")
    client = engine()
    alive = owner.me()
    elsewhere = alive._replace(host="0" * 12)
    owners = {
        "dead": alive._replace(began=1),
        "old": elsewhere._replace(at=1),
        "alive": alive,
        "other host": elsewhere,
        "foreign": "1",
    }
    made = {}
    try:
        for name, one in owners.items():
            labels = {LABEL: str(one)}
            container = client.create_container(
                worker_image, ["/bin/sleep", "600"], labels=labels, network_disabled=True
            )
            made[name] = container["Id"]
            if is_started:
                client.start(made[name])
        assert here.grade()[0] == 0
        left = {one["Id"] for one in client.containers(all=True)}
        assert {name for name, one in made.items() if one in left} == {
            "alive",
            "other host",
            "foreign",
        }
    finally:
        for one in made.values():
            if one in {each["Id"] for each in client.containers(all=True)}:
                client.remove_container(one, force=True)
        client.close()


@pytest.mark.docker
def test_a_container_that_is_killed_costs_a_repetition_and_no_verdict(place: MakePlace) -> None:
    """Its cell runs again in another."""
    spoiled, whole = place("docker"), place("docker", "whole")
    assert whole.grade()[0] == 0
    process = spoiled.start()
    assert soon(lambda: len(spoiled.kept()) >= 3)
    client = engine()
    for one in containers([process.pid]):
        client.kill(one)
    client.close()
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert spoiled.found() == whole.found()
