"""Hand-made facts for tests of judgements: short words for runs, outcomes and evidence."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from grader.cells import REFERENCE, Cell, Variant
from grader.course import AssignmentSettings
from grader.evidence import Calibration, Evidence, Reading
from grader.mutants import MechanicalMutant, Mutant, SemanticMutant
from grader.outcome import End, Failure, Outcome, Phase, TestRun, Unreadable

FILE = "test_a.py"
T, U = "test_a.py::test_t", "test_a.py::test_u"
DRAWS = (11, 22, 33)
SETTINGS = AssignmentSettings(title="t", module="pack.mod", draws=DRAWS, controls=2)

RIGHT = frozenset((REFERENCE, number) for number in range(SETTINGS.controls))

When = Literal["setup", "call", "teardown"]
Ended = Literal["passed", "failed", "skipped"]
Kind = Literal["ordinary", "hypothesis", "memory", "exit", "limit"]


def failure(kind: Kind = "ordinary", exception: str = "AssertionError", **facts: Any) -> Failure:
    """Return an exception of a kind."""
    return Failure(kind=kind, exception=exception, **facts)


def phase(
    when: When, outcome: Ended = "passed", why: Failure | None = None, *, expected: bool = False
) -> Phase:
    """Return how a phase ended."""
    return Phase(id=T, when=when, outcome=outcome, expected_to_fail=expected, failure=why)


def run(*phases: Phase) -> TestRun:
    """Return a run of these phases, after a setup that passed and before such a teardown."""
    before = [] if phases and phases[0].when == "setup" else [phase("setup")]
    after = [] if phases and phases[-1].when == "teardown" else [phase("teardown")]
    return TestRun(phases=(*before, *phases, *after))


def failing(kind: Kind = "ordinary", exception: str = "AssertionError", **facts: Any) -> TestRun:
    """Return a run that failed in its call."""
    return run(phase("call", "failed", failure(kind, exception, **facts)))


PASSED = run(phase("call"))
FAILED = failing()
SKIPPED = run(phase("call", "skipped"))
BEGUN = TestRun(phases=(phase("setup"),))


def ran(runs: Mapping[str, TestRun] | None = None, **facts: Any) -> Outcome:
    """Return the outcome of a run in which these tests, and no others, were collected."""
    runs = {} if runs is None else runs
    facts = {"end": End.COMPLETE, "tests": tuple(runs), "collected": True, **facts}
    return Outcome(runs=runs, **facts)


def ended(end: End, at: str | None, runs: Mapping[str, TestRun], **facts: Any) -> Outcome:
    """Return the outcome of a run that ``at`` ended."""
    return ran(runs, end=end, at=at, **facts)


def unread(path: str = FILE, kind: Kind = "ordinary", exception: str = "ValueError") -> Unreadable:
    """Return a file that can't be imported."""
    return Unreadable(path=path, failure=failure(kind, exception))


def control(number: int, outcome: Outcome, draw: int = DRAWS[0], **facts: Any) -> Any:
    """Return a control and its outcome."""
    return Cell(purpose="control", draw=draw, number=number, **facts), outcome


def on_twin(outcome: Outcome, number: int = 0, draw: int = DRAWS[0], seed: str = "a") -> Any:
    """Return a run on a twin and its outcome."""
    variant = Variant(kind="twin", id=seed)
    return Cell(purpose="control", variant=variant, draw=draw, number=number), outcome


def on_saboteur(kind: str, outcome: Outcome) -> Any:
    """Return a run on a saboteur and its outcome."""
    variant = Variant(kind="saboteur", id=kind)
    return Cell(purpose="saboteur", variant=variant, draw=DRAWS[0]), outcome


def on_mutant(outcome: Outcome, draw: int = DRAWS[0], **facts: Any) -> Any:
    """Return a run on a mutant and its outcome."""
    variant = Variant(kind="mutant", id="m-01")
    return Cell(purpose="mutant", variant=variant, draw=draw, **facts), outcome


def controls(*outcomes: Outcome, draw: int = DRAWS[0]) -> list[Any]:
    """Return one control an outcome."""
    return [control(number, outcome, draw) for number, outcome in enumerate(outcomes)]


def evidence(
    tests: Sequence[str] = (T,),
    on_reference: Sequence[Any] | None = None,
    on_mutants: Mapping[str, Sequence[Any]] | None = None,
    **facts: Any,
) -> Evidence:
    """Return evidence on ``tests``, which pass on all controls of all draws by default."""
    fine = ran(dict.fromkeys(tests, PASSED))
    found = [one for draw in DRAWS for one in controls(fine, fine, draw=draw)]
    return Evidence(
        settings=SETTINGS,
        reading=facts.get("reading", Reading()),
        calibration=facts.get("calibration", Calibration(tests=tuple(tests))),
        controls=found if on_reference is None else on_reference,
        saboteurs=facts.get("saboteurs", ()),
        mutants=on_mutants or {},
        right=facts.get("right", RIGHT),
        sightings=facts.get("sightings", {}),
    )


def mutant(*, required: bool = False, **changes: Any) -> Mutant:
    """Return a mutant, by default a generated one."""
    common = {"id": "m-01", "edits": [{"replace": "x", "with": "y"}], **changes}
    if required:
        hint = ["1", "2", "3"]
        named = {"title": "t", "pitfall": "p", "property": "q", "hint": hint, **common}
        return SemanticMutant.model_validate(named)
    generated = {"operator": "o", "line": 1, "status": "scored", **common}
    return MechanicalMutant.model_validate(generated)
