"""A finding: one thing that is wrong with a library of mutants."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a library."""

    subject: str
    text: str
