"""Attacks on who reads a report, and on the machine that writes it: words are only words."""

import csv
import io
import json
import re
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.cli.output import show
from grader.report.document import SCHEMA_PATH
from grader.untrusted import FORMULA
from tests.grader.cli.conftest import DOUBLE, STEP, TOY, Ran, Student, call

MARKER = "a_word_of_the_student"
HOW = ("--sandbox", "process", "--jobs", "1")
# In names and messages: escapes, reversed letters, formulas, markup, commands of every runner.
HOSTILE = (
    *("\x1b[2J", "\x1b]0;owned\x07", "\u202eevil\u2069", "a\rb\x85c\u2028d\u200b", "\x9b31m"),
    *("=cmd|' /C calc'!A0", "<script>x</script>", "[red]x[/red]", "| `x` | [y](z)", "$(id);`id`"),
    *("\n::error::x", "::set-output name=a::b", "\n::add-mask::a", "##[error]x", "##vso[task]x"),
    *("##teamcity[x]", "\x1b[0Ksection_start:0:x\r\x1b[0K", "\n::stop-commands::x", "\udcff"),
)
SUITE = f"""\
import pytest
from hypothesis import given, strategies as st
from toy.double import double

HOSTILE = {HOSTILE!r}
{MARKER} = "{MARKER}"

class Named(int):
    text = ""
    def __repr__(self):
        return self.text

def named(text):
    def test(n):
        value = Named(n)
        value.text = text
        assert double(value) == 2 * n and double(1) == 2, text
    return given(st.integers(0, 9))(test)

def failing(text):
    def test():
        raise ValueError(text)
    return test

for text in HOSTILE[:9]:
    made = pytest.mark.property(text)(named(text))
    made.__name__ = made.__qualname__ = "test_" + text
    globals()["test_" + text] = made
for text in HOSTILE[9:]:
    globals()["test_failing_" + text] = failing(text)

def test_doubles():
    assert double(3) == 6
    with pytest.raises(ValueError):
        double(-1)
"""
BROKEN = f"raise ImportError({''.join(HOSTILE)!r})\n"
# What a terminal obeys, or shows where it isn't: all but the end of a line.
OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff]"
)
COLOURS = re.compile("\x1b\\[[0-9;]*m")


@dataclass
class Heard:
    """What this process did meanwhile, as Python's own audit tells it."""

    listening: bool = False
    compiled: list[object] = field(default_factory=list)
    started: list[tuple[object, ...]] = field(default_factory=list)
    unpickled: list[object] = field(default_factory=list)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Take one event."""
        if not self.listening:
            return
        if event == "compile":
            self.compiled.append(arguments[0])
        elif event in {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}:
            self.started.append(arguments)
        elif event == "pickle.find_class":
            self.unpickled.append(arguments)

    def clear(self) -> None:
        """Forget what was heard."""
        for events in (self.compiled, self.started, self.unpickled):
            events.clear()


HEARD = Heard()
sys.addaudithook(HEARD)


@dataclass(frozen=True)
class Told:
    """What became of a command: what it printed and wrote, and what this process did."""

    ran: Ran
    heard: Heard
    table: str
    document: str


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep outcomes out of the user's home, and together: what is known needs no run."""
    home = tmp_path_factory.mktemp("reader")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        for name in ("FORCE_COLOR", "GRADER_TRACEBACK"):
            patch.delenv(name, raising=False)
        yield home


@pytest.fixture(scope="module")
def student(home: Path) -> Student:
    """Return the repository of a student all of whose words are hostile."""
    made = Student(home / "repo")
    raising = f"    raise ValueError({''.join(HOSTILE)!r})  # {MARKER}\n"
    made.build(DOUBLE.replace("    return n * 2\n", raising), f"{STEP}# {MARKER}\n")
    made.test(SUITE)
    made.test(BROKEN, "test_broken.py")
    for number, text in enumerate(HOSTILE):
        made.test("", f"{number}{text.replace('/', '')}.py")
    made.test(b"cos\nsystem\n(S'touch pickled'\ntR.", "data.pkl")
    made.write(".git/config", f"[core]\n\tfsmonitor = touch {home}/ran\n")
    made.write(".git/hooks/post-checkout", f"#!/bin/sh\ntouch {home}/ran\n")
    made.write(".gitmodules", '[submodule "x"]\n\tpath = python\n\turl = ext::sh -c id\n')
    return made


