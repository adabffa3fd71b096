"""Decisions in a pool: reviewed, about something, and where the generator puts them."""

import shutil
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from grader.course import Assignment, load_course
from grader.instructor import candidates
from grader.instructor.candidates import generate
from grader.instructor.decisions import decision_findings, drift_findings
from grader.instructor.pool import PROPOSED, decide, render
from grader.mutants import MechanicalMutant, MechanicalPool

TOY = Path(__file__).resolve().parents[1] / "cli" / "toy"


@pytest.fixture
def toy(tmp_path: Path) -> Assignment:
    """Return T1 of a copy of the toy course, with all that mutmut generates in its pool."""
    toy = load_course(shutil.copytree(TOY, tmp_path / "course")).assignment("T1")
    found = [decide(one, "scored") for one in generate(toy.module, toy.source)]
    return _with_pool(toy, *found)


def _with_pool(
    toy: Assignment, *mutants: MechanicalMutant, generator: str = candidates.GENERATOR
) -> Assignment:
    pool = MechanicalPool(generator=generator, module=toy.module, mutant=mutants)
    toy.pool_path.write_text(render(pool), encoding="utf-8")
    return load_course(toy.course.root).assignment("T1")


def _changed(toy: Assignment, number: int, **changes: object) -> Assignment:
    mutants = list(toy.pool.mutant)
    mutants[number] = mutants[number].model_copy(update=changes)
    return _with_pool(toy, *mutants)


def test_a_pool_that_is_decided_and_generated_is_good(toy: Assignment) -> None:
    """Nothing to say, and nothing that couldn't be seen."""
    assert decision_findings(toy) == []
    assert drift_findings(toy) == ([], None)


def test_a_proposal_is_no_decision(toy: Assignment) -> None:
    """Whatever its status: a person rewords the reason, and it is one."""
    changed = _changed(toy, 1, reason=f"{PROPOSED}1 tests of the gold suite catch it.")
    (finding,) = decision_findings(changed)
    assert finding.subject == toy.pool.mutant[1].id
    assert finding.text == "is scored by proposal: review it and reword its reason"


@pytest.mark.parametrize("original", ["s77", "m-77777777", "itself", "an excluded one"])
def test_a_duplicate_of_what_doesnt_count_is_found(original: str, toy: Assignment) -> None:
    """Or a behaviour would be out of the pool altogether."""
    first, second = toy.pool.mutant[:2]
    excluded = _changed(toy, 0, status="equivalent", reason="No input tells it apart.")
    name = {"itself": second.id, "an excluded one": first.id}.get(original, original)
    changed = _changed(excluded, 1, status=f"duplicate-of {name}", reason="The same.")
    (finding,) = decision_findings(changed)
    assert (finding.subject, finding.text) == (
        second.id,
        f"is a duplicate of {name}, which is no scored mutant",
    )


@pytest.mark.parametrize("number", [0, None])
def test_a_duplicate_of_what_counts_is_good(number: int | None, toy: Assignment) -> None:
    """A generated mutant, or a named one."""
    name = "s01" if number is None else toy.pool.mutant[number].id
    changed = _changed(toy, 1, status=f"duplicate-of {name}", reason="The same.")
    assert decision_findings(changed) == []


def test_drift_is_listed(toy: Assignment) -> None:
    """What is new, what is gone, and what has moved."""
    first, second, *rest = toy.pool.mutant
    gone = second.model_copy(update={"id": "m-77777777"})
    moved = first.model_copy(update={"line": first.line + 1})
    changed = _with_pool(toy, moved, gone, *rest)
    findings, note = drift_findings(changed)
    assert note is None
    assert [(finding.subject, finding.text) for finding in findings] == [
        (second.id, "is generated, and nobody has decided on it"),
        ("m-77777777", "is generated no more: scored"),
        (first.id, "stands elsewhere than where it is generated"),
    ]


def test_a_pool_of_another_version_is_found(toy: Assignment) -> None:
    """It may have generated something else."""
    changed = _with_pool(toy, *toy.pool.mutant, generator="mutmut 3.0.0")
    (finding,), _ = drift_findings(changed)
    assert finding.text == "is made by mutmut 3.0.0, and mutmut 3.8.1 is the generator now"


def test_without_the_generator_it_is_said_that_nothing_was_compared(
    toy: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is no fault of the pool."""

    def not_installed(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(candidates, "version", not_installed)
    findings, note = drift_findings(toy)
    assert findings == []
    assert note is not None
    assert note.startswith("the pool was not compared with its generator: mutmut 3.8.1 is needed")


def test_a_pool_that_nothing_generated_is_not_compared(toy: Assignment) -> None:
    """One made by hand; an empty one has nothing to compare."""
    by_hand = _with_pool(toy, *toy.pool.mutant, generator="by hand")
    said = "the pool is made by hand, so no generator was compared with it"
    assert drift_findings(by_hand) == ([], said)
    toy.pool_path.unlink()
    assert drift_findings(load_course(toy.course.root).assignment("T1")) == ([], None)


def test_the_built_in_pools_decisions_are_good() -> None:
    """Each reviewed, each duplicate of a mutant that counts."""
    assignment = load_course().assignment("L3.4")
    assert decision_findings(assignment) == []
    assert drift_findings(assignment) == ([], None)
