"""A student's repository: what counts as built, and what a student starts from."""

import ast
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.course import Assignment, Course, load_course
from grader.problems import PrerequisiteMissing, Problem, Unusable
from grader.workspace import Workspace, sections, start, stub

COURSE = """
title = "a course"
schema = 1
[assignments.A]
title = "the first"
module = "pack.deep.first"
[assignments.B]
title = "the second"
module = "pack.second"
needs = ["A"]
[assignments.C]
title = "the third"
module = "pack.third"
needs = ["B"]
"""
CONTRACT = '''"""The contract of a module.

Tolerance
- exact,
  on every machine
- é is one letter

Left open
- Names.
not a heading of anything

- no heading
"""

from typing import overload

LIMIT: int = 3  # a constant

class Box:
    """A box."""

    def open(self, *, far: bool = False) -> None: ...
    async def close(self) -> None:
        """Close it."""

@overload
def twice(x: int) -> int: ...
def spread(
    x: int,
) -> int:
    """Return more.

    Of x.
    """
def oneline() -> str: "é"
'''


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course of three assignments, each with a contract, the first with a starter test."""
    root = tmp_path / "course"
    contracts, starter = root / "reference/contracts/pack", root / "tests/starter/A"
    (contracts / "deep").mkdir(parents=True)
    starter.mkdir(parents=True)
    (root / "course.toml").write_text(COURSE)
    for name in ("deep/first", "second", "third"):
        (contracts / f"{name}.pyi").write_text(CONTRACT, encoding="utf-8")
    (starter / "test_first.py").write_text("def test_first():\n    pass\n")
    return load_course(root)


@pytest.fixture
def first(course: Course) -> Assignment:
    """The assignment that needs nothing."""
    return course.assignment("A")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty repository."""
    (tmp_path / "mine").mkdir()
    return Workspace.at(tmp_path / "mine")


def write(workspace: Workspace, path: str, content: str | bytes) -> Path:
    """Write a file of the student."""
    full = workspace.root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(content.encode() if isinstance(content, str) else content)
    return full


def told(action: Callable[[], object], problem: type[Problem] = Unusable) -> tuple[str, str]:
    """Return the slug and the text with which ``action`` is refused."""
    with pytest.raises(problem) as caught:
        action()
    return caught.value.message


