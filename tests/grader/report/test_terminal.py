"""The grade at a terminal: what stands where, in which words, and that nothing in it is obeyed."""

import io
import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from grader.course_tests import CourseTest
from grader.grade import Grade, GradedTest
from grader.messages import Message, message
from grader.outcome import Failure
from grader.report.terminal import course_tests, last_line, to_terminal
from grader.review import Flag
from grader.status import Status, TestStatus
from grader.untrusted import terminal
from grader.verdict import Result, Verdict

Make = Callable[..., Grade]
HOSTILE = "\x1b[2J\x1b]0;owned\x07[red]\u202eevil\n\rpassed\u200b\x9b1m\udc80"


def _render(grade: Grade, width: int = 100) -> str:
    """Return what a terminal shows, without its colours; trailing blanks are nobody's promise."""
    console = Console(file=io.StringIO(), width=width, record=True, force_terminal=True)
    console.print(to_terminal(grade))
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


def _order(text: str, *parts: str) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_what_matters_first_stands_first(make_grade: Make) -> None:
    """Notes, course tests, validity, required faults, the others, the rate, one last line."""
    tests = (
        GradedTest(TestStatus("test_bi.py::test_mirror", Status.VALID)),
        GradedTest(TestStatus("test_bi.py::test_odd", Status.INVALID, message("no-valid-test"))),
    )
    grade = make_grade(
        ["s05", "m-00000001"],
        tests=tests,
        warnings=(message("left-out", path="notes.txt", why="it is no Python file"),),
        course_tests=(CourseTest("test_a", "unit", "passed"),),
    )
    text = _render(grade)
    _order(
        text,
        "L3.4  Bidirectional RNN with length-aware reversal",
        "note: notes.txt was left out: it is no Python file",
        "The course's tests on your code: 1 of 1 passed",
        "Your tests: 1 of 2 hold on the course's code and count",
        "Required faults: 5 of 6 caught",
        "Other faults: 7 of 8 caught",
        "In all: 12 of 14 caught, 12 needed (85 %, threshold 80 %)",
        "not passed: ",
    )
    assert text.splitlines()[-1].startswith("not passed: ")


def test_the_last_line_says_what_is_missing_required_faults_first(make_grade: Make) -> None:
    """Required faults, with the rate beside them though it is reached."""
    last = last_line(make_grade(["s05", "m-00000001"])).plain
    assert last == "not passed: 1 of 6 required faults not caught; 12 of 14 caught, 12 needed"


def test_the_last_line_says_what_the_rate_lacks(make_grade: Make) -> None:
    """Where every required fault is caught."""
    alive = ["m-00000001", "m-00000002", "m-00000003"]
    last = last_line(make_grade(alive)).plain
    assert last == "not passed: 11 of 14 caught, 12 needed"


def test_the_last_line_names_failing_course_tests_first(make_grade: Make) -> None:
    """A test counts once, however many of its cases fail."""
    tests = [CourseTest(f"test_a[{case}]", "unit", "failed") for case in range(3)]
    tests += [CourseTest("test_b", "unit", "passed"), CourseTest("test_c", "unit", "not run")]
    last = last_line(make_grade(["s01"], course_tests=tuple(tests))).plain
    assert last == (
        "not passed: 2 of 3 course tests fail on your implementation;"
        " 1 of 6 required faults not caught; 13 of 14 caught, 12 needed"
    )


def test_the_last_line_of_a_pass_is_one_word(make_grade: Make) -> None:
    """With missed faults too, as long as they are neither required nor too many."""
    assert last_line(make_grade()).plain == "passed"
    assert last_line(make_grade(["m-00000001", "m-00000002"])).plain == "passed"


def test_a_void_grading_is_told_from_one_that_is_not_passed(
    void: Grade, nothing_holds: Grade
) -> None:
    """The one is nobody's fault in the class, the other the student's."""
    assert last_line(void).plain == "not graded: the worker didn't answer within 120 s"
    assert last_line(nothing_holds).plain == (
        "not passed: no test runs and holds on the course's code, so nothing could be graded"
    )
    for grade in (void, nothing_holds):
        text = _render(grade)
        assert "Required faults" not in text
        assert "In all" not in text


def test_a_caught_fault_names_who_caught_it(make_grade: Make) -> None:
    """The first, and how many more."""
    first, *rest = make_grade().verdicts
    several = replace(first, killed_by=("a.py::test_1", "a.py::test_2", "a.py::test_3"))
    text = _render(make_grade(verdicts=(several, *rest)))
    assert "caught  s01  title of s01\n               by a.py::test_1 and 2 more" in text
    assert "caught  s02  title of s02\n               by test_bi.py::test_mirror\n" in text


