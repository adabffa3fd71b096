"""Real gradings of hostile suites in containers, on a course with two mutants."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, Options
from grader.grading import grade
from grader.submission import freeze

from .case import REFERENCE, TOY, Attack

CHANGES = {
    '["toy.double", "pytest", "hypothesis", "random"]': '["*"]\npreload = ["numpy"]',
    "threshold_percent = 60": "threshold_percent = 80",
    "seconds_per_test = 3.0": "seconds_per_test = 2.0",
    "seconds_in_all = 60.0": "seconds_in_all = 10.0",
}
AT_ONCE = 2
Grading = Callable[[Attack], Grade]


@pytest.fixture(scope="session")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """Return the toy course's assignment with its two named mutants and every import allowed."""
    root = Path(shutil.copytree(TOY, tmp_path_factory.mktemp("attacked") / "course"))
    (root / "mutants" / "T1" / "mechanical.toml").unlink()
    module = root / "reference" / "toy" / "double.py"
    module.write_text(REFERENCE, encoding="utf-8")
    path = root / "course.toml"
    text = path.read_text(encoding="utf-8")
    for before, after in CHANGES.items():
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
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
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    assignment: Assignment,
    state: Path,
    worker_image: str,
) -> Iterator[Grading]:
    """Return a function that waits for an attack's grade: all that will be asked for have begun."""
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

    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun: dict[str, Future[Grade]] = {}
        for attack in _asked_for(request.session):
            if not begun:
                graded(attack)  # the pool of twins is made once
            begun[attack.id] = pool.submit(graded, attack)
        yield lambda attack: begun[attack.id].result()
        for one in begun.values():
            one.cancel()


def _asked_for(session: pytest.Session) -> list[Attack]:
    """Return the attacks that the tests of this run are about, in their order."""
    parameters = [getattr(item, "callspec", None) for item in session.items]
    return [
        spec.params["attack"] for spec in parameters if spec is not None and "attack" in spec.params
    ]
