"""Libraries of mutants: verified by running the gold suite and the course's tests on each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course import Assignment, load_course
from grader.grade import Options
from grader.instructor import library
from grader.instructor.library import Verification, course_matrix, verify
from grader.problems import Unusable, Void

MISSED = """
[[mutant]]
id = "m-0000000a"
operator = "number"
line = 9
status = "scored"
[[mutant.edits]]
replace = "n is negative"
with = "negative: n"
"""
UNREVIEWED = """
[[mutant]]
id = "m-0000000b"
operator = "number"
line = 9
status = "duplicate-of m-00000004"
reason = "proposed: It compiles to the bytecode of m-00000004."
[[mutant.edits]]
replace = "if n < 0:"
with = "if n < -0:"
"""
UNCAUGHT = """
[[mutant]]
id = "s03"
title = "only -1 is refused"
pitfall = "A boundary is more than one number."
property = "refusal"
hint = ["Look below.", "Pitfall 2.", "Check that -7 raises."]
caught_by = ["test_negative", "test_nowhere"]
[[mutant.edits]]
replace = "if n < 0:"
with = "if n == -1:"

[[mutant]]
id = "s04"
title = "nothing can be imported"
pitfall = "A module that raises is none."
property = "doubling"
hint = ["Look.", "Pitfall 3.", "Check that it can be imported."]
caught_by = ["test_zero"]
[[mutant.edits]]
replace = "from toy.step import step"
with = "from toy.step import stop as step"
"""
STRICT_TEST = """

def test_wording() -> None:
    with pytest.raises(ValueError, match="negative"):
        double(-1)
"""
IDLE_TEST = """

def test_exists() -> None:
    assert callable(double)
"""
WRONG_TESTS = """

def test_odd() -> None:
    assert double(1) == 3


def test_none() -> None:
    pytest.skip("not today")
"""


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Options:
    """Return how to run here."""
    return Options(sandbox="process", jobs=1, run_dir=tmp_path_factory.mktemp("runs"))


def _assignment(root: Path) -> Assignment:
    return load_course(root).assignment("T1")


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture(scope="module")
def spoiled(toy_copy: Callable[[], Path], options: Options) -> Verification:
    """Verify a library in which much is wrong that only a run shows."""
    root = toy_copy()
    _append(root / "mutants" / "T1" / "mechanical.toml", MISSED + UNREVIEWED)
    _append(root / "mutants" / "T1" / "semantic.toml", UNCAUGHT)
    _edit(root / "mutants" / "T1" / "semantic.toml", '"test_zero"]', '"test_negative"]')
    _append(root / "tests" / "gold" / "T1" / "test_gold.py", WRONG_TESTS + IDLE_TEST)
    _append(
        root / "tests" / "course" / "T1" / "test_double.py",
        "\n\ndef test_odd() -> None:\n    assert double(1) == 3\n",
    )
    return verify(_assignment(root), options)


def _texts(found: Verification, subject: str) -> list[str]:
    return [finding.text for finding in found.findings if finding.subject == subject]


def test_a_good_library_is_good(toy_copy: Callable[[], Path], options: Options) -> None:
    """And comes with the table of who catches what; "" is the reference."""
    found = verify(_assignment(toy_copy()), options)
    assert found.good
    assert found.findings == ()
    assert found.matrix == {
        "test_doubles": {"": False, "s01": True, "s02": False},
        "test_zero": {"": False, "s01": True, "s02": False},
        "test_negative": {"": False, "s01": False, "s02": True},
    }
    assert found.gold is not None
    assert found.gold.passed


def test_what_could_not_be_verified_is_said(toy_copy: Callable[[], Path], options: Options) -> None:
    """And is no finding: a pool that was made by hand has no generator."""
    found = verify(_assignment(toy_copy()), options)
    assert found.notes == ("the pool is made by hand, so no generator was compared with it",)
    assert found.properties == ()


def test_what_is_wrong_with_decisions_is_found(spoiled: Verification) -> None:
    """A proposal that nobody has reviewed, and a duplicate of an excluded mutant."""
    assert _texts(spoiled, "m-0000000b") == [
        "is duplicate-of m-00000004 by proposal: review it and reword its reason",
        "is a duplicate of m-00000004, which is no scored mutant",
    ]


def test_a_mutant_that_the_gold_suite_misses_is_found(spoiled: Verification) -> None:
    """One that can't be caught: it should have been excluded."""
    assert not spoiled.good
    said = "is not caught by the gold suite: survived"
    assert _texts(spoiled, "m-0000000a") == [said]
    assert _texts(spoiled, "s02") == []


