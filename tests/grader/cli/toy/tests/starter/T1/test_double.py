"""Write your properties of doubling here."""

from toy.double import double


def test_three() -> None:
    """An example to start from."""
    assert double(3) == 6
