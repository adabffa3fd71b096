"""The kill matrix: which test caught which mutant, and what can be read off it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .outcome import Outcome
from .verdict import Verdict

Classes = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PropertyRow:
    """What the tests that name one property caught together."""

    name: str
    tests: tuple[str, ...]
    kills: tuple[str, ...]
    sole_kills: tuple[str, ...]  # mutants that no other test caught


@dataclass(frozen=True)
class DominatorScore:
    """How many classes of a dominator set a suite kills, of how many."""

    killed: int
    dominators: int


@dataclass(frozen=True)
class KillMatrix:
    """Tests by mutants, each cell killed, not killed, or not reached.

    A row is a test that counts, or a file whose import is what caught a mutant.
    """

    tests: tuple[str, ...]
    mutants: tuple[str, ...]
    killed_by: Mapping[str, frozenset[str]]  # mutant → rows
    unreached: Mapping[str, frozenset[str]] = field(default_factory=dict)  # mutant → rows
    property_of: Mapping[str, str] = field(default_factory=dict)  # test → the property it names

    def cell(self, test: str, mutant: str) -> bool | None:
        """Return whether ``test`` killed ``mutant``; ``None`` if no run on it came that far."""
        if test in self.killed_by.get(mutant, ()):
            return True
        return None if test in self.unreached.get(mutant, ()) else False

    def kills(self, test: str) -> tuple[str, ...]:
        """Return the mutants that ``test`` killed."""
        return tuple(one for one in self.mutants if self.cell(test, one))

    def not_reached(self, test: str) -> tuple[str, ...]:
        """Return the mutants on which nothing is known of ``test``."""
        return tuple(one for one in self.mutants if self.cell(test, one) is None)

    @cached_property
    def idle(self) -> tuple[str, ...]:
        """The tests that kill nothing."""
        return tuple(test for test in self.tests if not self.kills(test))

    @cached_property
    def redundant(self) -> Classes:
        """Groups of tests with equal rows that kill something: one of each group would do."""
        groups: dict[tuple[bool | None, ...], list[str]] = {}
        for test in self.tests:
            row = tuple(self.cell(test, mutant) for mutant in self.mutants)
            groups.setdefault(row, []).append(test)
        return tuple(tuple(same) for row, same in groups.items() if any(row) and len(same) > 1)

    @cached_property
    def sole_catchers(self) -> Mapping[str, tuple[str, ...]]:
        """By test, the mutants that it alone kills."""
        found = {test: self._only_by({test}) for test in self.tests}
        return {test: mutants for test, mutants in found.items() if mutants}

    @cached_property
    def properties(self) -> tuple[PropertyRow, ...]:
        """What was caught by property, for tests that name the one they check."""
        named: dict[str, list[str]] = {}
        for test in self.tests:
            if test in self.property_of:
                named.setdefault(self.property_of[test], []).append(test)
        return tuple(
            PropertyRow(name, tuple(tests), self._by_any(tests), self._only_by(tests))
            for name, tests in named.items()
        )

    @cached_property
    def dominators(self) -> Classes:
        """The minimal mutants that stand for all, in classes of which the tests tell no two apart.

        A mutant subsumes another if every test that kills it kills the other too. Who kills one
        of each class that no other subsumes kills all that can be killed, as far as these tests
        show (Ammann, Delamaro and Offutt, "Establishing theoretical minimal sets of mutants",
        ICST 2014). A cell that was not reached counts as not killed.
        """
        classes: dict[frozenset[str], list[str]] = {}
        for mutant in self.mutants:
            if killers := self.killed_by.get(mutant):
                classes.setdefault(killers, []).append(mutant)
        return tuple(
            tuple(same)
            for killers, same in classes.items()
            if not any(other < killers for other in classes)
        )

    def _by_any(self, tests: Collection[str]) -> tuple[str, ...]:
        return tuple(one for one in self.mutants if any(self.cell(test, one) for test in tests))

    def _only_by(self, tests: Collection[str]) -> tuple[str, ...]:
        chosen = frozenset(tests)
        killed = [one for one in self.mutants if self.killed_by.get(one)]
        return tuple(one for one in killed if self.killed_by[one] <= chosen)


def kill_matrix(
    tests: Sequence[str],
    verdicts: Sequence[Verdict],
    runs: Mapping[str, Sequence[Outcome]],
    properties: Mapping[str, str],
) -> KillMatrix:
    """Return who caught what.

    Parameters
    ----------
    tests
        The tests that count.
    verdicts
        What became of each mutant. What counts as a kill is decided there, for all draws and
        confirmations together.
    runs
        By mutant, the outcomes of all runs on it, none of them stopped early.
    properties
        By test, the property that it names.
    """
    caught = {one.mutant.id: frozenset(one.killed_by) for one in verdicts}
    catchers = dict.fromkeys(name for one in verdicts for name in one.killed_by)
    files = [name for name in catchers if "::" not in name]
    ended = {mutant: _ended(runs.get(mutant, ())) for mutant in caught}
    return KillMatrix(
        tests=(*tests, *files),
        mutants=tuple(caught),
        killed_by=caught,
        unreached={
            mutant: frozenset(tests) - finished - caught[mutant]
            for mutant, finished in ended.items()
        },
        property_of={test: properties[test] for test in tests if test in properties},
    )


def _ended(outcomes: Sequence[Outcome]) -> frozenset[str]:
    """Return the tests that ran to their end in one of these runs."""
    return frozenset(
        test for outcome in outcomes for test, run in outcome.runs.items() if run.finished
    )


def dominator_score(dominators: Classes, killed: Collection[str]) -> DominatorScore:
    """Return how many classes of a reference's dominators another suite kills.

    Parameters
    ----------
    dominators
        The classes of a reference matrix, such as the gold suite's.
    killed
        The mutants that the other suite kills. It may tell mutants apart that the reference
        doesn't; a class counts once all of its mutants are killed.
    """
    whole = frozenset(killed)
    return DominatorScore(sum(whole.issuperset(same) for same in dominators), len(dominators))
