"""The course's tests on implementations: results by name, kinds, and what ends a run."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course import Assignment, Limits, load_course
from grader.course_tests import CourseTest, Suite, run_course_tests, run_suite
from grader.problems import Unusable
from grader.sandbox.process import ProcessSandbox

TOY = Path(__file__).with_name("cli") / "toy"
ODD = """
import time

import pytest
from toy.double import double


class TestInside:
    @pytest.mark.golden
    @pytest.mark.parametrize("text", ["a::b", "c[d]"])
    def test_text(self, text):
        assert double(len(text)) == 2 * len(text)


def test_plain():
    assert double(1) == 2


@pytest.mark.property
def test_slow():
    time.sleep(double(1) / 4)
"""


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """Return T1 of a copy of the toy course."""
    return load_course(shutil.copytree(TOY, tmp_path / "course")).assignment("T1")


def _run(assignment: Assignment, source: str | None = None) -> list[CourseTest]:
    sandbox = ProcessSandbox(Limits())
    return run_course_tests(assignment, {"": source or assignment.source}, sandbox, 1)[""]


def test_names_and_kinds_are_told_whatever_a_tests_id_looks_like(assignment: Assignment) -> None:
    """In classes, with parameters that look like ids; a test without a kind is a unit test."""
    (assignment.tests_path / "test_odd.py").write_text(ODD, encoding="utf-8")
    found = {test.name: test.kind for test in _run(assignment)}
    assert found == {
        **{f"test_doubles[{n}]": "unit" for n in (1, 3, 10)},
        "test_zero": "boundary",
        "test_negative": "boundary",
        "test_text[a::b]": "golden",
        "test_text[c[d]]": "golden",
        "test_plain": "unit",
        "test_slow": "property",
    }


def test_a_file_that_cant_be_read_fails_and_hides_no_other(assignment: Assignment) -> None:
    """Be it a syntax error in the course's own test."""
    (assignment.tests_path / "test_broken.py").write_text("def test_x(:\n", encoding="utf-8")
    found = {test.name: test.result for test in _run(assignment)}
    assert found["test_broken.py"] == "failed"
    assert found["test_zero"] == "passed"


def test_a_file_that_ends_the_interpreter_fails_and_hides_no_other(assignment: Assignment) -> None:
    """Nor is it run again."""
    path = assignment.tests_path / "test_broken.py"
    path.write_text("import os\nos._exit(0)\n", encoding="utf-8")
    found = {test.name: test.result for test in _run(assignment)}
    assert found == {
        "test_broken.py": "failed",
        **{f"test_doubles[{n}]": "passed" for n in (1, 3, 10)},
        "test_zero": "passed",
        "test_negative": "passed",
    }


def test_what_there_is_no_time_for_is_not_run_and_no_pass(assignment: Assignment) -> None:
    """Where all tests together take too long, none of them is to blame."""
    limits = Limits(seconds_per_test=30, seconds_in_all=4)
    settings = assignment.settings.model_copy(update={"limits": limits})
    hasty = Assignment(assignment.id, assignment.course, settings)
    (assignment.tests_path / "test_odd.py").write_text(
        "import time\n\ndef test_never(): time.sleep(60)\n", encoding="utf-8"
    )
    (never,) = [test for test in _run(hasty) if test.name == "test_never"]
    assert (never.result, never.passed, never.failure) == ("not run", False, None)


def test_a_failure_says_what_and_where(assignment: Assignment) -> None:
    """The exception, its text, and the line of the test."""
    wrong = assignment.source.replace("return total", "return total + 1")
    (failure,) = [test.failure for test in _run(assignment, wrong) if test.name == "test_zero"]
    assert failure is not None
    assert failure.exception == "AssertionError"
    assert "assert 1 == 0" in failure.message
    assert failure.file == "test_double.py"


def test_several_implementations_are_run_on_several_workers(assignment: Assignment) -> None:
    """Each with its own results, under the name that was given."""
    sources = {"right": assignment.source}
    for mutant in assignment.semantic:
        sources[mutant.id] = mutant.plant(assignment.source)
    found = run_course_tests(assignment, sources, ProcessSandbox(Limits()), 2)
    failed = {
        name: {test.function for test in tests if not test.passed} for name, tests in found.items()
    }
    assert failed == {
        "right": set(),
        "s01": {"test_doubles", "test_zero"},
        "s02": {"test_negative"},
    }


def test_a_run_may_end_with_its_first_failure(assignment: Assignment) -> None:
    """What comes after it is not run, and is neither a pass nor a failure."""
    path = assignment.tests_path / "test_double.py"
    path.write_text(
        "import time\n\ndef test_good(): pass\n\ndef test_bad(): assert 0\n\n"
        "def test_endless(): time.sleep(60)\n",
        encoding="utf-8",
    )
    suite = replace(Suite.read(assignment, "course"), to_first_failure=True)
    found = run_suite(suite, {"": assignment.source}, ProcessSandbox(Limits()), 1)[""]
    assert {test.name: test.result for test in found} == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_endless": "not run",
    }


def test_a_suite_may_bring_modules_for_each_implementation(assignment: Assignment) -> None:
    """Served from memory beside it, each its own."""
    path = assignment.tests_path / "test_double.py"
    path.write_text("import beside\n\ndef test_it(): assert beside.GOOD\n", encoding="utf-8")
    texts = {name: {"beside.py": f"GOOD = {name == 'right'}\n"} for name in ("right", "wrong")}
    suite = replace(Suite.read(assignment, "course"), beside=texts)
    sources = dict.fromkeys(texts, assignment.source)
    found = run_suite(suite, sources, ProcessSandbox(Limits()), 2)
    assert {name: tests[0].passed for name, tests in found.items()} == {
        "right": True,
        "wrong": False,
    }


def test_a_folder_without_test_files_holds_no_course_tests(assignment: Assignment) -> None:
    """And neither does a missing one."""
    for path in assignment.tests_path.iterdir():
        path.rename(path.with_name("helper.py"))
    with pytest.raises(Unusable, match="T1 has no course tests"):
        _run(assignment)
    shutil.rmtree(assignment.tests_path)
    with pytest.raises(Unusable, match="T1 has no course tests"):
        _run(assignment)
