"""Files and tests that can't be run: each is named with what to do, and the others are graded."""

from pathlib import Path

import pytest

from grader.cli.exits import Exit, exit_of
from grader.grade import Grade
from grader.submission import freeze

from .case import HEAD, Case, check, reasons, suite, told, warned
from .conftest import Grading

GOOD = "def test_three():\n    assert double(3) == 6\n"

CASES = (
    Case(
        "N03",
        "def test_three(:\n    pass\n",
        "broken",
        "broken-syntax",
        ("line 5: invalid syntax",),
    ),
    Case(
        "N04", f"import pandas\n{GOOD}", "refused", "refused-import", ("pandas (line 5)", "pytest")
    ),
    Case(
        "N04-forgotten",
        b"from toy.double import double\n\n@given(3)\ndef test_it(n):\n    assert double(n) == 6\n",
        "broken",
        "broken-import",
        ("NameError: name 'given' is not defined at test_n04_forgotten.py, line 3",),
    ),
    Case("N05", GOOD, "valid"),
    Case(
        "N11",
        "def test_each():\n    for n in range(3):\n        yield double(n)\n",
        "broken",
        "broken-import",
        ("'yield' keyword is allowed in fixtures, but not in tests (test_each)",),
    ),
    Case(
        "N16",
        b"def test_it():\n    assert '\xe4'\n",
        "refused",
        "refused-encoding",
        ("byte 27 is not UTF-8", "save it as UTF-8"),
    ),
    Case(
        "N16-declared",
        b"# -*- coding: latin-1 -*-\ndef test_it():\n    assert '\xe4'.isalpha()\n",
        "refused",
        "refused-encoding",
        ("is not UTF-8",),
    ),
    Case(
        "N40",
        "def test_it(mocker):\n    assert double(3) == 6\n",
        "broken",
        "broken-fixture",
        ("no fixture is named 'mocker'; there are: ", "monkeypatch", "three", "tmp_path"),
    ),
    Case(
        "N40-benchmark",
        "def test_it(benchmark):\n    assert benchmark(double, 3) == 6\n",
        "broken",
        "broken-fixture",
        ("no fixture is named 'benchmark'",),
    ),
    Case(
        "N48", f"import socket\n{GOOD}", "refused", "refused-import", ("imports socket (line 5)",)
    ),
    Case("N48-torch", f"import torch\n{GOOD}", "refused", "refused-import", ("imports torch",)),
    Case(
        "N49",
        f"type Number = int\n\n{GOOD}",
        "broken",
        "broken-syntax",
        ("line 5", "read by Python 3.11"),
    ),
    Case(
        "N54",
        f"import time\ntime.sleep(60)\n{GOOD}",
        "broken",
        "broken-import-time",
        ("reading the file took over 2 s: move the work into tests",),
    ),
)
CONFTEST = "import pytest\n\n@pytest.fixture\ndef three():\n    return 3\n"


CONNECTS = """\
import socket

def test_it():
    socket.create_connection(("127.0.0.1", 9), 1)
"""
# Where the course allows all imports.
OPEN = (
    Case(
        "N04-not-installed",
        "import pandas\n",
        "broken",
        "broken-module",
        ("No module named 'pandas' at test_n04_not_installed.py, line 5", "there are only"),
    ),
    Case(
        "N48-connects",
        CONNECTS,
        "invalid",
        "invalid-sealed",
        ("without processes, threads, sockets",),
    ),
)


@pytest.fixture(scope="module")
def opened(grading: Grading) -> Grade:
    """Return the grade of the cases for a course that allows all imports."""
    return grading(suite(OPEN), allowed_imports=("*",))


@pytest.fixture(scope="module")
def graded(grading: Grading) -> Grade:
    """Return the grade of all cases together."""
    return grading({"conftest.py": CONFTEST, **suite(CASES)})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_is_named_with_what_to_do(case: Case, graded: Grade) -> None:
    """And harms no other file."""
    check(case, graded)


def test_the_others_are_graded(graded: Grade) -> None:
    """N05: to the full mark."""
    assert exit_of(graded) is Exit.PASSED
    assert told(graded, "test_0.py") == {("valid", None)}


@pytest.mark.parametrize("number", ["N03"])
def test_nothing_is_graded_where_no_file_can_be_read(number: str, grading: Grading) -> None:
    """Nor is it said that the file imports nothing, which nobody can know."""
    path = f"test_{number}.py"
    found = grading({path: HEAD + "def test_three(:\n"})
    assert exit_of(found) is Exit.NOTHING_HOLDS
    assert found.why is not None
    assert found.why.slug == "no-valid-test"
    assert told(found, path) == {("broken", "broken-syntax")}
    assert warned(found, "untested-module") == []


@pytest.mark.parametrize("case", OPEN, ids=lambda case: case.id)
def test_a_course_that_allows_all_imports_says_what_there_is(case: Case, opened: Grade) -> None:
    """A package that isn't installed, and a network."""
    check(case, opened)


@pytest.mark.parametrize("number", ["N37"])
def test_data_is_left_out_and_the_test_that_reads_it_is_told_what_to_do(
    number: str, grading: Grading, tmp_path: Path
) -> None:
    """Both times: to write it into a Python file, which is found beside the test."""
    path = f"test_{number}.py"
    reads = "def test_it():\n    assert double(3) == int(open('data.json').read())\n"
    imports = "from data import SIX\n\ndef test_it():\n    assert double(3) == SIX\n"
    (tmp_path / "data.json").write_text("6")
    (tmp_path / "data.py").write_text("SIX = 6\n")
    (tmp_path / path).write_text(HEAD + reads)
    (tmp_path / "test_with_python.py").write_text(HEAD + imports)
    found = grading(freeze(tmp_path))
    why = "data.json was left out: it is no Python file: write its data into one"
    assert warned(found, "left-out") == [why]
    assert told(found, path) == {("invalid", "invalid-file")}
    assert f"at {path}, line 6: only Python files are graded" in reasons(found, path)
    assert told(found, "test_with_python.py") == {("valid", None)}
