"""The grade as JSON: what it says, and that it is what its schema promises."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from grader.course_tests import CourseTest
from grader.grade import Grade, GradedTest
from grader.messages import Message, message
from grader.report.document import SCHEMA_PATH, json_schema, to_json
from grader.review import Flag
from grader.score import Score
from grader.status import Status, TestStatus
from grader.submission import LeftOut, Submission
from grader.verdict import Result, Verdict

Make = Callable[..., Grade]
SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
REGENERATE = (
    'python -c "from grader.report.document import *; SCHEMA_PATH.write_text(json_schema())"'
)
KEYS = [
    *("schema", "assignment", "graded", "passed", "fault", "why", "partial", "score", "tests"),
    *("mutants", "course_tests", "matrix", "controls", "warnings", "review", "submission"),
    *("course", "versions", "settings", "seconds"),
]


def _document(grade: Grade) -> Mapping[str, Any]:
    """Return the document, which the schema accepts."""
    found: Mapping[str, Any] = json.loads(to_json(grade))
    jsonschema.validate(found, SCHEMA)
    return found


def test_the_published_schema_is_that_of_the_code() -> None:
    """Byte for byte."""
    published = SCHEMA_PATH.read_text(encoding="utf-8")
    assert published == json_schema(), f"regenerate it, and review the difference: {REGENERATE}"


def test_the_schema_is_a_schema_and_refuses_what_isnt_a_grade(make_grade: Make) -> None:
    """A key too many, one too few, a verdict that there isn't, a pass that isn't known."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    good = _document(make_grade())
    spoiled = [
        {**good, "extra": 1},
        {key: value for key, value in good.items() if key != "fault"},
        {**good, "mutants": [{**good["mutants"][0], "verdict": "maimed"}]},
        {**good, "passed": None},
        {**good, "schema": 2},
        {**good, "fault": "nobody"},
        {**good, "score": {**good["score"], "points": "all"}},
    ]
    for document in spoiled:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, SCHEMA)


def test_a_passed_grade_is_told_in_full(make_grade: Make) -> None:
    """Every key in its place, the version of the format first."""
    found = _document(make_grade())
    assert list(found) == KEYS
    assert found["schema"] == 1
    assert (found["graded"], found["passed"], found["fault"]) == (True, True, None)
    assert found["score"] == {
        "killed": 14,
        "scored": 14,
        "threshold_percent": 80,
        "required_killed": 6,
        "required": 6,
        "points": 1.0,
    }
    assert found["tests"] == [
        {
            "id": "test_bi.py::test_mirror",
            "status": "valid",
            "reason": None,
            "own_implementation": None,
            "kills": ["s01", "s02"],
        }
    ]
    assert found["mutants"][0] == {
        "id": "s01",
        "kind": "semantic",
        "required": True,
        "title": "title of s01",
        "verdict": "killed",
        "phase": "call",
        "killed_by": ["test_bi.py::test_mirror"],
        "witness": "test_mirror(n=[1])",
        "reason": None,
        "hint": None,
    }
    assert found["controls"] == {"reference": 1, "twins": 2}
    assert found["submission"]["left_out"] == [{"path": "notes.txt", "why": "no Python"}]
    assert found["versions"] == {"grader": "0.1.0"}
    assert found["seconds"] == {"total": 1.5}
    assert found["course_tests"] is None


def test_generated_faults_count_but_are_not_required(make_grade: Make) -> None:
    """They have a title, and no hint."""
    mutant = _document(make_grade(["m-00000001"]))["mutants"][6]
    assert (mutant["kind"], mutant["required"]) == ("mechanical", False)
    assert (mutant["title"], mutant["hint"]) == ("number, line 7", None)


def test_a_missed_required_fault_is_no_pass_and_no_points(make_grade: Make) -> None:
    """However high the rate."""
    found = _document(make_grade(["s05"]))
    assert (found["graded"], found["passed"]) == (True, False)
    assert found["score"]["killed"] == 13
    assert found["score"]["required_killed"] == 5
    assert found["score"]["points"] == 0.0
    assert found["mutants"][4]["verdict"] == "survived"
    assert found["mutants"][4]["killed_by"] == []


def test_a_void_grading_has_no_score(void: Grade) -> None:
    """And says whose fault it is, and why."""
    found = _document(void)
    assert (found["graded"], found["passed"], found["fault"]) == (False, False, "machine")
    assert found["score"] is None
    assert (found["tests"], found["mutants"]) == ([], [])
    assert found["why"] == "the worker didn't answer within 120 s"


def test_a_suite_of_which_nothing_holds_is_the_students_fault(nothing_holds: Grade) -> None:
    """Never a pass, and every fault is one that was not run."""
    found = _document(nothing_holds)
    assert (found["graded"], found["passed"], found["fault"]) == (False, False, "student")
    assert found["why"].startswith("no test runs and holds")
    assert {mutant["verdict"] for mutant in found["mutants"]} == {"not_run"}


