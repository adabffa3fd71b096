"""Attacks that tell a mutant from the reference by something else than what it does."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading

STRICT = {"status": "too_strict", "slug": "too-strict"}
VAIN = {"status": "vacuous", "slug": "vacuous"}
# Remembers nothing between cells, so the form of the reference is brought along.
SEEN = """
import hashlib
def known(text):
    return hashlib.sha256(text.encode()).hexdigest() == KNOWN
"""

ATTACKS = (
    Attack(
        "F01",
        "a test that looks for the right source is too strict, and flagged",
        """
import inspect
def test_it():
    assert "if n < 0:" in inspect.getsource(double)
""",
        status="invalid",
        slug="invalid",
        flags=("touched __code__",),
    ),
    Attack(
        "F01-file",
        "no variant is a file that can be opened",
        """
import sys
def test_it():
    text = open(sys.modules["toy.double"].__file__).read()
    assert "if n < 0:" in text
""",
        status="invalid",
        slug="invalid-file",
    ),
    Attack(
        "F01-cache",
        "no line of a variant is in the cache that tracebacks use",
        """
import linecache, sys
def test_it():
    lines = linecache.getlines(sys.modules["toy.double"].__file__)
    assert not lines
""",
        **VAIN,
    ),
    Attack(
        "F02",
        "the bytecode of the reference, known by heart, is no test of a mutant",
        """
SIZE = len(double.__code__.co_code)
def test_it():
    assert double.__code__.co_code.hex().startswith("97007c00") and SIZE < 60
""",
        status="invalid",
        slug="invalid",
        flags=("__code__",),
    ),
    Attack(
        "F02-constants",
        "a constant that a mutant lacks is planted in twins too",
        """
def test_it():
    assert 0 in double.__code__.co_consts and 1 not in double.__code__.co_consts
""",
        **STRICT,
        flags=("__code__",),
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_form_earns_nothing(attack: Attack, grading: Grading) -> None:
    """Only what code does can earn a catch."""
    check(attack, grading(attack))
