"""A throw-away session in the trusted process, so that no cell pays for first times."""

import contextlib
import gc
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import strategies
from hypothesis.configuration import set_hypothesis_home_dir

from .session import load_profile, private_folders, run_pytest

SUITE = """
import unittest
import numpy
import pytest
from hypothesis import HealthCheck, assume, example, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

@pytest.fixture
def five():
    return 5

@pytest.mark.parametrize("n", [1, 2])
def test_plain(n, five):
    assert n < five, "message"
    numpy.testing.assert_allclose(numpy.arange(3.0), [0, 1, 2])

@example(3)
@given(st.integers(0, 9))
def test_integers(n):
    assume(n != 4)
    assert n >= 0

@given(st.data())
def test_data(data):
    data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    data.draw(hnp.arrays(numpy.float64, (2, 3), elements=st.floats(-1, 1)))
    data.draw(st.tuples(st.booleans(), st.text(max_size=2), st.sampled_from("ab")))

@given(st.integers().flatmap(lambda n: st.just(n)), st.floats(0, 1).map(abs))
def test_fails(n, x):
    assert n + x < 3

def test_raises():
    with pytest.raises(ValueError, match="x"):
        raise ValueError("x")

class Test:
    def test_method(self):
        assert True

class TestCase(unittest.TestCase):
    def test_method(self):
        with self.subTest("one"):
            self.assertEqual(1, 1)
"""


def warm_up(cells: Path) -> None:
    """Run a small session of grader's own and leave the interpreter as it was, but warm.

    Hypothesis keeps its tables of characters, which take a second to make, where the worker's
    environment says; cells have folders of their own.
    """
    path, meta_path, temporary = list(sys.path), list(sys.meta_path), tempfile.tempdir
    loaded, arguments = set(sys.modules), list(sys.argv)
    folder, suite = cells / "warm", cells / "warm" / "tests"
    folder.mkdir()
    suite.mkdir()
    (suite / "test_warm_up.py").write_text(SUITE)
    tables = os.environ.get("HYPOTHESIS_STORAGE_DIRECTORY")
    with private_folders(folder), contextlib.chdir(suite):
        set_hypothesis_home_dir(tables)
        strategies.text().validate()
        set_hypothesis_home_dir(None)
        load_profile()
        run_pytest(suite, ["test_warm_up.py"], 0, [])
    set_hypothesis_home_dir(None)
    shutil.rmtree(folder)
    for name in set(sys.modules) - loaded:
        if name.startswith("test_warm_up"):
            del sys.modules[name]
    sys.path[:], sys.meta_path[:], tempfile.tempdir = path, meta_path, temporary
    sys.argv[:] = arguments
    random.seed(0)
    gc.collect()