@pytest.mark.parametrize("status", Status)
def test_every_status_is_told_with_its_reason(status: Status, make_grade: Make) -> None:
    """In the words of the document."""
    test = GradedTest(TestStatus("test_x.py::test_y", status, message("vacuous-skipped")))
    (found,) = _document(make_grade(tests=(test,)))["tests"]
    assert found["status"] == status.value
    assert found["reason"] == message("vacuous-skipped").text


@pytest.mark.parametrize("result", Result)
def test_every_verdict_is_told_with_its_reason(
    result: Result, make_grade: Make, make_verdicts: Callable[..., tuple[Verdict, ...]]
) -> None:
    """In the words of the document."""
    first, *rest = make_verdicts(s01=result)
    first = replace(first, reason=message("error-tests"))
    found = _document(make_grade(verdicts=(first, *rest)))["mutants"][0]
    assert found["verdict"] == result.value
    assert found["reason"] == message("error-tests").text


@pytest.mark.parametrize(
    ("reveal", "title", "hint"),
    [
        ("none", None, None),
        ("count", None, None),
        ("pitfall", "title of s05", "first hint of s05 second hint of s05"),
        ("behaviour", "title of s05", "first hint of s05 second hint of s05 third hint of s05"),
        ("diff", "title of s05", "first hint of s05 second hint of s05 third hint of s05"),
    ],
)
def test_no_more_is_revealed_of_a_missed_fault_than_was_asked_for(
    reveal: str, title: str | None, hint: str | None, make_grade: Make
) -> None:
    """What was caught keeps its title, and needs no hint."""
    found = _document(make_grade(["s05", "m-00000001"], reveal=reveal))["mutants"]
    assert (found[4]["title"], found[4]["hint"]) == (title, hint)
    assert (found[0]["title"], found[0]["hint"]) == ("title of s01", None)
    assert (found[6]["title"] is None) == (title is None)


def test_no_more_is_revealed_than_the_course_allows(make_grade: Make) -> None:
    """Whatever was asked for."""
    grade = make_grade(["s05"], reveal="diff")
    settings = grade.assignment.settings.model_copy(update={"reveal": "count"})
    strict = replace(grade, assignment=replace(grade.assignment, settings=settings))
    found = _document(strict)["mutants"][4]
    assert (found["title"], found["hint"]) == (None, None)


def test_failing_course_tests_are_no_pass(make_grade: Make) -> None:
    """Each case is told by itself."""
    tests = (CourseTest("test_a[1]", "unit", "passed"), CourseTest("test_a[2]", "unit", "failed"))
    found = _document(make_grade(course_tests=tests))
    assert (found["graded"], found["passed"]) == (True, False)
    assert found["score"]["points"] == 0.0
    assert found["course_tests"] == [
        {"name": "test_a[1]", "kind": "unit", "result": "passed"},
        {"name": "test_a[2]", "kind": "unit", "result": "failed"},
    ]
    assert _document(make_grade(course_tests=tests[:1]))["passed"] is True


def test_the_document_is_plain_ascii_whatever_a_student_wrote(make_grade: Make) -> None:
    """So that no reader's encoding and no terminal is at risk."""
    hostile = 'a\x1b[31m\u202e\n"\udc80</script>'
    status = TestStatus(hostile, Status.VALID, Message("x", hostile))
    submission = Submission({}, (LeftOut(hostile, hostile),))
    grade = make_grade(
        tests=(GradedTest(status),), warnings=(Message("x", hostile),), submission=submission
    )
    text = to_json(grade)
    assert text.isascii()
    assert "\x1b" not in text
    found = _document(grade)
    assert found["tests"][0]["id"] == hostile
    assert found["submission"]["left_out"][0]["path"] == hostile


def test_what_staff_look_at_is_written_where_it_was_asked_for(make_grade: Make) -> None:
    """Null is not asked for, an empty list is nothing to look at."""
    flag = Flag("touch", "test_a.py", 3, Message("review-touch", "touched __code__"))
    written = {"kind": "touch", "path": "test_a.py", "line": 3, "text": "touched __code__"}
    assert _document(make_grade())["review"] is None
    assert _document(make_grade(review=()))["review"] == []
    assert _document(make_grade(review=(flag,)))["review"] == [written]


def test_two_documents_of_one_grade_are_the_same_bytes(make_grade: Make) -> None:
    """Ending in a newline."""
    assert to_json(make_grade(["s01"])) == to_json(make_grade(["s01"]))
    assert to_json(make_grade()).endswith("}\n")


def test_the_rate_is_compared_and_not_rounded(make_grade: Make) -> None:
    """79.96 % is not 80 %."""
    below = Score(1999, 2500, threshold_percent=80, required_killed=6, required=6)
    assert _document(make_grade(score=below))["passed"] is False
    reached = replace(below, killed=2000)
    assert _document(make_grade(score=reached))["passed"] is True