def test_a_missed_required_fault_has_its_hint(make_grade: Make) -> None:
    """Right below it."""
    text = _render(make_grade(["s05"]))
    assert "not caught  s05  title of s05\n" in text
    assert "hint: first hint of s05 second hint of s05 third hint of s05" in " ".join(text.split())
    assert text.count("hint:") == 1


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (Result.KILLED, "caught"),
        (Result.SURVIVED, "not caught"),
        (Result.TIMEOUT, "timed out"),
        (Result.ERROR, "no verdict"),
        (Result.NOT_RUN, "not run"),
    ],
)
@pytest.mark.parametrize("mutant", ["s02", "m_00000002"])
def test_a_fault_is_caught_or_not_and_never_killed(
    mutant: str,
    result: Result,
    word: str,
    make_grade: Make,
    make_verdicts: Callable[..., tuple[Verdict, ...]],
) -> None:
    """A red test is good news here, so the word of the trade isn't used."""
    text = _render(make_grade(verdicts=make_verdicts(**{mutant: result})))
    name = mutant.replace("_", "-")
    if result is not Result.KILLED or name == "s02":
        assert f"{word}  {name}" in text.replace("caught      ", "caught  ")
    for banned in ("kill", "surviv", "mutant"):
        assert banned not in text.lower()


def test_a_fault_without_a_verdict_says_what_to_change(
    make_grade: Make, make_verdicts: Callable[..., tuple[Verdict, ...]]
) -> None:
    """Required or not."""
    found = make_verdicts(s01=Result.ERROR, m_00000001=Result.TIMEOUT)
    reasons = {"s01": message("error-crash", at=" in test_a"), "m-00000001": Message("x", "slow")}
    found = tuple(replace(one, reason=reasons.get(one.mutant.id)) for one in found)
    text = _render(make_grade(verdicts=found), width=200)
    assert "the run ended the interpreter in test_a: a test may only raise" in text
    assert "timed out  m-00000001  number, line 7: slow" in text


def test_every_test_that_doesnt_count_has_its_reason(make_grade: Make) -> None:
    """Those that count are only counted; a file that isn't run is no test."""
    tests = [
        GradedTest(TestStatus(f"test_x.py::test_{status}", status, Message("x", f"since {status}")))
        for status in Status
    ]
    tests.append(GradedTest(TestStatus("test_y.py", Status.REFUSED, Message("x", "imports os"))))
    text = _render(make_grade(tests=tuple(tests)))
    assert f"Your tests: 1 of {len(Status)} hold" in text
    for status in set(Status) - {Status.VALID}:
        word = status.replace("_", " ")
        assert f"  {word}  test_x.py::test_{status}  since {status}\n" in text
    assert "test_valid" not in text
    assert "  refused  test_y.py  imports os\n" in text


def test_a_test_that_fails_on_the_students_own_code_is_shown_in_full(make_grade: Make) -> None:
    """That code is the student's to see."""
    valid = TestStatus("test_x.py::test_y", Status.VALID)
    tests = [GradedTest(valid, (), "failed", f"AssertionError: {number}") for number in range(14)]
    text = _render(make_grade(tests=tuple(tests)))
    assert "On your own implementation 14 of them fail:\n" in text
    assert "  test_x.py::test_y: AssertionError: 3\n" in text
    assert "  … and 2 more\n" in text
    assert "own implementation" not in _render(make_grade())


def test_a_long_list_is_cut_and_counted(
    make_grade: Make, make_verdicts: Callable[..., tuple[Verdict, ...]]
) -> None:
    """Of faults that aren't required; all others are shown."""
    one = make_verdicts(["m-00000008"])[-1]
    required = make_verdicts()[:6]
    text = _render(make_grade(verdicts=(*required, *itertools.repeat(one, 20))))
    assert text.count("not caught  m-00000008  number, line 7") == 12
    assert "  … and 8 more\n" in text


@pytest.mark.parametrize(
    ("reveal", "shown", "hidden"),
    [
        ("none", ["In all: 12 of 14"], ["s05", "m-0", "hint", "Required faults:", "Other faults"]),
        ("count", ["not caught  s05\n", "7 of 8"], ["title of s05", "m-0", "hint"]),
        ("pitfall", ["title of s05", "second hint of s05", "m-00000001"], ["third", "+"]),
        ("behaviour", ["title of s05", "third hint of s05", "m-00000001"], ["+"]),
        ("diff", ["title of s05", "third hint of s05", "+    ahead, _ = fwd(batch)\n"], []),
    ],
)
def test_no_more_is_shown_than_was_asked_for(
    reveal: str, shown: list[str], hidden: list[str], make_grade: Make
) -> None:
    """The rate and the last line are always there."""
    text = _render(make_grade(["s05", "m-00000001"], reveal=reveal))
    assert all(part in text for part in shown)
    assert not any(part in text for part in hidden)
    assert text.endswith("1 of 6 required faults not caught; 12 of 14 caught, 12 needed")


def _assert_inert(text: str) -> None:
    """Nothing in ``text`` moves a cursor, sets a colour, turns the text round or starts a line."""
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert not any(line.strip() == "passed" for line in text.splitlines())


