"""Doubling beside another text of it; a failure names the number."""

from types import ModuleType

import oracle
import pytest
from toy import double


def outcome(module: ModuleType, n: int) -> object:
    """Return the double, or the kind of the exception."""
    try:
        return module.double(n)
    except (ValueError, TypeError) as problem:
        return type(problem).__name__


@pytest.mark.parametrize("n", [3, 0, 1, -1, -2, 12])
def test_same(n: int) -> None:
    """Result or exception."""
    here, there = outcome(double, n), outcome(oracle, n)
    assert here == there, f"{here} in place of {there}: double({n})"
