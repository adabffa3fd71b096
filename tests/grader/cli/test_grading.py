"""Gradings by command: what passes, what doesn't, and what is written and shown of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.process import ProcessSandbox
from tests.grader.cli.conftest import DOUBLE, GOOD, WEAK, Ran, Student

Document = Mapping[str, Any]
Read = Callable[[Path], Document]


@dataclass(frozen=True)
class Graded:
    """One grading: the repository, what the command did, and what it wrote."""

    student: Student
    ran: Ran
    document: Document


@pytest.fixture(scope="module")
def passed(repository: Callable[[], Student], document: Read) -> Graded:
    """Check a good suite with a right implementation."""
    student = repository().build().test(GOOD)
    path = student.root.parent / "passed.json"
    return Graded(student, student.graded("check", "--json", path), document(path))


@pytest.fixture(scope="module")
def failed(repository: Callable[[], Student], document: Read) -> Graded:
    """Grade a weak suite, without an implementation."""
    student = repository().test(WEAK).test("import os\n", "test_other.py")
    student.write("python/tests/t1/notes.txt", "mine")
    path = student.root.parent / "failed.json"
    return Graded(student, student.graded("mutate", "--json", path), document(path))


def _verdicts(document: Document) -> dict[str, str]:
    return {mutant["id"]: mutant["verdict"] for mutant in document["mutants"]}


def test_a_good_suite_passes(passed: Graded) -> None:
    """Exit 0, and a last line that says so."""
    assert passed.ran.code == 0
    assert passed.ran.out.splitlines()[-1] == "passed"
    score = {"killed": 5, "scored": 5, "threshold_percent": 60, "required_killed": 2}
    assert passed.document["score"] == {**score, "required": 2, "points": 1.0}
    for key, value in {"graded": True, "passed": True, "fault": None, "partial": False}.items():
        assert passed.document[key] == value


def test_check_runs_the_courses_tests_and_the_students_on_the_students_code(
    passed: Graded,
) -> None:
    """Both are in the report and in the document."""
    assert "The course's tests on your code: 3 of 3 passed" in passed.ran.out
    tests = passed.document["course_tests"]
    assert {test["name"] for test in tests} == {
        *(f"test_doubles[{n}]" for n in (1, 3, 10)),
        "test_zero",
        "test_negative",
    }
    assert {test["result"] for test in tests} == {"passed"}
    assert {test["own_implementation"] for test in passed.document["tests"]} == {"passed"}


def test_a_weak_suite_does_not_pass(failed: Graded) -> None:
    """Exit 1, and a last line that says what is missing, required faults first."""
    assert failed.ran.code == 1
    assert failed.ran.out.splitlines()[-1] == (
        "not passed: 1 of 2 required faults not caught; 2 of 5 caught, 3 needed"
    )
    assert failed.document["graded"] is True
    assert failed.document["passed"] is False
    verdicts = {"s01": "killed", "s02": "survived", "m-00000001": "killed"}
    verdicts |= {"m-00000002": "survived", "m-00000003": "survived"}
    assert _verdicts(failed.document) == verdicts


def test_the_document_says_what_was_graded_and_how(failed: Graded) -> None:
    """Files taken and left out, versions, settings."""
    found = failed.document
    assert found["assignment"] == "T1"
    assert found["submission"]["files"] == ["test_mine.py", "test_other.py"]
    left_out = [{"path": "notes.txt", "why": "it is no Python file"}]
    assert found["submission"]["left_out"] == left_out
    assert found["controls"] == {"reference": 1, "twins": 2}
    assert found["settings"] == {
        "sandbox": "process",
        "isolation": "shared",
        "policy": "practice",
        "sealed": True,
        "draws": [11, 12],
    }
    assert {"grader", "python", "pytest", "hypothesis", "numpy"} <= found["versions"].keys()
    statuses = {test["id"]: test["status"] for test in found["tests"]}
    assert statuses == {"test_mine.py::test_nothing": "valid", "test_other.py": "refused"}
    assert {test["own_implementation"] for test in found["tests"]} == {None}


def test_the_report_is_one_line_a_fact_and_silent_elsewhere(failed: Graded) -> None:
    """Nothing on standard error where that is no terminal; no colour in a log."""
    assert failed.ran.err == ""
    assert "\x1b" not in failed.ran.out
    assert "note: notes.txt was left out: it is no Python file" in failed.ran.out.splitlines()
    assert not any(line.endswith(" ") for line in failed.ran.out.splitlines())


def test_a_second_grading_starts_no_sandbox(
    passed: Graded, document: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is known; and the two say the same, but for the seconds."""

    def unusable(self: ProcessSandbox) -> None:
        raise AssertionError(f"{self.name}: a sandbox was started")

    first = tmp_path / "first.json"
    assert passed.student.graded("mutate", "--json", first).code == 0
    monkeypatch.setattr(ProcessSandbox, "open", unusable)
    second = tmp_path / "second.json"
    ran = passed.student.graded("mutate", "--json", second)
    assert ran.code == 0
    assert {**document(first), "seconds": None} == {**document(second), "seconds": None}

    fresh = passed.student.graded("mutate", "--no-cache")
    assert fresh.code == 5
    assert "a sandbox was started" in fresh.out


