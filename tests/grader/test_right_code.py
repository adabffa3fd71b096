"""What tests are worth by twins and saboteurs: form is not behaviour, and no work is no right."""

import pytest

from grader.cells import REFERENCE, Variant
from grader.evidence import Calibration
from grader.outcome import TestRun
from grader.saboteurs import Saboteur
from grader.status import Status, statuses, unrepeated

from .facts import (
    DRAWS,
    FAILED,
    FILE,
    PASSED,
    RIGHT,
    SKIPPED,
    T,
    U,
    control,
    controls,
    evidence,
    failing,
    on_saboteur,
    on_twin,
    ran,
    unread,
)

TWIN = Variant(kind="twin", id="a")
FINE = [one for draw in DRAWS for one in controls(ran({T: PASSED}), ran({T: PASSED}), draw=draw)]
WITH_TWIN = RIGHT | {(TWIN, 0)}
ALL = tuple(kind.value for kind in Saboteur)


def told(*on_twins: object, slug: bool = False, **facts: object) -> object:
    """Return the status of a test that holds on the reference, or the slug of its reason."""
    found = statuses(evidence(on_reference=[*FINE, *on_twins], right=WITH_TWIN, **facts))[T]
    return found.reason and found.reason.slug if slug else found.status


class TestTooStrict:
    """A test that rejects a twin reacts to form."""

    def test_one_that_fails_on_a_twin_again_when_repeated(self) -> None:
        """And passes on the reference."""
        seen = [on_twin(ran({T: FAILED}), number) for number in (0, 1)]
        assert told(*seen) is Status.TOO_STRICT
        assert told(*seen, slug=True) == "too-strict"

    def test_the_message_says_what_was_raised_where_and_on_which_input(self) -> None:
        """As for a test that fails on the reference."""
        run = failing(exception="KeyError", file="test_a.py", line=7, witness="n=3")
        found = statuses(evidence(on_reference=[*FINE, on_twin(ran({T: run}))], right=WITH_TWIN))
        text = str(found[T].reason)
        assert all(part in text for part in ("KeyError", "test_a.py", "line 7", "n=3", "contract"))

    def test_one_that_passes_when_the_twin_is_repeated_is_flaky(self) -> None:
        """It contradicts itself on the same text."""
        seen = [on_twin(ran({T: FAILED})), on_twin(ran({T: PASSED}), 1)]
        assert told(*seen) is Status.FLAKY

    def test_one_that_passes_on_one_twin_and_fails_on_another_is_too_strict(self) -> None:
        """Different texts are no contradiction."""
        seen = [on_twin(ran({T: PASSED})), on_twin(ran({T: FAILED}), seed="b")]
        assert told(*seen) is Status.TOO_STRICT

    def test_a_file_that_can_be_imported_on_no_run_of_a_twin(self) -> None:
        """It asks for a private name, most likely."""
        broken = unread(exception="ImportError")
        seen = [on_twin(ran({}, unreadable=(broken,)), number) for number in (0, 1)]
        assert told(*seen, slug=True) == "too-strict"

    def test_a_file_that_can_be_imported_on_a_twin_only_sometimes_is_flaky(self) -> None:
        """It contradicts itself."""
        broken = unread(exception="ImportError")
        seen = [on_twin(ran({}, unreadable=(broken,))), on_twin(ran({T: PASSED}), 1)]
        assert told(*seen) is Status.FLAKY

    def test_one_that_fails_on_the_reference_as_well_is_invalid(self) -> None:
        """The first rule that matches counts."""
        seen = [*controls(ran({T: FAILED}), ran({T: FAILED})), on_twin(ran({T: FAILED}))]
        found = statuses(evidence(on_reference=seen, right=WITH_TWIN))
        assert found[T].status is Status.INVALID

    def test_no_kill_counts_before_every_twin_was_seen(self) -> None:
        """A twin may still reject the test."""
        assert told() is Status.BROKEN
        assert told(on_twin(ran({T: PASSED}))) is Status.VALID


