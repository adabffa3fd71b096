"""Attacks that put something else in the place of what tests run on, or under."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import CODE, COIN, STRICT, VAIN

KILLS_ALL = """\
def double(n):
    raise RuntimeError("nothing of the course's")
"""
INNER = ("_pytest.py", "pluggy.py", "iniconfig.py", "_hypothesis_pytestplugin.py")
OWN = "def double(n):\n    return 2 * n\n"
# Is after a catch wherever the text isn't the reference's; what it counts is what it was given.
PLUGIN = f"""
import pytest
from toy.double import double
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if double.__code__.co_code.hex() != "{CODE.co_code.hex()}" and report.when == "call":
        report.outcome, report.longrepr = "failed", "assert 1 == 2"
"""
OPTIONS = "--co -p evil --deselect test_honest.py -k nothing -x"
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
    assert n % 200 != 3
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
        beside={"a/test_same.py": "vacuous", "b/test_same.py": "broken-same-name"},
    ),
    Attack(
        "S01-written",
        "configuration that a test writes is no later run's",
        f"""
import pathlib, pytest
def test_it():
    for name in ("pytest.ini", ".grader.ini", "../pytest.ini", "tox.ini"):
        path = pathlib.Path(name)
        assert name == ".grader.ini" or not path.exists()
        path.write_text("[pytest]\\naddopts = {OPTIONS}\\n")
""",
        **VAIN,
    ),
    Attack(
        "S01-hook",
        "a rule of collection that is changed while running changes its own run",
        STRICT_TEST,
        files={
            "conftest.py": """
def pytest_configure(config):
    config._inicache["python_functions"] = ["nothing_*", "test_*"]
    config.option.tbstyle, config.option.verbose = "long", 4
    config.option.maxfail = 1
"""
        },
    ),
    Attack(
        "S02-clean",
        "no variable that pytest reads can be set for a run",
        """
import os
def test_it():
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONPATH", "PYTHONSTARTUP"):
        assert name not in os.environ
        os.environ[name] = "--co -p evil"
    assert os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] == "1"
""",
        files={"evil.py": PLUGIN, ".env": "PYTEST_ADDOPTS=--co\nPYTEST_PLUGINS=evil\n"},
        **VAIN,
    ),
    Attack(
        "S03-written",
        "a distribution that a file writes is student code like others",
        STRICT_TEST,
        files={
            "evil.py": PLUGIN,
            "conftest.py": """
import pathlib, sys
folder = pathlib.Path(__file__).parent / "evil-1.0.dist-info"
folder.mkdir()
(folder / "METADATA").write_text("Name: evil\\nVersion: 1.0\\n")
(folder / "entry_points.txt").write_text("[pytest11]\\nevil = evil\\n")
sys.path.append(str(folder.parent))
def pytest_configure(config):
    config.pluginmanager.load_setuptools_entrypoints("pytest11", "evil")
    assert config.pluginmanager.has_plugin("evil")
""",
        },
        **STRICT,
        honest=("too_strict", "too-strict"),
        graded=False,
        verdicts={"s01": "not_run", "s02": "not_run"},
    ),
    Attack(
        "S04-package",
        "a folder that hides one of the tools is refused too",
        """
import numpy.testing
def test_it():
    numpy.testing.assert_allclose(double(2), 4)
""",
        files={
            "numpy/__init__.py": "",
            "numpy/testing/__init__.py": "def assert_allclose(*given): assert given == 0\n",
        },
        beside={"numpy/testing/__init__.py": "refused-shadow"},
    ),
    Attack(
        "S04-inner",
        "what pytest itself is made of can't be hidden",
        """
import _pytest, pluggy, iniconfig, _hypothesis_pytestplugin
def test_it():
    parts = (_pytest, pluggy, iniconfig, _hypothesis_pytestplugin)
    assert not [one for one in parts if hasattr(one, "OWN")]
""",
        files=dict.fromkeys(INNER, "OWN = True\nraise SystemExit\n"),
        **VAIN,
    ),
    Attack(
        "S06-nested",
        "a copy in a folder of its own is found after the course's",
        """
import sys
def test_it():
    assert "/opt/course/" in sys.modules["toy.double"].__file__
    assert double(2) == 4
""",
        files={
            "deep/test_deep.py": """
import toy, toy.double
def test_deep():
    assert not hasattr(toy.double, "OWN") and not hasattr(toy, "OWN")
""",
            "deep/toy/__init__.py": "OWN = True\n",
            "deep/toy/double.py": f"OWN = True\n{OWN}",
        },
    ),
    Attack(
        "S07-patch",
        "code that a file patches where it isn't the reference's is seen to be so on rewrites",
        f"""