@pytest.fixture(scope="module")
def telling(home: Path, student: Student) -> Callable[[str], Told]:
    """Return a function that runs a command on that repository, once, and listens."""

    @cache
    def tell(command: str) -> Told:
        table, document = home / "table.csv", home / "grade.json"
        table.write_text("")
        document.write_text("")
        written = ("--matrix-csv", table, "--json", document) if command in GRADING else ()
        HEARD.clear()
        HEARD.listening = True
        ran = student(*COMMANDS[command], *written)
        HEARD.listening = False
        heard = Heard(False, [*HEARD.compiled], [*HEARD.started], [*HEARD.unpickled])
        return Told(ran, heard, table.read_text(encoding="utf-8"), document.read_text("ascii"))

    return tell


def inert(text: str) -> None:
    """Assert that nobody who reads or runs a log is told to do anything."""
    assert not OBEYED.findall(text)
    assert not re.findall(r"##\w*\[", text)
    assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]


def said(ran: Ran) -> str:
    """Return all that a command printed, and assert that it came so far as to say something."""
    assert ran.out + ran.err
    return f"{ran.out}\n{ran.err}"


COMMANDS: Mapping[str, tuple[str, ...]] = {
    "mutate": ("mutate", "T1", "--staff", *HOW),
    "part": ("mutate", "T1", "--mutant", "s01", *HOW),
    "check": ("check", "T1", "--staff", *HOW),
    "tests": ("tests", "T1", *HOW),
    "status": ("status",),
}
GRADING = ("mutate", "check")
RUNNING = ("mutate", "part", "check", "tests")


@pytest.mark.parametrize("number", ["E06", "E10"])
@pytest.mark.parametrize("command", RUNNING)
def test_no_report_moves_a_cursor_or_commands_a_runner(
    number: str, command: str, telling: Callable[[str], Told]
) -> None:
    """In the log of a job, whose runner reads every line."""
    text = said(telling(command).ran)
    inert(text)
    assert "\\x1b" in text, number  # so the hostile words were there, and can be seen


@pytest.mark.parametrize("number", ["E06", "E10"])
@pytest.mark.parametrize("columns", ["20", "41", "80"])
def test_no_report_does_so_at_a_terminal(
    number: str, columns: str, student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where lines are folded and coloured, wherever that cuts a word; a job may ask for it too."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", columns)
    text = student(*COMMANDS["check"]).out
    assert COLOURS.search(text), number
    plain = COLOURS.sub("", text)
    assert not OBEYED.findall(plain)
    assert not [line for line in plain.split("\n") if line.lstrip().startswith("::")]


@pytest.mark.parametrize("number", ["E10"])
@pytest.mark.parametrize("width", range(20, 40))
def test_no_fold_makes_a_command_of_an_honest_id(
    number: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class may be called `error`, and its test's name be cut before the colons."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    show(f"{'t' * 20}.py::error::{number}::" * 9)
    lines = COLOURS.sub("", capsys.readouterr().out).split("\n")
    assert not [line for line in lines if line.lstrip().startswith("::")]


@pytest.mark.parametrize("number", ["E06", "E10"])
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "typed",
    [
        lambda text, _: ("mutate", f"T1{text}"),
        lambda text, _: ("mutate", "T1", f"--{text}"),
        lambda text, _: ("mutate", "T1", "--sandbox", text),
        lambda text, place: ("mutate", "T1", "--repo", str(place / text)),
        lambda text, place: ("mutate", "T1", "--course", str(place / text)),
        lambda text, _: (text,),
    ],
)
def test_no_complaint_repeats_what_was_typed_as_it_is(
    number: str, text: str, typed: Callable[[str, Path], tuple[str, ...]], tmp_path: Path
) -> None:
    """A script may have taken it from a student's folder."""
    ran = call(*typed(text, tmp_path), program="grade")
    assert ran.code == 2, number
    inert(said(ran))