def test_an_edit_is_graded_anew(passed: Graded, repository: Callable[[], Student]) -> None:
    """A comment in a test file is enough, and so is one in the implementation."""
    known = len(list((_state() / "runs").glob("T1-*")))
    student = repository().build().test(GOOD + "# mine\n")
    assert student.graded("mutate").code == passed.ran.code
    assert len(list((_state() / "runs").glob("T1-*"))) == known + 1


def _state() -> Path:
    import platformdirs

    return platformdirs.user_state_path("grader")


def test_neither_seed_nor_matrix_changes_a_verdict(
    failed: Graded, document: Read, tmp_path: Path
) -> None:
    """They change the order, and how much is known of each fault."""
    for option in (["--seed", "7"], ["--matrix"]):
        path = tmp_path / "out.json"
        ran = failed.student.graded("mutate", *option, "--json", path)
        found = document(path)
        assert ran.code == 1
        assert _verdicts(found) == _verdicts(failed.document)
        assert found["score"] == failed.document["score"]
        assert found["tests"] == failed.document["tests"]


def test_outcomes_are_kept_where_they_are_asked_for(student: Student, tmp_path: Path) -> None:
    """And nothing is written into the student's repository."""
    student.test(WEAK)
    before = student.files()
    student.graded("mutate", "--run-dir", tmp_path / "runs")
    (run,) = (tmp_path / "runs").iterdir()
    assert {path.name for path in run.iterdir()} >= {"journal.jsonl"}
    assert student.files() == before


@pytest.mark.parametrize(
    ("files", "last"),
    [
        (
            {"test_mine.py": "def helper(): pass\n"},
            "no test was found in python/tests/t1: files must be named test_*.py",
        ),
        ({}, "no test was found in python/tests/t1"),
        (
            {"test_mine.py": "from toy.double import double\n\n"
             "def test_wrong():\n    assert double(2) == 5\n"},
            "no test runs and holds on the course's code",
        ),
        ({"test_mine.py": "def test_broken(:\n"}, "no test runs and holds on the course's code"),
        ({"test_mine.py": "import os\n\ndef test_it(): pass\n"}, "no test runs and holds"),
    ],
)  # fmt: skip
def test_a_suite_of_which_nothing_holds_is_not_graded(
    files: Mapping[str, str], last: str, student: Student, document: Read, tmp_path: Path
) -> None:
    """Exit 3: not passed, by the student's own fault."""
    (student.root / "python" / "tests" / "t1").mkdir(parents=True)
    for name, text in files.items():
        student.test(text, name)
    path = tmp_path / "out.json"
    ran = student.graded("mutate", "--json", path)
    assert ran.code == 3
    assert ran.out.splitlines()[-1].startswith(f"not passed: {last}")
    found = document(path)
    assert (found["graded"], found["passed"], found["fault"]) == (False, False, "student")
    assert found["why"].startswith(last)
    assert {mutant["verdict"] for mutant in found["mutants"]} <= {"not_run"}


def test_a_prerequisite_that_is_missing_is_in_the_document(
    student: Student, document: Read, tmp_path: Path
) -> None:
    """Exit 4."""
    path = tmp_path / "out.json"
    student.write("python/toy/double.py", DOUBLE)
    ran = student.test(GOOD).graded("check", "--json", path)
    assert ran.code == 4
    found = document(path)
    assert (found["graded"], found["passed"], found["fault"]) == (False, False, "student")
    assert found["why"] == "T1 needs T0: build it, or rerun with --ref-deps"
    assert found["score"] is None


