"""An attack: what a hostile student hands in, and what an honest grader makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.policy import PolicyName
from tests.toy import TOY

# Catches the first fault and never the second, which is what an attack is after.
HONEST = """\
from toy.double import double

def test_three():
    assert double(3) == 6
"""
HONEST_PATH, PATH = "test_honest.py", "test_attack.py"
# The toy course's, with a sentence that nobody writes into a report by accident.
REFERENCE = (
    (TOY / "reference" / "toy" / "double.py")
    .read_text(encoding="utf-8")
    .replace('"n is negative"', '"n is negative, which is what nobody can double"')
)
HEAD = "from toy.double import double\n"
EARNED = {"s01": "killed", "s02": "survived"}
Told = frozenset[tuple[str, str | None]]


@dataclass(frozen=True)
class Attack:
    """A submission that is after more than its honest test earns.

    Parameters
    ----------
    id
        The attack's number in the catalogue, and a word where there are several of a number.
    promise
        What holds in spite of it.
    source
        The text of its test file, without the import of the code under test.
    status, slug
        What each test of that file gets, and why.
    others
        Further statuses that its tests may get.
    files
        What else is handed in.
    beside
        The slugs of what is said of further files, by their path.
    verdicts
        What becomes of the mutants.
    honest
        The status of the honest test beside it, and why; ``None`` if it never ran.
    flags
        Words of what staff are shown.
    graded
        Whether there is a grade at all.
    policy
        How often each thing is seen; what hangs on luck is shown under the policy for marks.
    """

    id: str
    promise: str
    source: str
    status: str = "valid"
    slug: str | None = None
    others: Told = frozenset()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=lambda: EARNED)
    honest: tuple[str, str | None] | None = ("valid", None)
    flags: tuple[str, ...] = ()
    graded: bool = True
    policy: PolicyName = "practice"

    def __str__(self) -> str:
        return f"{self.id}: {self.promise}"

    @property
    def is_chance(self) -> bool:
        """Whether what comes of it hangs on luck."""
        return self.policy == "authoritative"

    @property
    def told(self) -> Told:
        """What may be said of the tests of the attack's file."""
        return frozenset({(self.status, self.slug)}) | self.others

    @property
    def suite(self) -> dict[str, str | bytes]:
        """All that is handed in."""
        return {HONEST_PATH: HONEST, PATH: HEAD + self.source, **self.files}
