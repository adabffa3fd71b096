"""How often a coin is taken for a kill, in simulated gradings: ``python -m benchmarks.luck``.

The plan, the statuses and the verdicts are the product's own; only the machine is simulated.
"""

import sys
from multiprocessing import Pool

from grader.policy import policy
from tests.grader.facts import mutant
from tests.grader.test_policy import CAUGHT, SETTINGS, TEN, grading

CASES = {
    "practice, a required fault": ("practice", 1 / 4, [mutant(required=True, id="s01")], ()),
    "practice, one short of the rate": ("practice", 1 / 4, TEN, CAUGHT),
    "authoritative, a required fault": (
        "authoritative",
        3 / 15,
        [mutant(required=True, id="s01")],
        (),
    ),
    "authoritative, one short of the rate": ("authoritative", 5 / 17, TEN, CAUGHT),
}


def _passes(asked: tuple[str, bool, int]) -> bool:
    name, by_text, seed = asked
    which, chance, faults, caught = CASES[name]
    applied = policy("practice" if which == "practice" else "authoritative", SETTINGS)
    return grading(applied, chance, faults, seed, by_text=by_text, caught=caught).passed


def main(count: int) -> None:
    """Print how often the coin of each case made a suite pass, in so many gradings each."""
    with Pool() as pool:
        for name in CASES:
            for by_text in (False, True):
                asked = [(name, by_text, seed) for seed in range(count)]
                lucky = sum(pool.imap_unordered(_passes, asked, chunksize=20))
                coin = "taken from the text" if by_text else "tossed in each run"
                print(f"| {name} | {coin} | {lucky} of {count} | {100 * lucky / count:.2f} % |")  # noqa: T201 — what it is for


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2000)
