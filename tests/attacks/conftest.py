"""Real gradings of hostile suites in containers, on a course with two mutants."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, Options
from grader.grading import grade
from grader.submission import freeze
from tests.toy import changed

from .case import REFERENCE, Attack

CHANGES = {
    '["toy.double", "pytest", "hypothesis", "random"]': '["*"]\npreload = ["numpy"]',
    "threshold_percent = 60": "threshold_percent = 80",
    "seconds_per_test = 3.0": "seconds_per_test = 2.0",
    "seconds_in_all = 60.0": "seconds_in_all = 10.0",
}
Grading = Callable[[Attack], Grade]


@pytest.fixture(scope="session")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """Return the toy course's assignment with its two named mutants and every import allowed."""
    root = changed(tmp_path_factory.mktemp("attacked") / "course", CHANGES)
    (root / "mutants" / "T1" / "mechanical.toml").unlink()
    module = root / "reference" / "toy" / "double.py"
    module.write_text(REFERENCE, encoding="utf-8")
    return load_course(root).assignment("T1")


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return where grader keeps its own: the pool of twins is made there once."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def grading(
    tmp_path_factory: pytest.TempPathFactory,
    assignment: Assignment,
    state: Path,
    worker_image: str,
) -> Grading:
    """Return a function that grades an attack."""
    del state, worker_image
    places = tmp_path_factory.mktemp("attacks")

    def graded(attack: Attack) -> Grade:
        folder = places / f"{attack.id}-suite"
        for path, text in attack.suite.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode() if isinstance(text, str) else text)
        options = Options(
            sandbox="docker",
            jobs=1,
            run_dir=places / attack.id,
            seed=7,
            staff=True,
            policy=attack.policy,
        )
        return grade(assignment, freeze(folder), options)

    return graded
