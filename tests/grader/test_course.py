"""Reading a course: what is accepted, and what is refused with which words."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from grader.course import Assignment, AssignmentSettings, Course, Limits, builtin_root, load_course
from grader.messages import Message
from grader.problems import Unusable
from grader.toml import read_toml

COURSE = """
title = "a course"
schema = 1

[assignments.A]
title = "the first"
module = "pack.first"

[assignments.B]
title = "the second"
module = "pack.second"
needs = ["A"]
used_by = ["C"]
student_tests = "mine/b"

[assignments.C]
title = "the third"
module = "pack.third"
needs = ["B"]
"""
SEMANTIC = """
[[mutant]]
id = "s01"
title = "t"
pitfall = "p"
property = "q"
hint = ["one", "two", "three"]
edits = [{replace = "1", with = "2"}]
"""
MECHANICAL = """
generator = "mutmut"
module = "pack.second"
[[mutant]]
id = "m-01"
operator = "number"
line = 1
status = "scored"
edits = [{replace = "1", with = "3"}]
[[mutant]]
id = "m-02"
operator = "number"
line = 1
status = "equivalent"
reason = "zero is as good"
edits = [{replace = "1", with = "0"}]
"""

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write one file of a course."""

    def write_file(path: str, text: str) -> Path:
        full = tmp_path / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        return full

    return write_file


@pytest.fixture
def course(tmp_path: Path, write: Write) -> Course:
    """A course of three assignments, the second with mutants."""
    write("course.toml", COURSE)
    write("reference/pack/__init__.py", "")
    write("reference/pack/_shared.py", "SHARED = 1\n")
    for name in ("first", "second", "third"):
        write(f"reference/pack/{name}.py", "VALUE = 1\n")
    write("mutants/B/semantic.toml", SEMANTIC)
    write("mutants/B/mechanical.toml", MECHANICAL)
    return load_course(tmp_path)


def refusal(action: Callable[[], object]) -> Message:
    """Return the message with which ``action`` is refused."""
    with pytest.raises(Unusable) as caught:
        action()
    return caught.value.message


class TestWhereACourseIs:
    """Finding and opening a course."""

    def test_the_built_in_course_is_read_by_default(self) -> None:
        """Nobody has to name the course that comes with grader."""
        assert load_course().assignment("L3.4").module == "tinyllm.rnn.bi"

    def test_the_built_in_course_lies_in_a_folder_with_a_course_file(self) -> None:
        """It is found wherever grader is."""
        assert (builtin_root() / "course.toml").is_file()

    def test_a_folder_without_a_course_file_is_refused_by_name(self, tmp_path: Path) -> None:
        """The message says which folder."""
        problem = refusal(lambda: load_course(tmp_path))
        assert problem.slug == "no-course"
        assert str(tmp_path) in problem.text

    @pytest.mark.parametrize("content", [b"title = ", b'title = "\xff"'])
    def test_a_file_that_is_no_toml_is_refused(self, tmp_path: Path, content: bytes) -> None:
        """Neither as TOML nor as UTF-8."""
        (tmp_path / "course.toml").write_bytes(content)
        assert refusal(lambda: load_course(tmp_path)).slug == "course-unreadable"

    def test_what_can_not_be_opened_is_refused_like_what_can_not_be_parsed(
        self, tmp_path: Path
    ) -> None:
        """Here a folder."""
        assert refusal(lambda: read_toml(tmp_path, Limits)).slug == "course-unreadable"


