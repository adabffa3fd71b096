"""Commands of an instructor: listing, showing and verifying mutants; verifying goldens."""

import shutil
from pathlib import Path

import pytest

from grader.instructor import fixtures
from tests.grader.cli.conftest import TOY, call


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_mutants_are_listed_by_what_they_count_for() -> None:
    """The excluded ones only when asked for, with the reason."""
    ran = call("mutants", "list", "T1", "--course", TOY)
    assert ran.code == 0
    assert [line.split()[:2] for line in ran.out.splitlines()[:5]] == [
        ["s01", "required"],
        ["s02", "required"],
        ["m-00000001", "scored"],
        ["m-00000002", "scored"],
        ["m-00000003", "scored"],
    ]
    assert ran.out.endswith("\n5 scored, 1 excluded\n")
    assert "m-00000004" not in ran.out

    ran = call("mutants", "list", "T1", "--all", "--course", TOY)
    assert "m-00000004  excluded  string, line 9" in ran.out
    assert "the wording is left open" in ran.out


def test_the_flagships_mutants_are_listed() -> None:
    """The six required ones first, and at least fifty in all."""
    ran = call("mutants", "list", "L3.4")
    lines = ran.out.splitlines()
    assert [line.split()[:2] for line in lines[:7]] == [
        *([f"s0{number}", "required"] for number in range(1, 7)),
        [lines[6].split()[0], "scored"],
    ]
    assert int(lines[-1].split()[0]) >= 50


def test_the_frozen_pool_of_the_flagship_is_what_mutmut_generates() -> None:
    """Nothing is undecided, and no decision has lost its mutant."""
    ran = call("mutants", "generate", "L3.4")
    assert (ran.code, ran.out) == (0, "95 mutants, as in the frozen pool\n")


def test_what_generating_anew_would_change_is_listed_and_decisions_are_kept(tmp_path: Path) -> None:
    """An undecided mutant joins the pool only once a person has judged it."""
    course = tmp_path / "course"
    shutil.copytree(TOY, course)
    pool = course / "mutants" / "T1" / "mechanical.toml"
    before = pool.read_text(encoding="utf-8")
    ran = call("mutants", "generate", "T1", "--course", course)
    assert ran.code == 1
    assert "undecided  m-" in ran.out
    assert "vanished   m-00000001" in ran.out
    assert pool.read_text(encoding="utf-8") == before

    assert call("mutants", "generate", "T1", "--write", "--course", course).code == 1
    assert "m-00000001" not in pool.read_text(encoding="utf-8")


def test_a_mutant_is_shown_with_its_difference() -> None:
    """A named one with its hints, a generated one with the decision on it."""
    ran = call("mutants", "show", "T1", "s01", "--course", TOY)
    assert ran.code == 0
    for said in (
        "s01  a step too many",
        "pitfall   Counting from 0 to n inclusive takes n + 1 steps.",
        "property  doubling",
        "hint 3    Check that 3 gives 6.",
        "caught by test_doubles, test_zero",
        "-    for _ in range(n):",
        "+    for _ in range(n + 1):",
    ):
        assert f"{said}\n" in ran.out

    ran = call("mutants", "show", "T1", "m-00000004", "--course", TOY)
    assert "status    message-only\n" in ran.out
    assert "reason    the wording is left open\n" in ran.out


def test_a_good_library_is_verified() -> None:
    """With the table of who catches what."""
    ran = call("mutants", "verify", "T1", "--course", TOY, "--sandbox", "process", "--jobs", "1")
    assert ran.code == 0
    *table, note, last = ran.out.splitlines()
    assert note == "the pool is made by hand, so no generator was compared with it"
    assert last == "5 scored mutants: each applies, differs and is caught"
    assert [line.split() for line in table] == [
        ["course", "test", "s01", "s02"],
        ["test_doubles", "x", "·"],
        ["test_zero", "x", "·"],
        ["test_negative", "·", "x"],
    ]


def test_what_properties_catch_is_told(toy: Path) -> None:
    """And which of them catches nothing that no other does."""
    semantic = toy / "mutants" / "T1" / "semantic.toml"
    tables = [f'[[property]]\nid = "{name}"\ntitle = "t"\n' for name in ("doubling", "refusal")]
    semantic.write_text("\n".join([*tables, semantic.read_text(encoding="utf-8")]), "utf-8")
    gold = toy / "tests" / "gold" / "T1" / "test_gold.py"
    _edit(gold, "@given(", '@pytest.mark.property("doubling")\n@given(')
    ran = call("mutants", "verify", "T1", "--course", toy, "--sandbox", "process", "--jobs", "1")
    assert ran.code == 1
    lines = [line.split() for line in ran.out.splitlines()]
    start = lines.index(["property", "caught", "by", "it", "alone"])
    assert lines[start + 1 : start + 3] == [["doubling", "3", "3"], ["refusal", "0", "0"]]
    assert "refusal  catches nothing: no scored mutant violates it" in ran.out
    assert (
        "test_gold.py::test_refuses_what_is_negative  of the gold suite names none" not in ran.out
    )
    assert "test_refuses_what_is_negative  of the gold suite names no property" in ran.out


