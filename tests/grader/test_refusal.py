"""Imports: which of a student's files are refused, and on what grounds."""

import pytest

from grader.course import AssignmentSettings, load_course
from grader.messages import Message
from grader.outcome import Look
from grader.refusal import allowed, own_modules, refusal

SETTINGS = AssignmentSettings(
    title="t",
    module="pack.mod",
    allowed_imports=("pack.mod", "pack.other", "numpy", "collections", "random"),
)


def judged(*imports: str, path: str = "test_a.py", files: tuple[str, ...] = ()) -> Message | None:
    """Return why a file with these imports is refused; ``files`` lie beside it."""
    look = Look(
        path=path,
        problem=None,
        imports=tuple((name, line) for line, name in enumerate(imports, 1)),
        near_misses=(),
    )
    return refusal(SETTINGS, (path, *files), look)


@pytest.mark.parametrize(
    "name",
    [
        "pack.mod",
        "pack.mod:reverse",
        "pack:mod",
        "pack.mod.inner",
        "pack.mod.inner:x",
        "numpy",
        "numpy:float32",
        "numpy.testing:assert_allclose",
        "collections.abc:Callable",
        "__future__:annotations",
    ],
)
def test_what_the_assignment_allows_may_be_imported_in_every_form(name: str) -> None:
    """As a module, by a name in it, from the package above it, and what lies below it."""
    assert judged(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "pack",
        "pack:hidden",
        "pack.hidden",
        "pack.hidden:x",
        "pack:*",
        "pack.module",
        "pack.mo",
        "os",
        "os:path",
        "numpy2",
        "collectionsx",
        "builtins:open",
    ],
)
def test_anything_else_is_refused_with_name_line_and_what_is_allowed(name: str) -> None:
    """A name that merely begins like an allowed one is another name."""
    problem = judged("numpy", name)
    assert problem is not None
    assert problem.slug == "refused-import"
    assert f"imports {name.replace(':', '.')} (line 2)" in problem.text
    assert "allowed: pack.mod, pack.other, numpy" in problem.text


def test_the_first_forbidden_import_is_the_one_that_is_told() -> None:
    """One at a time is enough to mend."""
    problem = judged("numpy", "os", "sys")
    assert problem is not None
    assert "os (line 2)" in problem.text


def test_a_star_turns_the_rule_off() -> None:
    """For courses that don't want it."""
    assert allowed("anything.at:all", ("*",), ())


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("helper", ("helper.py",)),
        ("helper:thing", ("helper.py",)),
        ("part.helper:thing", ("part/__init__.py", "part/helper.py")),
        ("beside", ("part/beside.py", "part/test_b.py")),
    ],
)
def test_a_students_own_files_may_be_imported(name: str, files: tuple[str, ...]) -> None:
    """Wherever they lie below the test folder."""
    assert judged(name) is not None
    assert judged(name, files=files) is None


@pytest.mark.parametrize("name", ["os", "subprocess", "pack", "pack.hidden", "ctypes"])
@pytest.mark.parametrize("folder", ["", "part/"])
def test_a_file_named_after_a_forbidden_module_does_not_open_the_door_to_it(
    name: str, folder: str
) -> None:
    """Python would import the installed one."""
    file = f"{folder}{name.partition('.')[0]}.py"
    assert judged(name, files=(file,)) is not None


@pytest.mark.parametrize(
    "path",
    [
        "pack/__init__.py",
        "pack.py",
        "numpy.py",
        "numpy/core.py",
        "random.py",
        "pytest.py",
        "hypothesis/strategies.py",
    ],
)
def test_a_file_that_would_hide_the_course_or_its_tools_is_refused(path: str) -> None:
    """The message asks for another name."""
    problem = judged(path=path)
    assert problem is not None
    assert problem.slug == "refused-shadow"
    assert "rename" in problem.text


@pytest.mark.parametrize("path", ["test_numpy.py", "part/test_a.py", "conftest.py", "mod.py"])
def test_other_names_hide_nothing(path: str) -> None:
    """Tests are often called after what they test."""
    assert judged(path=path) is None


def test_an_undecodable_file_is_refused_with_the_place() -> None:
    """So that it can be found."""
    look = Look(
        path="test_a.py",
        problem=("encoding", "byte 3 is not UTF-8", None),
        imports=(),
        near_misses=(),
    )
    found = refusal(SETTINGS, ("test_a.py",), look)
    assert found is not None
    assert "byte 3 is not UTF-8; save it as UTF-8" in found.text


def test_own_modules_are_the_names_of_files_and_folders() -> None:
    """But for those that belong to others."""
    files = ("test_a.py", "part/helper.py", "json.py", "pack/x.py", "numpy.py")
    assert own_modules(SETTINGS, files) == {"test_a", "part", "helper", "x"}


@pytest.mark.parametrize(
    ("name", "permitted"),
    [
        ("tinyllm.rnn.bi:bidirectional", True),
        ("tinyllm.rnn:bi", True),
        ("tinyllm.autograd.tensor:Tensor", True),
        ("hypothesis.extra.numpy:arrays", True),
        ("unittest.mock:patch", True),
        ("tinyllm.autograd.functional:concat", False),
        ("tinyllm.nn.module:Module", False),
        ("tinyllm", False),
        ("inspect", False),
        ("sys", False),
    ],
)
def test_the_built_in_course_allows_what_its_page_lists(name: str, permitted: bool) -> None:
    """L3.4's own list."""
    settings = load_course().assignment("L3.4").settings
    assert allowed(name, settings.allowed_imports, ()) is permitted
