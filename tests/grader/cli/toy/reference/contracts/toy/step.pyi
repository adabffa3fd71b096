"""T0: the number after another."""

def step(n: int) -> int:
    """Return the number after n."""