def test_suites_of_known_worth_are_measured(toy: Path, tmp_path: Path) -> None:
    """In a table, which a document takes in place of the one before."""
    semantic = toy / "mutants" / "T1" / "semantic.toml"
    tables = [f'[[property]]\nid = "{name}"\ntitle = "t"\n' for name in ("doubling", "refusal")]
    semantic.write_text("\n".join([*tables, semantic.read_text(encoding="utf-8")]), "utf-8")
    gold = toy / "tests" / "gold" / "T1" / "test_gold.py"
    _edit(gold, "@given(", '@pytest.mark.property("doubling")\n@given(')
    document = tmp_path / "calibration.md"
    document.write_text("# Calibration\n", encoding="utf-8")
    how = ("--course", toy, "--sandbox", "process", "--jobs", "1", "--markdown", document)
    ran = call("mutants", "calibrate", "T1", *how)
    assert ran.code == 0
    _, whole, without, only = ran.out.splitlines()
    assert whole.startswith("gold suite ")
    assert whole.endswith(" yes")
    assert " ".join(without.split()) == "without doubling 1 2 of 5, 40 % 1 of 4, 25 % - 1 of 2 no"
    assert " ".join(only.split()) == "only doubling 1 3 of 5, 60 % 2 of 4, 50 % - 1 of 2 no"
    text = document.read_text(encoding="utf-8")
    assert text.startswith("# Calibration\n\n| suite | tests | scored pool |")
    assert "| only doubling | 1 | 3 of 5, 60 % | 2 of 4, 50 % | - | 1 of 2 | no |\n" in text
    call("mutants", "calibrate", "T1", *how)
    assert document.read_text(encoding="utf-8") == text


def test_a_calibration_that_is_not_as_it_should_be_is_exit_1(toy: Path) -> None:
    """With each finding; a document that can't be written is refused before anything runs."""
    gold = toy / "tests" / "gold" / "T1" / "test_gold.py"
    _edit(gold, "for n in (-1, -7):", "for n in (-7,):")
    _edit(gold, "double(n) == n + n", "double(n) >= n")
    how = ("--course", toy, "--sandbox", "process", "--jobs", "1")
    ran = call("mutants", "calibrate", "T1", *how)
    assert ran.code == 1
    assert ran.out.endswith("\ngold suite  does not pass\n")
    path = toy / "missing" / "calibration.md"
    ran = call("mutants", "calibrate", "T1", *how, "--markdown", path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"grade: can't write {path}: No such file or directory\n"


def test_a_spoiled_library_is_exit_1_with_each_finding(toy: Path) -> None:
    """An edit that doesn't apply, before anything is run."""
    _edit(toy / "mutants" / "T1" / "semantic.toml", '"range(n)"', '"range(m)"')
    ran = call("mutants", "verify", "T1", "--course", toy)
    assert ran.code == 1
    assert "s01  mutant s01: the text to replace, beginning 'range(m)', occurs 0 times" in ran.out


def test_a_missing_gold_suite_is_named(toy: Path) -> None:
    """Without one nobody knows whether a good suite can pass."""
    (toy / "tests" / "gold" / "T1" / "test_gold.py").unlink()
    (toy / "tests" / "gold" / "T1").rmdir()
    ran = call("mutants", "verify", "T1", "--course", toy)
    assert ran.code == 2
    assert "T1 has no gold suite" in ran.err


def test_committed_goldens_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no torch, against manifest and reference."""
    monkeypatch.setattr(fixtures, "torch_version", lambda: None)
    ran = call("fixtures", "verify", "L3.4", "--sandbox", "process")
    assert ran.code == 0
    assert [line.split()[:3] for line in ran.out.splitlines()] == [
        ["ok", "L3.4", "file:"],
        ["ok", "L3.4", "arrays:"],
        ["ok", "L3.4", "reference:"],
    ]


def test_without_torch_nothing_is_regenerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 5, with the way to have it."""
    monkeypatch.setattr(fixtures, "torch_version", lambda: None)
    ran = call("fixtures", "regenerate", "L3.4")
    assert ran.code == 5
    assert ran.err == (
        "grade: regenerating needs torch, which is not installed: pip install 'grader[fixtures]'\n"
    )


def test_a_course_without_goldens_has_nothing_to_verify() -> None:
    """Which is no fault."""
    ran = call("fixtures", "verify", "--course", TOY, "--sandbox", "process")
    assert (ran.code, ran.out) == (0, "")


def test_an_unreadable_manifest_is_named(toy: Path) -> None:
    """Missing, or with a key that isn't known."""
    _edit(toy / "course.toml", "draws = [11, 12]", 'draws = [11]\ngoldens = ["fixtures/T1.json"]')
    path = toy / "fixtures" / "T1.json"
    ran = call("fixtures", "verify", "T1", "--course", toy, "--sandbox", "process")
    assert (ran.code, ran.err) == (2, f"grade: {path}: No such file or directory\n")
    path.parent.mkdir()
    path.write_text('{"sed": 3}', encoding="utf-8")
    ran = call("fixtures", "regenerate", "T1", "--course", toy)
    assert ran.code == 2
    assert str(path) in ran.err
