"""What a student is told of a test that fails on right code."""

import pytest

from grader.outcome import Failure, Phase, TestRun
from grader.rejection import rejection

SOME = "It looks like this test is filtering out a lot of inputs. "
COUNTS = "9 inputs were generated successfully, while 50 inputs were filtered out. "


def told(exception: str, text: str = "", kind: str = "ordinary", when: str = "call") -> list[str]:
    """Return slug and text of what is said of a test that ``exception`` ended."""
    facts = {"kind": kind, "exception": exception, "message": text, "file": "test_a.py", "line": 3}
    failure = Failure.model_validate(facts)
    phase = {"id": "t", "when": when, "outcome": "failed", "expected_to_fail": False}
    said = rejection(TestRun(phases=(Phase.model_validate({**phase, "failure": failure}),)))
    assert "{" not in said.text
    return [said.slug, said.text]


@pytest.mark.parametrize(
    ("exception", "slug"),
    [
        ("AssertionError", "invalid"),
        ("NameError", "invalid-name"),
        ("FileNotFoundError", "invalid-file"),
        ("EOFError", "invalid-input"),
        ("gaierror", "invalid-network"),
        ("Failed", "invalid"),
    ],
)
def test_an_exception_that_tells_of_the_test_itself_has_its_own_advice(
    exception: str, slug: str
) -> None:
    """The line is told, and never what the exception says."""
    found, text = told(exception, "secret")
    assert found == slug
    assert " at test_a.py, line 3" in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("exception", "text", "kind"),
    [
        ("OSError", "[Errno 38] Function not implemented", "ordinary"),
        ("BlockingIOError", "[Errno 11] Resource temporarily unavailable", "limit"),
        ("RuntimeError", "can't start new thread", "ordinary"),
    ],
)
def test_what_the_seal_denies_is_told_as_a_rule(exception: str, text: str, kind: str) -> None:
    """Not as a limit, which a smaller test would keep."""
    slug, words = told(exception, text, kind)
    assert slug == "invalid-sealed"
    assert "threads" in words
    assert told(exception, "something else", kind)[0] != slug


def test_an_async_test_is_told_how_to_be_run() -> None:
    """Pytest fails it without a line of the student's."""
    text = "async def functions are not natively supported.\nYou need to install a plugin"
    assert told("Failed", text)[0] == "invalid-async"


def test_a_teardown_that_fails_is_named() -> None:
    """The check itself held."""
    assert told("RuntimeError", when="teardown")[0] == "invalid-teardown"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SOME + COUNTS, "84 % of the inputs drawn were thrown away"),
        (SOME, "most of the inputs drawn were thrown away"),
        (SOME + "0 inputs were generated successfully, while 0 inputs were filtered", "0 % of"),
        ("'test_a' uses a function-scoped fixture 'tmp_path'.", "once and not once an example"),
        ("Nesting @given tests results in quadratic generation", "st.data()"),
        ("Tests run under @given should return None, but", "instead of asserting it"),
        ("The smallest natural input for this test is very large.", "draw smaller ones"),
        ("Generated inputs routinely consumed more than the maximum allowed entropy", "smaller"),
        ("anything else", "run it at home"),
    ],
)
def test_each_health_check_has_its_own_advice(text: str, words: str) -> None:
    """Hypothesis has one exception for them all."""
    slug, said = told("FailedHealthCheck", text, "hypothesis")
    assert slug == "invalid-hypothesis"
    assert words in said


@pytest.mark.parametrize("exception", ["Unsatisfiable", "InvalidArgument", "StopTest"])
def test_hypothesis_other_exceptions_are_advised_on_too(exception: str) -> None:
    """By name, or by running it at home."""
    assert told(exception, "secret", "hypothesis")[1].startswith(
        f"can't hold on any code: {exception}"
    )
