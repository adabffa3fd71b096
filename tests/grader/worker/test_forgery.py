"""A cell can say what it likes on its descriptor; it harms itself alone."""

import json
from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome

Run = Callable[..., Outcome]

IT = "test_toy.py::test_it"


def saying(expression: str) -> str:
    """Return a suite that writes the bytes ``expression`` where a cell's facts go."""
    return f"import os\ndef test_it():\n    os.write(3, {expression})\ndef test_after(): pass\n"


def assert_healthy(run: Run) -> None:
    """Assert that the next cell says what it should and nothing of an earlier one."""
    outcome = run("def test_healthy(): pass\n")
    assert outcome.end is End.COMPLETE
    assert outcome.tests == ("test_toy.py::test_healthy",)


@pytest.mark.parametrize(
    "line",
    [
        b"junk\n",
        b"\n",
        b"\xff\xfe\n",
        b"null\n",
        b"{}\n",
        b"[" * 5000 + b"\n",
        b'{"event": "secret"}\n',
        b'{"event": "start"}\n',
        b'{"event": "start", "id": 5}\n',
        b'{"event": "start", "id": "a", "more": 1}\n',
        b'{"event": "start", "id": "' + b"a" * 501 + b'"}\n',
        b'{"event": "end", "exit": "0"}\n{}\n',
        b'{"event": "end", "exit": NaN}\n',
        b'{"event": "look", "path": "a"}\n',
        b'{"event": "oversized", "of": "phase"}\n',
        b" " * 9000 + b'{"event": "collected"}\n',
    ],
)
def test_a_line_that_no_worker_says_makes_its_cell_garbled(run: Run, line: bytes) -> None:
    """Nothing is believed from there on, and the test that was running is named."""
    outcome = run(saying(repr(line)))
    assert (outcome.end, outcome.at) == (End.GARBLED, IT)
    assert "test_toy.py::test_after" not in outcome.runs
    assert_healthy(run)


def test_anything_after_a_forged_end_makes_its_cell_garbled(run: Run) -> None:
    """The true facts follow, and contradict it."""
    outcome = run(saying(repr(b'{"event": "end", "exit": 0}\n')))
    assert outcome.end is End.GARBLED


def test_a_forged_end_before_leaving_is_no_complete_run(run: Run) -> None:
    """The tests that never ran are known by name."""
    line = repr(b'{"event": "end", "exit": 0}\n')
    outcome = run(f"import os\ndef test_it():\n    os.write(3, {line})\n    os._exit(0)\n")
    assert (outcome.end, outcome.at) == (End.CRASH, IT)


def test_half_a_line_ends_with_its_cell(run: Run) -> None:
    """The next cell's first line does not continue it."""
    line = repr(b'{"event": "phase", "id": "')
    outcome = run(f"import os\ndef test_it():\n    os.write(3, {line})\n    os._exit(0)\n")
    assert outcome.end is End.CRASH
    assert_healthy(run)


def test_a_forged_failure_can_only_be_of_its_own_cell(run: Run) -> None:
    """What a cell says of its tests is the student's own claim, and stays there."""
    facts = {"id": IT, "when": "call", "outcome": "failed", "expected_to_fail": False}
    line = json.dumps({"event": "phase", **facts}).encode() + b"\n"
    assert run(saying(repr(line))).runs[IT].failed
    assert not run("def test_it(): pass\n").runs[IT].failed


@pytest.mark.parametrize(
    "body",
    [
        "\n    while True: os.write(3, b'x' * 100_000)",
        "\n    while True: os.write(3, b'\\n' * 100_000)",
        "\n    line = bytes(1 << 20)\n    for _ in range(1200): os.write(3, line)",
    ],
)
def test_a_flood_ends_its_cell(run: Run, body: str) -> None:
    """A line of 1.2 GB is never held anywhere."""
    outcome = run(f"import os\ndef test_it():{body}\n")
    assert (outcome.end, outcome.at) == (End.GARBLED, IT)
    assert outcome.peak_kilobytes < 512 << 10
    assert_healthy(run)


def test_a_flood_of_sensible_lines_ends_its_cell(run: Run) -> None:
    """Each line is believed, and there is an end to them."""
    line = repr(b'{"event": "file", "path": "a"}\n' * 1000)
    outcome = run(f"import os\ndef test_it():\n    while True: os.write(3, {line})\n")
    assert (outcome.end, outcome.reason) == (End.GARBLED, "it said too much")
    assert_healthy(run)


def test_a_closed_descriptor_is_a_crash(run: Run) -> None:
    """A cell that can't say how it ended did not end well."""
    outcome = run("import os\ndef test_it():\n    os.close(3)\n")
    assert (outcome.end, outcome.at) == (End.CRASH, IT)
    assert_healthy(run)


def test_what_is_said_may_be_taken_back_and_harms_nobody_else(run: Run) -> None:
    """A pipe can be read by whoever writes to it; the worker has promised those bytes."""
    outcome = run("""
import os, threading
def test_it():
    thief = os.open("/proc/self/fd/3", os.O_RDONLY | os.O_NONBLOCK)
    def steal():
        while True:
            try:
                os.read(thief, 1 << 16)
            except BlockingIOError:
                pass
    threading.Thread(target=steal, daemon=True).start()
    for _ in range(3000):
        os.write(3, b'{"event": "file", "path": "a"}\\n')
""")
    assert outcome.end in (End.GARBLED, End.CRASH, End.COMPLETE)
    assert_healthy(run)


def test_a_descendant_that_keeps_the_pipe_open_holds_up_nothing(run: Run) -> None:
    """It is killed with its cell."""
    outcome = run("""
import os, time
def test_it():
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(600)
""")
    assert outcome.end is End.COMPLETE
    assert_healthy(run)


def test_a_descendant_that_goes_on_talking_says_nothing_in_the_next_cell(run: Run) -> None:
    """Its words end with its cell."""
    run("""
import os
def test_it():
    if os.fork() == 0:
        os.setsid()
        while True:
            os.write(3, b'{"event": "file", "path": "a"}\\n')
""")
    for _ in range(3):
        assert_healthy(run)


def test_a_report_may_be_patched_by_its_test_and_the_next_cell_is_honest(run: Run) -> None:
    """The plugin is in reach of a test, in its own process."""
    outcome = run("""
import os
real = os.write
def test_it(request):
    for plugin in request.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "Recorder":
            plugin.reporter.say = lambda *args, **facts: None
def test_after(): pass
""")
    assert outcome.end is not End.COMPLETE
    assert_healthy(run)
