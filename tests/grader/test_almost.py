"""What is told of what is almost a test."""

from typing import Any

from grader.almost import named, near_misses
from grader.outcome import Look
from grader.submission import LeftOut, Submission


def look(path: str, *near: str, **facts: Any) -> Look:
    """Return a look at a file, with near misses a line each."""
    places = tuple((name, line) for line, name in enumerate(near, 1))
    return Look(**{"path": path, "problem": None, "imports": (), "near_misses": places, **facts})


NOTHING = Submission({})


def test_names_are_told_of_a_file_that_is_read_and_only_the_file_of_another() -> None:
    """A file of another name has to be renamed first."""
    found = list(near_misses([look("test_a.py", "check_it"), look("mine.py", "test_it")]))
    assert [one.slug for one in found] == ["near-miss", "near-file"]
    assert found[0].text.startswith("test_a.py, line 1: check_it looks like a test")
    assert found[1].text.startswith("mine.py may hold tests")


def test_a_helper_that_a_test_file_imports_is_no_near_miss() -> None:
    """Its checks are run from there."""
    imports = (("other:check_it", 1), ("math", 2))
    using = look("test_a.py", imports=imports)
    assert list(near_misses([using, look("other.py", "check_it")])) == []


def test_all_is_named_in_one_sentence_where_nothing_is_collected() -> None:
    """Tests that lie elsewhere too; what is no test isn't."""
    left_out = (LeftOut("python/tests/test_b.py", "elsewhere"), LeftOut("notes.txt", "no Python"))
    found = named([look("test_a.py", "check_it"), look("mine.py", "x")], Submission({}, left_out))
    assert found == "; found instead: check_it (test_a.py, line 1), mine.py, python/tests/test_b.py"


def test_the_sentence_stays_short() -> None:
    """A few show the pattern."""
    looks = [look("test_a.py", *(f"check_{n}" for n in range(10)))]
    assert named(looks, NOTHING).endswith("check_7 (test_a.py, line 8) and 2 more")


def test_nothing_is_named_where_there_is_nothing() -> None:
    """The sentence ends there."""
    assert named([look("test_a.py")], NOTHING) == ""
