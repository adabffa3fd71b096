"""The table of statuses, row by row: when a test counts, and why not."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from grader.evidence import Calibration, Evidence, Reading
from grader.outcome import End, Look, Outcome, TestRun
from grader.status import Status, TestStatus, not_run, statuses

from .facts import (
    BEGUN,
    DRAWS,
    FAILED,
    FILE,
    PASSED,
    SETTINGS,
    SKIPPED,
    T,
    U,
    control,
    controls,
    ended,
    evidence,
    failing,
    failure,
    on_mutant,
    phase,
    ran,
    run,
    unread,
)

XFAILED = run(phase("call", "skipped", expected=True))
STRICT_XPASS = run(phase("call", "failed", expected=True))


def told(found: Evidence, name: str = T) -> tuple[Status, str]:
    """Return the status of a test or file, and the slug of the reason."""
    one = statuses(found)[name]
    return one.status, one.reason.slug if one.reason else ""


def on_controls(*runs: TestRun | None, draw: int = DRAWS[0]) -> list[Any]:
    """Return controls on which the test ran so; ``None`` where it wasn't reached."""
    outcomes = [
        ran({T: one}) if one else ended(End.CRASH, None, {}, tests=(T,), collected=True)
        for one in runs
    ]
    return controls(*outcomes, draw=draw)


class TestValid:
    """A test that holds on every control counts."""

    def test_it_passes_on_every_control_of_the_first_draw(self) -> None:
        """Further draws are not always used."""
        assert told(evidence(on_reference=on_controls(PASSED, PASSED))) == (Status.VALID, "")

    def test_a_subtest_that_is_skipped_does_not_matter(self) -> None:
        """The rest of the test still checks something."""
        partly = run(phase("call", "skipped"), phase("call"))
        assert told(evidence(on_reference=on_controls(partly, partly))) == (Status.VALID, "")

    def test_it_may_hang_once_if_it_holds_when_run_last(self) -> None:
        """A busy machine is nobody's fault."""
        hung = control(0, ended(End.TIMEOUT, T, {T: BEGUN}))
        again = control(0, ran({T: PASSED}), last=(T,))
        found = evidence(on_reference=[hung, again, control(1, ran({T: PASSED}))])
        assert told(found) == (Status.VALID, "")

    def test_only_valid_tests_count(self) -> None:
        """One property says so for everyone."""
        assert [one for one in Status if TestStatus(T, one).counts] == [Status.VALID]


