"""The facts of a run: what is read from a cell's words, and what follows from them alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.outcome import (
    Collected,
    End,
    Failure,
    FileStarted,
    Finished,
    Look,
    Outcome,
    Phase,
    TestRun,
    TestStarted,
    Unreadable,
    Watch,
    read_event,
)
from grader.worker import wire

ORDINARY = Failure(kind="ordinary", exception="AssertionError")
HYPOTHESIS = Failure(kind="hypothesis", exception="Unsatisfiable")


def line(event: str, **facts: object) -> bytes:
    """Return one fact as a cell says it."""
    return json.dumps({"event": event, **facts}).encode()


def phase(when: str = "call", outcome: str = "passed", **changes: object) -> Phase:
    """Return a phase of a test."""
    facts = {"id": "a", "when": when, "outcome": outcome, "expected_to_fail": False}
    return Phase.model_validate({**facts, **changes})


def said(one: Phase) -> bytes:
    """Return a phase as a cell says it."""
    return one.model_dump_json().encode()


def ran(*phases: Phase) -> TestRun:
    """Return a test of these phases."""
    return TestRun(phases=phases)


@pytest.mark.parametrize(
    ("words", "event"),
    [
        (line("file", path="a.py"), FileStarted(event="file", path="a.py")),
        (line("collected"), Collected(event="collected")),
        (line("start", id="a"), TestStarted(event="start", id="a")),
        (line("end", exit=0), Finished(event="end", exit=0)),
        (
            line("phase", id="a", when="call", outcome="passed", expected_to_fail=False),
            phase(),
        ),
        (
            line("look", path="a", problem=None, imports=[["os", 1]], near_misses=[]),
            Look(path="a", problem=None, imports=(("os", 1),), near_misses=()),
        ),
    ],
)
def test_a_fact_is_read(words: bytes, event: object) -> None:
    """Into a value of its own type."""
    assert read_event(words) == event


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"null",
        b"[]",
        b'"file"',
        b"{",
        b"\xff",
        b"[" * 8000,
        line("unknown"),
        line("file"),
        line("file", path=5),
        line("file", path="a", more=1),
        line("file", path="a" * 501),
        line("start", id="a" * 501),
        line("phase", id="a", when="later", outcome="passed", expected_to_fail=False),
        line("phase", id="a", when="call", outcome="won", expected_to_fail=False),
        line("look", path="a", problem=["taste", "bad", 1], imports=[], near_misses=[]),
        line("unreadable", path="a", failure={"kind": "ordinary"}),
        line("unreadable", path="a", failure={"kind": "magic", "exception": "E"}),
        b'{"event": "file", "path": "\\ud800"}',
        line("file", path="a") + b" " * wire.LINE_CAP,
    ],
)
def test_what_makes_no_sense_is_no_fact(words: bytes) -> None:
    """Whatever is wrong with it."""
    assert read_event(words) is None


@given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_no_words_raise(words: bytes) -> None:
    """They come from a student's process."""
    assert read_event(words) is None


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=9))
def test_no_json_that_is_not_a_fact_is_taken_for_one(value: object) -> None:
    """Only the known events are."""
    assert read_event(json.dumps(value).encode()) is None


def test_facts_can_not_be_changed() -> None:
    """They are passed around."""
    with pytest.raises(ValidationError):
        ORDINARY.message = "other"


class TestATestRun:
    """What one test did."""

    def test_failures_are_those_of_setup_and_call(self) -> None:
        """Sub-tests included, teardown not."""
        run = ran(
            phase("setup", "failed", failure=ORDINARY),
            phase("call", "failed", failure=HYPOTHESIS),
            phase("call", "failed", failure=ORDINARY),
            phase("teardown", "failed", failure=ORDINARY),
        )
        assert run.failures == (ORDINARY, HYPOTHESIS, ORDINARY)
        assert run.failed

    def test_a_failure_without_facts_is_no_ordinary_one(self) -> None:
        """A test whose sub-tests failed says so a second time, without an exception."""
        [failure] = ran(phase("call", "failed")).failures
        assert failure.kind != "ordinary"

    def test_a_failed_teardown_fails_a_test_without_counting(self) -> None:
        """It matters for what is valid, not for what is killed."""
        run = ran(phase(), phase("teardown", "failed", failure=ORDINARY))
        assert run.failed
        assert run.failures == ()

    @pytest.mark.parametrize(
        ("phases", "skipped"),
        [
            ([phase("setup"), phase(), phase("teardown")], False),
            ([phase("setup", "skipped"), phase("teardown")], True),
            ([phase("setup"), phase("call", "skipped"), phase("teardown")], True),
            ([phase("setup"), phase("call", "skipped", expected_to_fail=True)], True),
            ([phase("setup"), phase("call", "passed", expected_to_fail=True)], True),
            ([phase("setup"), phase("call", "failed", expected_to_fail=True)], True),
            ([phase("setup"), phase("call", "skipped"), phase("call"), phase("teardown")], False),
            ([phase("setup"), phase("call", "failed"), phase("teardown")], False),
            ([], False),
        ],
    )
    def test_a_test_is_skipped_in_whole_or_not_at_all(
        self, phases: list[Phase], *, skipped: bool
    ) -> None:
        """A sub-test that is skipped leaves the rest to tell something."""
        assert ran(*phases).skipped == skipped

    def test_it_is_finished_once_it_was_torn_down(self) -> None:
        """Whatever came of it."""
        assert not ran(phase("setup"), phase()).finished
        assert ran(phase("setup", "failed"), phase("teardown", "failed")).finished


