"""Every style of writing tests that pytest knows works in a cell, and means what it means there."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome, TestRun

Run = Callable[..., Outcome]
TRIPLE = "def double(n):\n    return 3 * n\n"

UNITTEST = """
import unittest
from toy.mod import double

class DoubleTest(unittest.TestCase):
    def setUp(self):
        self.n = 4

    def test_method(self):
        self.assertEqual(double(self.n), 8)
"""
CLASS = """
from toy.mod import double

class TestDouble:
    def setup_method(self):
        self.n = 4

    def test_method(self):
        assert double(self.n) == 8
"""
INHERITED = """
from toy.mod import double

class Promises:
    def test_method(self):
        assert double(self.n) == 8

class TestFour(Promises):
    n = 4
"""
FIXTURES = """
import pytest
from toy.mod import double

@pytest.fixture(scope="module")
def four():
    yield 4

@pytest.fixture(autouse=True)
def around():
    yield

def test_method(four):
    assert double(four) == 8
"""
GENERATED = """
from toy.mod import double

def pytest_generate_tests(metafunc):
    metafunc.parametrize("n", [4], ids=["four"])

def test_method(n):
    assert double(n) == 8
"""
PROPERTY_METHOD = """
from hypothesis import given, strategies as st
from toy.mod import double

class TestDouble:
    @given(st.integers(1, 9))
    def test_method(self, n):
        assert double(n) == 2 * n
"""
STATEFUL = """
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from toy.mod import double

class Doubling(RuleBasedStateMachine):
    total = 0

    @rule(n=st.integers(1, 9))
    def add(self, n):
        self.total += double(n)

    @invariant()
    def is_even(self):
        assert self.total % 2 == 0

TestDoubling = Doubling.TestCase
"""
DATA = """
from hypothesis import given, strategies as st
from toy.mod import double

@given(st.data())
def test_method(data):
    n = data.draw(st.integers(1, 9))
    assert double(n) == 2 * n
"""
ARRAYS = """
import numpy as np
from hypothesis import given
from hypothesis.extra import numpy as hnp
from toy.mod import double

@given(hnp.arrays(np.int64, 3, elements={"min_value": 1, "max_value": 9}))
def test_method(x):
    np.testing.assert_array_equal(double(x), x + x)
"""
CASE = "import unittest\nclass C(unittest.TestCase):\n"
STYLES = {
    "unittest": UNITTEST,
    "class": CLASS,
    "inherited": INHERITED,
    "fixtures": FIXTURES,
    "generated": GENERATED,
    "property method": PROPERTY_METHOD,
    "stateful": STATEFUL,
    "interactive draws": DATA,
    "numpy arrays": ARRAYS,
}


def only(outcome: Outcome) -> TestRun:
    """Return what the only test of a suite did."""
    assert outcome.end is End.COMPLETE, outcome
    [test] = outcome.tests
    return outcome.runs[test]


@pytest.mark.parametrize("style", STYLES)
def test_a_style_passes_on_right_code_and_fails_on_wrong_code(run: Run, style: str) -> None:
    """A student may write in any of them, and the verdict is the same."""
    right, wrong = only(run(STYLES[style])), only(run(STYLES[style], TRIPLE))
    assert right.finished
    assert not right.failed
    assert not right.skipped
    assert [failure.kind for failure in wrong.failures] == ["ordinary"]


def test_each_parameter_is_a_test_of_its_own(run: Run) -> None:
    """A kill is credited to the case that saw the fault."""
    outcome = run(
        """
        import pytest
        from toy.mod import double

        @pytest.mark.parametrize("n", [0, 1])
        def test_double(n):
            assert double(n) == 0
        """.replace("\n        ", "\n")
    )
    assert outcome.tests == ("test_toy.py::test_double[0]", "test_toy.py::test_double[1]")
    assert [outcome.runs[test].failed for test in outcome.tests] == [False, True]


@pytest.mark.parametrize(
    ("fixture", "body"),
    [
        ("capsys", "print('out'); assert capsys.readouterr().out == 'out\\n'"),
        ("capfd", "import os; os.write(1, b'x'); assert capfd.readouterr().out == 'x'"),
        ("caplog", "import logging; logging.warning('w'); assert caplog.messages == ['w']"),
        ("tmp_path", "(tmp_path / 'f').write_text('x'); assert list(tmp_path.iterdir())"),
        ("monkeypatch", "import math; monkeypatch.setattr(math, 'pi', 3); assert math.pi == 3"),
        ("recwarn", "import warnings; warnings.warn('w'); assert len(recwarn) == 1"),
        ("record_property", "record_property('key', 'value')"),
        ("tmp_path_factory", "assert tmp_path_factory.mktemp('f').is_dir()"),
    ],
)
def test_a_fixture_of_pytest_works(run: Run, fixture: str, body: str) -> None:
    """None of them depends on a plugin that a cell goes without."""
    assert not only(run(f"def test_it({fixture}):\n    {body}\n")).failed


def test_a_failed_subtest_of_pytest_fails_its_test(run: Run) -> None:
    """A fault that only one of several cases sees is seen."""
    ran = only(
        run("""
