"""Mutants: which a course may hold, and how they are planted."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course import load_course
from grader.mutants import (
    Kind,
    MechanicalMutant,
    MechanicalPool,
    SemanticLibrary,
    SemanticMutant,
    defects,
    difference,
)
from grader.problems import Unusable

SOURCE = """\
def first(x):
    y = x + 1
    return y


def second(x):
    y = x + 2
    return y
"""


def semantic(*edits: tuple[str, str], **changes: object) -> SemanticMutant:
    """Return a named mutant with ``edits``, each a text and what takes its place."""
    document: dict[str, Any] = {
        "id": "s01",
        "title": "one too many",
        "pitfall": "counting from one",
        "property": "the first is the zeroth",
        "hint": ["look", "look again", "look there"],
        "edits": [{"replace": old, "with": new} for old, new in edits],
    }
    return SemanticMutant.model_validate({**document, **changes})


def mechanical(**changes: object) -> MechanicalMutant:
    """Return a generated mutant."""
    document = {
        "id": "m-0a",
        "operator": "number",
        "line": 2,
        "status": "scored",
        "edits": [{"replace": "x + 1", "with": "x + 9"}],
    }
    return MechanicalMutant.model_validate({**document, **changes})


def misfit(mutant: SemanticMutant, source: str = SOURCE) -> str:
    """Return what is said where ``mutant`` can't be planted, under its slug."""
    with pytest.raises(Unusable) as caught:
        mutant.plant(source)
    assert mutant.id in caught.value.message.text
    return caught.value.message.slug + ": " + caught.value.message.text


class TestPlanting:
    """From the reference's text to a mutant's."""

    def test_an_edit_changes_its_place_and_nothing_else(self) -> None:
        """A fault is as small as its edit."""
        planted = semantic(("x + 1", "x - 1")).plant(SOURCE)
        assert planted == SOURCE.replace("x + 1", "x - 1")

    def test_several_edits_may_stand_in_any_order(self) -> None:
        """The last place may be named first."""
        one, two = ("x + 1", "x"), ("x + 2", "2")
        planted = semantic(one, two).plant(SOURCE)
        assert planted == semantic(two, one).plant(SOURCE)
        assert planted == SOURCE.replace("x + 1", "x").replace("x + 2", "2")

    @pytest.mark.parametrize(("text", "times"), [("x + 3", 0), ("return y", 2), ("y = ", 2)])
    def test_an_edit_that_does_not_fit_once_is_refused_with_the_count(
        self, text: str, times: int
    ) -> None:
        """Nobody may guess which place is meant."""
        told = misfit(semantic((text, "pass")))
        assert told.startswith("mutant-misfit")
        assert f"occurs {times} times" in told
        assert repr(text.strip()) in told

    def test_places_that_overlap_count_twice(self) -> None:
        """Python's own count would find this text once."""
        assert "occurs 2 times" in misfit(semantic(("aa", "b")), "aaa")

    def test_edits_fit_the_reference_not_each_other(self) -> None:
        """The second edit's text is there once, and once more after the first edit."""
        planted = semantic(("x + 1", "x + 2"), ("x + 2", "x + 3")).plant(SOURCE)
        assert planted == SOURCE.replace("x + 2", "x + 3").replace("x + 1", "x + 2")

    @pytest.mark.parametrize("second", ["+ 1\n", "x + 1"])
    def test_edits_that_overlap_are_refused(self, second: str) -> None:
        """Which of them comes first would decide."""
        assert misfit(semantic(("x + 1", "x"), (second, ""))).startswith("mutant-overlap")

    @pytest.mark.parametrize("text", [" ", "\n\n\n"])
    def test_a_text_of_blanks_is_refused_like_any_other(self, text: str) -> None:
        """The message must not stumble over what it quotes."""
        assert misfit(semantic((text, "")), "x").startswith("mutant-misfit")

    @given(st.text("ab\n", min_size=1), st.text("ab\n", max_size=3), st.data())
    def test_a_text_that_stands_once_is_replaced_there(
        self, source: str, new: str, data: st.DataObject
    ) -> None:
        """For every place in every text."""
        start = data.draw(st.integers(0, len(source) - 1))
        end = data.draw(st.integers(start + 1, len(source)))
        old = source[start:end]
        once = source.find(old) == start and source.find(old, start + 1) == -1
        if once:
            planted = semantic((old, new)).plant(source)
            assert planted == source[:start] + new + source[end:]
        else:
            misfit(semantic((old, new)), source)


class TestDifference:
    """What an instructor is shown."""

    def test_it_shows_the_changed_line_and_its_place(self) -> None:
        """In the form that everyone reads."""
        lines = difference(semantic(("x + 1", "x")), SOURCE, "pack/first.py").splitlines()
        assert lines[0] == "--- pack/first.py"
        assert "-    y = x + 1" in lines
        assert "+    y = x" in lines