class TestAWatch:
    """What is known while a cell runs."""

    def test_it_knows_what_is_running(self) -> None:
        """A file, nothing, a test, nothing."""
        watch = Watch()
        seen = []
        for words in (
            line("file", path="t.py"),
            line("test", id="a"),
            line("collected"),
            line("start", id="a"),
            said(phase("setup")),
            said(phase("call")),
            said(phase("teardown")),
        ):
            watch.feed([words], 0)
            seen.append(watch.at)
        assert seen == ["t.py", "t.py", None, "a", "a", "a", None]

    def test_it_knows_since_when(self) -> None:
        """Since the last change, not since the last word."""
        watch = Watch()
        for now, words in enumerate(
            [
                line("file", path="t.py"),
                line("file", path="t.py"),
                line("collected"),
                line("start", id="a"),
                said(phase("setup")),
                line("start", id="a"),
            ]
        ):
            watch.feed([words], now)
        assert watch.since == 3

    def test_tests_that_come_in_one_breath_restart_the_clock(self) -> None:
        """Nothing runs before and after, and yet something has happened."""
        watch = Watch()
        watch.feed([line("collected")], 1)
        watch.feed([line("start", id="a"), said(phase("teardown"))], 9)
        assert (watch.at, watch.since) == (None, 9)

    def test_a_test_takes_the_time_from_its_start_to_its_teardown(self) -> None:
        """By the supervisor's clock."""
        watch = Watch()
        watch.feed([line("start", id="a")], 10)
        watch.feed([said(phase())], 11)
        assert watch.ended() == frozenset()
        watch.feed([said(phase("teardown"))], 12.5)
        assert watch.ended() == {"a"}
        assert watch.outcome(End.COMPLETE).runs["a"].seconds == 2.5

    def test_only_ordinary_failures_of_setup_and_call_are_failing(self) -> None:
        """These are the ones that can be kills."""
        watch = Watch()
        watch.feed(
            [
                said(phase("call", "failed", id="a", failure=ORDINARY)),
                said(phase("call", "failed", id="b", failure=HYPOTHESIS)),
                said(phase("teardown", "failed", id="c", failure=ORDINARY)),
                said(phase("setup", "failed", id="d", failure=ORDINARY)),
                said(phase("call", "failed", id="e")),
            ],
            0,
        )
        assert watch.failing() == {"a", "d"}

    def test_all_facts_are_in_its_outcome(self) -> None:
        """With those that only the supervisor knows."""
        watch = Watch()
        failure = {"kind": "ordinary", "exception": "E"}
        watch.feed(
            [
                line("unreadable", path="b.py", failure=failure),
                line("look", path="a", problem=None, imports=[], near_misses=[]),
                line("too_many", count=3),
                line("test", id="a"),
                line("collected"),
                line("start", id="a"),
            ],
            0,
        )
        outcome = watch.outcome(End.CRASH, reason="signal SIGKILL", peak_kilobytes=5)
        assert outcome == Outcome(
            end=End.CRASH,
            tests=("a",),
            runs={"a": TestRun()},
            unreadable=(Unreadable(path="b.py", failure=Failure.model_validate(failure)),),
            looks=(Look(path="a", problem=None, imports=(), near_misses=()),),
            collected=True,
            at="a",
            left_out=3,
            peak_kilobytes=5,
            reason="signal SIGKILL",
        )
        assert outcome.run("a") == TestRun()
        assert outcome.run("b") is None

    def test_a_negative_number_left_out_is_none(self) -> None:
        """A forged one, since there are none."""
        watch = Watch()
        watch.feed([line("too_many", count=-5)], 0)
        assert watch.left_out == 0

    @pytest.mark.parametrize("words", [b"junk", line("oversized", of="phase"), line("start"), b""])
    def test_nothing_is_believed_from_a_garbled_line_on(self, words: bytes) -> None:
        """What was said before stays."""
        watch = Watch()
        watch.feed([line("start", id="a"), words, line("start", id="b")], 0)
        watch.feed([line("start", id="c")], 0)
        assert watch.garbled
        assert (watch.at, watch.finished) == ("a", None)

    def test_anything_after_the_end_is_garbled(self) -> None:
        """A session ends once."""
        watch = Watch()
        watch.feed([line("end", exit=0)], 0)
        assert not watch.garbled
        watch.feed([line("end", exit=0)], 0)
        assert watch.garbled


def test_an_outcome_survives_the_way_to_disk_and_back() -> None:
    """The journal relies on it."""
    outcome = Outcome(
        end=End.STOPPED,
        runs={"a": ran(phase("call", "failed", failure=ORDINARY))},
        unreadable=(Unreadable(path="b.py", failure=HYPOTHESIS),),
    )
    assert Outcome.model_validate_json(outcome.model_dump_json()) == outcome
