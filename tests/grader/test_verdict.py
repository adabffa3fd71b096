"""The table of verdicts, row by row: what is a kill, and what is none."""

from collections.abc import Sequence
from typing import Any

import pytest

from grader.evidence import Calibration
from grader.outcome import End, TestRun
from grader.status import statuses
from grader.verdict import Result, Verdict, verdict

from .facts import (
    BEGUN,
    DRAWS,
    FAILED,
    FILE,
    PASSED,
    SKIPPED,
    T,
    U,
    controls,
    ended,
    evidence,
    failing,
    failure,
    mutant,
    on_mutant,
    phase,
    ran,
    run,
    unread,
)

BOTH = {T: PASSED, U: PASSED}


def judged(*seen: Any, tests: Sequence[str] = (T, U), of: Any = None, **facts: Any) -> Verdict:
    """Return the verdict on ``of`` from what was ``seen``; all else speaks for the tests."""
    chosen = of or mutant()
    found = evidence(tests, on_mutants={"m-01": seen}, **facts)
    valid = frozenset(name for name, one in statuses(found).items() if one.counts)
    return verdict(chosen, found, valid)


def result(*seen: Any, **facts: Any) -> tuple[Result, str]:
    """Return the verdict's result, and the slug of its reason."""
    one = judged(*seen, **facts)
    return one.result, one.reason.slug if one.reason else ""


def alone(one: TestRun) -> tuple[Result, str]:
    """Return the verdict where the only test ran so on the mutant."""
    return result(on_mutant(ran({T: one})), tests=(T,))


KILLED, SURVIVED, TIMEOUT, ERROR = Result.KILLED, Result.SURVIVED, Result.TIMEOUT, Result.ERROR


class TestKilled:
    """A valid test fails in setup or call."""

    @pytest.mark.parametrize(
        ("one", "when"),
        [
            (failing(), "call"),
            (failing(exception="Failed"), "call"),  # pytest.raises that didn't raise
            (failing(exception="IndexError", file=FILE, line=3), "call"),
            (failing(exception="NotImplementedError"), "call"),
            (failing(exception="RecursionError"), "call"),
            (run(phase("setup", "failed", failure())), "setup"),
            (run(phase("call", "failed", failure()), phase("call", "failed")), "call"),
            (run(phase("call", "failed", failure()), phase("call")), "call"),
            (
                run(phase("call", "failed", failure("memory")), phase("call", "failed", failure())),
                "call",
            ),
            (
                run(phase("call", "failed", failure()), phase("teardown", "failed", failure())),
                "call",
            ),
            (TestRun(phases=(phase("setup"), phase("call", "failed", failure()))), "call"),
        ],
        ids=[
            "assertion",
            "did-not-raise",
            "own-index-error",
            "stub",
            "recursion",
            "setup",
            "sub-test",
            "unittest-sub-test",
            "one-of-two-sub-tests",
            "then-teardown",
            "stopped-at-once",
        ],
    )
    def test_with_any_ordinary_exception(self, one: TestRun, when: str) -> None:
        """Of the test's own line, too."""
        found = judged(on_mutant(ran({T: one})), tests=(T,))
        assert (found.result, found.phase, found.killed_by) == (KILLED, when, (T,))

    @pytest.mark.parametrize("end", [End.STOPPED, End.TIMEOUT, End.CRASH, End.GARBLED])
    def test_however_the_run_ended_afterwards(self, end: End) -> None:
        """The failure was seen before."""
        found = judged(on_mutant(ended(end, U, {T: FAILED, U: BEGUN})))
        assert (found.result, found.killed_by) == (KILLED, (T,))

    def test_in_any_run_at_any_draw(self) -> None:
        """A survivor of the first draw may be caught at a later one."""
        seen = (on_mutant(ran(BOTH)), on_mutant(ran({T: FAILED, U: PASSED}), DRAWS[1]))
        assert result(*seen) == (KILLED, "")

    def test_all_that_were_seen_to_fail_are_named_with_the_first_ones_input(self) -> None:
        """In the order in which they ran."""
        first = ran({U: PASSED, T: failing(witness="x=0")})
        second = ran({U: failing(witness="x=1"), T: failing(witness="x=2")})
        found = judged(on_mutant(first), on_mutant(second, DRAWS[1]))
        assert (found.killed_by, found.witness) == ((T, U), "x=0")

    def test_a_killer_elsewhere_outweighs_a_hang_and_a_crash(self) -> None:
        """The first rule that matches counts."""
        seen = (
            on_mutant(ended(End.TIMEOUT, T, {T: BEGUN}, tests=(T, U))),
            on_mutant(ended(End.CRASH, T, {U: FAILED, T: BEGUN}), last=(T,)),
        )
        assert result(*seen) == (KILLED, "")


