"""What is told of an exception: its kind, the student's own line, the input, all bounded."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Failure, Outcome

Run = Callable[..., Outcome]


def failure(outcome: Outcome, test: str = "test_it") -> Failure:
    """Return the first failure of a test."""
    assert outcome.end is End.COMPLETE, outcome
    return outcome.runs[f"test_toy.py::{test}"].failures[0]


@pytest.mark.parametrize(
    ("body", "kind", "exception"),
    [
        ("assert False", "ordinary", "AssertionError"),
        ("[][1]", "ordinary", "IndexError"),
        ("import pytest; pytest.fail('no')", "ordinary", "Failed"),
        ("import pytest\n    with pytest.raises(ValueError): pass", "ordinary", "Failed"),
        ("raise ExceptionGroup('g', [ValueError(1)])", "ordinary", "ExceptionGroup"),
        ("raise OSError('no errno')", "ordinary", "OSError"),
        ("open('/no/such/file')", "ordinary", "FileNotFoundError"),
        ("def f(): f()\n    f()", "ordinary", "RecursionError"),
        ("raise GeneratorExit", "ordinary", "GeneratorExit"),
        ("raise SystemExit(0)", "exit", "SystemExit"),
        ("raise MemoryError", "memory", "MemoryError"),
        ("bytearray(1 << 36)", "memory", "MemoryError"),
        ("import errno; raise OSError(errno.ENOSPC, 'full')", "limit", "OSError"),
        ("import errno; raise OSError(errno.EAGAIN, 'more')", "limit", "BlockingIOError"),
        ("open('f', 'wb').write(bytes(17 << 20))", "limit", "OSError"),
        ("kept = [open('f', 'w') for _ in range(300)]", "limit", "OSError"),
        ("import hypothesis; hypothesis.reject()", "hypothesis", "UnsatisfiedAssumption"),
        (
            "from hypothesis import find, strategies as st; find(st.just(1), lambda n: False)",
            "hypothesis",
            "NoSuchExample",
        ),
    ],
)
def test_an_exception_has_a_kind(run: Run, body: str, kind: str, exception: str) -> None:
    """Only an ordinary one can mean that a test saw a behaviour."""
    found = failure(run(f"def test_it():\n    {body}\n"))
    assert (found.kind, found.exception) == (kind, exception)


@pytest.mark.parametrize(
    ("decorators", "body", "exception"),
    [
        ("@given(st.integers().filter(lambda n: False))", "pass", "FailedHealthCheck"),
        ("@given(st.integers())", "assume(False)", "FailedHealthCheck"),
        (
            "@settings(suppress_health_check=list(HealthCheck))\n@given(st.integers())",
            "assume(False)",
            "Unsatisfiable",
        ),
        ("@given(st.integers(2, 1))", "pass", "InvalidArgument"),
        ("@given(st.integers())", "flip.append(1); assert len(flip) % 2", "FlakyFailure"),
    ],
)
def test_a_complaint_of_hypothesis_is_no_finding(
    run: Run, decorators: str, body: str, exception: str
) -> None:
    """It speaks of the test and not of the code under test."""
    found = failure(
        run(f"""
from hypothesis import HealthCheck, assume, given, settings, strategies as st
flip = [1]
{decorators}
def test_it(n):
    {body}
""")
    )
    assert (found.kind, found.exception) == ("hypothesis", exception)


def test_a_property_over_a_function_scoped_fixture_fails_its_health_check(run: Run) -> None:
    """Students meet this one often; the report explains it."""
    found = failure(
        run("""
import pytest
from hypothesis import given, strategies as st
@pytest.fixture
def five(): return 5
@given(n=st.integers())
def test_it(five, n): pass
""")
    )
    assert (found.kind, found.exception) == ("hypothesis", "FailedHealthCheck")


def test_memory_that_runs_out_in_many_pieces_is_an_error_and_no_kill(run: Run) -> None:
    """The limit raises in the test and leaves the cell alive."""
    found = failure(
        run("""
def test_it():
    kept = []
    while True:
        kept.append(bytes(1 << 22))
""")
    )
    assert found.kind == "memory"


def test_standard_input_is_empty(run: Run) -> None:
    """Nobody is there to type."""
    found = failure(run("def test_it():\n    input()\n"))
    assert found.exception in ("EOFError", "OSError")


def test_the_innermost_line_of_the_students_own_is_told(run: Run) -> None:
    """A line in a helper is where the student has to look."""
    files = {
        "test_toy.py": "from helper import check\ndef test_it():\n    check(1)\n",
        "helper.py": "from toy.mod import fail\n\n\ndef check(n):\n    fail(n)\n",
    }
    found = failure(run(files, variant="def fail(n):\n    raise ValueError(n)\n"))
    assert (found.file, found.line) == ("helper.py", 5)


def test_a_line_of_the_variant_is_never_told(run: Run) -> None:
    """It would say what a mutant looks like."""
    outcome = run(
        "import toy.mod\ndef test_it():\n    toy.mod.double(1)\n",
        variant="\n" * 40 + "def double(n):\n    raise ValueError('inside')\n",
    )
    found = failure(outcome)
    assert (found.file, found.line, found.message) == ("test_toy.py", 3, "inside")
    assert "site-packages" not in outcome.model_dump_json()


def test_an_assertion_shows_its_values(run: Run) -> None:
    """pytest rewrites assertions in a cell as it does at home."""
    found = failure(run("from toy.mod import double\ndef test_it():\n    assert double(2) == 5\n"))
    assert found.message.startswith("assert 4 == 5")


def test_the_failing_input_is_told(run: Run) -> None:
    """It says more than the message does."""
    found = failure(
        run("""
