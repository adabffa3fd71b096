"""The canary: it is silent on a sound harness, and heard where cells run something else."""

from typing import Any

import pytest

from grader.canary import CELLS, FILE, alarm, canary_files
from grader.course import load_course
from grader.outcome import End, Outcome
from grader.saboteurs import CANARY_IMPORTS, CANARY_RAISES, Saboteur, canary, sabotage

from .facts import FAILED, PASSED, ended, failing, ran

REFERENCE, SABOTEUR = CELLS
IMPORTS, RAISES = f"{FILE}::{CANARY_IMPORTS}", f"{FILE}::{CANARY_RAISES}"
RIGHT = {
    REFERENCE: ran({IMPORTS: PASSED, RAISES: FAILED}),
    SABOTEUR: ran({IMPORTS: PASSED, RAISES: PASSED}),
}


def slug(**changed: Outcome) -> str | None:
    """Return the alarm of a grading in which the canary's runs were right but for these."""
    cells = {"reference": REFERENCE, "saboteur": SABOTEUR}
    found = alarm(RIGHT | {cells[name]: outcome for name, outcome in changed.items()})
    return found and found.slug


def test_it_is_silent_where_each_cell_runs_its_variant() -> None:
    """And where it hasn't run yet."""
    assert alarm(RIGHT) is None
    assert alarm({}) is None


def test_it_is_heard_where_the_saboteur_does_not_raise() -> None:
    """All mutants would seem to survive."""
    assert slug(saboteur=RIGHT[REFERENCE]) == "canary-silent"


def test_it_is_heard_where_the_reference_is_sabotaged() -> None:
    """All tests would seem to be wrong."""
    assert slug(reference=RIGHT[SABOTEUR]) == "canary-silent"


@pytest.mark.parametrize(
    "outcome",
    [
        ran({}),
        ran({IMPORTS: failing(exception="ImportError"), RAISES: FAILED}),
        ended(End.CRASH, IMPORTS, {}),
        ended(End.TIMEOUT, None, {}),
    ],
)
def test_it_is_heard_where_the_reference_can_not_be_imported(outcome: Outcome) -> None:
    """That is the course's fault, and no student's."""
    assert slug(reference=outcome) == "reference-broken"


def test_the_exception_that_importing_raises_is_named() -> None:
    """For whoever mends the course."""
    outcome = ran({IMPORTS: failing(exception="ZeroDivisionError")})
    found = alarm({REFERENCE: outcome})
    assert found is not None
    assert "ZeroDivisionError" in found.text


@pytest.mark.parametrize(
    ("source", "called"),
    [
        ("def work(x): return x\n", True),
        ("class Thing:\n    def __init__(self, x): self.x = x\n", True),
        ("def _private(): pass\nLIMIT = 3\n", False),
        ("class Bare:\n    size = 1\n", False),
    ],
)
def test_it_calls_something_public_if_the_module_has_any(source: str, called: bool) -> None:
    """A module of constants is only imported."""
    assert (CANARY_RAISES in canary(source, "pack.mod")) == called


@pytest.mark.parametrize("kind", list(Saboteur))
def test_its_tests_tell_the_saboteur_that_raises_from_all_others(
    kind: Saboteur, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run here as they run in a cell."""
    import sys
    from types import ModuleType

    source = "def work(x): return x\n"
    for name, text in (("sound_mod", source), ("sabotaged_mod", sabotage(source, kind))):
        module = ModuleType(name)
        exec(text, vars(module))
        monkeypatch.setitem(sys.modules, name, module)
        tests: dict[str, Any] = {}
        exec(canary(source, name), tests)
        tests[CANARY_IMPORTS]()
        if name == "sabotaged_mod" and kind is Saboteur.RAISES:
            tests[CANARY_RAISES]()
        else:
            with pytest.raises(AssertionError):
                tests[CANARY_RAISES]()


def test_the_built_in_course_has_one() -> None:
    """Its module has public functions."""
    files = canary_files(load_course().assignment("L3.4")).files
    assert CANARY_RAISES.encode() in files[FILE]
