"""A student's own files: which of them take effect, and that one which can't be read is named."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome

Run = Callable[..., Outcome]
IT = "test_toy.py::test_it"
PASSING = "def test_it(): pass\n"


def assert_passes(outcome: Outcome, *tests: str) -> None:
    """Assert that these tests and no others were collected and passed."""
    assert outcome.end is End.COMPLETE, outcome
    assert outcome.unreadable == ()
    assert outcome.tests == tests
    assert [ran.failures for ran in outcome.runs.values() if ran.failed] == []


def only_unreadable(outcome: Outcome) -> tuple[str, str, str, int | None]:
    """Return path, exception, message and line of the only file that could not be read."""
    [broken] = outcome.unreadable
    failure = broken.failure
    return broken.path, failure.exception, failure.message, failure.line


def test_a_helper_beside_a_test_can_be_imported(run: Run) -> None:
    """By its plain name, as at home."""
    files = {"test_toy.py": f"import helper\n{PASSING}", "helper.py": "import toy.mod\n"}
    assert_passes(run(files), IT)


def test_a_helper_in_a_folder_can_be_imported(run: Run) -> None:
    """With and without ``__init__``."""
    files = {
        "test_toy.py": f"import tools.one, more.two\n{PASSING}",
        "tools/__init__.py": "",
        "tools/one.py": "",
        "more/two.py": "",
    }
    assert_passes(run(files), IT)


def test_relative_imports_work_in_a_package(run: Run) -> None:
    """Of a helper beside, and of one above."""
    files = {
        "pack/__init__.py": "",
        "pack/helper.py": "",
        "pack/inner/__init__.py": "",
        "pack/inner/test_toy.py": f"from .. import helper\nfrom . import near\n{PASSING}",
        "pack/inner/near.py": "",
    }
    assert_passes(run(files), "pack/inner/test_toy.py::test_it")


def test_a_test_file_may_import_another(run: Run) -> None:
    """Its tests then run in both."""
    files = {"test_a.py": PASSING, "test_b.py": "from test_a import test_it\n"}
    assert_passes(run(files), "test_a.py::test_it", "test_b.py::test_it")


def test_a_helper_beside_a_file_comes_before_one_of_the_same_name_above(run: Run) -> None:
    """As at home; each file finds its own."""
    files = {
        "test_a.py": "import first\ndef test_it(): assert first.PLACE == 'above'\n",
        "first.py": "PLACE = 'above'\n",
        "other.py": "PLACE = 'above'\n",
        "sub/test_b.py": "import other\ndef test_it(): assert other.PLACE == 'beside'\n",
        "sub/other.py": "PLACE = 'beside'\n",
        "test_c.py": "import third\ndef test_it(): assert third.PLACE == 'above'\n",
        "third.py": "PLACE = 'above'\n",
        "sub/third.py": "PLACE = 'beside'\n",
    }
    assert_passes(run(files), "test_a.py::test_it", "sub/test_b.py::test_it", "test_c.py::test_it")


def test_what_is_installed_comes_before_what_lies_beside(run: Run) -> None:
    """In a folder further down as well."""
    files = {"sub/wave.py": "1 / 0\n", "sub/test_toy.py": f"import wave\n{PASSING}"}
    assert_passes(run(files), "sub/test_toy.py::test_it")


def test_fixtures_of_every_conftest_above_a_test_are_there(run: Run) -> None:
    """Though the files have one name, and none is in a package."""
    fixture = "import pytest\n@pytest.fixture\ndef {}(): return {}\n"
    files = {
        "conftest.py": fixture.format("four", 4),
        "sub/conftest.py": fixture.format("five", 5),
        "sub/test_toy.py": "def test_it(four, five): assert four + 1 == five\n",
    }
    assert_passes(run(files), "sub/test_toy.py::test_it")


def test_a_test_file_may_be_named_either_way(run: Run) -> None:
    """pytest collects both; here the supervisor names them."""
    files = {"a_test.py": PASSING, "test_b.py": PASSING}
    outcome = run(files, targets=["a_test.py", "test_b.py"])
    assert_passes(outcome, "a_test.py::test_it", "test_b.py::test_it")


def test_files_run_in_the_order_of_the_job(run: Run) -> None:
    """In every cell the same."""
    files = {"test_a.py": PASSING, "test_b.py": PASSING}
    outcome = run(files, targets=["test_b.py", "test_a.py"])
    assert outcome.tests == ("test_b.py::test_it", "test_a.py::test_it")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("numpy.py", "raise RuntimeError('shadowed')\n"),
        ("pytest.py", "raise RuntimeError('shadowed')\n"),
        ("hypothesis.py", "raise RuntimeError('shadowed')\n"),
        ("json.py", "raise RuntimeError('shadowed')\n"),
        ("wave.py", "raise RuntimeError('shadowed')\n"),
        ("numpy/__init__.py", "raise RuntimeError('shadowed')\n"),
        ("toy/__init__.py", "raise RuntimeError('shadowed')\n"),
        ("toy/mod.py", "def double(n): return 0\n"),
        ("toy.py", "raise RuntimeError('shadowed')\n"),
        ("grader_worker.py", "raise RuntimeError('shadowed')\n"),
        ("sitecustomize.py", "raise RuntimeError('shadowed')\n"),
        ("usercustomize.py", "raise RuntimeError('shadowed')\n"),
        ("pytest.ini", "[pytest]\naddopts = --co\n"),
        ("tox.ini", "[pytest]\naddopts = --co\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = --co\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--co'\n"),
        (".grader.ini", "[pytest]\naddopts = --co\n"),
        ("rogue.dist-info/entry_points.txt", "[pytest11]\nrogue = rogue\n"),
        ("rogue.pth", "import os; os._exit(1)\n"),
    ],
)
def test_a_file_of_the_students_hides_nothing_and_configures_nothing(
    run: Run, path: str, content: str
) -> None:
    """Whatever is installed or served comes first, and grader's configuration is the only one."""
    suite = """
import json, wave
import hypothesis, numpy, pytest
from toy.mod import double
def test_it():
    assert double(2) == 4
    assert numpy.arange(2).sum() == 1
"""
    assert_passes(run({"test_toy.py": suite, path: content}), IT)


