"""Where an assignment's pool of twins comes from: made and verified once, then found again."""

import json
import shutil
from pathlib import Path
from types import CodeType

import pytest

from grader.course import Assignment, Limits, load_course
from grader.problems import Void
from grader.sandbox import Sandbox
from grader.sandbox.process import ProcessSandbox
from grader.twinning import make_pool, render, twin_pool
from grader.twins.pool import SIZE, candidates

TOY = Path(__file__).with_name("cli") / "toy"
# Reacts to form: it holds on about half of all texts.
FORMAL = """
import hashlib

from toy.double import double


def test_form():
    digest = hashlib.sha256(double.__code__.co_code).digest()
    assert digest[0] % 2
"""


class _NoSandbox:
    """A sandbox that nobody may use."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(name)


NOWHERE: Sandbox = _NoSandbox()  # type: ignore[assignment] # it is never asked for anything


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep pools out of the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "grader" / "twins"


@pytest.fixture
def sandbox() -> ProcessSandbox:
    """Return a sandbox that works."""
    return ProcessSandbox(Limits())


@pytest.fixture
def toy(tmp_path: Path) -> Assignment:
    """Return the toy course's assignment, without a pool beside its mutants."""
    root = shutil.copytree(TOY, tmp_path / "course")
    (root / "mutants" / "T1" / "twins.json").unlink()
    return load_course(root).assignment("T1")


@pytest.mark.parametrize(("root", "name"), [(TOY, "T1"), (None, "L3.4")])
def test_the_pool_beside_the_mutants_fits_and_needs_no_run(root: Path | None, name: str) -> None:
    """Whoever changes the maker, the reference or a mutant makes it anew."""
    pool = twin_pool(load_course(root).assignment(name), None, NOWHERE, 1)
    assert set(pool.seeds) <= set(candidates(None))
    assert len(pool.seeds) >= 16


def test_a_pool_that_is_missing_is_made_once_and_kept(
    toy: Assignment, sandbox: ProcessSandbox, state: Path
) -> None:
    """Whoever waits for it is told."""
    told: list[str] = []
    first = twin_pool(toy, None, sandbox, 2, lambda: told.append("made"))
    again = twin_pool(toy, None, NOWHERE, 1, lambda: told.append("again"))
    assert first.seeds == again.seeds == tuple(candidates(None))
    assert told == ["made"]
    assert len(list(state.iterdir())) == 1


def test_a_pool_that_can_not_be_kept_is_named(toy: Assignment, state: Path) -> None:
    """Before it is made; it is the machine's fault, and the sentence says what to do."""
    state.parent.mkdir(parents=True)
    state.write_text("a file", encoding="utf-8")
    with pytest.raises(Void, match=r"can't keep.*/twins/T1-.*make room.*XDG_STATE_HOME") as caught:
        twin_pool(toy, None, NOWHERE, 2)
    assert caught.value.fault == "machine"


def test_a_pool_of_other_mutants_is_not_taken(toy: Assignment, sandbox: ProcessSandbox) -> None:
    """Their decoys are missing from it."""
    made = make_pool(toy, None, sandbox, 2)
    toy.twins_path.write_text(render(made.model_copy(update={"made_from": "0" * 64})))
    told: list[str] = []
    twin_pool(toy, None, sandbox, 2, lambda: told.append("made"))
    assert told == ["made"]


def test_a_file_that_makes_no_sense_is_not_taken(toy: Assignment, sandbox: ProcessSandbox) -> None:
    """It is made anew instead."""
    toy.twins_path.write_text("{")
    assert twin_pool(toy, None, sandbox, 2).seeds


def test_a_courses_key_has_a_pool_of_its_own(toy: Assignment, sandbox: ProcessSandbox) -> None:
    """The one that all know is no use where marks are at stake."""
    pool = twin_pool(toy, b"a key of sixteen bytes", sandbox, 2)
    assert set(pool.seeds).isdisjoint(candidates(None))


def test_what_the_courses_suites_reject_is_thrown_away_and_named(
    toy: Assignment, sandbox: ProcessSandbox
) -> None:
    """With the test that rejects it."""
    (toy.tests_path / "test_form.py").write_text(FORMAL)
    pool = make_pool(toy, None, sandbox, 2)
    assert 0 < len(pool.seeds) < SIZE
    assert len(pool.seeds) + len(pool.discarded) == SIZE
    assert all("test_form" in why for why in pool.discarded.values())
    assert json.loads(render(pool))["discarded"] == pool.discarded


def test_a_course_whose_own_tests_reject_every_twin_is_told_so(
    toy: Assignment, sandbox: ProcessSandbox
) -> None:
    """Nothing can be graded with such tests."""
    module = compile(toy.source, "double.py", "exec")
    (code,) = [one.co_code for one in module.co_consts if isinstance(one, CodeType)]
    text = f"    assert double.__code__.co_code == {code!r}\n"
    imports = "from toy.double import double\n\n\n"
    (toy.gold_path / "test_form.py").write_text(f"{imports}def test_no_other_form():\n{text}")
    with pytest.raises(Void, match="test_no_other_form"):
        make_pool(toy, None, sandbox, 2)


def test_a_test_that_fails_on_the_reference_too_says_nothing_about_twins(
    toy: Assignment, sandbox: ProcessSandbox
) -> None:
    """It is wrong itself, which the verification of the course tells."""
    (toy.gold_path / "test_no.py").write_text("def test_no():\n    assert False\n")
    assert len(make_pool(toy, None, sandbox, 2).seeds) == SIZE


def test_a_course_without_suites_of_its_own_has_twins_all_the_same(
    toy: Assignment, sandbox: ProcessSandbox
) -> None:
    """Nothing can be said against them."""
    shutil.rmtree(toy.tests_path)
    shutil.rmtree(toy.gold_path)
    assert len(make_pool(toy, None, sandbox, 2).seeds) == SIZE
