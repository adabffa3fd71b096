"""A test may name the property that it checks; the name is told, and changes nothing else."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome

Run = Callable[..., Outcome]

NAMED = """
import pytest

@pytest.mark.property("per-sequence equivalence")
def test_named():
    pass

def test_unnamed():
    pass

@pytest.mark.property("symmetry")
class TestBoth:
    def test_by_class(self):
        pass

    @pytest.mark.property("mirror")
    @pytest.mark.parametrize("n", [1])
    def test_own(self, n):
        pass
"""
MARKED = """
import warnings
import pytest
warnings.simplefilter("error")

@pytest.mark.property({arguments})
def test_it():
    pass
"""


def test_the_property_that_a_test_names_is_told(run: Run) -> None:
    """The nearest one counts: the test's own, else its class's."""
    outcome = run(NAMED)
    assert outcome.end is End.COMPLETE
    assert outcome.properties == {
        "test_toy.py::test_named": "per-sequence equivalence",
        "test_toy.py::TestBoth::test_by_class": "symmetry",
        "test_toy.py::TestBoth::test_own[1]": "mirror",
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("'mirror'", "mirror"),
        ("'  mirror\\n'", "mirror"),
        ("'x' * 10_000", "x" * 200),
        ("chr(1) * 10_000", chr(1) * 200),
        ("''", None),
        ("", None),
        ("7", None),
        ("'mirror', 'symmetry'", None),
        ("name='mirror'", None),
    ],
)
def test_a_name_is_one_text_of_bounded_length(arguments: str, told: str | None, run: Run) -> None:
    """Anything else names no property; the test runs all the same, and no warning is raised."""
    outcome = run(MARKED.format(arguments=arguments))
    test = "test_toy.py::test_it"
    assert outcome.end is End.COMPLETE
    assert outcome.properties.get(test) == told
    assert outcome.runs[test].phases[1].outcome == "passed"