@pytest.mark.parametrize("name", ["--co", "-x", "--collect-only", "-k nothing", "@args"])
def test_a_file_with_the_name_of_an_option_is_no_option(run: Run, name: str) -> None:
    """Files are named after a double dash, by their whole path."""
    files = {"test_toy.py": PASSING, f"{name}.py": "", name: ""}
    assert_passes(run(files), IT)
    outcome = run({"test_toy.py": PASSING, f"{name}/test_b.py": PASSING})
    assert "test_toy.py::test_it" in outcome.tests


def test_a_syntax_error_is_named_with_its_line(run: Run) -> None:
    """And the other file runs."""
    outcome = run({"test_a.py": "x = 1\ndef test_it(:\n", "test_toy.py": PASSING})
    path, exception, _, line = only_unreadable(outcome)
    assert (path, exception, line) == ("test_a.py", "SyntaxError", 2)
    assert outcome.end is End.COMPLETE
    assert outcome.tests == (IT,)


@pytest.mark.parametrize(
    ("content", "exception", "line"),
    [
        ("import pytest\nimport nothing_of_that_name\n", "ModuleNotFoundError", 2),
        ("from toy.mod import triple\n", "ImportError", 1),
        ("import toy.mod\n\n1 / 0\n", "ZeroDivisionError", 3),
        ("assert False, 'at import'\n", "AssertionError", 1),
        ("import pytest\npytest.skip('not so')\n", "Exception", None),
        ("raise MemoryError\n", "MemoryError", 1),
        ("import pytest\n@pytest.mark.parametrize('m', [1])\ndef test_it(n): pass\n", None, None),
        ("x = '\x00'\n", None, None),
    ],
)
def test_a_file_that_can_not_be_imported_is_named(
    run: Run, content: str, exception: str | None, line: int | None
) -> None:
    """With the exception, and the student's own line."""
    outcome = run({"test_a.py": content, "test_toy.py": PASSING})
    assert outcome.end is End.COMPLETE
    assert outcome.tests == (IT,)
    path, found, _, where = only_unreadable(outcome)
    assert path == "test_a.py"
    if line is not None:
        assert (found, where) == (exception, line)


def test_a_file_that_is_not_utf_8_is_named(run: Run) -> None:
    """It would have been refused by the look; here it is only unreadable."""
    outcome = run({"test_a.py": b"x = '\xff'\n", "test_toy.py": PASSING})
    assert only_unreadable(outcome)[0] == "test_a.py"


def test_a_file_may_be_saved_with_a_byte_order_mark(run: Run) -> None:
    """Editors on Windows write one."""
    assert_passes(run({"test_toy.py": b"\xef\xbb\xbf" + PASSING.encode()}), IT)


def test_two_files_of_one_name_in_two_folders_are_told_apart_or_named(run: Run) -> None:
    """Without packages around them pytest can import only one."""
    outcome = run({"a/test_same.py": PASSING, "b/test_same.py": PASSING})
    assert outcome.end is End.COMPLETE
    assert outcome.tests == ("a/test_same.py::test_it",)
    assert only_unreadable(outcome)[0] == "b/test_same.py"
    packages = {"a/__init__.py": "", "b/__init__.py": ""}
    outcome = run({"a/test_same.py": PASSING, "b/test_same.py": PASSING, **packages})
    assert_passes(outcome, "a/test_same.py::test_it", "b/test_same.py::test_it")


