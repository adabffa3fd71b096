"""A student's tests of doubling, as good as they get."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy.double import double


@given(st.integers(0, 20))
def test_doubles(n: int) -> None:
    """Twice n."""
    assert double(n) == n + n


def test_refuses_what_is_negative() -> None:
    """Right below 0, and further down."""
    for n in (-1, -7):
        with pytest.raises(ValueError):  # noqa: PT011 — the wording is left open
            double(n)
