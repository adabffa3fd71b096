"""What is nobody's mistake: other styles, marks in a file, noise, slowness, litter. All count."""

from pathlib import Path

import pytest

from grader.grade import Grade
from grader.submission import freeze

from .case import HEAD, STRONG, Case, check, of_file, outcome, suite, told
from .conftest import Grading

GOOD = "def test_three():\n    assert double(3) == 6\n"
ANY = "@given(st.integers(0, 9))\ndef test_any(n):\n    assert double(n) == 2 * n\n"

METHODS = """\
class TestDouble:
    def test_three(self):
        assert double(3) == 6

    @given(st.integers(0, 9))
    def test_any(self, n):
        assert double(n) == 2 * n
"""
UNITTEST = """\
import unittest

class Doubling(unittest.TestCase):
    def setUp(self):
        self.three = 3

    def test_three(self):
        self.assertEqual(double(self.three), 6)

    @given(st.integers(0, 9))
    def test_any(self, n):
        self.assertEqual(double(n), 2 * n)
"""
SLOW = """\
import time

@settings(max_examples=1)
@given(st.integers(0, 9))
def test_slower_than_the_usual_deadline(n):
    time.sleep(0.21)
    assert double(n) == 2 * n

@settings(max_examples=2, deadline=1)
@given(st.integers(0, 9))
def test_slower_than_its_own_deadline(n):
    time.sleep(0.01)
    assert double(n) == 2 * n
"""
SLOW_AT_FIRST = """\
import time
waiting = [0.03]

@settings(max_examples=5, deadline=20)
@given(st.integers(0, 9))
def test_slow_at_first(n):
    time.sleep(waiting.pop() if waiting else 0)
    assert double(n) == 2 * n
"""
SLOWLY_DRAWN = """\
import time

@st.composite
def slow(draw):
    time.sleep(0.21)
    return draw(st.integers(0, 9))

@settings(max_examples=6)
@given(slow())
def test_any(n):
    assert double(n) == 2 * n
"""
OWN_PROFILE = f"""\
settings.register_profile("mine", derandomize=True, deadline=1, max_examples=7)
settings.load_profile("mine")

{ANY}"""
GLOBAL_STATE = """\
import numpy as np
np.random.seed(0)
np.seterr(all="raise")
np.set_printoptions(precision=1)

def test_some():
    n = np.random.randint(2, 9)
    assert double(n) == 2 * n
"""
WRITES = """\
import pathlib

def test_writes(tmp_path):
    for folder in (pathlib.Path(), pathlib.Path.home(), tmp_path):
        (folder / "note.txt").write_text(str(double(3)))
        assert (folder / "note.txt").read_text() == "6"
"""
FLOOD = """\
import sys

def test_floods():
    for _ in range(300):
        print("x" * 10_000)
        print("y" * 10_000, file=sys.stderr)
    assert double(3) == 6
"""
CONFTEST = "import pytest\n\n@pytest.fixture\ndef three():\n    return 3\n"

CASES = (
    Case("N07", METHODS, "valid"),
    Case("N09", UNITTEST, "valid"),
    Case("N15", (HEAD + GOOD).replace("\n", "\r\n").encode(), "valid"),
    Case("N16-mark", b"\xef\xbb\xbf" + (HEAD + GOOD).encode(), "valid"),
    Case("N17", f"from toy.double import *\n\n{GOOD}", "valid"),
    Case("N21", SLOW, "valid"),
    Case("N22", SLOW_AT_FIRST, "valid"),
    Case("N30", SLOWLY_DRAWN, "valid"),
    Case("N34", OWN_PROFILE, "valid"),
    Case("N35", GLOBAL_STATE, "valid"),
    Case("N38", WRITES, "valid"),
    Case("N39", FLOOD, "valid"),
    Case("N41", "def test_fixture(three):\n    assert double(three) == 6\n", "valid"),
    Case("N48-sleep", f"import time\n\n{GOOD}    time.sleep(0.3)\n", "valid"),
    Case("N52", f'{GOOD}\nif __name__ == "__main__":\n    pytest.main()\n', "valid"),
)
LITTER = (
    "__pycache__/test_a.cpython-311.pyc",
    ".hypothesis/unicode_data/charmap.json.gz",
    ".idea/workspace.xml",
    "__MACOSX/._test_a.py",
    ".DS_Store",
    "test_b.pyc",
)


@pytest.fixture(scope="module")
def graded(grading: Grading) -> Grade:
    """Return the grade of all cases together."""
    return grading({"conftest.py": CONFTEST, **suite(CASES)})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_counts(case: Case, graded: Grade) -> None:
    """Whatever the others of its suite do."""
    check(case, graded)


def test_every_test_of_a_class_is_one_of_its_own(graded: Grade) -> None:
    """N07 and N09: with Hypothesis and without."""
    names = [
        one.status.id for path in ("test_n07.py", "test_n09.py") for one in of_file(graded, path)
    ]
    assert [name.rpartition("::")[2] for name in names].count("test_any") == 2
    assert len(names) == 4


@pytest.mark.parametrize("number", ["N23"])
def test_a_grading_is_the_same_where_ci_is_set(
    number: str, grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hypothesis takes other settings there, unless it is told not to."""
    files = suite([Case(number, SLOW, "valid")])
    monkeypatch.delenv("CI", raising=False)
    at_home = grading(files, place="home")
    monkeypatch.setenv("CI", "1")
    assert outcome(grading(files, place="ci")) == outcome(at_home)
    assert told(at_home, "test_n23.py") == {("valid", None)}


@pytest.mark.parametrize("number", ["N51"])
def test_what_tools_leave_behind_is_passed_over_in_silence(
    number: str, grading: Grading, tmp_path: Path
) -> None:
    """Nobody put it there on purpose."""
    path = f"test_{number.lower()}.py"
    (tmp_path / path).write_text(HEAD + STRONG, encoding="utf-8")
    for name in LITTER:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"\x00def test_litter(): assert 0")
    submission = freeze(tmp_path)
    assert set(submission.files) == {path}
    found = grading(submission)
    assert found.passed
    assert found.warnings == ()