def test_a_test_that_a_mutant_names_in_vain_is_found(spoiled: Verification) -> None:
    """One that passes on it, and one that there isn't."""
    assert _texts(spoiled, "s01") == ["is not caught by test_negative, which it names"]
    assert "names test_nowhere, which is no course test" in _texts(spoiled, "s03")


def test_a_mutant_that_no_course_test_catches_is_found(spoiled: Verification) -> None:
    """A test that fails on the reference too catches nothing."""
    assert "is caught by no course test" in _texts(spoiled, "s03")


def test_a_gold_test_that_doesnt_hold_is_found(spoiled: Verification) -> None:
    """With its status."""
    assert _texts(spoiled, "test_gold.py::test_odd") == ["of the gold suite is invalid"]
    assert _texts(spoiled, "test_gold.py::test_none") == ["of the gold suite is vacuous"]


def test_a_gold_test_that_reacts_to_nothing_is_found(spoiled: Verification) -> None:
    """That a function exists is no behaviour."""
    assert _texts(spoiled, "test_exists") == [
        "of the gold suite passes on code that does no work at all"
    ]


def test_a_gold_test_that_reacts_to_form_is_found(
    toy_copy: Callable[[], Path], options: Options
) -> None:
    """The wording is left open; and it has the status that a student's would have."""
    root = toy_copy()
    _append(root / "tests" / "gold" / "T1" / "test_gold.py", STRICT_TEST)
    found = verify(_assignment(root), options)
    said = "of the gold suite fails on a rewrite that behaves the same"
    assert _texts(found, "test_wording") == [said]
    assert _texts(found, "test_gold.py::test_wording") == ["of the gold suite is too strict"]


def test_a_course_test_that_fails_on_the_reference_is_found(spoiled: Verification) -> None:
    """It would fail every student."""
    assert _texts(spoiled, "test_odd") == ["of the course fails on the reference"]


def test_a_mutant_that_cant_be_imported_fails_every_test(spoiled: Verification) -> None:
    """None of them could be run."""
    assert all(row["s04"] for row in spoiled.matrix.values())
    assert set(spoiled.matrix) == {"test_doubles", "test_zero", "test_negative", "test_odd"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"range(n)"', '"range(m)"', "beginning 'range(m)', occurs 0 times"),
        ('"range(n)"', '"n"', "it must occur exactly once"),
        ('"range(n + 1)"', '"range( n )"', "its edits leave the reference's code as it is"),
        ('"range(n + 1)"', '"range(n + "', "of the planted text is no Python"),
    ],
)
def test_an_edit_that_makes_no_fault_is_found_before_anything_runs(
    old: str, new: str, said: str, toy_copy: Callable[[], Path]
) -> None:
    """One that doesn't apply, or not once, or changes nothing, or makes no Python."""
    root = toy_copy()
    _edit(root / "mutants" / "T1" / "semantic.toml", old, new)
    found = verify(_assignment(root), Options(sandbox="docker"))
    (finding,) = found.findings
    assert finding.subject == "s01"
    assert said in finding.text
    assert found.gold is None
    assert not found.good


def test_a_gold_suite_that_holds_nowhere_is_found(
    toy_copy: Callable[[], Path], options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and not mutant by mutant."""
    root = toy_copy()
    gold = "from toy.double import double\n\n\ndef test_odd() -> None:\n    assert double(1) == 3\n"
    (root / "tests" / "gold" / "T1" / "test_gold.py").write_text(gold, encoding="utf-8")
    monkeypatch.setattr(library, "course_matrix", lambda *_: {})
    found = verify(_assignment(root), options)
    assert [text for text in found.findings if text.subject.startswith("m-")] == []
    (text,) = _texts(found, "gold suite")
    assert text.startswith("no test runs and holds")


def test_what_cant_be_verified_is_refused(
    toy_copy: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No mutants, no gold suite, no machine to run it on."""
    root = toy_copy()
    with pytest.raises(Unusable, match="T0 has no mutants"):
        verify(load_course(root).assignment("T0"), Options(sandbox="process"))
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    with pytest.raises(Void, match="the Docker engine doesn't answer"):
        verify(_assignment(root), Options(sandbox="docker"))
    (root / "tests" / "gold" / "T1").rename(root / "elsewhere")
    with pytest.raises(Unusable, match="T1 has no gold suite"):
        verify(_assignment(root), Options(sandbox="process"))


def test_the_table_of_a_reference_that_cant_be_run_says_so(
    toy_copy: Callable[[], Path], options: Options
) -> None:
    """By the file that can't be imported, which no mutant repairs."""
    root = toy_copy()
    _append(root / "reference" / "toy" / "double.py", "\nraise RuntimeError\n")
    matrix = course_matrix(_assignment(root), options)
    assert matrix == {"test_double.py": {"": True, "s01": True, "s02": True}}
