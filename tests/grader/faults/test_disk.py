"""A disk that is full or closed: said with its name, and nothing that was kept is lost."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cli.files import require_writable, write

from .conftest import Place

MakePlace = Callable[..., Place]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in which there is room for a few outcomes."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "grader-test", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


class _Small(Place):
    """A place whose outcomes lie where there is little room."""

    @property
    def runs(self) -> Path:
        """Where outcomes are kept."""
        return self.root.parent / "small" / "runs"


def test_a_full_disk_is_named_and_the_grading_goes_on_from_there(
    place: MakePlace, small: Path
) -> None:
    """Exit 5; once there is room the same command gives the grade that it would have given."""
    whole, here = place("process", "whole"), place("process")
    spoiled = _Small(here.root, here.sandbox, here.student, here.scratch)
    assert whole.grade()[0] == 0
    code, printed = spoiled.grade()
    assert code == 5
    assert "No space left on device" in printed
    assert str(spoiled.runs) in " ".join(printed.split()).replace(" ", "")
    assert "--run-dir" in printed
    assert spoiled.found()["fault"] == "machine"
    assert spoiled.found()["score"] is None
    kept = spoiled.kept()
    assert kept
    subprocess.run(["mount", "-o", "remount,size=8m", small], check=True)
    assert spoiled.grade()[0] == 0
    assert spoiled.kept()[: len(kept)] == kept
    assert spoiled.found() == whole.found()


def test_a_report_that_finds_no_room_leaves_the_old_one(place: MakePlace, small: Path) -> None:
    """Half a file would be worse than none."""
    here = place("process")
    (small / "filler").write_bytes(bytes(20 << 10))
    report = small / "grade.json"
    report.write_text("the old one", encoding="utf-8")

    class Reporting(Place):
        """A place whose report lies where there is little room."""

        @property
        def report(self) -> Path:
            """The file of the grade."""
            return report

    code, printed = Reporting(here.root, here.sandbox, here.student, here.scratch).grade()
    assert code == 2
    assert "No space left on device" in printed
    assert report.read_text(encoding="utf-8") == "the old one"
    assert sorted(one.name for one in small.iterdir()) == ["filler", "grade.json"]


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """Return a file that is a mount point, as one that is handed into a container is."""
    inner, outer = tmp_path / "inner.json", tmp_path / "outer.json"
    for one in (inner, outer):
        one.write_text("the old one", encoding="utf-8")
    subprocess.run(["mount", "--bind", outer, inner], check=True)
    yield inner
    subprocess.run(["umount", inner], check=True)


def test_a_report_may_be_a_file_that_is_mounted(mounted: Path) -> None:
    """It can't be replaced, so it is written to; and no draft of it is left."""
    require_writable(mounted)
    write(mounted, "the new one")
    assert mounted.read_text(encoding="utf-8") == "the new one"
    assert mounted.with_name("outer.json").read_text(encoding="utf-8") == "the new one"
    assert not list(mounted.parent.glob(".*"))


def test_a_folder_that_can_not_be_made_is_named(place: MakePlace) -> None:
    """With the option to name another."""
    here = place("process")
    here.root.joinpath("runs").write_text("a file", encoding="utf-8")
    code, printed = replace(here).grade()
    assert code == 5
    assert "--run-dir" in printed
    assert "Not a directory" in printed or "File exists" in printed
