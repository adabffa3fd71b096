"""The command that triages: claims of equivalence, proposals, and reviews of decisions."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from grader.instructor import candidates
from grader.instructor.pool import parse
from tests.grader.cli.conftest import TOY, Ran, call

SILENT = """
[[mutant]]
id = "m-0000000a"
operator = "number"
line = 10
status = "scored"
[[mutant.edits]]
replace = "total = n"
with = "total = 0 + n"
"""


def _triage(course: Path, *arguments: str) -> Ran:
    how = ("--course", course, "--sandbox", "process", "--jobs", "2")
    return call("mutants", "triage", "T1", *arguments, *how)


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.fixture
def without_mutmut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the generator away."""

    def not_installed(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(candidates, "version", not_installed)


@pytest.mark.usefixtures("without_mutmut")
def test_a_claim_of_equivalence_is_answered_with_an_input() -> None:
    """For a named mutant and for a generated one; the generator isn't needed."""
    ran = _triage(TOY, "s01", "m-00000003")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "s01  a step too many  decided: scored",
        "    gold suite: test_doubles",
        "    course tests: test_doubles, test_zero",
        "    told from the reference by: 7 in place of 6: double(3)",
        "m-00000003  comparison, line 8  decided: scored",
        "    gold suite: test_refuses_what_is_negative",
        "    course tests: test_negative",
        "    told from the reference by: -1 in place of ValueError: double(-1)",
        "2 looked at, 0 for a person to decide on",
    ]


@pytest.mark.usefixtures("without_mutmut")
def test_a_claim_that_nothing_contradicts_is_for_a_person_to_decide(toy: Path) -> None:
    """With the number of comparisons that found nothing; the decision stays as it is."""
    pool = toy / "mutants" / "T1" / "mechanical.toml"
    _append(pool, SILENT)
    before = pool.read_text(encoding="utf-8")
    ran = _triage(toy, "m-0000000a")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "m-0000000a  number, line 10  decided: scored, proposed: equivalent",
        "    No test catches it, and 6 comparisons with the reference find no difference.",
        "    gold suite: none catches it",
        "    course tests: none catches it",
        "    comparisons with the reference: no difference in 6",
        "1 looked at, 1 for a person to decide on",
    ]
    assert pool.read_text(encoding="utf-8") == before


@pytest.mark.usefixtures("without_mutmut")
def test_decisions_are_reviewed_without_the_generator() -> None:
    """It is said that undecided ones are not known."""
    ran = _triage(TOY, "--all")
    first, *_, last = ran.out.splitlines()
    assert ran.code == 0
    assert first.startswith("undecided mutants are not known: mutmut 3.8.1 is needed")
    assert "    texts: only those of errors differ" in ran.out
    assert last == "4 looked at, 0 for a person to decide on"


@pytest.mark.usefixtures("without_mutmut")
def test_undecided_mutants_need_the_generator() -> None:
    """Exit 2, with the way to have it."""
    ran = _triage(TOY)
    assert ran.code == 2
    assert "mutmut 3.8.1 is needed, none is installed" in ran.err


def test_proposals_are_shown_and_not_written_unasked(toy: Path) -> None:
    """The pool is as it was."""
    pool = toy / "mutants" / "T1" / "mechanical.toml"
    before = pool.read_text(encoding="utf-8")
    ran = _triage(toy)
    assert ran.code == 1
    assert "  undecided, proposed: scored\n    1 tests of the gold suite catch it.\n" in ran.out
    assert "  undecided, proposed: message-only\n    Only texts of errors differ; 6 " in ran.out
    assert pool.read_text(encoding="utf-8") == before


def test_proposals_are_written_for_review_and_decisions_kept(toy: Path) -> None:
    """Each says that it is no decision yet."""
    pool = toy / "mutants" / "T1" / "mechanical.toml"
    before = parse(pool.read_text(encoding="utf-8")).mutant
    assert _triage(toy, "--write").code == 1
    after = parse(pool.read_text(encoding="utf-8")).mutant
    kept = {mutant.id for mutant in before}
    assert [mutant for mutant in after if mutant.id in kept] == list(before)
    new = [mutant for mutant in after if mutant.id not in kept]
    assert {mutant.status.split()[0] for mutant in new} >= {"scored", "message-only"}
    assert all(mutant.reason.startswith("proposed: ") for mutant in new)


def test_an_unknown_mutant_is_named() -> None:
    """As everywhere."""
    ran = _triage(TOY, "m-77777777")
    assert ran.code == 2
    assert "no mutant 'm-77777777' in T1" in ran.err


def test_an_assignment_without_a_differential_suite_is_refused(toy: Path) -> None:
    """Nothing could be said of a claim."""
    suite = toy / "tests" / "differential" / "T1" / "test_double.py"
    suite.unlink()
    ran = _triage(toy, "s01")
    assert ran.code == 2
    assert "T1 has no differential tests in this course" in ran.err