class TestVacuous:
    """A test that passes on all three saboteurs touches nothing."""

    def test_one_that_passes_on_each_saboteur(self) -> None:
        """It holds, and can catch nothing."""
        seen = [on_saboteur(kind, ran({T: PASSED})) for kind in ALL]
        found = statuses(evidence(saboteurs=seen))[T]
        assert (found.status, found.reason and found.reason.slug) == (Status.VACUOUS, "vacuous")
        assert found.holds
        assert not found.counts

    @pytest.mark.parametrize("rejecting", range(3))
    def test_one_that_rejects_a_single_saboteur_is_valid(self, rejecting: int) -> None:
        """A property may hold on code that gives zeros, or echoes."""
        runs = [FAILED if number == rejecting else PASSED for number in range(3)]
        pairs = zip(ALL, runs, strict=True)
        seen = [on_saboteur(kind, ran({T: run})) for kind, run in pairs]
        assert statuses(evidence(saboteurs=seen))[T].status is Status.VALID

    @pytest.mark.parametrize("run", [None, TestRun()])
    def test_one_that_some_saboteur_kept_from_running_is_valid(self, run: TestRun | None) -> None:
        """Nothing is known against it."""
        seen = [on_saboteur(kind, ran({T: PASSED})) for kind in ALL[:2]]
        seen.append(on_saboteur(ALL[2], ran({T: run} if run else {})))
        assert statuses(evidence(saboteurs=seen))[T].status is Status.VALID

    def test_one_that_was_skipped_holds_on_nothing(self) -> None:
        """It never ran."""
        skipped = ran({T: SKIPPED})
        found = statuses(evidence(on_reference=controls(skipped, skipped)))[T]
        assert (found.status, found.holds) == (Status.VACUOUS, False)


class TestRepetition:
    """What fails in a single run is run once more."""

    def test_a_test_that_fails_once_on_the_reference(self) -> None:
        """Or nobody could tell a wrong test from a flaky one."""
        seen = [control(0, ran({T: FAILED})), on_twin(ran({T: PASSED}))]
        assert unrepeated(evidence(on_reference=seen)) == {(REFERENCE, DRAWS[0])}

    def test_a_test_that_fails_once_on_a_twin(self) -> None:
        """The same twin, since another may look right to it."""
        seen = [*FINE, on_twin(ran({T: FAILED})), on_twin(ran({T: PASSED}), seed="b")]
        assert unrepeated(evidence(on_reference=seen)) == {(TWIN, DRAWS[0])}

    def test_a_file_that_can_not_be_imported_on_a_twin(self) -> None:
        """As a test that fails."""
        seen = [*FINE, on_twin(ran({}, unreadable=(unread(),)))]
        assert unrepeated(evidence(on_reference=seen)) == {(TWIN, DRAWS[0])}

    def test_nothing_where_two_runs_have_told(self) -> None:
        """Both failures, or a contradiction."""
        for second in (PASSED, FAILED):
            seen = [*FINE, on_twin(ran({T: FAILED})), on_twin(ran({T: second}), 1)]
            assert unrepeated(evidence(on_reference=seen)) == frozenset()

    def test_nothing_where_nothing_failed(self) -> None:
        """Nor where a file was unreadable from the first."""
        assert unrepeated(evidence()) == frozenset()
        known = Calibration(tests=(T,), unreadable={"test_b.py": unread("test_b.py").failure})
        broken = ran({T: PASSED}, unreadable=(unread("test_b.py"),))
        seen = [*controls(broken, broken)]
        assert unrepeated(evidence(on_reference=seen, calibration=known)) == frozenset()

    def test_one_place_a_test_is_enough(self) -> None:
        """The first at which it failed."""
        both = ran({T: FAILED, U: FAILED})
        seen = [control(0, both), on_twin(both), on_twin(both, seed="b")]
        found = unrepeated(evidence((T, U), on_reference=seen))
        assert found == {(REFERENCE, DRAWS[0])}
        assert FILE == "test_a.py"