def test_it(subtests):
    with subtests.test("first"):
        assert False, "seen"
    with subtests.test("second"):
        assert True
""")
    )
    assert ran.failed
    assert ran.failures[0].message.startswith("seen")


def test_a_failed_subtest_of_unittest_fails_its_test(run: Run) -> None:
    """The older spelling means the same."""
    ran = only(
        run("""
import unittest
class Case(unittest.TestCase):
    def test_it(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)
""")
    )
    assert ran.failed
    assert ran.failures[0].exception == "AssertionError"


def test_a_skipped_subtest_does_not_skip_its_test(run: Run) -> None:
    """The rest of the test still tells something."""
    ran = only(
        run("""
import pytest
def test_it(subtests):
    with subtests.test("first"):
        pytest.skip("not here")
    assert True
""")
    )
    assert any(phase.outcome == "skipped" for phase in ran.phases)
    assert not ran.skipped


def test_an_async_test_fails_since_nothing_runs_it(run: Run) -> None:
    """It must not pass unseen: its body never ran."""
    ran = only(run("async def test_it():\n    assert True\n"))
    assert ran.failures[0].exception == "Failed"
    assert "async def" in ran.failures[0].message


def test_an_async_method_of_unittest_runs_where_the_course_allows_it(
    looping_run: Run, run: Run
) -> None:
    """unittest brings its own loop."""
    suite = """
import unittest
class Case(unittest.IsolatedAsyncioTestCase):
    async def test_it(self):
        self.assertEqual(1, 2)
"""
    assert only(looping_run(suite)).failures[0].exception == "AssertionError"
    assert only(run(suite)).failures[0].exception == "OSError"


def test_a_yield_test_makes_its_file_unreadable(run: Run) -> None:
    """pytest refuses it while it collects."""
    outcome = run("def test_it():\n    yield\n")
    assert [broken.path for broken in outcome.unreadable] == ["test_toy.py"]
    assert "yield" in outcome.unreadable[0].failure.message


@pytest.mark.parametrize(
    "suite",
    [
        "import pytest\n@pytest.mark.skip\ndef test_it(): assert False\n",
        "import pytest\n@pytest.mark.skipif(True, reason='r')\ndef test_it(): assert False\n",
        "import pytest\ndef test_it(): pytest.skip('r')\n",
        "import pytest\n@pytest.fixture\ndef f(): pytest.skip('r')\ndef test_it(f): pass\n",
        "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False\n",
        "import pytest\n@pytest.mark.xfail\ndef test_it(): assert True\n",
        "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_it(): assert True\n",
        "import pytest\ndef test_it(): pytest.xfail('r')\n",
        f"{CASE} @unittest.skip('r')\n def test_it(self): 1/0\n",
        f"{CASE} def test_it(self): self.skipTest('r')\n",
        f"{CASE} @unittest.expectedFailure\n def test_it(self): 1/0\n",
    ],
)
def test_a_test_that_is_skipped_or_expected_to_fail_is_recorded_as_such(
    run: Run, suite: str
) -> None:
    """Such a test tells nothing, however it is spelled."""
    ran = only(run(suite))
    assert ran.skipped
    assert ran.finished


def test_a_module_that_skips_itself_holds_no_test(run: Run) -> None:
    """That is a wish and no error."""
    outcome = run("import pytest\npytest.skip('r', allow_module_level=True)\ndef test_it(): pass\n")
    assert outcome.end is End.COMPLETE
    assert outcome.tests == ()
    assert outcome.unreadable == ()


def test_a_class_with_a_constructor_is_not_collected(run: Run) -> None:
    """pytest's rule, which a look at the source warns of."""
    outcome = run("class TestIt:\n    def __init__(self): pass\n    def test_it(self): pass\n")
    assert outcome.collected
    assert outcome.tests == ()


def test_an_empty_suite_is_collected_and_complete(run: Run) -> None:
    """Finding nothing is no failure of the run."""
    outcome = run("x = 1\n")
    assert outcome.end is End.COMPLETE
    assert outcome.collected
    assert outcome.tests == ()
