"""One step."""


def step(n: int) -> int:
    """Return the number after ``n``."""
    return n + 1
