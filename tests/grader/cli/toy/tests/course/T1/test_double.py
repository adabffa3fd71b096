"""What every implementation of doubling keeps."""

import pytest
from toy.double import double


@pytest.mark.unit
@pytest.mark.parametrize("n", [1, 3, 10])
def test_doubles(n: int) -> None:
    """Twice n."""
    assert double(n) == n + n


@pytest.mark.boundary
def test_zero() -> None:
    """Twice nothing is nothing."""
    assert double(0) == 0


@pytest.mark.boundary
def test_negative() -> None:
    """Below 0 there is nothing to count."""
    with pytest.raises(ValueError):  # noqa: PT011 — the wording is left open
        double(-1)
