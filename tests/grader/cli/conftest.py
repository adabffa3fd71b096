"""Commands run in this process, on a toy course and a student's repository made for it."""

import io
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.cli import main
from grader.report.document import SCHEMA_PATH

TOY = Path(__file__).with_name("toy")
collect_ignore = ["toy"]

STEP = "def step(n):\n    return n + 1\n"
DOUBLE = """\
def double(n):
    if n < 0:
        raise ValueError(n)
    return n * 2
"""
GOOD = (TOY / "tests" / "gold" / "T1" / "test_gold.py").read_text(encoding="utf-8")
WEAK = "from toy.double import double\n\ndef test_nothing():\n    assert double(0) == 0\n"


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    def __post_init__(self) -> None:
        """No command shows a traceback, whatever it does."""
        assert "Traceback" not in self.out + self.err


def call(*arguments: str | Path, program: str = "grade") -> Ran:
    """Run one command, as typed after the program's name."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments], program)
    return Ran(int(code), out.getvalue(), err.getvalue())


class Student:
    """A student's repository for the toy course."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write one file."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def build(self, double: str | bytes = DOUBLE, step: str = STEP) -> "Student":
        """Write the implementation of T1, and of T0 that it builds on."""
        self.write("python/toy/step.py", step)
        self.write("python/toy/double.py", double)
        return self

    def test(self, text: str | bytes, name: str = "test_mine.py") -> "Student":
        """Write a graded test file."""
        self.write(f"python/tests/t1/{name}", text)
        return self

    def files(self) -> dict[str, bytes]:
        """Return everything in the repository."""
        paths = [path for path in self.root.rglob("*") if path.is_file()]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def __call__(self, command: str, *arguments: str | Path, program: str = "grade") -> Ran:
        """Run a command about this repository and the toy course."""
        places: list[str | Path] = ["--course", TOY, "--repo", self.root]
        return call(command, *arguments, *places, program=program)

    def graded(self, command: str, *arguments: str | Path, program: str = "grade") -> Ran:
        """Run one that grades T1, in a process and with one worker."""
        how = ("--sandbox", "process", "--jobs", "1")
        return self(command, "T1", *how, *arguments, program=program)


@pytest.fixture(scope="session", autouse=True)
def at_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep outcomes out of the user's home, and don't let a variable change what is printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
        patch.delenv("GRADER_TRACEBACK", raising=False)
        patch.delenv("FORCE_COLOR", raising=False)
        yield


@pytest.fixture
def student(tmp_path: Path) -> Student:
    """Return an empty repository."""
    return Student(tmp_path / "repo")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Return a copy of the toy course, to be spoiled."""
    return Path(shutil.copytree(TOY, tmp_path / "course"))


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Student]:
    """Return a function that makes repositories, for fixtures of a wider scope."""
    return lambda: Student(tmp_path_factory.mktemp("student") / "repo")


@pytest.fixture(scope="session")
def document() -> Callable[[Path], Mapping[str, Any]]:
    """Return a function that reads a grade's JSON and holds it against the published schema."""
    schema = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))

    def read(path: Path) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(found, schema)
        return found

    return read