class TestInvalid:
    """A test that fails on the reference, again when repeated."""

    @pytest.mark.parametrize(
        ("failed", "slug"),
        [
            (failing(), "invalid"),
            (failing(exception="IndexError"), "invalid"),
            (run(phase("setup", "failed", failure())), "invalid"),
            (run(phase("call"), phase("teardown", "failed", failure())), "invalid-teardown"),
            (run(phase("call", "failed", failure()), phase("call", "failed")), "invalid"),
            (run(phase("call", "failed"), phase("call")), "invalid"),
            (failing("hypothesis", "Unsatisfiable"), "invalid-hypothesis"),
            (failing("memory", "MemoryError"), "invalid-limit"),
            (failing("exit", "SystemExit"), "invalid-exit"),
            (failing("limit", "OSError"), "invalid-limit"),
        ],
        ids=[
            "assertion",
            "own-index-error",
            "setup",
            "teardown",
            "sub-test",
            "sub-test-without-exception",
            "hypothesis",
            "memory",
            "exit",
            "limit",
        ],
    )
    def test_any_failure_in_any_phase(self, failed: TestRun, slug: str) -> None:
        """Whether it would be a kill or not."""
        found = evidence(on_reference=on_controls(failed, failed))
        assert told(found) == (Status.INVALID, slug)

    def test_at_a_later_draw_only(self) -> None:
        """It is as wrong as at the first."""
        runs = [*on_controls(PASSED, PASSED), *on_controls(FAILED, FAILED, draw=DRAWS[1])]
        assert told(evidence(on_reference=runs)) == (Status.INVALID, "invalid")

    @pytest.mark.parametrize("end", [End.TIMEOUT, End.CRASH])
    def test_ending_every_control_even_when_run_last(self, end: End) -> None:
        """Though it held in the calibration."""
        runs = [
            one
            for number in (0, 1)
            for one in (
                control(number, ended(end, T, {T: BEGUN})),
                control(number, ended(end, T, {T: BEGUN}), last=(T,)),
            )
        ]
        assert told(evidence(on_reference=runs)) == (Status.INVALID, "invalid-limit")

    def test_the_reason_tells_the_exception_the_own_line_and_the_input(self) -> None:
        """And no message, which could hold the reference's values."""
        failed = failing(message="secret", file=FILE, line=7, witness="x=0")
        one = statuses(evidence(on_reference=on_controls(failed, failed)))[T]
        assert one.reason is not None
        assert "AssertionError at test_a.py, line 7 on x=0" in one.reason.text
        assert "secret" not in one.reason.text

    @pytest.mark.parametrize(
        ("exception", "advice"),
        [
            ("FailedHealthCheck", "drawn badly"),
            ("Unsatisfiable", "loosen"),
            ("InvalidArgument", "arguments"),
            ("FlakyFailure", "twice"),
            ("DeadlineExceeded", "deadline"),
            ("StopTest", "refuses"),
        ],
    )
    def test_each_complaint_of_hypothesis_has_its_advice(self, exception: str, advice: str) -> None:
        """And those that we don't know a general one."""
        failed = failing("hypothesis", exception)
        one = statuses(evidence(on_reference=on_controls(failed, failed)))[T]
        assert one.reason is not None
        assert exception in one.reason.text
        assert advice in one.reason.text