def test_a_variant_that_can_not_be_imported_makes_the_test_file_unreadable(run: Run) -> None:
    """As on a mutant that raises at once."""
    outcome = run(f"import toy.mod\n{PASSING}", variant="raise ValueError('at once')\n")
    assert only_unreadable(outcome) == ("test_toy.py", "ValueError", "at once", 1)


@pytest.mark.parametrize(
    ("variant", "exception"),
    [
        ("def double(:\n", "SyntaxError"),
        ("x = '\0'\n", "SyntaxError"),
        ("x = '\udcff'\n", "UnicodeEncodeError"),
        ("(" * 300 + ")" * 300, "SyntaxError"),
    ],
)
def test_a_variant_that_can_not_be_compiled_raises_where_it_is_imported(
    run: Run, variant: str, exception: str
) -> None:
    """A student's own implementation may be anything; each import says the same."""
    suite = """
import pytest
def test_it():
    for _ in range(2):
        with pytest.raises((SyntaxError, ValueError)) as caught:
            import toy.mod
    raise AssertionError(type(caught.value).__name__)
"""
    outcome = run(suite, variant=variant)
    assert outcome.runs[IT].failures[0].message == exception


class TestAConftest:
    """It is read before anything else, and one that can't be stops pytest at once."""

    @pytest.mark.parametrize(
        ("content", "kind", "exception"),
        [
            ("x = 1\nraise ValueError('broken')\n", "ordinary", "ValueError"),
            ("x = 1\nimport nothing_of_that_name\n", "ordinary", "ModuleNotFoundError"),
            ("x = 1\ndef f(:\n", "ordinary", "SyntaxError"),
            ("x = 1\nraise SystemExit(0)\n", "exit", "SystemExit"),
            ("import pytest\npytest.exit('bye')\n", "exit", "Exit"),
            ("import pytest\npytest.skip('no', allow_module_level=True)\n", "ordinary", "Skipped"),
        ],
    )
    def test_one_that_raises_is_named(
        self, run: Run, content: str, kind: str, exception: str
    ) -> None:
        """With its exception and its line."""
        outcome = run({"conftest.py": content, "test_toy.py": PASSING})
        [broken] = outcome.unreadable
        assert broken.path == outcome.at == "conftest.py"
        assert (broken.failure.kind, broken.failure.exception) == (kind, exception)
        assert broken.failure.line == 2
        assert outcome.end is End.CRASH
        assert not outcome.collected

    def test_one_that_leaves_the_interpreter_is_named(self, run: Run) -> None:
        """Nothing else could name it."""
        outcome = run({"conftest.py": "import os\nos._exit(0)\n", "test_toy.py": PASSING})
        assert (outcome.end, outcome.at) == (End.CRASH, "conftest.py")

    def test_of_several_the_one_that_raises_is_named(self, run: Run) -> None:
        """By its path."""
        files = {
            "conftest.py": "",
            "a/conftest.py": "1 / 0\n",
            "a/test_a.py": PASSING,
            "test_toy.py": PASSING,
        }
        outcome = run(files)
        assert [broken.path for broken in outcome.unreadable] == ["a/conftest.py"]

    @pytest.mark.parametrize(
        "hook",
        [
            "def pytest_configure(config): 1 / 0",
            "def pytest_sessionstart(session): 1 / 0",
            "def pytest_collection_modifyitems(items): 1 / 0",
            "def pytest_generate_tests(metafunc): 1 / 0",
            "def pytest_itemcollected(item): 1 / 0",
        ],
    )
    def test_one_whose_hook_raises_before_the_tests_is_named(self, run: Run, hook: str) -> None:
        """As the file, or at least as the line, that raised."""
        outcome = run({"conftest.py": f"\n{hook}\n", "test_toy.py": PASSING})
        places = {(broken.failure.file, broken.failure.line) for broken in outcome.unreadable}
        assert places == {("conftest.py", 2)}
        assert outcome.tests == ()

    def test_hooks_work(self, run: Run) -> None:
        """Markers, options of its own, generated parameters."""
        conftest = """
def pytest_configure(config):
    config.addinivalue_line("markers", "mine: of my own")
def pytest_generate_tests(metafunc):
    if "n" in metafunc.fixturenames:
        metafunc.parametrize("n", [1, 2])
"""
        suite = "import pytest\n@pytest.mark.mine\ndef test_it(n): assert n\n"
        outcome = run({"conftest.py": conftest, "test_toy.py": suite})
        assert_passes(outcome, f"{IT}[1]", f"{IT}[2]")
