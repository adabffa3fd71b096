"""Doubling, a step at a time."""

from toy.step import step


def double(n: int) -> int:
    """Return twice ``n``; raises ``ValueError`` below 0."""
    if n < 0:
        raise ValueError("n is negative")
    total = n
    for _ in range(n):
        total = step(total)
    return total