class TestDefects:
    """What makes a mutant unusable before anything is run."""

    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [
            ("x + 3", "x", "occurs 0 times"),
            ("x + 1", "x  +  1", "leave the reference's code as it is"),
            ("y = x + 1", "y = x + 1  # the same", "leave the reference's code as it is"),
            ("x + 1", "x +", "line 2 of the planted text is no Python"),
            ("def first(x)", "def first(x, x)", "is no Python: duplicate argument"),
            ("x + 1", "x + (yield) + await x", "is no Python"),
        ],
    )
    def test_each_is_told_by_the_mutants_name(self, old: str, new: str, told: str) -> None:
        """The text need not even differ in more than blanks to be a defect."""
        found = defects([semantic((old, new))], SOURCE)
        assert set(found) == {"s01"}
        assert told in found["s01"]
        assert "s01" in found["s01"]

    def test_a_mutant_that_is_another_program_has_none(self) -> None:
        """Nor has one that Python only warns about."""
        assert defects([semantic(("x + 1", "x is 1")), mechanical()], SOURCE) == {}

    def test_the_built_in_course_has_none(self) -> None:
        """Excluded mutants are held to the same."""
        for assignment in load_course().assignments.values():
            mutants = [*assignment.semantic, *assignment.pool.mutant]
            assert not mutants or defects(mutants, assignment.source) == {}

    def test_no_two_mutants_of_the_built_in_course_are_the_same_program(self) -> None:
        """Or one catch would count twice."""
        assignment = load_course().assignment("L3.4")
        planted = [mutant.plant(assignment.source) for mutant in assignment.mutants]
        assert len({ast.dump(ast.parse(text)) for text in planted}) == len(planted) > 0


class TestDocuments:
    """What may stand in the two files."""

    @pytest.mark.parametrize(
        "status",
        [
            "equivalent",
            "message-only",
            "outside-the-contract",
            "duplicate-of m-0b",
            "duplicate-of s01",
        ],
    )
    def test_an_exclusion_needs_a_reason(self, status: str) -> None:
        """And more than blanks."""
        with pytest.raises(ValueError, match=f"m-0a is excluded as {status} and needs a reason"):
            mechanical(status=status, reason="  ")
        assert not mechanical(status=status, reason="no test can tell").scored

    @pytest.mark.parametrize(
        "status", ["", "Scored", "killed", "duplicate-of", "duplicate-of s 01", "scored\n"]
    )
    def test_an_unknown_status_is_refused(self, status: str) -> None:
        """A slip of the pen must not include or exclude a mutant."""
        with pytest.raises(ValueError, match="status"):
            mechanical(status=status, reason="r")

    def test_a_duplicate_names_its_original(self) -> None:
        """A generated mutant or a named one; others have none."""
        assert mechanical(status="duplicate-of m-0b", reason="r").original == "m-0b"
        assert mechanical(status="duplicate-of s01", reason="r").original == "s01"
        assert mechanical(status="equivalent", reason="r").original is None
        assert mechanical().original is None

    @pytest.mark.parametrize("name", ["", "../s01", "s 01", "-s01", "s01\n"])
    def test_a_name_that_reports_could_not_show_is_refused(self, name: str) -> None:
        """Names stand on command lines and in tables."""
        with pytest.raises(ValueError, match="id"):
            mechanical(id=name)

    @pytest.mark.parametrize(
        "changes",
        [
            {"edits": []},
            {"edits": [{"replace": "", "with": "x"}]},
            {"edits": [{"replace": "x"}]},
            {"edits": [{"replace": "x", "with": "y", "count": 2}]},
            {"line": 0},
            {"hint": ["h", "h", "h"]},
        ],
    )
    def test_what_is_incomplete_or_unknown_is_refused(self, changes: dict[str, object]) -> None:
        """An edit needs both sides, a mutant an edit."""
        with pytest.raises(ValueError, match=next(iter(changes))):
            mechanical(**changes)

    @pytest.mark.parametrize("steps", [2, 4])
    def test_a_hint_has_three_steps(self, steps: int) -> None:
        """Reports show one more with each request."""
        with pytest.raises(ValueError, match="hint"):
            semantic(("x", "y"), hint=["h"] * steps)

    @pytest.mark.parametrize("document", [SemanticLibrary, MechanicalPool])
    def test_a_file_holds_nothing_but_what_is_known(
        self, document: type[SemanticLibrary | MechanicalPool]
    ) -> None:
        """A misspelt table would be a library without mutants."""
        with pytest.raises(ValueError, match="mutants"):
            document.model_validate({"generator": "g", "module": "m", "mutants": []})


class TestKinds:
    """Named and generated mutants."""

    def test_only_named_ones_are_required(self) -> None:
        """A generated one counts toward the rate alone."""
        named, generated = semantic(("x", "y")), mechanical()
        assert (named.kind, named.required, named.scored) == (Kind.SEMANTIC, True, True)
        assert (generated.kind, generated.required) == (Kind.MECHANICAL, False)

    def test_each_has_a_name_for_people(self) -> None:
        """Reports show it beside the id."""
        assert semantic(("x", "y")).name == "one too many"
        assert mechanical().name == "number, line 2"

    def test_they_hang_and_are_public_only_where_said(self) -> None:
        """Both change what a student is told or counted."""
        assert (mechanical().hangs, mechanical().public) == (False, False)
        assert mechanical(hangs=True, public=True).hangs