class TestNoKill:
    """Failures that don't show that a test saw a fault."""

    @pytest.mark.parametrize(
        ("one", "slug"),
        [
            (failing("hypothesis", "FlakyFailure"), "error-no-kill"),
            (failing("hypothesis", "FailedHealthCheck"), "error-no-kill"),
            (failing("hypothesis", "DeadlineExceeded"), "error-no-kill"),
            (failing("hypothesis", "Unsatisfiable"), "error-no-kill"),
            (failing("hypothesis", "InvalidArgument"), "error-no-kill"),
            (failing("memory", "MemoryError"), "error-memory"),
            (failing("exit", "SystemExit"), "error-no-kill"),
            (failing("exit", "KeyboardInterrupt"), "error-no-kill"),
            (failing("exit", "Exit"), "error-no-kill"),
            (failing("limit", "OSError"), "error-no-kill"),
            (run(phase("call", "failed")), "error-no-kill"),
        ],
    )
    def test_are_an_error_that_says_which(self, one: TestRun, slug: str) -> None:
        """The student is told what to change."""
        assert alone(one) == (ERROR, slug)

    def test_name_every_exception_once(self) -> None:
        """Of all tests and runs."""
        runs = {T: failing("exit", "SystemExit"), U: failing("memory", "MemoryError")}
        found = judged(on_mutant(ran(runs)))
        assert "MemoryError, SystemExit" in str(found.reason)

    @pytest.mark.parametrize(
        "one",
        [
            run(phase("call"), phase("teardown", "failed", failure())),
            SKIPPED,
            run(phase("call", "skipped", expected=True)),
            run(phase("setup", "skipped")),
        ],
        ids=["teardown", "skipped", "xfailed", "skipped-in-setup"],
    )
    def test_are_no_failures_of_setup_or_call(self, one: TestRun) -> None:
        """The mutant survives them."""
        assert alone(one) == (SURVIVED, "")

    def test_a_strict_unexpected_pass_is_never_a_kill(self) -> None:
        """Nor does it count on the reference."""
        passed = run(phase("call", "failed", expected=True))
        assert alone(passed) == (ERROR, "error-no-kill")

    @pytest.mark.parametrize("one", [FAILED, failing("exit", "SystemExit")])
    def test_of_tests_that_do_not_count_are_nothing(self, one: TestRun) -> None:
        """However they fail."""
        fine, wrong = ran(BOTH), ran({T: FAILED, U: PASSED})
        seen = on_mutant(ran({T: one, U: PASSED}))
        invalid = controls(wrong, wrong)
        assert result(seen, on_reference=invalid) == (SURVIVED, "")
        later = [*controls(fine, fine), *controls(wrong, wrong, draw=DRAWS[1])]
        assert result(seen, on_reference=later) == (SURVIVED, "")

    def test_at_a_draw_where_not_all_controls_saw_the_test_are_nothing(self) -> None:
        """One control of two is not the policy's full set."""
        fine = ran(BOTH)
        first = controls(fine, fine)
        seen = (on_mutant(ran(BOTH)), on_mutant(ran({T: FAILED, U: PASSED}), DRAWS[1]))
        half = [*first, *controls(fine, draw=DRAWS[1])]
        unseen = [*first, *controls(fine, ended(End.CRASH, None, {U: PASSED}), draw=DRAWS[1])]
        whole = [*first, *controls(fine, fine, draw=DRAWS[1])]
        assert result(*seen, on_reference=half) == (SURVIVED, "")
        assert result(*seen, on_reference=unseen) == (SURVIVED, "")
        assert result(*seen, on_reference=whole) == (KILLED, "")