class TestFlaky:
    """A test that contradicts itself."""

    @pytest.mark.parametrize("order", [(FAILED, PASSED), (PASSED, FAILED), (SKIPPED, FAILED)])
    def test_on_the_controls_of_one_draw(self, order: Sequence[TestRun]) -> None:
        """In whatever order they ran."""
        assert told(evidence(on_reference=on_controls(*order))) == (Status.FLAKY, "flaky")

    def test_failing_at_every_draw_but_not_every_time(self) -> None:
        """Each draw for itself contradicts itself."""
        runs = [*on_controls(FAILED, PASSED), *on_controls(PASSED, FAILED, draw=DRAWS[1])]
        assert told(evidence(on_reference=runs))[0] is Status.FLAKY

    def test_being_invalid_at_one_draw_comes_first(self) -> None:
        """The first rule that matches counts."""
        runs = [*on_controls(FAILED, PASSED), *on_controls(FAILED, FAILED, draw=DRAWS[1])]
        assert told(evidence(on_reference=runs))[0] is Status.INVALID

    def test_hanging_on_one_control_of_two(self) -> None:
        """Again when run last."""
        runs = [
            control(0, ended(End.TIMEOUT, T, {T: BEGUN})),
            control(0, ended(End.TIMEOUT, T, {T: BEGUN}), last=(T,)),
            control(1, ran({T: PASSED})),
        ]
        assert told(evidence(on_reference=runs))[0] is Status.FLAKY

    @pytest.mark.parametrize("second", [PASSED, SKIPPED, XFAILED])
    def test_on_one_mutant_at_one_draw(self, second: TestRun) -> None:
        """Though it holds on every control."""
        seen = [on_mutant(ran({T: FAILED})), on_mutant(ran({T: second}), attempt=1)]
        found = evidence(on_mutants={"m-01": seen})
        assert told(found) == (Status.FLAKY, "flaky")
        assert "mutant m-01" in str(statuses(found)[T].reason)

    def test_on_a_mutant_where_the_failure_stopped_the_run(self) -> None:
        """A failure is one before its teardown was seen."""
        cut = TestRun(phases=(phase("setup"), phase("call", "failed", failure())))
        seen = [
            on_mutant(ended(End.STOPPED, T, {T: cut})),
            on_mutant(ran({T: PASSED}), attempt=1),
        ]
        assert told(evidence(on_mutants={"m-01": seen}))[0] is Status.FLAKY

    @pytest.mark.parametrize("path", [FILE, "conftest.py"])
    def test_on_the_import_of_its_file(self, path: str) -> None:
        """On one control, here one that confirms another test."""
        fine = ran({T: PASSED})
        failed = ran(end=End.COMPLETE, unreadable=(unread(path),))
        runs = [*controls(fine, fine), control(0, failed, last=(U,))]
        assert told(evidence(on_reference=runs)) == (Status.FLAKY, "flaky")

    def test_not_by_failing_at_one_draw_and_passing_at_another(self) -> None:
        """Other inputs are drawn there."""
        seen = [on_mutant(ran({T: FAILED})), on_mutant(ran({T: PASSED}), DRAWS[1])]
        assert told(evidence(on_mutants={"m-01": seen}))[0] is Status.VALID

    def test_not_by_failing_on_one_mutant_and_passing_on_another(self) -> None:
        """That is what tests are for."""
        seen = {"m-01": [on_mutant(ran({T: FAILED}))], "m-02": [on_mutant(ran({T: PASSED}))]}
        assert told(evidence(on_mutants=seen))[0] is Status.VALID

    def test_not_by_being_cut_off(self) -> None:
        """A run that was ended from outside says nothing about the test that it ended in."""
        seen = [on_mutant(ran({T: FAILED})), on_mutant(ended(End.STOPPED, T, {T: BEGUN}))]
        assert told(evidence(on_mutants={"m-01": seen}))[0] is Status.VALID

    def test_by_names_that_change_from_run_to_run(self) -> None:
        """Parameters from chance; the other tests of the suite are not harmed by it."""
        seen = [ran({f"{T}[{value}]": PASSED, U: PASSED}) for value in (1, 2, 3)]
        calibration = Calibration(tests=seen[0].tests)
        found = evidence(calibration=calibration, on_reference=controls(*seen[1:]))
        assert told(found, f"{T}[1]") == (Status.FLAKY, "flaky-ids")
        assert told(found, U)[0] is Status.VALID
        assert found.same_tests(ran({f"{T}[4]": PASSED, U: PASSED}))
        assert not found.same_tests(ran({f"{T}[1]": PASSED}))


class TestVacuous:
    """A test that can't catch anything."""

    @pytest.mark.parametrize(
        "one",
        [
            SKIPPED,
            run(phase("setup", "skipped")),
            XFAILED,
            STRICT_XPASS,
            run(phase("call", expected=True)),
        ],
        ids=["skipped", "skipped-in-setup", "xfailed", "strict-xpass", "xpassed"],
    )
    def test_it_is_skipped_or_expected_to_fail(self, one: TestRun) -> None:
        """Passed strictly or not, an expected failure is no channel for kills."""
        found = evidence(on_reference=on_controls(one, one))
        assert told(found) == (Status.VACUOUS, "vacuous-skipped")

    def test_on_one_control_is_enough(self) -> None:
        """Elsewhere it may pass."""
        found = evidence(on_reference=on_controls(PASSED, SKIPPED))
        assert told(found)[0] is Status.VACUOUS


