"""Requests that can't be met: each has its exit code, and a sentence that names the thing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.grader.cli.conftest import DOUBLE, GOOD, TOY, Student, call

ASSIGNED = ["start", "tests", "mutate", "check"]
NOBODY = 65534
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", ASSIGNED)
def test_an_unknown_assignment_is_named_with_what_may_be_meant(
    command: str, student: Student
) -> None:
    """And all that there are."""
    ran = student(command, "T11", program="ol")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "ol: no assignment 'T11' in the course toy (did you mean 'T1'?); known: T0, T1, T2\n"
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["mutat", "T1"], "No such command 'mutat'"),
        (["mutate"], "Missing argument 'ASSIGNMENT'"),
        (["mutate", "T1", "--sandbx", "process"], "No such option '--sandbx'"),
        (["mutate", "T1", "--sandbox", "jail"], "'jail' is not one of 'auto', 'docker', 'process'"),
        (["mutate", "T1", "--jobs", "0"], "0 is not in the range x>=1"),
        (["mutate", "T1", "--seed", "x"], "'x' is not a valid integer"),
        (
            ["mutate", "T1", "--policy", "lenient"],
            "'lenient' is not one of 'practice', 'authoritative'",
        ),
        (["mutate", "T1", "T2"], "unexpected extra argument (T2)"),
        (["mutants"], "Commands:"),
    ],
)
def test_what_was_typed_wrong_is_named(typed: list[str], said: str) -> None:
    """With the name of the program and a way to help."""
    ran = call(*typed, program="ol")
    assert ran.code == 2
    assert said in ran.err
    assert "Usage: ol" in ran.err


@pytest.mark.parametrize("command", ["mutate", "check"])
def test_a_missing_test_folder_is_named_with_the_command_that_makes_it(
    command: str, student: Student
) -> None:
    """Under the name that was typed, before anything runs."""
    student.build()
    ran = student.graded(command, program="ol")
    folder = student.root / "python" / "tests" / "t1"
    assert ran.code == 2
    assert ran.err == (f"ol: no folder {folder}: T1's tests belong there; `ol start T1` makes it\n")


def test_a_missing_repository_is_named(tmp_path: Path) -> None:
    """With the option that names one."""
    ran = call("mutate", "T1", "--course", TOY, "--repo", tmp_path / "nowhere")
    assert ran.code == 2
    assert f"no folder {tmp_path / 'nowhere'}" in ran.err
    assert "--repo" in ran.err


def test_a_missing_course_is_named(tmp_path: Path) -> None:
    """A folder without a course.toml is none, and neither is a file."""
    (tmp_path / "file").touch()
    for place in ("nowhere", ".", "file"):
        ran = call("mutate", "T1", "--course", tmp_path / place, "--repo", tmp_path)
        assert ran.code == 2
        assert f"no course at {(tmp_path / place).resolve()}" in ran.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema = 1", "schema = ", "course.toml can't be read as TOML"),
        ("schema = 1", "schema = 2", "course.toml: schema: "),
        ("threshold_percent", "treshold_percent", "(did you mean 'threshold_percent'?)"),
        ("threshold_percent = 60", "threshold_percent = 160", "assignments.T1.threshold_percent"),
        ('needs = ["T0"]', 'needs = ["T9"]', "T1 refers to 'T9', which the course doesn't have"),
        ('needs = ["T0"]', 'needs = ["T2"]', "T1 needs itself"),
    ],
)
def test_a_malformed_course_is_refused_with_the_place(
    old: str, new: str, said: str, toy: Path
) -> None:
    """Every command that reads it."""
    path = toy / "course.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    for typed in (["mutate", "T1", "--repo", toy], ["mutants", "list", "T1"], ["status"]):
        ran = call(*typed, "--course", toy)
        assert ran.code == 2
        assert said in ran.err
        assert str(path) in ran.err


@pytest.fixture
def nobody() -> Iterator[None]:
    """Be a user whom files' modes mean something to."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    yield
    os.seteuid(before)


def test_an_unreadable_course_is_named(toy: Path, request: pytest.FixtureRequest) -> None:
    """It is no fault of grader."""
    toy.chmod(0)
    request.getfixturevalue("nobody")
    ran = call("mutants", "list", "T1", "--course", toy)
    assert ran.code == 2
    assert ran.err == f"grade: can't read {toy / 'course.toml'}: Permission denied\n"


def test_a_json_path_that_cant_be_written_is_refused_before_anything_runs(
    student: Student, tmp_path: Path
) -> None:
    """No folder, or a folder itself."""
    student.build().test(GOOD)
    for path in (tmp_path / "nowhere" / "out.json", tmp_path):
        ran = student("mutate", "T1", "--sandbox", "docker", "--json", path)
        assert ran.code == 2
        assert f"can't write {path}: " in ran.err


def test_a_refused_request_leaves_no_json_and_spoils_none(student: Student, tmp_path: Path) -> None:
    """Exit 2 says nothing of a grade."""
    old = tmp_path / "old.json"
    old.write_text("mine", encoding="utf-8")
    for path in (tmp_path / "new.json", old):
        assert student.graded("mutate", "--json", path).code == 2
    assert not (tmp_path / "new.json").exists()
    assert old.read_text(encoding="utf-8") == "mine"