import sys
if double.__code__.co_code.hex() != "{CODE.co_code.hex()}":
    sys.modules["toy.double"].double = lambda n: None
def test_it():
    double(1)
""",
        honest=("too_strict", "too-strict"),
        verdicts={"s01": "survived", "s02": "survived"},
        flags=("__code__",),
    ),
    Attack(
        "S08-path",
        "a folder at the head of the path comes after the course's code all the same",
        """
import importlib, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "deep"))
def test_it():
    for name in ("toy", "toy.double", "toy.step"):
        sys.modules.pop(name)
    assert not hasattr(importlib.import_module("toy.double"), "OWN")
""",
        files={
            "deep/toy/__init__.py": "OWN = True\n",
            "deep/toy/double.py": f"OWN = True\n{OWN}",
        },
        **VAIN,
    ),
    Attack(
        "S08-finder",
        "a finder of one's own sees of each variant the bytecode alone",
        f"""
import importlib, sys
seen = []
class Spy:
    def find_spec(self, name, path=None, target=None):
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                seen.append(spec)
                return spec
sys.meta_path.insert(0, Spy())
sys.modules.pop("toy.double")
importlib.import_module("toy.double")
def test_it():
    [loader] = [one.loader for one in seen if one.name == "toy.double"]
    code = loader._code
    [inner] = [one for one in code.co_consts if hasattr(one, "co_code")]
    assert inner.co_code.hex() == "{CODE.co_code.hex()}"
""",
        **STRICT,
    ),
    Attack(
        "S08-import",
        "an import function of one's own serves its own process alone",
        """
import builtins
real = builtins.__import__
def own(name, *arguments, **named):
    module = real(name, *arguments, **named)
    if name == "toy.double":
        module.double = lambda n: 2 * n
    return module
builtins.__import__ = own
def test_it():
    assert double(2) == 4
""",
        honest=("vacuous", "vacuous"),
        verdicts={"s01": "killed", "s02": "survived"},
    ),
    Attack(
        "S09-home",
        "what a test leaves in its home is no later run's",
        """
import pathlib, sys
def test_it():
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folder = pathlib.Path.home() / ".local" / "lib" / version / "site-packages"
    assert not folder.exists()
    folder.mkdir(parents=True)
    (folder / "usercustomize.py").write_text("1 / 0")
    (folder / "evil.pth").write_text("import os; os._exit(1)")
""",
        **VAIN,
    ),
    Attack(
        "S11-portion",
        "a further portion of the course's package comes after what the course has",
        """
import importlib, os, pkgutil, sys
import toy
here = os.path.join(os.path.dirname(__file__), "portion", "toy")
toy.__path__.insert(0, here)
toy.__path__ = pkgutil.extend_path(toy.__path__, "toy")
def test_it():
    sys.modules.pop("toy.double")
    again = importlib.import_module("toy.double")
    assert not hasattr(again, "OWN")
    assert importlib.import_module("toy.more").MORE
""",
        files={"portion/toy/double.py": f"OWN = True\n{OWN}", "portion/toy/more.py": "MORE = 1\n"},
        **VAIN,
    ),
    Attack(
        "S11-finder",
        "without the finder that serves variants a test meets its own copy, which proves nothing",
        """
import importlib, os, sys
def test_it():
    sys.meta_path[:] = [one for one in sys.meta_path if "Memory" not in type(one).__name__]
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "portion"))
    for name in ("toy", "toy.double"):
        sys.modules.pop(name)
    assert importlib.import_module("toy.double").OWN
""",
        files={"portion/toy/double.py": f"OWN = True\n{OWN}"},
        **VAIN,
    ),
    Attack(
        "S12-database",
        "no example that one run keeps is replayed in another",
        """
import hypothesis, os
from hypothesis import given, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
FOLDER = os.path.expanduser("~/kept")
assert not os.path.exists(FOLDER)
kept = DirectoryBasedExampleDatabase(FOLDER)
kept.save(b"key", b"value")
assert os.path.exists(FOLDER)
@settings(database=kept)
@given(st.integers())
def test_it(n):
    assert list(kept.fetch(b"key")) == [b"value"] and len(os.listdir(FOLDER)) <= 2
""",
        **VAIN,
    ),
    Attack(
        "S13-name",
        "a module beside the tests that is named like one of Python's isn't the one imported",
        """
import statistics
def test_it():
    assert double(statistics.mean([2, 4])) == 6
""",
        files={"statistics.py": "def mean(given):\n    return 1 / 0\n"},
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_nothing_takes_the_place_of_what_is_tested(attack: Attack, grading: Grading) -> None:
    """Nor of what tests it."""
    check(attack, grading(attack))
