"""Grades made by hand, of fourteen faults of which six are required."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, GradedTest, Options
from grader.messages import message
from grader.mutants import Edit, MechanicalMutant, Mutant, SemanticMutant
from grader.score import score
from grader.status import Status, TestStatus
from grader.submission import LeftOut, Submission
from grader.verdict import Result, Verdict

TEST = "test_bi.py::test_mirror"
REQUIRED = [f"s0{number}" for number in range(1, 7)]
OTHERS = [f"m-0000000{number}" for number in range(1, 9)]


def mutants() -> list[Mutant]:
    """Return six named faults and eight generated ones, with edits of L3.4's reference."""
    edit = Edit(replace="fwd(batch, lengths=lengths)", by="fwd(batch)")
    named = [
        SemanticMutant(
            id=name,
            edits=(edit,),
            title=f"title of {name}",
            pitfall=f"pitfall of {name}",
            violates="a property",
            hint=(f"first hint of {name}", f"second hint of {name}", f"third hint of {name}"),
        )
        for name in REQUIRED
    ]
    generated = [
        MechanicalMutant(id=name, edits=(edit,), operator="number", line=7, status="scored")
        for name in OTHERS
    ]
    return [*named, *generated]


def verdicts(alive: Iterable[str] = (), **others: Result) -> tuple[Verdict, ...]:
    """Return verdicts that are kills, but for those named; ids in ``others`` have _ for -."""
    missed = dict.fromkeys(alive, Result.SURVIVED)
    missed |= {name.replace("_", "-"): result for name, result in others.items()}
    found = []
    for mutant in mutants():
        result = missed.get(mutant.id, Result.KILLED)
        if result is Result.KILLED:
            found.append(Verdict(mutant, result, "call", (TEST,), "test_mirror(n=[1])"))
        else:
            found.append(Verdict(mutant, result))
    return tuple(found)


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    """Return the flagship assignment."""
    return load_course().assignment("L3.4")


@pytest.fixture(scope="session")
def make_grade(assignment: Assignment) -> Callable[..., Grade]:
    """Return a function that makes a grade: passed, but for what it is told."""

    def make(alive: Iterable[str] = (), *, reveal: str | None = None, **changes: Any) -> Grade:
        found = changes.pop("verdicts", None) or verdicts(alive)
        settings = assignment.settings.model_copy(update={"reveal": "diff"})
        chosen = Options(sandbox="process", reveal=reveal or "behaviour")
        whole = Grade(
            Assignment(assignment.id, assignment.course, settings),
            chosen,
            graded=True,
            score=score(found, 80),
            tests=(GradedTest(TestStatus(TEST, Status.VALID), ("s01", "s02")),),
            verdicts=found,
            submission=Submission({"test_bi.py": b""}, (LeftOut("notes.txt", "no Python"),)),
            versions={"grader": "0.1.0"},
            seconds={"total": 1.5},
        )
        return replace(whole, **changes)

    return make


@pytest.fixture(scope="session")
def make_verdicts() -> Callable[..., tuple[Verdict, ...]]:
    """Return the function that makes verdicts."""
    return verdicts


@pytest.fixture(scope="session")
def void(make_grade: Callable[..., Grade]) -> Grade:
    """Return a grade that is none, since the machine failed."""
    why = message("worker-mute", seconds=120)
    nothing: Mapping[str, object] = {"score": None, "tests": (), "verdicts": ()}
    return replace(make_grade(), graded=False, fault="machine", why=why, **nothing)


@pytest.fixture(scope="session")
def nothing_holds(make_grade: Callable[..., Grade]) -> Grade:
    """Return a grade of a suite of which no test holds."""
    status = TestStatus(TEST, Status.INVALID, message("invalid-limit", exception="X", at=""))
    found = verdicts(**{name.replace("-", "_"): Result.NOT_RUN for name in [*REQUIRED, *OTHERS]})
    return replace(
        make_grade(),
        graded=False,
        fault="student",
        why=message("no-valid-test"),
        tests=(GradedTest(status),),
        verdicts=found,
        score=score(found, 80),
    )