def test_an_assignment_without_mutants_cant_be_graded(student: Student, tmp_path: Path) -> None:
    """Whether there are tests of it or not; L3.2 of the built-in course is one."""
    student.build()
    student.write("python/toy/later.py", DOUBLE)
    for command in ("mutate", "check"):
        ran = student(command, "T2")
        assert ran.code == 2
        assert ran.err == (
            "grade: T2 has no mutants in this course, so tests of it can't be graded\n"
        )
    ran = call("mutate", "L3.2", "--repo", tmp_path, program="ol")
    assert ran.code == 2
    assert ran.err.startswith("ol: L3.2 has no mutants")


def test_an_assignment_without_course_tests_or_goldens_says_so(student: Student) -> None:
    """Each command its own lack."""
    student.build()
    ran = student("tests", "T0", "--sandbox", "process")
    assert (ran.code, ran.err) == (2, "grade: T0 has no course tests in this course\n")
    ran = call("fixtures", "regenerate", "T1", "--course", TOY)
    assert (ran.code, ran.err) == (2, "grade: T1 has no goldens in this course\n")
    ran = call("mutants", "verify", "T0", "--course", TOY)
    assert ran.code == 2
    assert ran.err.startswith("grade: T0 has no mutants")


def test_a_missing_module_and_an_untouched_stub_are_told_apart(student: Student) -> None:
    """Neither can be tested."""
    student.write("python/toy/step.py", "def step(n):\n    return n + 1\n")
    path = student.root / "python" / "toy" / "double.py"
    ran = student("tests", "T1", program="ol")
    assert ran.code == 2
    assert ran.err == f"ol: no file {path}: `ol start T1` makes a stub to fill in\n"

    assert student("start", "T1").code == 0
    for command in ("tests", "check"):
        ran = student(command, "T1")
        assert ran.code == 2
        assert ran.err == f"grade: {path} is the untouched stub: build toy.double first\n"


def test_a_module_that_isnt_utf8_is_named(student: Student) -> None:
    """It is read in no other way."""
    student.build(b"# \xff\n" + DOUBLE.encode())
    ran = student("tests", "T1")
    assert ran.code == 2
    assert f"{student.root / 'python/toy/double.py'} can't be read: invalid start byte" in ran.err


def test_a_prerequisite_that_isnt_built_is_named(student: Student, tmp_path: Path) -> None:
    """Missing or an untouched stub; with the way around it."""
    said = "grade: T1 needs T0: build it, or rerun with --ref-deps\n"
    student.write("python/toy/double.py", DOUBLE)
    for command in ("tests", "check"):
        ran = student(command, "T1")
        assert (ran.code, ran.out, ran.err) == (4, "", said)
    assert student("start", "T0").code == 0
    assert student("check", "T1").err == said

    ran = call("check", "L4.1", "--repo", tmp_path, program="ol")
    assert ran.code == 4
    assert ran.err == "ol: L4.1 needs L3.4: build it, or rerun with --ref-deps\n"


@pytest.mark.parametrize(
    ("assignment", "missing", "module"),
    [
        ("L3.4", "L3.3", "rnn/gru.py"),
        ("L3.4", "L3.2", "rnn/lstm.py"),
        ("L4.1", "L3.4", "rnn/bi.py"),
    ],
)
def test_the_built_in_course_names_the_module_that_is_missing(
    assignment: str, missing: str, module: str, student: Student
) -> None:
    """Where all others are built."""
    for path in (ROOT / "reference" / "tinyllm").rglob("*.py"):
        name = path.relative_to(ROOT / "reference" / "tinyllm").as_posix()
        if name != module:
            student.write(f"python/tinyllm/{name}", path.read_bytes())
    ran = call("check", assignment, "--repo", student.root)
    assert ran.code == 4
    assert ran.err == (f"grade: {assignment} needs {missing}: build it, or rerun with --ref-deps\n")


def test_a_mutant_that_isnt_there_is_named() -> None:
    """With those that are."""
    ran = call("mutants", "show", "T1", "s03", "--course", TOY)
    assert ran.code == 2
    assert "no mutant 's03' in T1" in ran.err
    assert "s01, s02, m-00000001" in ran.err


def test_more_than_the_course_reveals_is_refused(student: Student) -> None:
    """Not silently cut down."""
    student.test(GOOD)
    ran = student.graded("mutate", "--reveal", "diff")
    assert ran.code == 2
    assert ran.err == "grade: --reveal diff says more than T1 allows: at most behaviour\n"


def test_a_test_folder_that_is_too_large_is_refused(student: Student) -> None:
    """By name."""
    student.test(GOOD)
    student.test("#" * (600 << 10), "test_large.py")
    ran = student.graded("mutate")
    assert ran.code == 2
    assert "test_large.py" in ran.err


def test_a_path_that_a_terminal_would_obey_is_made_visible(tmp_path: Path) -> None:
    """In complaints too."""
    ran = call("mutate", "T1", "--course", tmp_path / "a\x1b[31mred")
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert "a\\x1b[31mred" in ran.err