class TestOtherTests:
    """A run must collect what the reference's runs collected."""

    @pytest.mark.parametrize(
        "runs",
        [
            {T: FAILED},
            {T: FAILED, U: PASSED, "test_a.py::test_new": PASSED},
            {T: FAILED, "test_a.py::test_new": PASSED},
            {},
        ],
        ids=["fewer", "more", "others", "none"],
    )
    def test_a_failure_among_other_tests_is_an_error(self, runs: dict[str, TestRun]) -> None:
        """Names computed from the code under test are a fingerprint of it."""
        assert result(on_mutant(ran(runs))) == (ERROR, "error-tests")

    def test_the_order_does_not_matter(self) -> None:
        """Confirmations run in another."""
        assert result(on_mutant(ran({U: FAILED, T: PASSED}))) == (KILLED, "")

    def test_tests_that_were_left_out_on_the_reference_are_not_missed(self) -> None:
        """No run has them."""
        calibration = Calibration(
            tests=(T, U, "test_a.py::test_slow"), unrunnable={"test_a.py::test_slow": End.TIMEOUT}
        )
        assert result(on_mutant(ran(BOTH)), calibration=calibration) == (SURVIVED, "")


OTHER = "test_b.py::test_x"


class TestKillAtImport:
    """A file that imports on every control and raises on this mutant, again when repeated."""

    def seen(self, *kinds: Any, **runs: TestRun) -> list[Any]:
        """Return one run a kind of failure of `test_b.py`, in which the other file passes."""
        return [
            on_mutant(ran({T: PASSED, **runs}, unreadable=(unread("test_b.py", kind),)), attempt=n)
            for n, kind in enumerate(kinds)
        ]

    def test_is_a_kill_with_advice(self) -> None:
        """Marked as one of its own kind."""
        found = judged(*self.seen("ordinary", "ordinary"), tests=(T, OTHER))
        assert (found.result, found.phase, found.killed_by) == (
            KILLED,
            "collection",
            ("test_b.py",),
        )
        assert "move the check into a test" in str(found.reason)

    @pytest.mark.parametrize(
        "kinds",
        [
            ("ordinary",),
            ("exit", "exit"),
            ("memory", "memory"),
            ("ordinary", "exit"),
            ("hypothesis", "hypothesis"),
        ],
    )
    def test_needs_two_sightings_of_what_is_a_kill_in_a_test(self, kinds: Sequence[str]) -> None:
        """Else its tests are missing."""
        assert result(*self.seen(*kinds), tests=(T, OTHER)) == (ERROR, "error-tests")

    def test_needs_an_import_that_never_succeeds_here(self) -> None:
        """Or it contradicts itself."""
        seen = [
            *self.seen("ordinary", "ordinary"),
            on_mutant(ran({T: PASSED, OTHER: PASSED}), attempt=2),
        ]
        assert result(*seen, tests=(T, OTHER)) == (SURVIVED, "")
        assert result(seen[2], *seen[:2], tests=(T, OTHER))[0] is not KILLED

    def test_needs_an_import_that_succeeds_on_every_control(self) -> None:
        """One failure there is enough to void it."""
        fine = ran({T: PASSED, OTHER: PASSED})
        failed = ran({T: PASSED}, unreadable=(unread("test_b.py"),))
        seen = self.seen("ordinary", "ordinary")
        on_reference = controls(fine, fine, failed)
        assert result(*seen, tests=(T, OTHER), on_reference=on_reference) == (SURVIVED, "")

    def test_needs_an_import_that_succeeds_in_whole(self) -> None:
        """A class of the file fails on every control, and now all of it does."""
        partly = ran({T: PASSED, OTHER: PASSED}, unreadable=(unread("test_b.py"),))
        facts = {
            "calibration": Calibration(tests=(T, OTHER), unreadable={"test_b.py": failure()}),
            "on_reference": controls(partly, partly),
        }
        seen = self.seen("ordinary", "ordinary")
        assert result(*seen, tests=(T, OTHER), **facts) == (ERROR, "error-hidden")
        killing = partly.model_copy(update={"runs": {T: PASSED, OTHER: FAILED}})
        assert result(on_mutant(killing), tests=(T, OTHER), **facts) == (KILLED, "")

    def test_needs_a_valid_test_in_the_file(self) -> None:
        """A file that checks nothing on the reference checks nothing here."""
        wrong = ran({T: PASSED, OTHER: FAILED})
        seen = self.seen("ordinary", "ordinary")
        found = result(*seen, tests=(T, OTHER), on_reference=controls(wrong, wrong))
        assert found == (ERROR, "error-tests")

    def test_leaves_the_other_files_their_say(self) -> None:
        """Tests of a file that could not be imported are missing for that reason."""
        (cell, outcome), *_ = self.seen("exit")
        killing = outcome.model_copy(update={"runs": {T: FAILED}})
        found = judged((cell, killing), tests=(T, OTHER))
        assert (found.result, found.phase, found.killed_by) == (KILLED, "call", (T,))

    @pytest.mark.parametrize(
        ("path", "expected"),
        [("conftest.py", KILLED), ("part/conftest.py", KILLED), ("other/conftest.py", ERROR)],
    )
    def test_a_conftest_speaks_for_the_files_below_it(self, path: str, expected: Result) -> None:
        """Without it none of them can be read."""
        failed = ran(end=End.CRASH, collected=False, unreadable=(unread(path),))
        seen = [on_mutant(failed, attempt=n) for n in (0, 1)]
        assert result(*seen, tests=("part/test_c.py::test_y",))[0] is expected


