"""Suites that nobody thought of: whatever a suite does, its grade is what its description says."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.cells import Cell
from grader.mutants import Mutant
from grader.verdict import Result

from .simulated import (
    ENDS,
    MUTANTS,
    NAMES,
    POLICY,
    SETTINGS,
    Deed,
    Import,
    Sim,
    SimulatedLab,
    Suite,
    judgement,
    request,
    results,
)


@dataclass
class Truth:
    """What a suite is worth, worked out from its description and not from runs."""

    suite: Suite

    def __post_init__(self) -> None:
        self.used = [SETTINGS.draws[0]]
        while (draw := self._next_draw()) is not None:
            self.used.append(draw)

    def _next_draw(self) -> int | None:
        """Return a further draw that is needed, if there is one."""
        rest = SETTINGS.draws[1 : len(self.used) + 1]
        for draw in rest if self.valid else ():
            if draw not in self.used and self.alive(draw):
                return draw
        return None

    def alive(self, draw: int) -> list[Mutant]:
        """Return the required mutants that live on to ``draw``."""
        before = SETTINGS.draws[: SETTINGS.draws.index(draw)]
        return [
            one
            for one in MUTANTS
            if one.required and self._result(one, before) is not Result.KILLED
        ]

    def status(self, test: Sim) -> str:
        """Return a test's status; empty where it is in a file that isn't run."""
        if test.file in self.suite.looks or self.suite.reads(test.file, "") != "fine":
            return ""
        first = SETTINGS.draws[0]
        if test.at_home in ENDS and first not in test.fails_at:
            return "broken"
        if test.at_home in ("fail", "balk") or test.fails_at & set(self.used):
            return "invalid"
        numbers = set(range(POLICY.references))
        if test.fails_on & numbers:
            # The calibration, in which it passed, is at the first draw.
            return "invalid" if self.used[1:] and test.fails_on >= numbers else "flaky"
        return "vacuous" if test.at_home == "skip" else "valid"

    @property
    def valid(self) -> list[Sim]:
        """The tests that count."""
        return [test for test in self.suite.tests if self.status(test) == "valid"]

    def result(self, mutant: Mutant) -> Result:
        """Return what becomes of a mutant."""
        further = [d for d in self.used[1:] if mutant in self.alive(d)]
        return self._result(mutant, (SETTINGS.draws[0], *further))

    def _result(self, mutant: Mutant, draws: tuple[int, ...]) -> Result:
        read = [
            file
            for file in self.suite.files
            if any(self.status(test) for test in self.suite.tests if test.file == file)
        ]
        raising: list[str] = []
        silent = False
        for file in read:
            how = self.suite.reads(file, mutant.id)
            holds = any(test.file == file for test in self.valid)
            if how == "raise" and holds:
                return Result.KILLED
            if how in ENDS:
                hangs = how == "hang" and holds
                if hangs and mutant.hangs:
                    return Result.KILLED
                return Result.TIMEOUT if hangs else Result.ERROR
            silent |= how != "fine"
            raising += [file] if how != "fine" else []
        tests = [test for test in self.valid if test.file not in raising]
        deeds = {
            test.at.get((mutant.id, draw), test.on.get(mutant.id, "pass"))
            for test in tests
            for draw in draws
        }
        if "fail" in deeds or ("hang" in deeds and mutant.hangs):
            return Result.KILLED
        if "hang" in deeds:
            return Result.TIMEOUT
        return Result.ERROR if silent or deeds & {"crash", "balk"} else Result.SURVIVED


DEED: tuple[Deed, ...] = ("pass", "pass", "fail", "fail", "balk", "skip", "hang", "crash")
IMPORT: tuple[Import, ...] = ("fine", "fine", "raise", "exit", "hang", "crash")
COIN: tuple[Deed, ...] = (*("pass",) * 6, "fail", "hang")
HOME: st.SearchStrategy[Deed] = st.just("pass")
DEEDS, IMPORTS = st.sampled_from(DEED), st.sampled_from(IMPORT)
FILES = ("test_a.py", "test_b.py", "test_c.py")


@st.composite
def sims(draw: st.DrawFn, number: int) -> Sim:
    """Draw a test."""
    names = st.sampled_from(NAMES)
    return Sim(
        f"t{number}",
        draw(st.sampled_from(FILES)),
        draw(HOME | DEEDS),
        draw(st.dictionaries(names, DEEDS)),
        draw(st.dictionaries(st.tuples(names, st.sampled_from(SETTINGS.draws)), DEEDS)),
        draw(st.sets(st.sampled_from(SETTINGS.draws), max_size=1).map(frozenset)),
        draw(st.just(frozenset()) | st.sets(st.integers(0, 2)).map(frozenset)),
    )


@st.composite
def suites(draw: st.DrawFn) -> Suite:
    """Draw a suite of up to five tests in up to three files."""
    tests = tuple(draw(sims(n)) for n in range(draw(st.integers(1, 5))))
    places = st.tuples(st.sampled_from(FILES), st.sampled_from(("", *NAMES)))
    imports = draw(st.dictionaries(places, IMPORTS, max_size=3))
    refused = draw(st.just(set()) | st.sets(st.sampled_from(FILES), max_size=1))
    return Suite(tests, imports, {test.file: "os" for test in tests if test.file in refused})


SLOW = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class TestTruth:
    """Whatever a suite is, its grade is what its description says."""

    @SLOW
    @given(suites())
    def test_statuses_and_verdicts_are_those_of_the_description(self, suite: Suite) -> None:
        """The description is judged by other code than the runs."""
        known = SimulatedLab(suite).solve(request(suite, MUTANTS, SETTINGS))
        truth = Truth(suite)
        found, _ = judgement(known)
        expected = {test.id: status for test in suite.tests if (status := truth.status(test))}
        assert {name: one for name, one in found.items() if "::" in name} == expected
        if truth.valid:
            assert results(known) == {one.id: truth.result(one) for one in MUTANTS}

    @SLOW
    @given(suites(), st.randoms(use_true_random=False))
    def test_a_grading_that_resumes_ends_in_the_same_verdicts(
        self, suite: Suite, chance: random.Random
    ) -> None:
        """From any part of its outcomes, a beginning or not."""
        asked = request(suite, MUTANTS, SETTINGS)
        whole = SimulatedLab(suite).solve(asked)
        part = {c: o for c, o in whole.outcomes.items() if chance.random() < 0.6}
        resumed = SimulatedLab(suite).solve(asked, part)
        assert judgement(resumed)[0] == judgement(whole)[0]
        assert results(resumed) == results(whole)

    @SLOW
    @given(suites(), st.integers())
    def test_a_suite_of_coins_ends_and_its_void_tests_kill_nothing(
        self, suite: Suite, seed: int
    ) -> None:
        """Whatever they fall on."""

        def coin(name: str) -> Callable[[Cell], Deed]:
            def deed(cell: Cell) -> Deed:
                return random.Random(f"{seed}{name}{cell}").choice(COIN)

            return deed

        coins = tuple(
            Sim(test.name, test.file, chance=coin(test.name)) if index % 2 else test
            for index, test in enumerate(suite.tests)
        )
        tossed = Suite(coins, suite.imports, suite.looks)
        known = SimulatedLab(tossed).solve(request(tossed, MUTANTS, SETTINGS))
        for one in judgement(known)[1].values():
            killers = {name for name in one.killed_by if "::" in name}
            assert killers <= known.valid