def test_nothing_that_a_student_wrote_is_obeyed(make_grade: Make) -> None:
    """Ids, reasons, warnings, catchers, failures: escapes, markup, newlines, bidi."""
    status = TestStatus(f"{HOSTILE}::t", Status.INVALID, Message("x", HOSTILE))
    first, *rest = make_grade(["s02"]).verdicts
    caught = replace(first, killed_by=(HOSTILE,))
    missed = replace(rest[0], reason=Message("x", HOSTILE))
    failure = Failure(kind="ordinary", exception="E", message="[red]\x1b[31m", file="\x1b.py")
    grade = make_grade(
        tests=(GradedTest(status, (), "failed", HOSTILE),),
        warnings=(Message("x", HOSTILE),),
        verdicts=(caught, missed, *rest[1:]),
        course_tests=(CourseTest(f"test_{HOSTILE}", "unit", "failed", failure),),
        review=(Flag("touch", HOSTILE, 1, Message("x", HOSTILE)),),
    )
    for width in (80, 160, 10_000):
        text = _render(grade, width)
        _assert_inert(text)
    assert text.count("[red]") == 10
    assert text.count("\\x1b[2J") == 8


def test_what_staff_look_at_stands_before_the_last_line(make_grade: Make) -> None:
    """Only where it was asked for, even if there is nothing."""
    flag = Flag("touch", "test_a.py", 3, Message("review-touch", "test_a.py, line 3: touched"))
    assert "staff" not in _render(make_grade())
    assert "For staff: nothing to look at" in _render(make_grade(review=()))
    text = _render(make_grade(review=(flag,)))
    _order(text, "In all: ", "For staff, to look at", "  touch  test_a.py, line 3: touched")
    assert text.splitlines()[-1] == "passed"


def test_colours_are_grader_s_own(make_grade: Make) -> None:
    """The raw stream holds no escape but those of its styles, and no markup is taken for one."""
    status = TestStatus(HOSTILE, Status.BROKEN, Message("x", "[bold]x[/bold]"))
    stream = io.StringIO()
    console = Console(file=stream, width=200, force_terminal=True, color_system="standard")
    console.print(to_terminal(make_grade(tests=(GradedTest(status),))))
    assert "[bold]x[/bold]" in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()
    assert "\x07" not in stream.getvalue()


def test_text_is_capped_and_cleaned_in_one_place() -> None:
    """Printable text is left as it is, in any script."""
    assert terminal("λ - 1 ≥ 0: 'naïve' [x] 数") == "λ - 1 ≥ 0: 'naïve' [x] 数"
    assert terminal("a\nb\r\tc") == "a b\\r\\tc"
    assert terminal("\x1b[31m\u202e\u2066\x00") == "\\x1b[31m\\u202e\\u2066\\x00"
    assert len(terminal("x" * 10_000)) < 1000
    assert terminal("x" * 10_000).endswith("…")
    assert len(terminal("\U000e0001" * 10_000)) < 10_000


def test_course_tests_are_a_line_each_with_the_cases_that_fail() -> None:
    """As the chapter's table has them; three failing cases are enough to see why."""
    wrong = Failure(kind="ordinary", exception="AssertionError", message="1 != 2")
    placed = wrong.model_copy(update={"file": "test_a.py", "line": 3, "message": ""})
    tests = [CourseTest(f"test_a[{case}]", "golden", "failed", wrong) for case in range(4)]
    tests += [CourseTest("test_a[4]", "golden", "passed")]
    tests += [CourseTest(f"test_b[{case}]", "property", "passed") for case in range(2)]
    tests += [
        CourseTest("test_c", "unit", "not run"),
        CourseTest("test_d", "unit", "failed", placed),
    ]
    console = Console(file=io.StringIO(), width=80, record=True)
    for part in course_tests(tests):
        console.print(part)
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert lines == [
        "",
        "The course's tests on your code: 1 of 4 passed",
        "  failed   golden    test_a, 4 of 5 cases",
        "                     [0] AssertionError: 1 != 2",
        "                     [1] AssertionError: 1 != 2",
        "                     [2] AssertionError: 1 != 2",
        "  passed   property  test_b, 2 cases",
        "  not run  unit      test_c",
        "                     not run",
        "  failed   unit      test_d",
        "                     AssertionError (test_a.py, line 3)",
    ]


def test_the_percentage_is_rounded_down(make_grade: Make) -> None:
    """79.96 % is 79 %, and not enough."""
    score = make_grade().score
    assert score is not None
    grade = make_grade(score=replace(score, killed=1999, scored=2500))
    text = _render(grade)
    assert "In all: 1999 of 2500 caught, 2000 needed (79 %, threshold 80 %)" in text
    assert text.endswith("not passed: 1999 of 2500 caught, 2000 needed")


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_the_report_fits_any_terminal(width: int, make_grade: Make) -> None:
    """No line is wider, and no word is lost."""
    text = _render(make_grade(["s05"]), width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "1 of 6 required faults" in " ".join(text.split())