class TestTimeout:
    """A valid test ran past its limit, again when run last, and no other failed."""

    HUNG = on_mutant(ended(End.TIMEOUT, T, {T: BEGUN}, tests=(T, U)))
    AGAIN = on_mutant(ended(End.TIMEOUT, T, {U: PASSED, T: BEGUN}), last=(T,))

    def test_is_no_kill(self) -> None:
        """The test is named."""
        found = judged(self.HUNG, self.AGAIN)
        assert found.result is TIMEOUT
        assert T in str(found.reason)
        assert "staff" not in str(found.reason)

    def test_is_undecided_for_a_required_mutant(self) -> None:
        """Staff decide."""
        found = judged(self.HUNG, self.AGAIN, of=mutant(required=True))
        assert found.result is TIMEOUT
        assert str(found.reason and found.reason.text).endswith("; undecided, staff decide")

    @pytest.mark.parametrize("required", [True, False])
    def test_is_a_kill_of_a_mutant_that_is_said_to_hang(self, required: bool) -> None:
        """Required or not."""
        found = judged(self.HUNG, self.AGAIN, of=mutant(required=required, hangs=True))
        assert (found.result, found.phase, found.killed_by) == (KILLED, "call", (T,))

    def test_a_survivor_is_no_kill_because_it_is_said_to_hang(self) -> None:
        """Something must have hung."""
        assert result(on_mutant(ran(BOTH)), of=mutant(hangs=True)) == (SURVIVED, "")

    def test_once_is_nothing_if_the_test_passes_when_run_last(self) -> None:
        """The machine was busy."""
        seen = (self.HUNG, on_mutant(ran({U: PASSED, T: PASSED}), last=(T,)))
        assert result(*seen, of=mutant(hangs=True)) == (SURVIVED, "")

    def test_of_a_void_test_does_not_decide(self) -> None:
        """All tests that count passed."""
        wrong = ran({T: FAILED, U: PASSED})
        assert result(self.HUNG, self.AGAIN, on_reference=controls(wrong, wrong)) == (SURVIVED, "")

    def test_unconfirmed_is_no_kill_even_of_a_mutant_that_is_said_to_hang(self) -> None:
        """Nor is it a survivor: the other test never ran."""
        assert result(self.HUNG, of=mutant(hangs=True)) == (TIMEOUT, "timeout")

    def test_of_more_tests_than_can_be_repeated_is_one(self) -> None:
        """Each ran past its limit once, and together they are as good as a repetition."""
        names = [f"test_a.py::test_{n}" for n in range(3)]
        seen = [
            on_mutant(ended(End.TIMEOUT, name, {}, tests=names), last=tuple(names[:n]))
            for n, name in enumerate(names)
        ]
        assert result(*seen, tests=names) == (TIMEOUT, "timeout")
        assert result(*seen, tests=names, of=mutant(hangs=True)) == (KILLED, "")

    def test_at_any_draw_is_one(self) -> None:
        """Though all passed at the first."""
        later = [(cell.but(draw=DRAWS[1]), outcome) for cell, outcome in (self.HUNG, self.AGAIN)]
        assert result(on_mutant(ran(BOTH)), *later) == (TIMEOUT, "timeout")

    def test_while_a_file_is_read(self) -> None:
        """Again when repeated; a kill only of a mutant that is said to hang."""
        stuck = ran(end=End.TIMEOUT, collected=False, at=FILE)
        seen = [on_mutant(stuck, attempt=n) for n in (0, 1)]
        assert result(*seen) == (TIMEOUT, "timeout")
        found = judged(*seen, of=mutant(hangs=True))
        assert (found.result, found.phase, found.killed_by) == (KILLED, "collection", (FILE,))
        assert result(seen[0], on_mutant(ran(BOTH), attempt=1)) == (SURVIVED, "")

    def test_of_all_tests_together_blames_none(self) -> None:
        """The one that happened to run is not to blame."""
        slow = ended(End.TIMEOUT, U, {T: PASSED, U: BEGUN}, ran_out=True)
        seen = (on_mutant(slow), on_mutant(slow, attempt=1))
        assert result(*seen, of=mutant(hangs=True)) == (TIMEOUT, "timeout-all")