class TestKeys:
    """What may be written in the files."""

    @pytest.mark.parametrize(
        ("wrong", "right"),
        [
            ("titel", "title"),
            ("thresold_percent", "threshold_percent"),
            ("limit", "limits"),
        ],
    )
    def test_an_unknown_key_is_refused_with_the_one_that_may_be_meant(
        self, tmp_path: Path, write: Write, wrong: str, right: str
    ) -> None:
        """On every level of the file."""
        write("course.toml", COURSE + f"{wrong} = 1\n")
        problem = refusal(lambda: load_course(tmp_path))
        assert problem.slug == "course-malformed"
        assert f"assignments.C.{wrong}: unknown key" in problem.text
        assert f"did you mean {right!r}?" in problem.text

    def test_a_key_that_resembles_none_is_refused_without_a_guess(
        self, tmp_path: Path, write: Write
    ) -> None:
        """A wild guess would mislead."""
        write("course.toml", COURSE + "qqqqqq = 1\n")
        problem = refusal(lambda: load_course(tmp_path))
        assert "unknown key" in problem.text
        assert "did you mean" not in problem.text

    def test_an_unknown_key_of_a_mutant_is_compared_with_the_names_used_in_files(
        self, course: Course, write: Write
    ) -> None:
        """Not with our attributes."""
        write("mutants/B/semantic.toml", SEMANTIC + "properti = 1\n")
        text = refusal(lambda: course.assignment("B").semantic).text
        assert "semantic.toml" in text
        assert "did you mean 'property'?" in text

    @pytest.mark.parametrize("key", ["title", "schema", "assignments"])
    def test_a_missing_key_is_named(self, tmp_path: Path, write: Write, key: str) -> None:
        """These three have no default."""
        lines = {"title": 'title = "t"', "schema": "schema = 1", "assignments": "assignments = {}"}
        del lines[key]
        write("course.toml", "\n".join(lines.values()))
        problem = refusal(lambda: load_course(tmp_path))
        assert f"course.toml: {key}: Field required" in problem.text

    def test_a_course_of_a_later_schema_is_refused(self, tmp_path: Path, write: Write) -> None:
        """Half understood is wrongly graded."""
        write("course.toml", COURSE.replace("schema = 1", "schema = 2"))
        assert "schema" in refusal(lambda: load_course(tmp_path)).text

    @pytest.mark.parametrize("name", ["../up", "a/b", "", "-x", "a b"])
    def test_an_id_that_could_not_name_a_folder_is_refused(
        self, tmp_path: Path, write: Write, name: str
    ) -> None:
        """Ids become parts of paths."""
        write("course.toml", COURSE.replace("[assignments.C]", f'[assignments."{name}"]'))
        assert refusal(lambda: load_course(tmp_path)).slug == "course-malformed"


ACCEPTED: list[tuple[type[BaseModel], str, object]] = [
    (Limits, "seconds_per_test", 0.5),
    (Limits, "seconds_in_all", 1),
    (Limits, "tests", 1),
    (Limits, "examples", 1),
    (Limits, "memory_megabytes", 256),
    (AssignmentSettings, "module", "top"),
    (AssignmentSettings, "module", "a.b_2.C"),
    (AssignmentSettings, "threshold_percent", 0),
    (AssignmentSettings, "threshold_percent", 100),
    (AssignmentSettings, "draws", [0]),
    (AssignmentSettings, "draws", [2, 1]),
    (AssignmentSettings, "controls", 1),
    (AssignmentSettings, "twins", 0),
    (AssignmentSettings, "visibility", "sealed"),
    (AssignmentSettings, "reveal", "none"),
    (AssignmentSettings, "allowed_imports", []),
    (AssignmentSettings, "limits", {"tests": 3}),
]
REFUSED: list[tuple[type[BaseModel], str, object]] = [
    (Limits, "seconds_per_test", 0),
    (Limits, "seconds_in_all", -1),
    (Limits, "tests", 0),
    (Limits, "examples", 0),
    (Limits, "memory_megabytes", 255),
    (AssignmentSettings, "module", ""),
    (AssignmentSettings, "module", "a..b"),
    (AssignmentSettings, "module", "a.1b"),
    (AssignmentSettings, "module", "a/b"),
    (AssignmentSettings, "threshold_percent", -1),
    (AssignmentSettings, "threshold_percent", 101),
    (AssignmentSettings, "threshold_percent", 79.96),
    (AssignmentSettings, "draws", []),
    (AssignmentSettings, "draws", [-1]),
    (AssignmentSettings, "draws", [1, 2, 1]),
    (AssignmentSettings, "controls", 0),
    (AssignmentSettings, "twins", -1),
    (AssignmentSettings, "visibility", "hidden"),
    (AssignmentSettings, "reveal", "all"),
    (AssignmentSettings, "allowed_imports", "numpy"),
    (AssignmentSettings, "limits", {"test": 3}),
]


