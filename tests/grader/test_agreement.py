"""Two gradings of one submission agree, whatever twins and order they drew."""

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader.course import load_course
from grader.grade import Grade, Isolation, Options, SandboxName
from grader.grading import grade
from grader.outcome import Outcome
from grader.policy import PolicyName
from grader.sandbox import Channel, Site
from grader.sandbox.docker import DockerSandbox
from grader.sandbox.engine import engine
from grader.sandbox.session import Session
from grader.submission import Submission

TOY = Path(__file__).with_name("cli") / "toy"
HONEST = """
import pytest
from hypothesis import given, strategies as st

from toy.double import double


@given(st.integers(0, 40))
def test_double_is_a_sum(n):
    assert double(n) == n + n


class TestRefusal:
    @pytest.mark.parametrize("n", [-1, -7])
    def test_below_zero(self, n):
        with pytest.raises(ValueError):
            double(n)


def test_zero():
    assert double(0) == 0
"""
STRICT = """
import pytest

from toy.double import double


def test_wording():
    with pytest.raises(ValueError, match="n is negative"):
        double(-1)


def test_nothing():
    assert callable(double)
"""


def judged(
    policy: PolicyName,
    seed: int | None,
    folder: Path,
    sandbox: SandboxName = "process",
    isolation: Isolation = "shared",
) -> Grade:
    """Grade the suite anew."""
    files = {"test_honest.py": HONEST.encode(), "test_strict.py": STRICT.encode()}
    options = Options(
        sandbox=sandbox,
        isolation=isolation,
        policy=policy,
        seed=seed,
        run_dir=folder,
        use_cache=False,
    )
    return grade(load_course(TOY).assignment("T1"), Submission(files), options)


def told(found: Grade) -> dict[str, str]:
    """Return all statuses and verdicts."""
    statuses = {test.status.id: test.status.status.value for test in found.tests}
    return statuses | {one.mutant.id: one.result.value for one in found.verdicts}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what the first grading says."""
    return told(judged("practice", None, tmp_path_factory.mktemp("first")))


def test_form_is_told_from_behaviour(first: dict[str, str]) -> None:
    """A wording is open, and that a function exists is no behaviour."""
    assert first["test_strict.py::test_wording"] == "too_strict"
    assert first["test_strict.py::test_nothing"] == "vacuous"
    assert first["test_honest.py::TestRefusal::test_below_zero[-1]"] == "valid"


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("policy", ["practice", "authoritative"])
def test_other_twins_and_another_order_change_nothing(
    policy: PolicyName, seed: int, first: dict[str, str], tmp_path: Path
) -> None:
    """Nor does another policy, for tests that do the same each time."""
    assert told(judged(policy, seed, tmp_path)) == first


@pytest.mark.docker
def test_a_container_for_each_run_changes_nothing_but_the_time(
    first: dict[str, str],
    tmp_path: Path,
    worker_image: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is one for each, and none is left."""
    del worker_image
    served: Counter[Session] = Counter()
    containers: list[str] = []
    run, open_one = Session.run, DockerSandbox.open

    def counted(session: Session, *arguments: Any) -> Outcome:
        served[session] += 1
        return run(session, *arguments)

    def opened(sandbox: DockerSandbox) -> tuple[Channel, Site]:
        channel, site = open_one(sandbox)
        containers.append(channel._id)  # type: ignore[attr-defined] # a container's
        return channel, site

    monkeypatch.setattr(Session, "run", counted)
    monkeypatch.setattr(DockerSandbox, "open", opened)
    assert told(judged("practice", 1, tmp_path, "docker", "container")) == first
    assert len(served) > 10
    assert set(served.values()) == {1}
    assert len(set(containers)) == len(containers) == len(served)
    with closing(engine()) as client:
        assert not set(containers) & {one["Id"] for one in client.containers(all=True)}