class TestError:
    """Runs that show neither a kill nor a survivor."""

    CRASHED = on_mutant(ended(End.CRASH, T, {T: BEGUN}, tests=(T, U)))
    AGAIN = on_mutant(ended(End.CRASH, T, {U: PASSED, T: BEGUN}), last=(T,))

    def test_a_crash_again_when_run_last(self) -> None:
        """Whether `os._exit` or a signal; the test is named."""
        found = judged(self.CRASHED, self.AGAIN)
        assert found.result is ERROR
        assert f"in {T}" in str(found.reason)

    def test_a_crash_once_is_nothing_if_the_test_passes_when_run_last(self) -> None:
        """A signal may come from the machine."""
        seen = (self.CRASHED, on_mutant(ran({U: PASSED, T: PASSED}), last=(T,)))
        assert result(*seen) == (SURVIVED, "")

    def test_a_crash_of_a_void_test_does_not_decide(self) -> None:
        """All tests that count passed."""
        wrong = ran({T: FAILED, U: PASSED})
        seen = (self.CRASHED, self.AGAIN)
        assert result(*seen, on_reference=controls(wrong, wrong)) == (SURVIVED, "")

    @pytest.mark.parametrize(
        ("outcome", "slug"),
        [
            (ended(End.CRASH, None, BOTH), "error-crash"),
            (ended(End.GARBLED, T, {T: BEGUN}), "error-garbled"),
            (ended(End.STOPPED, T, {T: BEGUN}), "error-unsettled"),
            (ran(end=End.CRASH, collected=False, at=FILE), "error-crash"),
            (ran(end=End.CRASH, collected=False, at="conftest.py"), "error-crash"),
            (ran(end=End.CRASH, collected=False, at="helper.py"), "error-hidden"),
            (ran(end=End.GARBLED, collected=False, at=FILE), "error-garbled"),
            (ran({T: PASSED, U: BEGUN}), "error-hidden"),
        ],
    )
    def test_a_run_that_failed_as_a_whole(self, outcome: Any, slug: str) -> None:
        """Whichever test it was."""
        assert result(on_mutant(outcome), on_mutant(outcome, attempt=1)) == (ERROR, slug)

    @pytest.mark.parametrize("end", [End.CRASH, End.GARBLED, End.STOPPED])
    def test_beside_a_run_that_completed_is_none(self, end: End) -> None:
        """Whichever came first."""
        failed, fine = on_mutant(ended(end, None, {T: PASSED})), on_mutant(ran(BOTH), attempt=1)
        assert result(failed, fine) == result(fine, failed) == (SURVIVED, "")

    def test_at_one_draw_is_one_whatever_the_others_show(self) -> None:
        """A survivor survives every draw."""
        seen = (on_mutant(ended(End.CRASH, None, BOTH)), on_mutant(ran(BOTH), DRAWS[1]))
        assert result(*seen) == (ERROR, "error-crash")

    def test_a_test_that_others_hid_is_one(self) -> None:
        """Void tests, more than can be put last: no test that counts may be taken for passed."""
        names = [f"test_a.py::test_{n}" for n in range(3)]
        wrong = ran({**dict.fromkeys(names[:2], FAILED), names[2]: PASSED})
        seen = [
            on_mutant(ended(End.CRASH, name, {}, tests=names), last=tuple(names[:n]))
            for n, name in enumerate(names[:2])
        ]
        found = result(*seen, tests=names, on_reference=controls(wrong, wrong))
        assert found == (ERROR, "error-hidden")

    def test_a_hang_comes_before_a_crash(self) -> None:
        """Of two tests, and of one."""
        seen = (*(TestTimeout.HUNG, TestTimeout.AGAIN), self.AGAIN)
        assert result(*seen)[0] is TIMEOUT