def of(model: type[BaseModel], **changes: object) -> BaseModel:
    """Return a model with ``changes`` to what it requires."""
    required = {"title": "t", "module": "m"} if model is AssignmentSettings else {}
    return model.model_validate({**required, **changes})


@pytest.mark.parametrize(("model", "key", "value"), ACCEPTED)
def test_a_value_within_its_bounds_is_kept(model: type[BaseModel], key: str, value: object) -> None:
    """Every validator is seen to accept."""
    kept = getattr(of(model, **{key: value}), key)
    if isinstance(value, list):
        assert kept == tuple(value)
    elif isinstance(value, dict):
        assert kept == Limits.model_validate(value)
    else:
        assert kept == value


@pytest.mark.parametrize(("model", "key", "value"), REFUSED)
def test_a_value_out_of_its_bounds_is_refused(
    model: type[BaseModel], key: str, value: object
) -> None:
    """Every validator is seen to refuse, and names the key."""
    with pytest.raises(ValueError, match=key):
        of(model, **{key: value})


class TestNeeds:
    """What builds on what."""

    def test_the_closure_holds_what_is_needed_by_way_of_others(self, course: Course) -> None:
        """And not the assignment itself."""
        assert course.closure("A") == frozenset()
        assert course.closure("C") == {"A", "B"}

    @pytest.mark.parametrize("key", ["needs", "used_by"])
    def test_a_name_that_the_course_does_not_have_is_refused_with_a_near_one(
        self, tmp_path: Path, write: Write, key: str
    ) -> None:
        """In both directions."""
        text = COURSE.replace("assignments.A", "assignments.first")
        write("course.toml", text.replace('needs = ["A"]\nused_by = ["C"]', f'{key} = ["fist"]'))
        problem = refusal(lambda: load_course(tmp_path))
        assert problem.slug == "course-inconsistent"
        assert "B refers to 'fist'" in problem.text
        assert "did you mean 'first'?" in problem.text

    @pytest.mark.parametrize("last", ["A", "B", "C"])
    def test_a_cycle_of_any_length_is_refused(
        self, tmp_path: Path, write: Write, last: str
    ) -> None:
        """Of one, two and three assignments."""
        first = 'module = "pack.first"\n'
        write("course.toml", COURSE.replace(first, f'{first}needs = ["{last}"]\n'))
        problem = refusal(lambda: load_course(tmp_path))
        assert problem.slug == "course-inconsistent"
        assert "A needs itself" in problem.text

    def test_two_assignments_of_one_module_are_refused(self, tmp_path: Path, write: Write) -> None:
        """Either would hide the other's reference."""
        write("course.toml", COURSE.replace("pack.third", "pack.first"))
        assert "A and C are both" in refusal(lambda: load_course(tmp_path)).text

    def test_an_unknown_assignment_is_refused_with_a_near_one_and_the_list(
        self, course: Course
    ) -> None:
        """It is typed by hand."""
        problem = refusal(lambda: load_course().assignment("L34"))
        assert "did you mean 'L3.4'?" in problem.text
        assert "known: A, B, C" in refusal(lambda: course.assignment("Z")).text

    def test_dependencies_are_all_modules_but_those_of_unneeded_assignments(
        self, course: Course
    ) -> None:
        """Nor the module itself."""
        found = course.assignment("B").dependencies()
        assert set(found) == {"pack/__init__.py", "pack/_shared.py", "pack/first.py"}
        assert found["pack/_shared.py"] == "SHARED = 1\n"


class TestPlaces:
    """Where the parts of an assignment lie."""

    def test_paths_follow_from_the_module_and_the_id(self, course: Course) -> None:
        """A course need not name them."""
        first = course.assignment("A")
        assert first.module_path == "pack/first.py"
        assert first.student_module == "python/pack/first.py"
        assert first.student_tests == "python/tests/a"
        assert first.contract_path == course.root / "reference/contracts/pack/first.pyi"
        folders = (first.tests_path, first.gold_path, first.starter_path)
        assert [str(path.relative_to(course.root)) for path in folders] == [
            "tests/course/A",
            "tests/gold/A",
            "tests/starter/A",
        ]

    def test_paths_can_be_set(self, course: Course) -> None:
        """A course may name them."""
        assert course.assignment("B").student_tests == "mine/b"
        settings = of(AssignmentSettings, contract="c.pyi", student_module="s.py")
        assert isinstance(settings, AssignmentSettings)
        moved = Assignment("A", course, settings)
        assert moved.contract_path == course.root / "c.pyi"
        assert moved.student_module == "s.py"

    def test_a_missing_reference_is_named(self, course: Course) -> None:
        """An assignment may lack one until it is graded."""
        (course.root / "reference/pack/first.py").unlink()
        problem = refusal(lambda: course.assignment("A").source)
        assert "A: no reference at reference/pack/first.py" in problem.text