class TestBroken:
    """A test that can't run on the reference, or its file."""

    @pytest.mark.parametrize(
        ("end", "of_test", "of_file"),
        [
            (End.TIMEOUT, "broken-time", "broken-import-time"),
            (End.CRASH, "broken-crash", "broken-import-crash"),
            (End.GARBLED, "broken-garbled", "broken-garbled"),
            (None, "broken-unreached", "broken-unreached"),
        ],
    )
    def test_what_ended_the_calibration_is_told(
        self, end: End | None, of_test: str, of_file: str
    ) -> None:
        """In a test, and while a file was read."""
        calibration = Calibration(tests=(T, U), unrunnable={T: end, "test_b.py": end})
        found = evidence((U,), calibration=calibration)
        assert told(found, T) == (Status.BROKEN, of_test)
        assert told(found, "test_b.py") == (Status.BROKEN, of_file)
        assert told(found, U) == (Status.VALID, "")

    @pytest.mark.parametrize(
        ("exception", "text", "shown"),
        [
            ("ImportError", "no name 'foo'", "ImportError: no name 'foo' at test_b.py, line 3"),
            ("NameError", "no name 'given'", "NameError: no name 'given' at test_b.py, line 3"),
            ("SyntaxError", "invalid syntax", "SyntaxError: invalid syntax at test_b.py, line 3"),
            ("ValueError", "secret", "ValueError at test_b.py, line 3"),
        ],
    )
    def test_a_file_that_can_not_be_imported(self, exception: str, text: str, shown: str) -> None:
        """The other files are not harmed by it, and no value of the reference is shown."""
        why = failure(exception=exception, message=text, file="test_b.py", line=3)
        calibration = Calibration(tests=(T,), unreadable={"test_b.py": why})
        found = evidence(calibration=calibration)
        assert told(found, "test_b.py") == (Status.BROKEN, "broken-import")
        assert shown in str(statuses(found)["test_b.py"].reason)
        assert "secret" not in str(statuses(found)["test_b.py"].reason)
        assert told(found)[0] is Status.VALID

    def test_a_module_that_is_not_installed(self) -> None:
        """The student is told what is."""
        why = failure(exception="ModuleNotFoundError", message="No module named 'foo'")
        found = evidence(calibration=Calibration(tests=(T,), unreadable={"test_b.py": why}))
        assert told(found, "test_b.py") == (Status.BROKEN, "broken-module")
        assert "No module named 'foo'; where tests" in str(statuses(found)["test_b.py"].reason)

    def test_a_class_that_can_not_be_collected_harms_no_other_test_of_its_file(self) -> None:
        """The file is named, and goes on to be run."""
        calibration = Calibration(tests=(T,), unreadable={FILE: failure()})
        assert calibration.left_out == frozenset()
        found = evidence(calibration=calibration)
        assert told(found, FILE) == (Status.BROKEN, "broken-import")
        assert told(found, T)[0] is Status.VALID

    @pytest.mark.parametrize("text", ["fixture 'mocker' not found\nmore", ""])
    def test_a_missing_fixture(self, text: str) -> None:
        """The test was not even begun."""
        failed = run(
            phase("setup", "failed", failure(exception="FixtureLookupError", message=text))
        )
        found = evidence(on_reference=on_controls(failed, failed))
        assert told(found) == (Status.BROKEN, "broken-fixture")
        assert "more" not in str(statuses(found)[T].reason)

    def test_a_test_that_some_control_never_reached(self) -> None:
        """All controls must have seen a test before its kills count."""
        found = evidence(on_reference=on_controls(PASSED, None))
        assert told(found) == (Status.BROKEN, "broken-unreached")

    def test_a_test_that_garbled_a_run_is_not_said_to_have_failed(self) -> None:
        """What was running when a run made no sense is not certain."""
        garbled = control(1, ended(End.GARBLED, T, {T: BEGUN}), last=(T,))
        found = evidence(on_reference=[control(0, ran({T: PASSED})), garbled])
        assert told(found) == (Status.BROKEN, "broken-unreached")


def look(path: str, **facts: Any) -> Look:
    """Return what a look at a file found, by default nothing."""
    return Look(**{"path": path, "problem": None, "imports": (), "near_misses": (), **facts})


def judged(*looks: Look, ends: Mapping[str, End] | None = None) -> dict[str, tuple[Status, str]]:
    """Return the files that are not run, with status and slug."""
    files = tuple(dict.fromkeys([one.path for one in looks] + list(ends or {})))
    settings = SETTINGS.model_copy(update={"allowed_imports": ("pack.mod", "math")})
    found = not_run(settings, Reading(files, looks, ends or {}))
    return {
        name: (one.status, one.reason.slug if one.reason else "") for name, one in found.items()
    }


