"""Flags for staff: what is gathered from looks and runs, and what is not."""

from collections.abc import Mapping
from typing import Any

from grader.cells import Cell
from grader.outcome import End, Fingerprint, Look, Outcome, Touch
from grader.resemblance import Model, Models
from grader.review import Flag, review

NOTHING = Outcome(end=End.COMPLETE)


def look(**facts: Any) -> Outcome:
    """Return a look at one file."""
    found = Look(path="test_a.py", problem=None, imports=(), near_misses=(), **facts)
    return Outcome(end=End.COMPLETE, looks=(found,))


def touching(what: str, line: int) -> Outcome:
    """Return a run in which one place touched something."""
    return Outcome(end=End.COMPLETE, touches=(Touch(what=what, path="test_a.py", line=line),))


def flags(
    looked: Outcome = NOTHING,
    outcomes: Mapping[Cell, Outcome] | None = None,
    models: Models | None = None,
) -> list[Flag]:
    """Return what is to be looked at."""
    return list(review(looked, outcomes or {}, models or Models()))


def test_an_honest_suite_has_no_flags() -> None:
    """Nothing is alike, touched or read."""
    assert flags(look(), {Cell(purpose="calibration"): NOTHING}) == []


def test_a_reading_is_told_with_its_line() -> None:
    """From the source alone."""
    [flag] = flags(look(readings=(("__code__", 7),)))
    assert (flag.kind, flag.path, flag.line) == ("reading", "test_a.py", 7)
    assert "test_a.py, line 7: names __code__" in flag.message.text


def test_a_touch_is_told_once_for_all_runs_on_right_code() -> None:
    """Runs on faulty versions end early, so what they saw is chance and isn't told."""
    runs = {
        Cell(purpose="calibration"): touching("__code__", 3),
        Cell(purpose="control", number=1): touching("__code__", 3),
        Cell(purpose="control", number=2): touching("sys.settrace", 2),
        Cell(purpose="mutant"): touching("gc.get_objects", 1),
        Cell(purpose="own"): touching("gc.get_objects", 1),
    }
    found = flags(outcomes=runs)
    assert [(one.kind, one.line) for one in found] == [("touch", 2), ("touch", 3)]
    assert "touched __code__ while it ran" in found[1].message.text


def test_a_line_that_was_seen_at_work_is_not_told_as_a_reading_too() -> None:
    """But another line of the same file is."""
    runs = {Cell(purpose="calibration"): touching("__code__", 3)}
    found = flags(look(readings=(("__code__", 3), ("co_code", 3), ("open", 4))), runs)
    assert [(one.kind, one.line) for one in found] == [("touch", 3), ("reading", 4)]


def test_a_likeness_names_both_functions_and_comes_first() -> None:
    """How much is alike is a percentage, rounded down."""
    mine = Fingerprint(path="test_a.py", name="Test::test_a", line=9, hashes=tuple(range(90)))
    looked = look(readings=(("open", 1),)).model_copy(update={"fingerprints": (mine,)})
    model = Model("tests/gold/T/test_gold.py::test_g", frozenset(range(1, 120)))
    first, second = flags(looked, models=Models((model,)))
    assert (first.kind, first.path, first.line) == ("similar", "test_a.py", 9)
    assert first.message.text == (
        "test_a.py, line 9: Test::test_a is 98 % like tests/gold/T/test_gold.py::test_g"
    )
    assert second.kind == "reading"
