"""Archives in place of a repository, as learning platforms hand them out."""

import json
import tarfile
from pathlib import Path

import pytest

from tests.grader.cli.conftest import GOOD, TOY, WEAK, Ran, Student, call
from tests.grader.files.packing import pack

HOW = ("--course", TOY, "--sandbox", "process", "--jobs", "1")


def graded(path: Path, *arguments: str | Path) -> Ran:
    """Grade an archive."""
    return call("mutate", "T1", "--repo", path, *HOW, *arguments)


@pytest.mark.parametrize("name", ["jo.zip", "jo.tar.gz"])
@pytest.mark.parametrize("top", ["", "repo-main/", "Müller, Jo_123_file_/repo/"])
def test_an_archive_of_a_repository_is_graded_as_the_repository(
    name: str, top: str, student: Student, tmp_path: Path
) -> None:
    """The same report, whatever a platform or a forge has packed round it."""
    student.build().test(GOOD)
    expected = student.graded("mutate")
    assert expected.code == 0
    assert graded(pack(tmp_path / name, student.files(), top)) == expected


@pytest.mark.parametrize("top", ["", "t1/", "hand-in/tests/"])
def test_an_archive_of_tests_alone_is_graded_too(top: str, tmp_path: Path) -> None:
    """There is no repository round them, and no implementation."""
    files = {"test_mine.py": WEAK.encode(), "part/helper.py": b"", "notes.txt": b""}
    document = tmp_path / "grade.json"
    ran = graded(pack(tmp_path / "jo.zip", files, top), "--json", document)
    assert ran.code == 1
    assert "notes.txt was left out: it is no Python file" in ran.out
    found = json.loads(document.read_text())
    assert found["submission"]["files"] == ["part/helper.py", "test_mine.py"]
    assert [test["own_implementation"] for test in found["tests"]] == [None]


def test_the_course_s_tests_run_on_an_implementation_in_an_archive(
    student: Student, tmp_path: Path
) -> None:
    """And on what it builds on there."""
    path = pack(tmp_path / "jo.tar.gz", student.build().test(GOOD).files())
    ran = call("check", "T1", "--repo", path, *HOW)
    assert (ran.code, ran.err) == (0, "")
    assert "built" in call("status", "--repo", path, "--course", TOY).out
    missing = pack(tmp_path / "part.zip", {"python/toy/double.py": b"x = 1\n"})
    assert call("tests", "T1", "--repo", missing, *HOW).code == 4


def test_what_has_no_place_in_an_archive_is_told_of(student: Student, tmp_path: Path) -> None:
    """As a note, beside the grade of the rest."""
    student.test(GOOD)
    ran = graded(pack(tmp_path / "jo.zip", {**student.files(), "../test_up.py": b"x"}))
    assert ran.code == 0
    assert "note: ../test_up.py was left out: its name leads out of the archive" in ran.out


def test_tests_that_lie_elsewhere_in_an_archive_are_named(tmp_path: Path) -> None:
    """With where they belong."""
    ran = graded(pack(tmp_path / "jo.zip", {"README.py": b"", "tests/test_a.py": b"x"}))
    assert ran.code == 2
    assert ran.err.endswith("there are tests elsewhere: tests/test_a.py\n")


def test_another_assignment_s_tests_are_not_taken_for_these(tmp_path: Path) -> None:
    """Even where they are all that an archive holds."""
    ran = graded(pack(tmp_path / "jo.zip", {"repo/python/tests/t0/test_a.py": b"x"}))
    assert ran.code == 2
    assert ran.err.endswith("`grade start T1` makes it\n")


def test_an_implementation_that_is_not_plainly_there_is_not_guessed_at(
    student: Student, tmp_path: Path
) -> None:
    """A link in its place is named."""
    path = pack(tmp_path / "jo.tar", student.build().test(GOOD).files())
    link = tarfile.TarInfo("python/toy/double.py")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(tmp_path / "linked.tar", "w:") as packed, tarfile.open(path) as before:
        for member in before.getmembers():
            packed.addfile(link if member.name == link.name else member, before.extractfile(member))
    ran = graded(tmp_path / "linked.tar")
    assert ran.code == 2
    assert ran.err.endswith("python/toy/double.py: it is a link\n")


def test_nothing_is_written_into_an_archive(tmp_path: Path) -> None:
    """`start` says what to do instead."""
    path = pack(tmp_path / "jo.zip", {"test_a.py": b""})
    before = path.read_bytes()
    ran = call("start", "T1", "--repo", path, "--course", TOY, program="ol")
    assert ran.code == 2
    assert ran.err.endswith("`ol start` writes into a folder, so unpack it\n")
    assert path.read_bytes() == before


def test_a_file_that_is_no_archive_is_named(tmp_path: Path) -> None:
    """As input that can't be used."""
    (tmp_path / "jo.zip").write_text("not yet")
    ran = graded(tmp_path / "jo.zip")
    assert ran.code == 2
    assert "jo.zip can't be unpacked: it is neither a zip nor a tar archive" in ran.err