class TestNotRun:
    """Files that are judged by a look at their source."""

    def test_a_file_that_is_in_order_is_run(self) -> None:
        """Whether it is a test file or a helper."""
        assert judged(look(FILE, imports=(("math", 1),)), look("helper.py")) == {}

    def test_a_forbidden_import_refuses_its_own_file_only(self) -> None:
        """The others are run."""
        found = judged(look(FILE, imports=(("os", 3),)), look("test_b.py"))
        assert found == {FILE: (Status.REFUSED, "refused-import")}

    def test_every_part_of_a_long_look_is_judged(self) -> None:
        """A list of imports may be told in several facts."""
        found = judged(look(FILE), look(FILE, imports=(("os", 3),)), look(FILE))
        assert found == {FILE: (Status.REFUSED, "refused-import")}

    @pytest.mark.parametrize(
        ("problem", "status", "slug"),
        [
            (("encoding", "byte 3 is not UTF-8", None), Status.REFUSED, "refused-encoding"),
            (("syntax", "invalid syntax", 4), Status.BROKEN, "broken-syntax"),
            (("syntax", "RecursionError", None), Status.BROKEN, "broken-syntax"),
        ],
    )
    def test_a_file_that_can_not_be_parsed(
        self, problem: tuple[str, str, int | None], status: Status, slug: str
    ) -> None:
        """Refused or broken, by what is wrong."""
        assert judged(look(FILE, problem=problem)) == {FILE: (status, slug)}

    @pytest.mark.parametrize(
        ("why", "line", "text"),
        [
            ("invalid syntax", 4, "line 4: invalid syntax (read by Python 3.11)"),
            ("MemoryError", None, "something in it is nested too deeply to be read"),
            ("RecursionError", None, "something in it is nested too deeply to be read"),
            ("ValueError", None, "there is a null character in it"),
        ],
    )
    def test_what_the_parser_has_no_words_for_is_told_in_some(
        self, why: str, line: int | None, text: str
    ) -> None:
        """And no line is named where it named none."""
        reading = Reading((FILE,), (look(FILE, problem=("syntax", why, line)),))
        reason = not_run(SETTINGS, reading)[FILE].reason
        assert reason is not None
        assert reason.text.startswith(text)

    def test_a_file_that_ended_the_look_is_broken_whatever_was_seen_of_it(self) -> None:
        """A part of its imports may be missing."""
        found = judged(look(FILE), ends={FILE: End.CRASH, "test_b.py": End.TIMEOUT})
        assert found == {
            FILE: (Status.BROKEN, "broken-import-crash"),
            "test_b.py": (Status.BROKEN, "broken-import-time"),
        }

    def test_a_file_that_nobody_looked_at_is_not_run(self) -> None:
        """It might import anything."""
        found = not_run(SETTINGS, Reading((FILE, "test_b.py"), (look(FILE),)))
        assert {name: str(one.status) for name, one in found.items()} == {"test_b.py": "broken"}

    def test_such_files_are_among_the_statuses(self) -> None:
        """Beside those of the tests."""
        reading = Reading(("bad.py",), (look("bad.py", problem=("syntax", "s", 1)),))
        found = statuses(evidence(reading=reading))
        assert {name: str(one.status) for name, one in found.items()} == {
            "bad.py": "broken",
            T: "valid",
        }


def test_every_file_and_test_is_told_once() -> None:
    """Nothing that was found is dropped on the way to the report."""
    outcome: Outcome = ran({T: PASSED, U: FAILED}, unreadable=(unread("test_c.py"),))
    calibration = Calibration(
        tests=(T, U, "test_b.py::test_x"),
        unreadable={"test_c.py": failure()},
        unrunnable={"test_b.py::test_x": End.CRASH},
    )
    found = statuses(evidence(calibration=calibration, on_reference=controls(outcome, outcome)))
    assert {name: str(one.status) for name, one in found.items()} == {
        "test_c.py": "broken",
        "test_b.py::test_x": "broken",
        T: "valid",
        U: "invalid",
    }
