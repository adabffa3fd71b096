"""Which tests run, in which order, and how many: the same in every cell."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome

Run = Callable[..., Outcome]
SUITE = "".join(f"def test_{letter}(): pass\n" for letter in "abcde")


def ids(letters: str) -> tuple[str, ...]:
    """Return the ids of tests by their letters."""
    return tuple(f"test_toy.py::test_{letter}" for letter in letters)


@pytest.mark.parametrize(
    ("skip", "last", "most", "expected"),
    [
        ("", "", 9, "abcde"),
        ("b", "", 9, "acde"),
        ("", "a", 9, "bcdea"),
        ("", "ca", 9, "bdeca"),
        ("e", "a", 9, "bcda"),
        ("a", "a", 9, "bcde"),
        ("", "", 3, "abc"),
        ("", "a", 3, "bca"),
        ("", "e", 3, "abc"),
        ("b", "", 3, "ac"),
        ("x", "y", 9, "abcde"),
        ("abcde", "", 9, ""),
    ],
)
def test_tests_are_left_out_put_last_and_capped(
    run: Run, skip: str, last: str, most: int, expected: str
) -> None:
    """The cap comes first, so that running one last brings no other in."""
    outcome = run(SUITE, skip=list(ids(skip)), last=list(ids(last)), most_tests=most)
    assert outcome.end is End.COMPLETE
    assert outcome.tests == tuple(outcome.runs) == ids(expected)
    assert outcome.left_out == max(0, 5 - most)


def test_tests_that_run_last_run_in_the_order_in_which_they_are_named(run: Run) -> None:
    """One that hangs may have to come before one that ends the interpreter."""
    assert run(SUITE, last=list(ids("da"))).tests[-2:] == ids("da")
    assert run(SUITE, last=list(ids("ad"))).tests[-2:] == ids("ad")


def test_a_parameter_can_be_left_out_or_put_last_by_itself(run: Run) -> None:
    """Its id is a test's id."""
    suite = "import pytest\n@pytest.mark.parametrize('n', [1, 2, 3])\ndef test_a(n): pass\n"
    test = ids("a")[0]
    outcome = run(suite, skip=[f"{test}[2]"], last=[f"{test}[1]"])
    assert outcome.tests == (f"{test}[3]", f"{test}[1]")


def test_a_shortened_id_can_be_left_out_or_put_last(run: Run) -> None:
    """By the id that the supervisor knows."""
    suite = (
        "import pytest\n@pytest.mark.parametrize('t', ['x' * 900 + c for c in 'abc'])\n"
        "def test_a(t): pass\n"
    )
    first, second, third = run(suite).tests
    assert run(suite, skip=[first], last=[second]).tests == (third, second)


def test_an_order_of_the_students_own_is_kept(run: Run) -> None:
    """It is the same in every cell, too."""
    files = {
        "conftest.py": "def pytest_collection_modifyitems(items): items.reverse()\n",
        "test_toy.py": SUITE,
    }
    assert run(files).tests == ids("edcba")
    assert run(files, last=list(ids("e"))).tests == ids("dcbae")


def test_a_test_that_runs_last_runs_after_those_of_other_files(run: Run) -> None:
    """Or it would hide their results."""
    files = {"test_a.py": "def test_a(): pass\n", "test_toy.py": SUITE}
    assert run(files, last=["test_a.py::test_a"]).tests == (*ids("abcde"), "test_a.py::test_a")


def test_fixtures_of_a_module_survive_a_change_of_order(run: Run) -> None:
    """Set up once a module, also where its tests are torn apart."""
    suite = """
import pytest
@pytest.fixture(scope="module")
def kept(): return []
def test_a(kept): kept.append(1)
def test_b(kept): assert kept == [1]
"""
    files = {"test_toy.py": suite, "test_z.py": "def test_z(): pass\n"}
    outcome = run(files, last=list(ids("b")))
    assert outcome.tests[-1] == ids("b")[0]
    assert outcome.end is End.COMPLETE
