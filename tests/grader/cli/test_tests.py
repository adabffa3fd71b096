"""The course's tests on a student's implementation: right, wrong, hanging, broken."""

from pathlib import Path

import pytest

from tests.grader.cli.conftest import DOUBLE, Ran, Student, call

ROOT = Path(__file__).resolve().parents[3]

BI = """\
import numpy as np

from tinyllm.autograd.functional import concat
from tinyllm.autograd.tensor import Tensor


def reversal_index(lengths, T):
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise ValueError("lengths are integers in a row")
    if min(lengths) < 1 or max(lengths) > T:
        raise ValueError("a length is out of range")
    index = np.empty((T, len(lengths)), dtype=np.int64)
    for b, length in enumerate(lengths):
        index[:length, b] = range(length - 1, -1, -1)
        index[length:, b] = range(length, T)
    return index


def reverse_padded(x, lengths):
    if len(x.shape) < 2:
        raise ValueError("x is [T, B, ...]")
    T, B = x.shape[:2]
    if lengths is None:
        lengths = [T] * B
    if np.shape(lengths) != (B,):
        raise ValueError("a length a sequence")
    return x[reversal_index(lengths, T), np.arange(B)]


def bidirectional(fwd, bwd, x, lengths=None):
    if not isinstance(x, Tensor):
        x = Tensor(x)
    left = fwd(x, lengths=lengths)[0]
    right = bwd(reverse_padded(x, lengths), lengths=lengths)[0]
    return concat([left, reverse_padded(right, lengths)], axis=-1)
"""
REVERSAL = {"test_hand_example_reversal", "test_reversal_is_an_involution_that_keeps_padding"}
LAYER = {"test_hand_example_running_sums", "test_matches_torch_bidirectional"}
PADDING = {"test_padding_never_reaches_either_direction", "test_matches_per_sequence_loop"}
PITFALLS = {
    "1: the padded batch is flipped": (
        "    return x[reversal_index(lengths, T), np.arange(B)]",
        "    reversal_index(lengths, T)\n    return x[::-1]",
        REVERSAL,
    ),
    "1: the padding is mirrored too": (
        "range(length, T)",
        "range(T - 1, length - 1, -1)",
        REVERSAL,
    ),
    "2: the backward outputs stay reversed": (
        "[left, reverse_padded(right, lengths)]",
        "[left, right]",
        LAYER,
    ),
    "3: the backward half comes first": (
        "[left, reverse_padded(right, lengths)]",
        "[reverse_padded(right, lengths), left]",
        LAYER,
    ),
    "4: the backward module runs without lengths": (
        "bwd(reverse_padded(x, lengths), lengths=lengths)",
        "bwd(reverse_padded(x, lengths))",
        PADDING,
    ),
    "4: the forward module runs without lengths": (
        "fwd(x, lengths=lengths)",
        "fwd(x)",
        PADDING,
    ),
}


def _flagship(student: Student, bi: str) -> Ran:
    student.write("python/tinyllm/rnn/bi.py", bi)
    how = ("--ref-deps", "--sandbox", "process", "--repo", student.root)
    return call("tests", "L3.4", *how)


def _results(ran: Ran) -> dict[str, str]:
    """Return each test's result in the report."""
    lines = [line.split() for line in ran.out.splitlines() if line.startswith("  ")]
    return {
        word.rstrip(","): words[0] for words in lines for word in words if word.startswith("test_")
    }


def test_a_right_implementation_passes_whatever_it_looks_like(student: Student) -> None:
    """All eight tests of L3.4 accept loops in place of the reference's arithmetic."""
    ran = _flagship(student, BI)
    assert ran.code == 0
    assert "The course's tests on your code: 8 of 8 passed" in ran.out
    assert list(_results(ran).values()) == ["passed"] * 8


@pytest.mark.parametrize("pitfall", PITFALLS)
def test_each_pitfall_fails_the_tests_that_the_chapter_names(
    pitfall: str, student: Student
) -> None:
    """And the report says which, and with what."""
    old, new, tests = PITFALLS[pitfall]
    assert BI.count(old) == 1
    ran = _flagship(student, BI.replace(old, new))
    assert ran.code == 1
    assert tests <= {name for name, result in _results(ran).items() if result == "failed"}
    assert "AssertionError" in ran.out


def test_the_students_own_modules_are_built_on(student: Student) -> None:
    """A fault in one of them shows, and the reference's don't have it."""
    double = "from toy.step import step\n\n\n" + DOUBLE.replace("n * 2", "step(n * 2) - 1")
    student.build(double, step="def step(n):\n    return n + 2\n")
    ran = student.graded("tests")
    assert ran.code == 1
    assert "0 of 3 passed" not in ran.out
    assert _results(ran)["test_doubles"] == "failed"

    ran = student.graded("tests", "--ref-deps")
    assert ran.code == 0
    assert set(_results(ran).values()) == {"passed"}


def test_a_test_that_ends_the_run_hides_no_other(student: Student) -> None:
    """One hangs, one ends the interpreter; the rest are told apart."""
    hanging = "    if n == 3:\n        while True:\n            pass\n"
    ending = "    if n == 0:\n        import os\n        os._exit(0)\n"
    student.build(DOUBLE.replace("    return", hanging + ending + "    return"))
    ran = student.graded("tests")
    assert ran.code == 1
    assert _results(ran) == {
        "test_doubles": "failed",
        "test_zero": "failed",
        "test_negative": "passed",
    }
    assert "test_doubles, 1 of 3 cases" in ran.out
    assert "[3] timeout: took over 3 s" in ran.out
    assert "crash: ended the interpreter" in ran.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_there\n", "ModuleNotFoundError: No module named 'nothing_there'"),
        ("def double(n:\n", "SyntaxError: '(' was never closed"),
        ("def twice(n): ...\n", "ImportError: cannot import name 'double'"),
        ("import os\nos._exit(0)\n", "crash: ended the interpreter"),
        ("while True: pass\n", "timeout: took over 3 s"),
    ],
)
def test_an_implementation_that_cant_be_imported_never_passes(
    text: str, said: str, student: Student
) -> None:
    """Nothing was run, and that is no pass."""
    ran = student.build(text).graded("tests")
    assert ran.code == 1
    assert "The course's tests on your code: 0 of 1 passed" in ran.out
    assert said in ran.out


def test_what_an_implementation_prints_or_raises_is_inert(student: Student) -> None:
    """It can't write to the terminal, nor pass for a result."""
    hostile = "\\x1b[2J\\u202e[red]\\ntest_zero passed"
    raising = f'    print("{hostile}")\n    raise Exception("{hostile}")\n'
    ran = student.build(DOUBLE.replace("    return n * 2\n", raising)).graded("tests")
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert "\\x1b[2J\\u202e[red] test_zero passed" in ran.out
    assert _results(ran)["test_doubles"] == "failed"
