"""Real gradings of small suites, each done once, on a course as small as one can be."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, Options
from grader.grading import grade
from grader.submission import Submission
from tests.toy import changed

from .case import Files

IMPORTS = (
    '["toy.double", "pytest", "hypothesis", "numpy", "unittest", "random", "math", "os", "sys",'
    ' "pathlib", "time"]'
)
CHANGES = {
    '["toy.double", "pytest", "hypothesis", "random"]': f'{IMPORTS}\npreload = ["numpy"]',
    "seconds_per_test = 3.0": "seconds_per_test = 2.0",
    "tests = 20": "tests = 200",
}
Grading = Callable[..., Grade]


@pytest.fixture(scope="session")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """Return the toy course's assignment, with the imports and the room that the cases need."""
    root = changed(tmp_path_factory.mktemp("innocent") / "course", CHANGES)
    return load_course(root).assignment("T1")


@pytest.fixture(scope="session")
def grading(tmp_path_factory: pytest.TempPathFactory, assignment: Assignment) -> Iterator[Grading]:
    """Return a function that grades files, under settings that may be changed.

    Nothing is graded twice at one ``place``.
    """
    places = tmp_path_factory.mktemp("innocent-runs")

    def graded(files: Files | Submission, place: str = "here", **changes: Any) -> Grade:
        settings = assignment.settings.model_copy(update=changes)
        options = Options(sandbox="process", jobs=1, run_dir=places / place, seed=7)
        submission = files if isinstance(files, Submission) else submitted(files)
        return grade(replace(assignment, settings=settings), submission, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(places / "state"))
        yield graded


def submitted(files: Files) -> Submission:
    """Return files as a student's."""
    return Submission(
        {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    )
