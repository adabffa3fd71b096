"""The one place where the threshold is applied, on integers."""

from collections.abc import Sequence
from dataclasses import dataclass

from .verdict import Result, Verdict


@dataclass(frozen=True)
class Score:
    """What the verdicts add up to.

    The rate is never rounded up: it is compared as ``100 * killed >= threshold * scored``, and
    shown as a fraction and a percentage rounded down. 79.96 % is not 80 %.
    """

    killed: int
    scored: int
    threshold_percent: int
    required_killed: int
    required: int

    @property
    def passed(self) -> bool:
        """Whether the rate reaches the threshold and no required mutant is alive.

        Where nothing is scored, nothing is passed.
        """
        reaches = self.scored > 0 and self.killed >= self.needed
        return reaches and self.required_killed == self.required

    @property
    def needed(self) -> int:
        """The least number of killed mutants that reaches the threshold."""
        return needed(self.scored, self.threshold_percent)

    @property
    def percent(self) -> int:
        """The rate in per cent, rounded down; 0 where nothing is scored."""
        return 100 * self.killed // self.scored if self.scored else 0

    @property
    def points(self) -> float:
        """Points of the pass/fail policy: 1 or 0."""
        return float(self.passed)


def needed(scored: int, threshold_percent: int) -> int:
    """Return the least number of killed mutants, of so many, that reaches the threshold."""
    return -(-threshold_percent * scored // 100)


def score(verdicts: Sequence[Verdict], threshold_percent: int) -> Score:
    """Add up ``verdicts``."""
    required = [verdict for verdict in verdicts if verdict.mutant.required]
    return Score(
        killed=_killed(verdicts),
        scored=len(verdicts),
        threshold_percent=threshold_percent,
        required_killed=_killed(required),
        required=len(required),
    )


def _killed(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict.result is Result.KILLED for verdict in verdicts)
