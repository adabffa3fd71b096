"""What a student starts from: files that are never overwritten, and all there is to know."""

from pathlib import Path

import pytest

from tests.grader.cli.conftest import DOUBLE, Student, call


def test_start_writes_a_stub_and_a_test_file(student: Student) -> None:
    """And the folders that make the module importable."""
    ran = student("start", "T1")
    assert ran.code == 0
    files = student.files()
    assert set(files) == {
        "python/toy/__init__.py",
        "python/toy/double.py",
        "python/tests/t1/test_double.py",
    }
    assert b'raise NotImplementedError("double")' in files["python/toy/double.py"]
    for path in ("python/toy/double.py", "python/tests/t1/test_double.py"):
        assert f"written  {student.root / path}\n" in ran.out


def test_start_overwrites_nothing(student: Student) -> None:
    """It says what it kept, and may be typed again and again."""
    student.build().test("mine", "test_double.py")
    before = student.files()
    for _ in range(2):
        ran = student("start", "T1")
        assert ran.code == 0
        assert f"kept     {student.root / 'python/toy/double.py'}\n" in ran.out
        assert f"kept     {student.root / 'python/tests/t1/test_double.py'}\n" in ran.out
        assert before.items() <= student.files().items()


def test_start_tells_all_that_a_student_needs_to_know(student: Student) -> None:
    """Test path, rung, what passes, budgets, tolerance, what is open, and what is next."""
    ran = student("start", "T1", program="ol")
    assert "\n".join(ran.out.splitlines()[6:]) == (
        "your tests     python/tests/t1/test_*.py\n"
        "rung           R1\n"
        "to pass        every required fault caught, and 60 % of all faults\n"
        "budgets        3 s a test, 60 s in all, 20 tests, 512 MB\n"
        "\n"
        "Tolerance\n"
        "  - None: integers are exact.\n"
        "\n"
        "Left open\n"
        "  - The wording of the error's message.\n"
        "\n"
        "next: ol tests T1"
    )


def test_start_promises_no_grade_where_nothing_is_graded(student: Student) -> None:
    """Neither a test path nor tests of the course."""
    ran = student("start", "T0")
    assert ran.code == 0
    assert (student.root / "python/toy/step.py").is_file()
    for absent in ("your tests", "to pass", "budgets", "next:"):
        assert absent not in ran.out


def test_start_needs_a_contract(student: Student) -> None:
    """It names the file that is missing, and writes nothing."""
    ran = student("start", "T2")
    assert ran.code == 2
    assert "T2 has no contract at " in ran.err
    assert "reference/contracts/toy/later.pyi" in ran.err
    assert student.files() == {}


def test_the_flagship_starts_with_its_own_paths(tmp_path: Path) -> None:
    """L3.4 of the built-in course."""
    ran = call("start", "L3.4", "--repo", tmp_path)
    assert ran.code == 0
    assert (tmp_path / "python/tinyllm/rnn/bi.py").is_file()
    assert list((tmp_path / "python/tests/l3-4-bi").glob("test_*.py"))
    for said in ("python/tests/l3-4-bi/test_*.py", "R4", "rtol=1e-4", "Left open", "80 %"):
        assert said in ran.out


def test_alone_it_says_what_is_built_and_what_is_next(
    student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the folder where it is typed."""
    monkeypatch.chdir(student.root)
    ran = call(program="ol")
    assert ran.code == 0
    first, *_, last = ran.out.splitlines()
    assert first == "not built  L0.1  Tensor and automatic differentiation"
    assert last == "next: ol start L0.1"


@pytest.mark.parametrize(
    ("built", "following"),
    [
        ([], "next: grade start T0"),
        (["step"], "next: grade start T1"),
        (["step", "double"], "next: grade check T1"),
        (["double", "later"], "next: grade start T0"),
    ],
)
def test_what_is_next_can_be_done(built: list[str], following: str, student: Student) -> None:
    """What is built is skipped, what the course has no contract of isn't proposed."""
    for name in built:
        student.write(f"python/toy/{name}.py", DOUBLE)
    ran = student("status")
    assert ran.out.splitlines()[-1] == following
    for line, name in zip(ran.out.splitlines(), ["step", "double", "later"], strict=False):
        assert line.startswith("built" if name in built else "not built")


def test_a_stub_is_not_built_and_tests_are_seen(student: Student) -> None:
    """One line an assignment."""
    student("start", "T1")
    _, line, *_ = student("status").out.splitlines()
    assert line.split() == ["not", "built", "T1", "Doubling", "tests"]
