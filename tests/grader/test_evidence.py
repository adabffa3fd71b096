"""What can be read off outcomes before anyone judges."""

import pytest

from grader.cells import REFERENCE
from grader.evidence import Calibration, file_of, function_of, governs, settled
from grader.outcome import End, TestRun

from .facts import (
    BEGUN,
    DRAWS,
    FAILED,
    FILE,
    PASSED,
    T,
    U,
    control,
    controls,
    ended,
    evidence,
    failure,
    ran,
    unread,
)

OTHER = "test_b.py::test_x"


def test_ids_have_a_file_a_function_and_perhaps_parameters() -> None:
    """Parameters may hold anything."""
    name = "part/test_a.py::TestX::test_t[a[0]::b]"
    assert file_of(name) == "part/test_a.py"
    assert function_of(name) == "part/test_a.py::TestX::test_t"


@pytest.mark.parametrize(
    ("path", "test", "expected"),
    [
        (FILE, T, True),
        (FILE, OTHER, False),
        ("conftest.py", "part/test_a.py::test_t", True),
        ("part/conftest.py", "part/deep/test_a.py::test_t", True),
        ("part/conftest.py", "partly/test_a.py::test_t", False),
        ("part/conftest.py", T, False),
        ("helper.py", T, False),
        ("my_conftest.py", T, False),
    ],
)
def test_a_file_governs_its_own_tests_and_a_conftest_those_below_it(
    path: str, test: str, expected: bool
) -> None:
    """Without it they can't run."""
    assert governs(path, test) is expected


class TestSettled:
    """What one run says for certain about a test."""

    def test_a_test_that_ran_to_its_end_is(self) -> None:
        """Whether it passed or failed, and however the run went on."""
        _, outcome = control(0, ended(End.CRASH, U, {T: PASSED, U: BEGUN}))
        assert settled(T, *control(0, outcome)) == PASSED
        assert settled(T, *control(0, ran({T: FAILED}))) == FAILED

    @pytest.mark.parametrize("end", [End.TIMEOUT, End.CRASH])
    @pytest.mark.parametrize("begun", [{}, {T: BEGUN}])
    def test_a_test_that_ended_the_run_is_if_it_ran_last(
        self, end: End, begun: dict[str, TestRun]
    ) -> None:
        """It then has failed, in a way that is no kill."""
        outcome = ended(end, T, begun)
        found = settled(T, *control(0, outcome, last=(T,)))
        assert found is not None
        assert found.failed
        assert [one.kind for one in found.failures] == ["exit"]
        assert settled(T, *control(0, outcome)) is None

    @pytest.mark.parametrize("end", [End.STOPPED, End.GARBLED, End.FAULT])
    def test_nothing_else_is(self, end: End) -> None:
        """It was cut off by others."""
        assert settled(T, *control(0, ended(end, T, {T: BEGUN}), last=(T,))) is None
        assert settled(U, *control(0, ended(end, T, {T: BEGUN}), last=(T,))) is None


class TestControls:
    """What the controls together say."""

    def test_a_test_is_established_once_every_number_has_settled_it(self) -> None:
        """Several runs of one number are one control; each draw is for itself."""
        fine = ran({T: PASSED})
        twice = [control(0, fine), control(0, fine, attempt=1)]
        assert evidence(on_reference=twice).established(DRAWS[0]) == frozenset()
        both = [*twice, control(1, fine)]
        assert evidence(on_reference=both).established(DRAWS[0]) == {T}
        assert evidence(on_reference=both).established(DRAWS[1]) == frozenset()

    def test_a_test_that_failed_is_established_all_the_same(self) -> None:
        """What it is worth is another matter."""
        failed = ran({T: FAILED})
        assert evidence(on_reference=controls(failed, failed)).established(DRAWS[0]) == {T}

    def test_runs_are_listed_by_implementation_and_draw(self) -> None:
        """Those that say nothing are left out."""
        cut = ended(End.CRASH, T, {T: BEGUN})
        seen = [*controls(ran({T: PASSED}), cut), *controls(ran({T: FAILED}), draw=DRAWS[1])]
        found = evidence(on_reference=seen).control_runs(T)
        assert found == {(REFERENCE, DRAWS[0]): [PASSED], (REFERENCE, DRAWS[1]): [FAILED]}


class TestSameTests:
    """Whether a run collected what the reference's runs did."""

    def test_order_and_results_do_not_matter(self) -> None:
        """Only ids do."""
        assert evidence((T, U)).same_tests(ran({U: FAILED, T: PASSED}))

    @pytest.mark.parametrize("tests", [(T,), (T, U, OTHER), (T, OTHER), ()])
    def test_neither_more_nor_fewer_may_be_there(self, tests: tuple[str, ...]) -> None:
        """Nor others."""
        assert not evidence((T, U)).same_tests(ran(dict.fromkeys(tests, PASSED)))

    def test_a_collection_that_did_not_end_is_not_the_same(self) -> None:
        """More might have come."""
        assert not evidence((T, U)).same_tests(ran({T: PASSED, U: PASSED}, collected=False))

    def test_tests_of_a_file_that_can_not_be_read_are_excused(self) -> None:
        """Those of other files are not."""
        found, broken = evidence((T, OTHER)), (unread("test_b.py"),)
        assert found.same_tests(ran({T: PASSED}, unreadable=broken))
        assert not found.same_tests(ran({}, unreadable=broken))

    def test_tests_of_a_file_of_which_a_part_was_collected_are_not_excused(self) -> None:
        """A class that can't be collected is no file that can't be read."""
        found, broken = evidence((T, U)), (unread(FILE),)
        assert found.same_tests(ran({T: PASSED, U: PASSED}, unreadable=broken))
        assert not found.same_tests(ran({T: PASSED}, unreadable=broken))

    def test_functions_whose_parameters_change_on_the_reference_are_left_out(self) -> None:
        """There are no ids that they should have."""
        calibration = Calibration(tests=(f"{T}[1]", U))
        seen = controls(ran({f"{T}[2]": PASSED, U: PASSED}), ran({U: PASSED}))
        found = evidence(calibration=calibration, on_reference=seen)
        assert found.unstable == {T}
        assert found.same_tests(ran({f"{T}[3]": PASSED, f"{T}[4]": PASSED, U: PASSED}))
        assert not found.same_tests(ran({f"{T}[1]": PASSED}))


def test_a_calibration_leaves_out_what_no_run_could_read() -> None:
    """Files without a single test that was collected, and those that ended a run."""
    found = Calibration(
        tests=(T, U),
        unreadable={FILE: failure(), "test_b.py": failure()},
        unrunnable={U: End.CRASH, "test_c.py": End.TIMEOUT},
    )
    assert found.left_out == {"test_b.py", "test_c.py"}
    assert found.runnable == {T}