def test_check_does_not_pass_a_wrong_implementation(
    student: Student, document: Read, tmp_path: Path
) -> None:
    """However good the tests are; what is on the reference isn't held against them."""
    student.build(DOUBLE.replace("n * 2", "n * 2 + (n > 9)")).test(GOOD)
    path = tmp_path / "out.json"
    ran = student.graded("check", "--ref-deps", "--json", path)
    assert ran.code == 1
    assert "On your own implementation 1 of them fail:" in ran.out
    assert ran.out.splitlines()[-1] == (
        "not passed: 1 of 3 course tests fail on your implementation; 5 of 5 caught, 3 needed"
    )
    found = document(path)
    assert (found["graded"], found["passed"]) == (True, False)
    assert found["score"]["killed"] == 5
    assert found["score"]["points"] == 0.0
    own = {test["id"].rpartition("::")[2]: test["own_implementation"] for test in found["tests"]}
    assert own == {"test_doubles": "failed", "test_refuses_what_is_negative": "passed"}


def test_an_untouched_stub_is_not_run(student: Student, document: Read, tmp_path: Path) -> None:
    """The tests are graded all the same."""
    student("start", "T1")
    path = tmp_path / "out.json"
    ran = student.graded("mutate", "--json", path)
    assert ran.code == 1
    assert [test["own_implementation"] for test in document(path)["tests"]] == [None]


def test_a_json_that_fails_late_leaves_the_report(
    failed: Graded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A full disk loses the document, not what was found."""

    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path), text)

    monkeypatch.setattr("grader.cli.files.write_whole", full)
    ran = failed.student.graded("mutate", "--json", tmp_path / "out.json")
    assert ran.code == 2
    assert ran.out == failed.ran.out
    assert ran.err == f"grade: can't write {tmp_path / 'out.json'}: No space left on device\n"


@pytest.mark.parametrize(
    ("reveal", "shown", "hidden"),
    [
        ("none", [], ["s02", "m-00000002", "Pitfall 2", "Required faults"]),
        ("count", ["not caught  s02\n"], ["negative numbers", "m-00000002", "Pitfall 2", "hint"]),
        ("pitfall", ["negative numbers", "Pitfall 2", "m-00000002"], ["Check that -1"]),
        ("behaviour", ["Check that -1 raises.", "m-00000002"], ["if False"]),
    ],
)
def test_as_much_is_revealed_as_was_asked_for(
    reveal: str, shown: list[str], hidden: list[str], failed: Graded, tmp_path: Path
) -> None:
    """In the report and in the document; the score is always said."""
    path = tmp_path / "out.json"
    ran = failed.student.graded("mutate", "--reveal", reveal, "--json", path)
    assert ran.code == 1
    assert "In all: 2 of 5 caught, 3 needed (40 %, threshold 60 %)" in ran.out
    assert all(text in ran.out for text in shown)
    assert not any(text in ran.out for text in hidden)
    alive = json.loads(path.read_text(encoding="utf-8"))["mutants"][1]
    assert alive["id"] == "s02"
    assert (alive["hint"] is None) == (reveal in ("none", "count"))
    assert (alive["title"] is None) == (reveal in ("none", "count"))


@pytest.fixture(scope="module")
def suspicious(repository: Callable[[], Student], document: Read) -> Graded:
    """Grade, for staff, a good suite with a test that looks at code and one that forgets assert."""
    form = "def test_form():\n    assert double.__code__\n\ndef test_idle():\n    double(1) == 2\n"
    student = repository().test(GOOD).test(f"from toy.double import double\n{form}", "test_b.py")
    path = student.root.parent / "staff.json"
    return Graded(student, student.graded("mutate", "--staff", "--json", path), document(path))


def test_staff_are_shown_what_a_person_should_look_at(suspicious: Graded) -> None:
    """With file and line; the grade is as good as the suite."""
    [flag] = suspicious.document["review"]
    assert (flag["kind"], flag["path"], flag["line"]) == ("touch", "test_b.py", 3)
    assert f"  touch  {flag['text']}\n" in suspicious.ran.out
    assert suspicious.ran.code == 0


def test_students_are_not_told_what_is_looked_at(suspicious: Graded, tmp_path: Path) -> None:
    """Whoever knew could look at it in another way; all else is the same."""
    path = tmp_path / "out.json"
    ran = suspicious.student.graded("mutate", "--json", path)
    assert "staff" not in ran.out
    assert "__code__" not in ran.out
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["review"] is None
    different = {key for key in told if told[key] != suspicious.document[key]}
    assert different <= {"review", "seconds"}


def test_sloppy_tests_are_remarked_on_with_their_line(suspicious: Graded) -> None:
    """To everybody, with what to do next."""
    idle, unused = suspicious.document["warnings"]
    assert idle.startswith("test_b.py, line 5: test_idle checks nothing, so it fails only where")
    assert unused.startswith("test_b.py, line 6: nobody looks at the result of a comparison: put")
    assert "note: test_b.py, line 6: nobody looks" in suspicious.ran.out
