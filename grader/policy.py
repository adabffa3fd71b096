"""How often a grading sees each thing: two policies of one engine, and the arithmetic of luck.

A test that fails at random, or by a coin that it takes from the text that it meets, gains a kill
if it passes on every right cell and fails at every sighting.
"""

from dataclasses import dataclass
from typing import Literal

from .course import AssignmentSettings

PolicyName = Literal["practice", "authoritative"]
MOST_GAIN = 0.001  # what a coin may gain in one grading


@dataclass(frozen=True)
class Policy:
    """How many right cells a draw has, and how often a kill must be seen.

    Parameters
    ----------
    name
        What the report calls it.
    references, twins
        Runs on the reference and on its twins, at each draw.
    required
        Sightings, each in another text, of a kill of a required mutant.
    close
        Sightings of every kill where the count reaches the threshold with little to spare.
    margin
        The number of kills to spare from which one sighting each is enough.
    """

    name: PolicyName = "practice"
    references: int = 1
    twins: int = 0
    required: int = 1
    close: int = 1
    margin: int = 0

    def sightings(self, *, required: bool, spare: int, flaky: int) -> int:
        """Return how often the kill of a mutant must be seen.

        Parameters
        ----------
        required
            Whether the mutant is required.
        spare
            By how many kills the count is above the threshold; below zero if it isn't reached.
        flaky
            How many tests contradicted themselves: where some did, others will have had luck.
        """
        least = self.required if required else 1
        if 0 <= spare < self.margin:
            least = max(least, self.close)
        right = self.references + self.twins
        while least > 1 and (1 + flaky) * best_gain(right, least) > MOST_GAIN:
            least += 1
        return least


def policy(name: PolicyName, settings: AssignmentSettings) -> Policy:
    """Return the policy ``name`` as it applies to an assignment."""
    match name:
        case "practice":
            return Policy(name, settings.controls, settings.twins)
        case "authoritative":
            return Policy(name, settings.controls, 11, required=3, close=5, margin=8)


def gain(chance: float, right: int, sightings: int) -> float:
    """Return how probable it is that a coin is taken for a kill.

    Parameters
    ----------
    chance
        With which it fails on any text.
    right, sightings
        How many right cells it must pass on, and at how many sightings it must fail.
    """
    return float((1 - chance) ** right * chance**sightings)


def best_gain(right: int, sightings: int) -> float:
    """Return the gain of the coin that suits best: one that fails once in so many texts."""
    return gain(sightings / (sightings + right), right, sightings)