class TestSurvivedAndNotRun:
    """All tests that count passed in every draw, or nothing is known."""

    def test_a_mutant_that_every_valid_test_passed_has_survived(self) -> None:
        """At the first draw and the others."""
        assert result(on_mutant(ran(BOTH))) == (SURVIVED, "")
        assert result(*(on_mutant(ran(BOTH), draw) for draw in DRAWS)) == (SURVIVED, "")

    def test_a_mutant_without_a_run_was_not_run(self) -> None:
        """Nothing is claimed about it."""
        assert result() == (Result.NOT_RUN, "")

    def test_without_a_valid_test_nothing_was_run_that_counts(self) -> None:
        """Whether mutants ran before that was known, or not."""
        wrong = ran({T: FAILED})
        seen = on_mutant(ran({T: PASSED}))
        found = result(seen, tests=(T,), on_reference=controls(wrong, wrong))
        assert found == (Result.NOT_RUN, "")

    def test_a_fault_of_the_machine_says_nothing(self) -> None:
        """Unless a kill was seen."""
        spoilt = on_mutant(ran(end=End.FAULT, collected=False))
        assert result(spoilt) == (Result.NOT_RUN, "")
        killed = on_mutant(ran({T: FAILED, U: PASSED}), attempt=1)
        assert result(spoilt, killed) == (KILLED, "")