class TestMutants:
    """An assignment's faults."""

    def test_only_scored_ones_count_the_named_ones_first(self, course: Course) -> None:
        """In the order of the reports."""
        assert [mutant.id for mutant in course.assignment("B").mutants] == ["s01", "m-01"]

    def test_an_excluded_one_can_still_be_asked_for(self, course: Course) -> None:
        """To show why it was excluded."""
        assert course.assignment("B").mutant("m-02").scored is False

    def test_an_unknown_one_is_refused_with_the_list(self, course: Course) -> None:
        """It is typed by hand."""
        problem = refusal(lambda: course.assignment("B").mutant("s99"))
        assert problem.slug == "unknown-mutant"
        assert "known: s01, m-01, m-02" in problem.text

    def test_an_assignment_may_have_none(self, course: Course) -> None:
        """It can still be needed by another."""
        assert course.assignment("A").mutants == ()
        assert course.assignment("A").pool.module == "pack.first"

    @pytest.mark.parametrize("name", ["s01", "m-02"])
    def test_two_of_one_name_are_refused(self, course: Course, write: Write, name: str) -> None:
        """Within a file and across the two, or one would hide the other."""
        write("mutants/B/mechanical.toml", MECHANICAL.replace('"m-01"', f'"{name}"'))
        problem = refusal(lambda: course.assignment("B").mutants)
        assert problem.slug == "course-inconsistent"
        assert f"two mutants are called {name}" in problem.text


class TestHash:
    """The hash that stands for a course in caches and reports."""

    def test_it_is_the_same_for_the_same_content_elsewhere(
        self, course: Course, tmp_path: Path
    ) -> None:
        """It knows no absolute path."""
        copy = shutil.copytree(course.root, tmp_path / "copy")
        assert load_course(copy).sha256 == course.sha256

    @pytest.mark.parametrize(
        "path",
        [
            "course.toml",
            "reference/pack/first.py",
            "reference/contracts/pack/first.pyi",
            "mutants/B/semantic.toml",
            "fixtures/B/values.npz",
            "tests/course/B/test_b.py",
            "tests/gold/B/test_b.py",
            "tests/differential/B/test_b.py",
            "tests/calibration/B/test_b.py",
            "tests/starter/B/test_b.py",
        ],
    )
    def test_it_changes_with_any_file_of_the_course(
        self, course: Course, write: Write, path: str
    ) -> None:
        """Any of them may change a grade."""
        before = course.sha256
        full = course.root / path
        old = full.read_text() if full.exists() else ""
        write(path, old + "# more\n")
        assert load_course(course.root).sha256 != before

    def test_it_changes_when_a_file_is_renamed(self, course: Course) -> None:
        """A path is content too."""
        before = course.sha256
        old = course.root / "reference/pack/_shared.py"
        old.rename(old.with_name("_other.py"))
        assert load_course(course.root).sha256 != before

    @pytest.mark.parametrize(
        "path", ["reference/pack/__pycache__/first.cpython-311.pyc", "README.md", "grader/x.py"]
    )
    def test_it_ignores_bytecode_and_what_is_no_part_of_the_course(
        self, course: Course, write: Write, path: str
    ) -> None:
        """Running a course does not change it."""
        before = course.sha256
        write(path, "x")
        assert load_course(course.root).sha256 == before

    def test_a_course_that_lies_below_a_cache_folder_still_has_a_hash_of_its_own(
        self, course: Course, tmp_path: Path
    ) -> None:
        """Or all would be equal."""
        before = course.sha256
        copy = shutil.copytree(course.root, tmp_path / "__pycache__" / "copy")
        assert load_course(copy).sha256 == before