class TestBuilt:
    """What counts as a built module."""

    def test_any_module_that_is_not_the_stub_counts(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """Whether it is right is for the tests to say."""
        write(workspace, "python/pack/deep/first.py", b"\xff")
        assert workspace.implementation(first) == b"\xff"
        assert workspace.require_implementation(first, "grade") == b"\xff"

    def test_a_missing_module_is_named_with_the_command_that_makes_it(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """The command is the one that was typed."""
        assert workspace.implementation(first) is None
        slug, text = told(lambda: workspace.require_implementation(first, "ol"))
        assert slug == "no-module"
        assert text.startswith(f"no file {workspace.root}/python/pack/deep/first.py: `ol start A`")

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text,
            lambda text: text.replace("\n", "\r\n"),
            lambda text: text.replace("\n", "  \n") + "\n\n",
            lambda text: text.replace("\n\n\n", "\n"),
            lambda text: "\ufeff" + text,
            lambda _: "",
            lambda _: " \n\t\n",
        ],
    )
    def test_the_stub_does_not_count_whatever_an_editor_did_to_its_blanks(
        self, workspace: Workspace, first: Assignment, change: Callable[[str], str]
    ) -> None:
        """Nor does a file with nothing in it."""
        write(workspace, first.student_module, change(stub(first)))
        assert workspace.implementation(first) is None
        slug, text = told(lambda: workspace.require_implementation(first, "grade"))
        assert slug == "stub-untouched"
        assert "build pack.deep.first first" in text

    def test_one_more_line_makes_it_count(self, workspace: Workspace, first: Assignment) -> None:
        """Work has begun."""
        write(workspace, first.student_module, stub(first) + "x = 1\n")
        assert workspace.implementation(first) is not None

    def test_without_a_contract_every_file_counts(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """There is no stub to compare with."""
        write(workspace, first.student_module, stub(first))
        first.contract_path.unlink()
        assert workspace.implementation(first) is not None

    def test_a_folder_or_a_broken_link_is_no_module(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """Nor is a link to itself, or a pipe."""
        path = workspace.root / first.student_module
        path.mkdir(parents=True)
        assert workspace.implementation(first) is None
        path.rmdir()
        for target in ("nowhere.py", path.name):
            path.symlink_to(target)
            assert workspace.implementation(first) is None
            path.unlink()
        os.mkfifo(path)
        assert workspace.implementation(first) is None

    def test_a_link_within_the_repository_is_followed(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """Where students keep their files is their business."""
        write(workspace, "notes/first.py", "x = 1\n")
        path = write(workspace, "python/pack/deep/other.py", "").with_name("first.py")
        path.symlink_to("../../../notes/first.py")
        assert workspace.implementation(first) == b"x = 1\n"

    def test_a_link_out_of_the_repository_is_refused(
        self, workspace: Workspace, first: Assignment, tmp_path: Path
    ) -> None:
        """Of the module, of a folder above it, and of the tests: they may be another student's."""
        other = tmp_path / "other"
        (other / "deep").mkdir(parents=True)
        (other / "deep" / "first.py").write_text("x = 1\n")
        (workspace.root / "python" / "tests").mkdir(parents=True)
        (workspace.root / "python" / "pack").symlink_to(other)
        (workspace.root / first.student_tests).symlink_to(other)
        assert told(lambda: workspace.implementation(first))[0] == "leads-out"
        assert told(lambda: workspace.dependencies(first))[0] == "leads-out"
        slug, text = told(lambda: workspace.tests(first, "grade"))
        assert slug == "leads-out"
        assert "python/tests/a leads out of the repository" in text

    def test_a_module_that_can_not_be_read_is_told(
        self, workspace: Workspace, first: Assignment, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a traceback."""

        def locked(*_: object) -> int:
            raise PermissionError(13, "Permission denied")

        write(workspace, first.student_module, "x = 1\n")
        monkeypatch.setattr(os, "open", locked)
        assert told(lambda: workspace.implementation(first))[1].endswith("Permission denied")


class TestPrerequisites:
    """What must be built first."""

    def test_the_message_is_the_one_that_the_course_prints(self, workspace: Workspace) -> None:
        """Of L3.4's needs all but the GRU are there; then of L4.1's the one before it isn't."""
        course = load_course()
        chosen = course.assignment("L3.4")
        for name in ("L3.2", "L0.1", "L0.2", "L0.4"):
            write(workspace, course.assignment(name).student_module, "x = 1\n")
        slug, text = told(lambda: workspace.require_prerequisites(chosen), PrerequisiteMissing)
        assert slug == "needs"
        assert text == "L3.4 needs L3.3: build it, or rerun with --ref-deps"

        write(workspace, course.assignment("L3.3").student_module, "x = 1\n")
        workspace.require_prerequisites(chosen)
        _, text = told(
            lambda: workspace.require_prerequisites(course.assignment("L4.1")), PrerequisiteMissing
        )
        assert text == "L4.1 needs L3.4: build it, or rerun with --ref-deps"

    def test_the_untouched_stub_of_a_prerequisite_is_not_built(
        self, workspace: Workspace, course: Course
    ) -> None:
        """`start` alone builds nothing."""
        start(workspace, course.assignment("A"))
        second = course.assignment("B")
        _, text = told(lambda: workspace.require_prerequisites(second), PrerequisiteMissing)
        assert text.startswith("B needs A")

    def test_what_is_needed_by_way_of_another_is_missed_last(
        self, workspace: Workspace, course: Course
    ) -> None:
        """It is imported all the same."""
        third = course.assignment("C")
        _, text = told(lambda: workspace.require_prerequisites(third), PrerequisiteMissing)
        assert text.startswith("C needs B")
        write(workspace, course.assignment("B").student_module, "x = 1\n")
        _, text = told(lambda: workspace.require_prerequisites(third), PrerequisiteMissing)
        assert text.startswith("C needs A")

    def test_dependencies_are_all_of_the_students_package_but_the_module_itself(
        self, workspace: Workspace, course: Course
    ) -> None:
        """Helpers too, whatever they are called."""
        for path in ("__init__.py", "deep/first.py", "deep/_help.py", "second.py", "note.txt"):
            write(workspace, f"python/pack/{path}", path)
        assert workspace.dependencies(course.assignment("B")) == {
            "pack/__init__.py": b"__init__.py",
            "pack/deep/first.py": b"deep/first.py",
            "pack/deep/_help.py": b"deep/_help.py",
        }

    def test_dependencies_are_found_where_the_course_puts_them(
        self, workspace: Workspace, course: Course
    ) -> None:
        """Here the needed module lies apart from its package."""
        settings = course.assignments["A"].settings.model_copy(update={"student_module": "a.py"})
        course.assignments["A"] = Assignment("A", course, settings)
        write(workspace, "a.py", "x = 1\n")
        found = workspace.dependencies(course.assignment("B"))
        assert found == {"pack/deep/first.py": b"x = 1\n"}

    def test_an_empty_repository_has_no_dependencies(
        self, workspace: Workspace, course: Course
    ) -> None:
        """Which ones are missing is said elsewhere."""
        assert workspace.dependencies(course.assignment("C")) == {}


class TestPlaces:
    """The folders of a repository."""

    def test_a_repository_must_be_a_folder(self, tmp_path: Path) -> None:
        """The message names the option that chooses one."""
        slug, text = told(lambda: Workspace.at(tmp_path / "none"))
        assert slug == "no-repository"
        assert "--repo" in text

    def test_a_repository_may_be_reached_by_a_link(self, tmp_path: Path) -> None:
        """It is the links inside that may lead astray."""
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        assert Workspace.at(tmp_path / "link").root == (tmp_path / "real").resolve()

    def test_the_tests_are_frozen_from_their_folder(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """And from nowhere else."""
        write(workspace, "python/tests/a/test_a.py", "x")
        write(workspace, "python/tests/test_b.py", "y")
        assert workspace.tests(first, "grade").files == {"test_a.py": b"x"}

    def test_a_missing_test_folder_is_named_with_the_command_that_makes_it(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """A file of its name is no folder."""
        write(workspace, "python/tests/a", "x")
        slug, text = told(lambda: workspace.tests(first, "ol"))
        assert slug == "no-test-folder"
        assert "python/tests/a: A's tests belong there; `ol start A` makes it" in text

    @pytest.mark.parametrize("path", ["test_a.py", "python/tests/test_a.py", "tests/a/it_test.py"])
    def test_tests_that_lie_elsewhere_are_named(
        self, workspace: Workspace, first: Assignment, path: str
    ) -> None:
        """Whether there is a folder for them or not."""
        write(workspace, path, "x")
        slug, text = told(lambda: workspace.tests(first, "grade"))
        assert slug == "no-test-folder"
        assert text.endswith(f"; there are tests elsewhere: {path}")
        write(workspace, "python/tests/a/helper.py", "x")
        [stray] = workspace.tests(first, "grade").left_out
        assert (stray.path, stray.why) == (path, "A's tests belong in python/tests/a")

    @pytest.mark.parametrize(
        "path",
        ["python/tests/b/test_b.py", ".venv/test_a.py", "env/lib/test_a.py", "a.py", "test_a.txt"],
    )
    def test_other_files_are_not_taken_for_such(
        self, workspace: Workspace, first: Assignment, path: str
    ) -> None:
        """Another assignment's tests, an environment's, and what is no test file."""
        write(workspace, path, "x")
        write(workspace, "env/pyvenv.cfg", "")
        write(workspace, "python/tests/a/helper.py", "x")
        assert workspace.tests(first, "grade").left_out == ()

    @pytest.mark.parametrize("above", ["python/tests/", "tests/", ""])
    def test_an_archive_of_another_assignments_tests_is_not_taken_for_this_ones(
        self, first: Assignment, course: Course, tmp_path: Path, above: str
    ) -> None:
        """By the name of the folder that holds them."""
        with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
            archive.writestr(f"{above}b/test_b.py", "x")
        workspace = Workspace.at(tmp_path / "mine.zip")
        assert told(lambda: workspace.tests(first, "grade"))[0] == "no-test-folder"
        assert set(workspace.tests(course.assignment("B"), "grade").files) == {"test_b.py"}

    def test_an_archive_whose_names_no_rule_allows_is_told_why(
        self, first: Assignment, tmp_path: Path
    ) -> None:
        """Some tools of Windows put backslashes into them."""
        with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
            archive.writestr("python\\tests\\a\\test_a.py", "x")
        slug, text = told(lambda: Workspace.at(tmp_path / "mine.zip").tests(first, "grade"))
        assert slug == "no-test-folder"
        assert text.endswith("test_a.py was left out: its name holds a backslash")

    def test_nobody_looks_elsewhere_where_there_are_tests(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """They may be for something else."""
        write(workspace, "test_a.py", "x")
        write(workspace, "python/tests/a/test_a.py", "x")
        assert workspace.tests(first, "grade").left_out == ()


class TestStart:
    """The files that a student starts from."""

    def test_it_writes_the_stub_a_test_and_the_packages(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """So that the module can be imported at once."""
        started = start(workspace, first)
        assert [str(path.relative_to(workspace.root)) for path in started.written] == [
            "python/pack/deep/first.py",
            "python/tests/a/test_first.py",
            "python/pack/deep/__init__.py",
            "python/pack/__init__.py",
        ]
        assert started.kept == ()
        assert (workspace.root / first.student_module).read_text(encoding="utf-8") == stub(first)
        assert set(workspace.tests(first, "grade").files) == {"test_first.py"}

    def test_nothing_that_exists_is_touched(self, workspace: Workspace, first: Assignment) -> None:
        """However often it is called."""
        mine = write(workspace, first.student_module, "x = 1\n")
        package = write(workspace, "python/pack/__init__.py", "y = 1\n")
        assert start(workspace, first).kept == (mine,)
        again = start(workspace, first)
        assert again.written == ()
        assert {path.name for path in again.kept} == {"first.py", "test_first.py"}
        assert (mine.read_text(), package.read_text()) == ("x = 1\n", "y = 1\n")

    def test_a_broken_link_is_something_that_exists(
        self, workspace: Workspace, first: Assignment, tmp_path: Path
    ) -> None:
        """Writing through it would write elsewhere."""
        path = write(workspace, "python/pack/deep/x.py", "").with_name("first.py")
        path.symlink_to(tmp_path / "elsewhere.py")
        assert start(workspace, first).kept == (path,)
        assert not (tmp_path / "elsewhere.py").exists()

    @pytest.mark.parametrize("path", ["a.py", "source/a.py", "pack/source/a.py"])
    def test_a_module_outside_the_usual_folders_gets_no_packages(
        self, tmp_path: Path, course: Course, path: str
    ) -> None:
        """None above the repository in particular, whatever that is called."""
        (tmp_path / "pack" / "deep").mkdir(parents=True)
        workspace = Workspace.at(tmp_path / "pack" / "deep")
        settings = course.assignments["A"].settings.model_copy(update={"student_module": path})
        started = start(workspace, Assignment("A", course, settings))
        assert {path.name for path in started.written} == {"a.py", "test_first.py"}
        assert not list(tmp_path.rglob("__init__.py"))

    def test_an_assignment_without_a_contract_can_not_be_started(
        self, workspace: Workspace, first: Assignment
    ) -> None:
        """And nothing is written."""
        first.contract_path.unlink()
        assert told(lambda: start(workspace, first))[0] == "no-contract"
        assert not list(workspace.root.iterdir())

    @pytest.mark.parametrize("path", ["python", "python/pack/deep"])
    def test_a_file_where_a_folder_belongs_is_told(
        self, workspace: Workspace, first: Assignment, path: str
    ) -> None:
        """Without a traceback."""
        write(workspace, path, "x")
        assert told(lambda: start(workspace, first))[0] == "unstartable"


class TestStub:
    """The contract, with bodies that raise."""

    def test_every_function_raises_its_own_name(self, first: Assignment) -> None:
        """Methods too, with and without a docstring."""
        tree = ast.parse(stub(first))
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        names = [function.name for function in functions]
        assert sorted(names) == ["close", "oneline", "open", "spread", "twice"]
        for function in functions:
            raising = f"raise NotImplementedError({function.name!r})"
            assert ast.unparse(function.body[-1]) == raising
            kept = 1 if ast.get_docstring(function) else 0
            assert len(function.body) == 1 + kept

    def test_signatures_docstrings_and_comments_are_the_contracts(self, first: Assignment) -> None:
        """A student reads nothing but this."""
        text = stub(first)
        assert ast.get_docstring(ast.parse(text)) == ast.get_docstring(ast.parse(CONTRACT))
        assert "LIMIT: int = 3  # a constant\n" in text
        assert "    def open(self, *, far: bool = False) -> None:\n        raise" in text
        assert '    """Return more.\n\n    Of x.\n    """\n    raise' in text

    def test_two_blank_lines_stand_before_each_definition(self, first: Assignment) -> None:
        """As formatters want it, where the contract has one."""
        assert "\n\n\nclass Box:" in stub(first)
        assert "\n\n\n@overload\ndef twice" in stub(first)

    def test_the_stub_of_the_built_in_course_can_be_run(self) -> None:
        """Its names are there, and raise."""
        namespace: dict[str, Any] = {"__name__": "bi"}
        exec(stub(load_course().assignment("L3.4")), namespace)
        with pytest.raises(NotImplementedError, match="reverse_padded"):
            namespace["reverse_padded"](None, None)


class TestSections:
    """The lists in a contract's docstring."""

    def test_items_stand_under_their_heading_on_one_line(self) -> None:
        """Whatever follows a blank line without a heading is no item."""
        assert sections(CONTRACT) == {
            "Tolerance": ["exact, on every machine", "é is one letter"],
            "Left open": ["Names."],
        }

    def test_a_contract_without_a_docstring_has_none(self) -> None:
        """Nor has one without lists."""
        assert sections("x: int\n") == sections('"""Just\n\n  words."""\n') == {}

    def test_the_built_in_contract_tells_its_tolerance_and_what_it_leaves_open(self) -> None:
        """`start` prints both."""
        path = load_course().assignment("L3.4").contract_path
        found = sections(path.read_text(encoding="utf-8"))
        assert list(found) == ["Tolerance", "Left open"]
        assert all(len(items) > 1 for items in found.values())
