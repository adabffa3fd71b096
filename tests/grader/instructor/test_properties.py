"""Properties: who names them, and what each catches that no other does."""

from dataclasses import replace

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, GradedTest, Options
from grader.instructor.properties import Catch, catches, named_properties, property_findings
from grader.mutants import Property
from grader.status import Status, TestStatus
from grader.submission import Submission

SUITE = """
import pytest

@pytest.mark.property("mirror")
@pytest.mark.parametrize("n", [1, 2])
def test_mirror(n): pass

def test_plain(): pass

@pytest.mark.property
def test_bare(): pass

class TestInside:
    @pytest.mark.unit
    @pytest.mark.property("flip")
    async def test_flip(self): pass

    class TestDeeper:
        @pytest.mark.property("lengths")
        def test_lengths(self): pass
"""
MIRROR, FLIP = Property(id="mirror", title="m"), Property(id="flip", title="f")
TWICE = Property(id="twice", title="t", follows_from=("mirror",))
THRICE = Property(id="thrice", title="t", follows_from=("twice",))


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    """Return L3.4 of the built-in course."""
    return load_course().assignment("L3.4")


@pytest.fixture
def gold(assignment: Assignment) -> Grade:
    """Return a gold suite's grade: two tests of each property, and what they caught."""
    kills = {
        "t.py::test_mirror[1]": ("a",),
        "t.py::test_mirror[2]": ("a", "b"),
        "t.py::test_flip": ("b", "c"),
        "t.py::test_twice": ("a",),
    }
    tests = tuple(GradedTest(TestStatus(id_, Status.VALID), ids) for id_, ids in kills.items())
    return Grade(assignment, Options(sandbox="process"), graded=True, tests=tests)


NAMING = {"t.py::test_mirror": "mirror", "t.py::test_flip": "flip", "t.py::test_twice": "twice"}


def _catches(gold: Grade, *properties: Property) -> dict[str, tuple[set[str], set[str]]]:
    found = catches(properties, NAMING, gold)
    return {one.property.id: (set(one.caught), set(one.alone)) for one in found}


def test_tests_name_their_property_by_a_mark() -> None:
    """In classes too; a mark without a name, which says what kind of test it is, names none."""
    suite = Submission({"test_a.py": SUITE.encode(), "data.txt": b"def"})
    assert named_properties(suite) == {
        "test_a.py::test_mirror": "mirror",
        "test_a.py::TestInside::test_flip": "flip",
        "test_a.py::TestInside::TestDeeper::test_lengths": "lengths",
    }


def test_what_a_property_catches_alone_no_other_catches(gold: Grade) -> None:
    """All cases of all its tests count together."""
    assert _catches(gold, MIRROR, FLIP) == {
        "mirror": ({"a", "b"}, {"a"}),
        "flip": ({"b", "c"}, {"c"}),
    }


def test_what_follows_from_a_property_takes_nothing_from_it(gold: Grade) -> None:
    """It holds wherever that one does; the other way round it is a rival."""
    found = _catches(gold, MIRROR, FLIP, TWICE)
    assert found["mirror"] == ({"a", "b"}, {"a"})
    assert found["twice"] == ({"a"}, set())


def test_what_follows_by_way_of_another_takes_nothing_either(gold: Grade) -> None:
    """From one to the next."""
    naming = NAMING | {"t.py::test_twice": "thrice"}
    (mirror, *_) = catches([MIRROR, TWICE, THRICE], naming, gold)
    assert mirror.alone == {"a", "b"}


def test_properties_that_follow_from_each_other_end(gold: Grade) -> None:
    """Two ways to say the same."""
    one = Property(id="mirror", title="m", follows_from=("twice",))
    assert _catches(gold, one, TWICE)["mirror"] == ({"a", "b"}, {"a", "b"})


@pytest.mark.parametrize(
    ("caught", "alone", "follows_from", "said"),
    [
        ((), (), (), ["catches nothing"]),
        ((), (), ("flip",), ["catches nothing"]),
        (("a",), (), (), ["is the only catcher of no scored mutant"]),
        (("a",), (), ("flip",), []),
        (("a",), ("a",), (), []),
    ],
)
def test_a_property_must_catch_something_of_its_own(
    caught: tuple[str, ...],
    alone: tuple[str, ...],
    follows_from: tuple[str, ...],
    said: list[str],
    assignment: Assignment,
    gold: Grade,
) -> None:
    """Unless it follows from another: then leaving it out may cost nothing."""
    one = Property(id="mirror", title="m", follows_from=follows_from)
    catch = Catch(one, frozenset(caught), frozenset(alone))
    named = dict.fromkeys(NAMING, "bad lengths")
    found = property_findings(assignment, named, gold, [catch])
    assert [finding.subject for finding in found] == ["mirror"] * len(said)
    assert all(text in finding.text for text, finding in zip(said, found, strict=True))


def test_a_test_that_names_none_or_an_unknown_one_is_found(
    assignment: Assignment, gold: Grade
) -> None:
    """Once, however many cases it has."""
    naming = {"t.py::test_flip": "plain flip", "t.py::test_twice": "plain flop"}
    found = property_findings(assignment, naming, gold, [])
    assert [(finding.subject, finding.text) for finding in found] == [
        ("t.py::test_mirror", "of the gold suite names no property"),
        (
            "t.py::test_twice",
            "of the gold suite names 'plain flop', which is no property",
        ),
    ]


def test_a_name_that_leads_nowhere_is_found(assignment: Assignment, gold: Grade) -> None:
    """In a named mutant, or in what a property follows from."""
    library = assignment._named
    (first, *_), (mutant, *_) = library.property, library.mutant
    spoilt = library.model_copy(
        update={
            "property": (first.model_copy(update={"follows_from": ("mirror", first.id)}),),
            "mutant": (mutant,),
        }
    )
    other = replace(assignment)
    other.__dict__["_named"] = spoilt
    texts = [finding.text for finding in property_findings(other, {}, replace(gold, tests=()), [])]
    assert texts == [
        "follows from 'mirror', which is no other property",
        "follows from 'involution', which is no other property",
        "violates 'mirror and fix', which is no property",
    ]


def test_the_chapters_six_properties_are_declared(assignment: Assignment) -> None:
    """Two of them follow from others."""
    following = {one.id: one.follows_from for one in assignment.properties}
    assert following == {
        "involution": ("mirror and fix",),
        "mirror and fix": (),
        "plain flip": (),
        "per-sequence equivalence": (),
        "padding is inert": ("per-sequence equivalence",),
        "bad lengths": (),
    }
