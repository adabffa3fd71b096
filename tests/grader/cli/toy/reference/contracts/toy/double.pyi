"""T1: doubling.

Tolerance
- None: integers are exact.

Left open
- The wording of the error's message.
"""

def double(n: int) -> int:
    """Return twice n; raises ValueError below 0."""