@pytest.mark.parametrize("number", ["E06", "E10"])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_complaint_repeats_a_name_in_an_archive_as_it_is(
    number: str, text: str, home: Path
) -> None:
    """Whether it has no place or is there twice, what is told of it can be read safely."""
    path = home / f"{number}.tar"
    with tarfile.open(path, "w:") as packed:
        for _ in range(2):
            packed.addfile(tarfile.TarInfo(f"{text.replace('/', '')}/test_a.py"))
    ran = call("mutate", "T1", "--repo", path, "--course", TOY)
    assert ran.code == 2
    inert(said(ran))


@pytest.mark.parametrize("number", ["E09"])
@pytest.mark.parametrize("command", GRADING)
def test_no_cell_of_a_table_is_a_formula(
    number: str, command: str, telling: Callable[[str], Told]
) -> None:
    """And each row has as many cells as the head."""
    table = telling(command).table
    inert(table)
    head, *rows = csv.reader(io.StringIO(table))
    assert len(rows) > 9, number
    assert any("cmd|" in cell for row in rows for cell in row)
    assert {len(row) for row in rows} == {len(head)}
    assert not [cell for row in rows for cell in row if cell.lstrip().startswith(FORMULA)]


@pytest.mark.parametrize("number", ["E06", "E09", "E10"])
@pytest.mark.parametrize("command", GRADING)
def test_the_document_is_ascii_and_holds_what_the_schema_allows(
    number: str, command: str, telling: Callable[[str], Told]
) -> None:
    """Whatever is in a text; who reads the document has the words as they were."""
    document = telling(command).document
    inert(document)
    found: dict[str, Any] = json.loads(document)
    jsonschema.validate(found, json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))
    assert any("\x1b[2J" in test["id"] for test in found["tests"]), number
    assert len(found["submission"]["left_out"]) > len(HOSTILE)


# --- what this process does with a student's words ------------------------------------------


@pytest.mark.parametrize("number", ["U11", "U15"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_students_source_is_parsed_outside_the_sandbox(
    number: str, command: str, telling: Callable[[str], Told]
) -> None:
    """Neither tests nor implementation nor what that builds on, by whatever command."""
    compiled = telling(command).heard.compiled
    texts = [one.decode() if isinstance(one, bytes) else str(one) for one in compiled]
    assert texts or command not in GRADING, number  # the course's own was
    assert not [text for text in texts if MARKER in text]


@pytest.mark.parametrize("number", ["E11", "U09"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_program_is_started_but_the_worker_and_no_word_is_in_its_command(
    number: str, command: str, home: Path, telling: Callable[[str], Told]
) -> None:
    """Git least of all, whatever lies in a repository; and none by way of a shell."""
    started = telling(command).heard.started
    assert bool(started) == (command in RUNNING), number
    for executable, arguments, *_ in started:
        assert executable == sys.executable
        assert isinstance(arguments, list)
        assert "grader_worker" in arguments[-1]
        words = " ".join(map(str, arguments))
        assert not [text for text in (*HOSTILE, MARKER, "test_", str(home)) if text in words]
    assert not (home / "ran").exists()


@pytest.mark.parametrize("number", ["E07"])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_unpickled(
    number: str, command: str, home: Path, telling: Callable[[str], Told]
) -> None:
    """What a worker says is JSON, and a student's data files are not read at all."""
    assert telling(command).heard.unpickled == [], number
    assert not list(home.rglob("pickled"))


SOURCES = Path(__file__).parents[2] / "grader"


@pytest.mark.parametrize(
    ("number", "forbidden"),
    [
        ("E07", r"\b(pickle|marshal|shelve|dill|joblib|yaml)\.\w+\(|allow_pickle=True|torch\.load"),
        ("E08", r"\b(ElementTree|minidom|xml\.sax\.(?!saxutils)|expat|lxml|defusedxml)\b"),
        ("E11", r"shell=True|os\.system|os\.popen|getoutput|shlex"),
        ("U09", r"""["'](git|hg|svn)["' ]"""),
        ("E12", r"put_archive|get_archive|\.extractall|\.extract\("),
    ],
)
def test_no_line_of_grader_does_what_nobody_may(number: str, forbidden: str) -> None:
    """So that no path to it has to be found."""
    lines = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in sorted(SOURCES.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(forbidden, line)
    ]
    assert lines == [], number