from hypothesis import given, strategies as st
@given(n=st.integers(7, 7))
def test_it(n):
    assert n < 7
""")
    )
    assert found.witness is not None
    assert "n=7" in found.witness


def test_a_long_input_is_capped(run: Run) -> None:
    """A report stays readable, and the journal small."""
    found = failure(
        run("""
from hypothesis import given, strategies as st
@given(st.just("x" * 10_000))
def test_it(text):
    assert not text
""")
    )
    assert found.witness is not None
    assert len(found.witness) == 500


def test_a_long_message_is_capped(run: Run) -> None:
    """The same holds for messages."""
    assert len(failure(run("def test_it():\n    raise ValueError('x' * 10**6)\n")).message) == 500


def test_an_exception_without_a_text_is_told(run: Run) -> None:
    """A broken ``__str__`` hides no failure."""
    found = failure(
        run("""
class Shy(Exception):
    def __str__(self):
        raise KeyError("no")
def test_it():
    raise Shy
""")
    )
    assert found.exception == "Shy"
    assert "can't be shown" in found.message


def test_a_long_name_of_an_exception_is_capped(run: Run) -> None:
    """Names are texts too."""
    found = failure(run("def test_it():\n    raise type('E' * 500, (Exception,), {})\n"))
    assert found.exception == "E" * 100


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\ud800", "?"),
        (r"\U0001f600" * 600, "\U0001f600" * 500),
        (r"\x00" * 500, "\x00" * 500),
        (r"a\nb", "a\nb"),
        ('\\"', '"'),
    ],
)
def test_any_text_can_be_a_message(run: Run, text: str, shown: str) -> None:
    """An honest test of texts is not taken for a forger."""
    assert failure(run(f'def test_it():\n    raise ValueError("{text}")\n')).message == shown


def test_texts_beyond_the_basic_plane_fit_as_message_and_input_at_once(run: Run) -> None:
    """Four bytes a character still make a line within its bounds."""
    found = failure(
        run("""
from hypothesis import given, strategies as st
@given(st.just("\\U0001f600" * 900))
def test_it(text):
    raise ValueError(text)
""")
    )
    assert found.message == "\U0001f600" * 500
    assert found.witness is not None
    assert len(found.witness) == 500


def test_a_test_whose_parameter_is_a_long_text_has_a_short_id_of_its_own(run: Run) -> None:
    """pytest puts parameters into ids; they stay apart when shortened."""
    outcome = run("""
import pytest
@pytest.mark.parametrize("text", ["x" * 5000 + "a", "x" * 5000 + "b"])
def test_it(text):
    assert text.endswith("a")
""")
    assert outcome.end is End.COMPLETE
    assert len(set(outcome.tests)) == 2
    assert all(len(test) <= 500 for test in outcome.tests)
    assert [outcome.runs[test].failed for test in outcome.tests] == [False, True]


@pytest.mark.parametrize(
    ("suite", "when", "counted"),
    [
        ("@pytest.fixture\ndef f(): assert 0\ndef test_it(f): pass", "setup", 1),
        ("def test_it(): assert 0", "call", 1),
        ("@pytest.fixture\ndef f(): yield; assert 0\ndef test_it(f): pass", "teardown", 0),
        ("def teardown_function(f): assert 0\ndef test_it(): pass", "teardown", 0),
        ("def setup_module(): assert 0\ndef test_it(): pass", "setup", 1),
    ],
)
def test_the_phase_of_a_failure_is_told_and_teardown_does_not_count(
    run: Run, suite: str, when: str, counted: int
) -> None:
    """A failure after the test has ended says nothing of its promise."""
    outcome = run(f"import pytest\n{suite}\n")
    ran = outcome.runs["test_toy.py::test_it"]
    assert outcome.end is End.COMPLETE
    assert [phase.when for phase in ran.phases if phase.outcome == "failed"] == [when]
    assert len(ran.failures) == counted
    assert ran.failed


def test_a_fixture_that_does_not_exist_is_told_by_name(run: Run) -> None:
    """The report can say what is missing, and what there is."""
    own = "import pytest\n\n@pytest.fixture\ndef three(): return 3\n\n"
    found = failure(run(f"{own}def test_it(nothing_of_that_name): pass\n"))
    assert found.exception == "FixtureLookupError"
    said, _, known = found.message.partition("; there are: ")
    assert said == "no fixture is named 'nothing_of_that_name'"
    assert {"three", "tmp_path", "monkeypatch"} <= set(known.split(", "))


def test_usage_of_time_and_memory_is_measured(run: Run) -> None:
    """By the worker, not by the cell itself."""
    outcome = run("def test_it():\n    x = bytearray(64 << 20)\n    sum(range(10**6))\n")
    assert outcome.cpu_seconds > 0
    assert outcome.peak_kilobytes > 64 << 10
    assert 0 < outcome.runs["test_toy.py::test_it"].seconds <= outcome.seconds
