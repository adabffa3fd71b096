"""A cell's words: one line a fact, bounded, readable by the supervisor whatever is in it."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.outcome import Phase, Unreadable, read_event
from grader.worker import wire
from grader.worker.reporter import (
    NAME_CAP,
    TEXT_CAP,
    Reporter,
    describe,
    kind_of,
    own_line,
    short_id,
    text_of,
)

Said = Callable[[], bytes]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Return a pipe's two ends."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def spoken(reporter_end: int, reader_end: int, event: str, **facts: object) -> bytes:
    """Return what a reporter writes."""
    Reporter(reporter_end).say(event, **facts)
    return os.read(reader_end, 1 << 16)


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=TEXT_CAP)


def test_a_fact_is_a_line_of_json(pipe: tuple[int, int]) -> None:
    """Ended by its only line break."""
    line = spoken(pipe[1], pipe[0], "start", id="a\nb")
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {"event": "start", "id": "a\nb"}


@given(message=ANY_TEXT, witness=st.none() | ANY_TEXT)
def test_the_supervisor_can_read_every_failure(message: str, witness: str | None) -> None:
    """Any two texts within their bounds, lone surrogates and control characters included."""
    reader, writer = os.pipe()
    try:
        failure = {
            "kind": "ordinary",
            "exception": "E" * NAME_CAP,
            "message": message,
            "file": "f" * 200,
            "line": 10**9,
            "witness": witness,
        }
        facts = {"id": "i" * TEXT_CAP, "when": "teardown", "outcome": "skipped"}
        line = spoken(writer, reader, "phase", **facts, expected_to_fail=False, failure=failure)
    finally:
        os.close(reader)
        os.close(writer)
    event = read_event(line.rstrip(b"\n"))
    assert isinstance(event, Phase)
    assert event.failure is not None
    assert event.failure.message == message.encode("utf-8", "replace").decode()


def test_a_fact_that_is_too_long_is_said_to_be(pipe: tuple[int, int]) -> None:
    """And never sent in part."""
    line = spoken(pipe[1], pipe[0], "look", names=["x" * 100] * 100)
    assert json.loads(line) == {"event": "oversized", "of": "look"}
    assert len(spoken(pipe[1], pipe[0], "look", names="x" * 8000)) < wire.LINE_CAP


def test_a_closed_descriptor_raises() -> None:
    """The cell then ends, and is seen to."""
    with pytest.raises(OSError, match="descriptor"):
        Reporter(10**6).say("start")


class TestAShortId:
    """A test's id as the supervisor knows it."""

    def test_an_ordinary_id_stays_as_it_is(self) -> None:
        """Up to the longest that is allowed."""
        assert short_id("test_a.py::test_it[1]") == "test_a.py::test_it[1]"
        assert short_id("x" * TEXT_CAP) == "x" * TEXT_CAP

    @given(st.text(min_size=TEXT_CAP + 1, max_size=TEXT_CAP + 40))
    def test_a_long_one_keeps_its_beginning_and_is_within_bounds(self, node: str) -> None:
        """The file's part comes first."""
        short = short_id(node)
        assert len(short) <= TEXT_CAP
        assert short[:400] == node[:400]

    def test_two_long_ones_stay_apart(self) -> None:
        """Even where they differ only at the end."""
        assert short_id("x" * 900 + "a") != short_id("x" * 900 + "b")
        assert short_id("x" * 900) == short_id("x" * 900)


class TestAText:
    """What is shown of a value."""

    @pytest.mark.parametrize("problem", [ValueError, RecursionError, MemoryError, KeyError])
    def test_a_value_that_can_not_be_shown_is_named(self, problem: type[Exception]) -> None:
        """Whatever its ``__str__`` raises."""

        class Shy:
            def __str__(self) -> str:
                raise problem

        assert text_of(Shy()) == f"<Shy that can't be shown: {problem.__name__}>"

    def test_it_is_capped(self) -> None:
        """Before it is sent."""
        assert text_of("x" * 10**6) == "x" * TEXT_CAP


def raised_in(path: Path, source: str) -> Exception:
    """Return the exception that ``source`` raises, as if it stood in ``path``."""
    try:
        exec(compile(source, str(path), "exec"), {})
    except Exception as problem:  # noqa: BLE001 — whatever it is
        return problem
    raise AssertionError


def test_the_innermost_line_in_a_file_of_the_students_is_told(tmp_path: Path) -> None:
    """A neighbour whose folder's name only begins alike is not theirs."""
    problem = raised_in(tmp_path / "a.py", "\n\nint('x')\n")
    assert own_line(problem.__traceback__, tmp_path) == ("a.py", 3)
    assert own_line(problem.__traceback__, tmp_path / "other") == (None, None)
    near = Path(str(tmp_path) + "-near")
    assert own_line(problem.__traceback__, near) == (None, None)
    assert own_line(None, tmp_path) == (None, None)


def test_the_line_of_a_syntax_error_is_that_of_the_error(tmp_path: Path) -> None:
    """And not the one that imports the file."""
    problem = raised_in(tmp_path / "a.py", "compile('x =\\n\\ny = (', 'b.py', 'exec')\n")
    assert describe(problem, tmp_path)["line"] == problem.lineno  # type: ignore[attr-defined] # a SyntaxError


@pytest.mark.parametrize(
    ("notes", "witness"),
    [
        ([], None),
        (["a note of the student's"], None),
        (["Falsifying example: f(n=1)"], "f(n=1)"),
        (["Failing test case: f(\n    n=1,\n)"], "f(\n    n=1,\n)"),
        (["a note", "Failing explicit example: f(n=1)"], "f(n=1)"),
        ([5], None),
    ],
)
def test_the_input_is_found_among_the_notes(
    tmp_path: Path, notes: list[object], witness: str | None
) -> None:
    """Where Hypothesis leaves it, in the words of several of its versions."""
    problem = ValueError("x")
    problem.__notes__ = notes  # type: ignore[assignment] # a student may put anything there
    assert describe(problem, tmp_path)["witness"] == witness


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (AssertionError(), "ordinary"),
        (KeyboardInterrupt(), "exit"),
        (SystemExit(1), "exit"),
        (MemoryError(), "memory"),
        (OSError(24, "too many"), "limit"),
        (OSError(2, "none"), "ordinary"),
        (OSError(), "ordinary"),
    ],
)
def test_an_exception_has_a_kind(problem: BaseException, kind: str) -> None:
    """Subclasses of it as well."""
    assert kind_of(problem) == kind
    assert kind_of(type("Sub", (type(problem),), {})(*problem.args)) == kind


def test_all_facts_of_an_exception_are_readable(tmp_path: Path) -> None:
    """By the type that the supervisor reads them into."""
    problem = raised_in(tmp_path / "a.py", "raise type('E' * 300, (ValueError,), {})('m' * 900)")
    found = Unreadable.model_validate({"path": "a.py", "failure": describe(problem, tmp_path)})
    assert found.failure.exception == "E" * NAME_CAP
    assert found.failure.message == "m" * TEXT_CAP
