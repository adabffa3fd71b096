"""Attacks that put something else in the place of what tests run on, or under."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import COIN

KILLS_ALL = """\
def double(n):
    raise RuntimeError("nothing of the course's")
"""
STRICT_TEST = """
def test_it():
    assert double(2) == 4
"""

ATTACKS = (
    *(
        Attack(
            f"S01-{name.strip('.').replace('.', '-')}",
            "no configuration but grader's own is read",
            STRICT_TEST,
            files={name: text, "pkg/" + name: text},
        )
        for name, text in {
            "pytest.ini": "[pytest]\naddopts = --collect-only\n",
            ".pytest.ini": "[pytest]\npython_functions = never_*\n",
            "pytest.toml": '[pytest]\naddopts = ["--collect-only"]\n',
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--deselect test_honest.py'\n",
            "tox.ini": "[pytest]\naddopts = -p evil --co\n",
            "setup.cfg": "[tool:pytest]\naddopts = --co\n",
        }.items()
    ),
    Attack(
        "S02",
        "options from the environment reach no later run",
        """
import os
os.environ["PYTEST_ADDOPTS"] = "--collect-only"
os.environ["PYTEST_PLUGINS"] = "evil"
def test_it():
    assert double(2) == 4
""",
    ),
    Attack(
        "S03",
        "a plugin that lies beside the tests isn't loaded",
        STRICT_TEST,
        files={
            "evil.py": "def pytest_collection_modifyitems(items): items.clear()\n",
            "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
            "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
        },
    ),
    Attack(
        "S04",
        "a file that is called after a library is refused, and hides it from nobody",
        STRICT_TEST,
        files={
            "numpy.py": "raise RuntimeError\n",
            "hypothesis.py": "def given(*a, **k): return lambda f: f\n",
            "pytest.py": "raise RuntimeError\n",
        },
        beside=dict.fromkeys(("numpy.py", "hypothesis.py", "pytest.py"), "refused-shadow"),
    ),
    Attack(
        "S05",
        "a file that is called after a standard module hides it from nobody",
        STRICT_TEST,
        files={
            "random.py": "raise RuntimeError\n",
            "json.py": "raise RuntimeError\n",
            "string.py": "raise RuntimeError\n",
        },
    ),
    Attack(
        "S06",
        "a package of the course's name is refused, and the course's is tested",
        STRICT_TEST,
        files={"toy/__init__.py": "", "toy/double.py": KILLS_ALL},
        beside={"toy/double.py": "refused-shadow"},
    ),
    Attack(
        "S06-namespace",
        "so is a folder of that name",
        STRICT_TEST,
        files={"toy/double.py": KILLS_ALL},
        beside={"toy/double.py": "refused-shadow"},
    ),
    Attack(
        "S06-test",
        "so is a test file of that name",
        STRICT_TEST,
        files={"toy.py": KILLS_ALL, "sub/toy/double.py": KILLS_ALL},
        beside={"toy.py": "refused-shadow"},
    ),
    Attack(
        "S07",
        "a module that is replaced for later files is replaced on right code too",
        """
import sys, types
def wrong(n): return 7
sys.modules["toy.double"].double = wrong
fake = types.ModuleType("toy.double")
fake.double = wrong
sys.modules["toy.double"] = fake
def test_it():
    assert double(2) == 4
""",
        honest=("invalid", "invalid"),
    ),
    Attack(
        "S08",
        "a finder of one's own serves one's own run alone",
        """
import importlib.abc, importlib.machinery, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "toy.double": raise ImportError("not today")
sys.meta_path.insert(0, Finder())
sys.path.insert(0, "/tmp")
sys.path_hooks.clear()
def test_it():
    assert double(2) == 4
""",
    ),
    Attack(
        "S09",
        "what Python runs at its start lies where it doesn't look",
        STRICT_TEST,
        files={
            "sitecustomize.py": "raise RuntimeError\n",
            "usercustomize.py": "raise RuntimeError\n",
            "evil.pth": "import os; os._exit(0)\n",
        },
    ),
    Attack(
        "S10",
        "a file that is called like an option is left out",
        STRICT_TEST,
        files={
            "--co": "",
            "-k test_honest.py": "",
            "--collect-only.py": "",
            "test_a.py::test_b": "",
        },
    ),
    Attack(
        "S11",
        "a package that is made longer is one's own run's alone",
        """
import pkgutil, sys
import toy
toy.__path__ = [*getattr(toy, "__path__", []), "/tmp", "."]
toy.__path__ = pkgutil.extend_path(toy.__path__, "toy")
def test_it():
    assert double(2) == 4
""",
    ),
    Attack(
        "S12",
        "settings that count less make a weaker test",
        """
from hypothesis import given, settings, strategies as st
settings.register_profile("mine", max_examples=1, derandomize=False)
settings.load_profile("mine")
@given(st.integers(0, 9))
def test_it(n):
    assert double(n) == 2 * n
""",
    ),
    Attack(
        "S12-seed",
        "a seed of one's own that is taken from the clock is a coin",
        """
import time
from hypothesis import given, seed, strategies as st
@seed(time.time_ns())
@given(st.integers(0, 10**6))
def test_it(n):
    assert n % 7 != 3
""",
        **COIN,
    ),
    Attack(
        "S13",
        "a support module beside the tests is the student's own",
        """
from helper import twice
def test_it():
    assert double(4) == twice(4)
""",
        files={"helper.py": "def twice(n): return n + n\n"},
    ),
    Attack(
        "S14",
        "two files of one name do not take each other's place",
        STRICT_TEST,
        files={
            "a/test_same.py": "def test_one(): assert True\n",
            "b/test_same.py": "def test_two(): assert True\n",
        },
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_nothing_takes_the_place_of_what_is_tested(attack: Attack, grading: Grading) -> None:
    """Nor of what tests it."""
    check(attack, grading(attack))
