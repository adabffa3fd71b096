"""Tests that nobody finds: what is almost one is named, with where it lies and what to do."""

from pathlib import Path

import pytest

from grader.cli.exits import Exit, exit_of
from grader.course import Assignment
from grader.grade import Grade
from grader.problems import Unusable
from grader.workspace import Workspace

from .case import HEAD, STRONG, Files, reasons, told, warned
from .conftest import Grading

GOOD = "def test_three():\n    assert double(3) == 6\n"
MISNAMED = """\
def check_three():
    assert double(3) == 6

def Test_three():
    assert double(3) == 6

def tset_three():
    assert double(3) == 6

class Doubling:
    def test_three(self):
        assert double(3) == 6

class TestDouble:
    def should_give_six(self):
        assert double(3) == 6
"""
WITH_INIT = """\
class TestDouble:
    def __init__(self):
        self.three = 3

    def test_three(self):
        assert double(self.three) == 6
"""
SAME_NAME = """\
def test_it():
    assert double(3) == 7

def test_it():
    assert double(3) == 6
"""


def nothing(grade: Grade) -> str:
    """Return what is said of a suite in which no test was found."""
    assert exit_of(grade) is Exit.NOTHING_HOLDS
    assert not grade.tests
    assert grade.why is not None
    assert grade.why.slug == "no-tests"
    said, _, almost = grade.why.text.partition("; found instead: ")
    assert said.endswith("files must be named test_*.py and functions test_*")
    return almost


@pytest.mark.parametrize("name", ["mytests.py", "double_tests.py"])
@pytest.mark.parametrize("number", ["N01"])
def test_a_file_of_another_name_is_named(number: str, name: str, grading: Grading) -> None:
    """However good the tests in it are."""
    found = grading({name: HEAD + STRONG}, place=number)
    assert nothing(found) == name
    [warning] = warned(found, "near-file")
    assert warning == f"{name} may hold tests, but pytest collects only files named test_*.py"


@pytest.mark.parametrize("number", ["N02"])
def test_functions_and_classes_of_other_names_are_named(number: str, grading: Grading) -> None:
    """With their lines."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + MISNAMED})
    almost = {
        "check_three": 5,
        "Test_three": 8,
        "tset_three": 11,
        "Doubling": 14,
        "TestDouble.should_give_six": 19,
    }
    places = [f"{name} ({path}, line {line})" for name, line in almost.items()]
    assert sorted(nothing(found).split("), ")) == sorted(", ".join(places).split("), "))
    assert len(warned(found, "near-miss")) == len(almost)
    assert all("name functions test_*" in warning for warning in warned(found, "near-miss"))


@pytest.mark.parametrize("number", ["N02"])
def test_they_are_named_beside_tests_that_are_collected(number: str, grading: Grading) -> None:
    """A grade doesn't hide what is missing from it."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + STRONG + MISNAMED})
    assert exit_of(found) is Exit.PASSED
    assert len(warned(found, "near-miss")) == 5


@pytest.mark.parametrize("number", ["N08"])
def test_a_class_with_a_constructor_is_named(number: str, grading: Grading) -> None:
    """Pytest would say so only in a warning."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + WITH_INIT})
    assert nothing(found) == f"TestDouble ({path}, line 5)"
    assert "classes Test* without __init__" in warned(found, "near-miss")[0]


@pytest.mark.parametrize(
    "path", ["python/tests/test_double.py", "repo-main/python/tests/t1/test_a.py"]
)
@pytest.mark.parametrize("number", ["N06"])
def test_tests_in_another_folder_are_named_with_where_they_belong(
    number: str, path: str, grading: Grading, assignment: Assignment, tmp_path: Path
) -> None:
    """Whether there is a folder for them, which then holds nothing, or none."""
    del number
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(HEAD + GOOD)
    with pytest.raises(Unusable) as missing:
        Workspace.at(tmp_path).tests(assignment, "grade")
    assert str(missing.value).endswith(
        f"T1's tests belong there; `grade start T1` makes it; there are tests elsewhere: {path}"
    )
    (tmp_path / "python/tests/t1").mkdir(parents=True)
    found = grading(Workspace.at(tmp_path).tests(assignment, "grade"), place=path)
    assert nothing(found) == path
    why = f"{path} was left out: T1's tests belong in python/tests/t1"
    assert warned(found, "left-out") == [why]


@pytest.mark.parametrize("number", ["N06"])
def test_folders_below_the_right_one_are_searched(
    number: str, grading: Grading, assignment: Assignment, tmp_path: Path
) -> None:
    """As an archive that was unpacked into it leaves them."""
    path = tmp_path / "python/tests/t1/t1-final/tests" / f"test_{number}.py"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + STRONG)
    assert grading(Workspace.at(tmp_path).tests(assignment, "grade")).passed


@pytest.mark.parametrize("number", ["N13"])
def test_of_two_tests_of_one_name_the_later_is_graded(number: str, grading: Grading) -> None:
    """As Python has it."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + SAME_NAME})
    assert [one.status.id for one in found.tests] == [f"{path}::test_it"]
    assert told(found, path) == {("valid", None)}


@pytest.mark.parametrize("number", ["N14"])
def test_two_files_of_one_name_are_told_apart(number: str, grading: Grading) -> None:
    """Or the student is told to; the first is graded in any case."""
    first, second = f"one/test_{number}.py", f"two/test_{number}.py"
    files: Files = {first: HEAD + STRONG, second: HEAD + GOOD}
    clash = grading(files)
    assert told(clash, first) == {("valid", None)}
    assert told(clash, second) == {("broken", "broken-same-name")}
    assert "rename one of them" in reasons(clash, second)
    packages = grading({**files, "one/__init__.py": "", "two/__init__.py": ""})
    assert told(packages, first) == told(packages, second) == {("valid", None)}
