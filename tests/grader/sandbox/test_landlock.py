"""What a cell sees of the machine's files, where it has no tree of its own."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import course
from grader.outcome import End, Outcome
from grader.sandbox.process import PARTS, readable
from grader.worker import confine, landlock

Run = Callable[..., Outcome]
IT = "test_toy.py::test_it"
ROOT = Path(course.__file__).parents[1]


def failure(run: Run, body: str) -> str | None:
    """Return the exception that a test's body ends in, if it does."""
    outcome = run(f"import os, pathlib\ndef test_it():\n    {body}\n")
    assert outcome.end is End.COMPLETE
    failures = outcome.runs[IT].failures
    return failures[0].exception if failures else None


@pytest.mark.parametrize(
    "body",
    [
        "open('/proc/self/maps')",
        "os.listdir('/proc')",
        "os.listdir('/sys')",
        "open('/etc/hostname')",
        "os.listdir('/tmp')",
        "os.listdir('/home')",
        "os.listdir('/')",
        f"open({str(ROOT / 'reference' / 'tinyllm' / 'rnn' / 'bi.py')!r})",
        f"open({str(ROOT / 'grader' / 'messages.py')!r})",
        "os.symlink('/etc/hostname', 'link'); open('link')",
        "os.link('/etc/hostname', 'link'); open('link')",
    ],
)
def test_what_a_test_does_not_need_can_not_be_read(process_run: Run, body: str) -> None:
    """Of the machine, of the course and of grader."""
    assert failure(process_run, body) in ("PermissionError", "OSError")


@pytest.mark.parametrize("place", ["tmp", "var/tmp", "dev/shm", "run"])
def test_nothing_can_be_written_where_everybody_writes(process_run: Run, place: str) -> None:
    """A name that is left there could be read by the next."""
    assert failure(process_run, f"pathlib.Path('/{place}/left').touch()") == "PermissionError"


def test_nothing_can_be_written_but_below_the_cells_own_folder(process_run: Run) -> None:
    """The one above is where all of them lie."""
    assert failure(process_run, "pathlib.Path('../left').touch()") is None
    assert failure(process_run, "pathlib.Path('../../left').touch()") == "PermissionError"


@pytest.mark.parametrize(
    "body",
    [
        "import zoneinfo; zoneinfo.ZoneInfo('Europe/Berlin')",
        "import sqlite3, ssl, wave, http.client, tomllib, xml.dom.minidom, numpy.ma, numpy.fft",
        "import tempfile; tempfile.TemporaryFile().write(b'x')",
        "import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')",
        "os.urandom(3); open('/dev/urandom', 'rb').read(3); open('/dev/null', 'w').write('x')",
        "pathlib.Path.home().joinpath('x').write_text('x')",
        "import shutil; os.mkdir('d'); shutil.copytree('d', 'e'); shutil.rmtree('e')",
        "import encodings.cp1252, mimetypes; mimetypes.guess_type('a.png')",
        "from hypothesis import strategies as st; st.characters(categories=['Lu']).example()",
    ],
)
def test_honest_tests_do_not_notice(process_run: Run, body: str) -> None:
    """They read Python's own files, and write into their own."""
    assert failure(process_run, body) in (
        None,
        "HypothesisException",
        "NonInteractiveExampleWarning",
    )


def _in_child(deed: Callable[[], None]) -> int:
    """Return the number of the error that ``deed`` ends in, in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 255
        try:
            deed()
            code = 0
        except OSError as problem:
            code = problem.errno or 254
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("known", [1, 2, 3, 4, 5, 6, 7])
def test_each_version_that_a_kernel_may_have_is_asked_for_what_it_knows(
    known: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older one would refuse rights that it has never heard of."""
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.write_text("x", encoding="utf-8")
    assert landlock.version() >= known, "this kernel is too old to show it"
    monkeypatch.setattr(landlock, "version", lambda: known)

    def confined(then: Callable[[], object]) -> Callable[[], None]:
        def deed() -> None:
            rules = landlock.make_rules(["/usr"], own)
            assert rules is not None
            confine.end_with_parent()
            landlock.put_on(rules)
            then()

        return deed

    assert _in_child(confined(lambda: (own / "a").write_text("x"))) == 0
    assert _in_child(confined(lambda: list(Path("/usr").iterdir()))) == 0
    assert _in_child(confined(other.read_text)) == 13
    assert _in_child(confined(lambda: other.write_text("y"))) == 13
    assert _in_child(confined(other.unlink)) == 13


def test_where_the_kernel_has_none_a_cell_sees_what_its_user_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the doctor says so."""
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert landlock.make_rules(["/usr"], tmp_path) is None


def test_of_a_folder_all_is_named_but_what_is_hidden(tmp_path: Path) -> None:
    """However deep that lies."""
    for name in ("a/b/hidden", "a/b/other", "a/c", "d"):
        (tmp_path / name).mkdir(parents=True)
    found = set(landlock.around(tmp_path, tmp_path / "a" / "b" / "hidden"))
    assert found == {str(tmp_path / name) for name in ("a/b/other", "a/c", "d")}
    assert list(landlock.around(tmp_path / "d", tmp_path / "a")) == [str(tmp_path / "d")]
    assert list(landlock.around(tmp_path / "d", tmp_path / "d")) == []


def test_an_installed_grader_is_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It carries the built-in course, reference and mutants among it."""
    installed = tmp_path / "lib" / "site-packages" / "grader" / "worker"
    (tmp_path / "lib" / "site-packages" / "numpy").mkdir(parents=True)
    installed.mkdir(parents=True)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr("grader.worker.__file__", str(installed / "__init__.py"))
    found = readable(tmp_path / "home")
    assert str(tmp_path / "lib" / "site-packages" / "numpy") in found
    assert not [one for one in found if "grader" in Path(one).relative_to("/").parts[-1:]]


def test_of_a_virtual_environment_what_is_no_library_is_hidden(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It may be the very folder that a course or a student's work lies in."""
    for name in ("lib", "python", "mutants", "course.toml"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    found = [Path(one) for one in readable(tmp_path / "elsewhere" / "site-packages")]
    tops = {one.relative_to(tmp_path).parts[0] for one in found if one.is_relative_to(tmp_path)}
    assert tops == {*PARTS, "elsewhere"}
