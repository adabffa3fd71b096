"""A later cell finds nothing of an earlier one, and nothing that tells which variant it meets."""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from grader.outcome import End, Outcome

Run = Callable[..., Outcome]


def told(outcome: Outcome, test: str = "test_toy.py::test_it") -> str:
    """Return what a test said by failing."""
    assert outcome.end is End.COMPLETE, outcome
    return outcome.runs[test].failures[0].message


def test_no_object_in_reach_holds_the_variants_text(run: Run) -> None:
    """Neither frames, nor loaders, nor plugins, nor anything else that Python tracks."""
    suite = """
import gc, sys
import toy.mod
def test_it():
    gc.unfreeze()
    mark = "-".join(["the", "text", "of", "the", "variant"])
    held = []
    for thing in gc.get_objects():
        if type(thing) is dict:
            held += [value for value in thing.values() if type(value) is str]
        elif type(thing) in (list, tuple):
            held += [value for value in thing if type(value) is str]
    frame = sys._getframe()
    while frame:
        held += [value for value in frame.f_locals.values() if type(value) is str]
        frame = frame.f_back
    found = [text for text in held if len(text) > 80 and mark in text]
    assert found == [], len(found)
"""
    variant = f"def double(n):\n    return 2 * n  # the-text-of-the-variant{'.' * 80}\n"
    assert not run(suite, variant=variant).runs["test_toy.py::test_it"].failed
    kept = suite.replace("import toy", f"KEPT = ['the-text-of-the-variant{'.' * 80}']\nimport toy")
    assert run(kept, variant=variant).runs["test_toy.py::test_it"].failed  # it finds what is there


@pytest.mark.parametrize(
    "code",
    [
        "inspect.getsource(toy.mod)",
        "toy.mod.__loader__.get_data(toy.mod.__file__)",
        "toy.mod.__loader__.get_source('toy.mod')",
        "open(toy.mod.__file__)",
        "pkgutil.get_data('toy', 'mod.py')",
        "importlib.resources.files('toy').joinpath('mod.py').read_text()",
    ],
)
def test_no_ordinary_way_gives_the_variants_text(run: Run, code: str) -> None:
    """It is no file, and its loader has none."""
    outcome = run(f"""
import inspect, importlib.resources, pkgutil
import toy.mod
def test_it():
    try:
        text = {code}
    except Exception:
        text = None
    assert text is None
""")
    assert not outcome.runs["test_toy.py::test_it"].failed


def test_no_variant_is_a_file_anywhere(run: Run) -> None:
    """A walk over all that the cell may write to, and its own folder, finds none."""
    suite = """
import os, pathlib
import toy.mod
def test_it():
    top = pathlib.Path.cwd().parent.parent.parent
    found = [path for path in top.rglob("*") if "mod.py" in path.name or "toy" == path.name]
    assert not found, found
    assert not pathlib.Path(toy.mod.__file__).exists()
"""
    assert not run(suite).runs["test_toy.py::test_it"].failed


# Fails with everything that is the same in every cell, whatever its variant.
SURROUNDINGS = """
import os, sys, pathlib, tempfile
import toy.mod
def test_it():
    facts = [toy.mod.__file__, toy.mod.__spec__.origin, toy.mod.__name__, toy.mod.__package__,
             sorted(os.environ.items()), sys.argv, sys.path, sys.flags, os.getcwd(),
             tempfile.gettempdir(), __file__, sorted(os.listdir()), sorted(os.listdir("..")),
             [type(finder).__name__ for finder in sys.meta_path], len(sys.modules),
             toy.mod.double.__code__.co_filename, os.umask(0)]
    import hashlib
    shown = repr(facts)
    raise AssertionError(hashlib.sha256(shown.encode()).hexdigest() + shown[:400])
"""


def test_the_surroundings_are_the_same_for_each_variant(run: Run) -> None:
    """Paths, names, environment, arguments, order of search."""
    first = told(run(SURROUNDINGS))
    second = told(run(SURROUNDINGS, variant="def double(n):\n    return 3 * n\n"))
    assert first == second
    assert "site-packages/toy/mod.py" in first


def test_the_surroundings_are_the_same_after_a_cell_that_changed_its_own(run: Run) -> None:
    """Files, modules, environment and settings of the interpreter end with their cell."""
    first = told(run(SURROUNDINGS))
    run("""
import os, pathlib, sys, builtins, random, hypothesis, numpy, pytest, tempfile
def test_it():
    os.environ["LEFT"] = "behind"
    sys.path.insert(0, "/left")
    sys.modules["left"] = sys
    sys.argv.append("left")
    builtins.left = 1
    tempfile.tempdir = "/left"
    pathlib.Path("left").write_text("behind")
    pathlib.Path("../left").mkdir()
    hypothesis.settings.register_profile("left", max_examples=1)
    hypothesis.settings.load_profile("left")
    numpy.random.random = None
    os.umask(0o777)
""")
    assert told(run(SURROUNDINGS)) == first
    clean = run("""
import builtins, hypothesis, numpy, sys
def test_it():
    assert not hasattr(builtins, "left")
    assert "left" not in sys.modules
    assert hypothesis.settings().max_examples == 100
    assert numpy.random.random
""")
    assert not clean.runs["test_toy.py::test_it"].failed


@pytest.mark.parametrize(
    "body",
    [
        "os.makedirs('a/b/c'); open('a/b/f', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)",
        "os.chmod('..', 0)",
        "os.chdir('..'); os.rename('tests', 'gone')",
        "os.symlink('/', 'root'); os.symlink('root', 'loop'); os.link(__file__, 'hard')",
        "os.mkfifo('fifo'); open(b'\\xff\\n', 'w'); open('-rf', 'w')",
        "[open(f'{n}', 'w').close() for n in range(2000)]",
        "import socket; socket.socket(socket.AF_UNIX).bind('socket')",
        "os.mkdir('locked'); fd = os.open('locked', 0); os.chmod('locked', 0)",
    ],
)
def test_whatever_a_cell_leaves_in_its_folder_is_gone(run: Run, body: str) -> None:
    """However deep, and whatever rights were taken from it."""
    run(f"import os\ndef test_it():\n    {body}\n")
    outcome = run("""
import os
def test_it():
    assert sorted(os.listdir("..")) == ["home", "tests", "tmp"]
    assert sorted(set(os.listdir(".")) - {"__pycache__"}) == [".grader.ini", "test_toy.py"]
    assert os.listdir("../home") == []
""")
    assert outcome.end is End.COMPLETE
    assert not outcome.runs["test_toy.py::test_it"].failed


@pytest.mark.parametrize(
    "before",
    [
        "pass",
        "os.setsid()",
        "os.setsid(); signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
        "os.setpgid(0, 0); os.nice(19)",
    ],
)
def test_a_daemon_does_not_outlive_its_cell(unsealed_run: Run, before: str) -> None:
    """It would see the next cell, or serve it; only an unsealed one can start it."""
    outcome = unsealed_run(f"""
import os, signal, time
def test_it():
    read, write = os.pipe()
    if os.fork() == 0:
        {before}
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            while True:
                time.sleep(0.001)
        os._exit(0)
    raise AssertionError(os.read(read, 99).decode())
""")
    daemon = int(told(outcome))
    assert not Path(f"/proc/{daemon}").exists()


def test_daemons_that_start_each_other_without_end_are_ended(unsealed_run: Run) -> None:
    """They are killed all at once."""
    unsealed_run("""
import os
def test_it():
    if os.fork() == 0:
        while True:
            if os.fork():
                os._exit(0)
""")
    assert not unsealed_run("def test_it(): pass\n").runs["test_toy.py::test_it"].failed


def test_a_cell_has_limits(run: Run) -> None:
    """Of processes only where its user is its own, since the kernel counts by user."""
    outcome = run("""
import resource
def test_it():
    kinds = "CORE MEMLOCK MSGQUEUE DATA FSIZE NOFILE NPROC".split()
    limits = [resource.getrlimit(getattr(resource, "RLIMIT_" + kind)) for kind in kinds]
    assert all(soft == hard for soft, hard in limits[:6])
    raise AssertionError(" ".join(str(soft) for soft, hard in limits))
""")
    *limits, processes = map(int, told(outcome).split())
    assert limits == [0, 0, 0, 1 << 30, 16 << 20, 256]
    assert processes == 64 or os.geteuid() != 0


def test_a_cell_has_nothing_on_its_descriptors_but_its_words(unsealed_run: Run) -> None:
    """In particular not the worker's own streams."""
    outcome = unsealed_run("""
import os
def test_it():
    open_now = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            open_now[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            pass
    assert open_now[0] == open_now[1] == open_now[2] == "/dev/null", open_now
    pipes = [number for number, target in open_now.items() if target.startswith("pipe:")]
    assert pipes == [3], open_now
    assert all(open_now[number] == "/dev/null" for number in open_now if number > 3), open_now
""")
    assert not outcome.runs["test_toy.py::test_it"].failed


def test_a_cell_has_a_user_of_its_own_and_no_way_back(unsealed_run: Run) -> None:
    """Where the worker is root's; each cell has another, so that none can signal the next."""
    suite = """
import os
def test_it():
    for back in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setresuid(-1, 0, -1)):
        try:
            back()
        except OSError:
            continue
        raise SystemExit("it came back")
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    assert status["NoNewPrivs"].strip() == "1"
    # At most the right to read, where Python's own files are root's alone.
    assert int(status["CapPrm"], 16) & ~4 == 0
    raise AssertionError(f"{os.getresuid()} {os.getresgid()} {os.getgroups()}")
"""
    first, second = told(unsealed_run(suite)), told(unsealed_run(suite))
    if os.geteuid() == 0:
        assert first != second
        assert "(0," not in first
        assert first.endswith("[]")


def test_files_of_a_cell_are_its_own(run: Run) -> None:
    """Nobody else may read them, whatever whoever started the worker is used to."""
    suite = """
import os
def test_it():
    open("made", "w").close()
    assert os.stat("made").st_mode & 0o777 == 0o600
    assert os.stat(__file__).st_mode & 0o777 == 0o600
"""
    assert not run(suite).runs["test_toy.py::test_it"].failed


def test_any_module_of_the_standard_library_can_still_be_imported(run: Run) -> None:
    """Though the cell is nobody, and Python may lie in a folder that only root may enter."""
    suite = """
import importlib
import pytest
@pytest.mark.parametrize("name", [
    "sqlite3", "xml.dom.minidom", "http.client", "tomllib", "wave", "zipapp", "curses.ascii",
    "multiprocessing.pool", "concurrent.futures.process", "numpy.ma", "numpy.polynomial",
    "hypothesis.extra.array_api", "_pytest.pastebin",
])
def test_it(name):
    importlib.import_module(name)
"""
    outcome = run(suite)
    assert [test for test, ran in outcome.runs.items() if ran.failed] == []


def test_a_cells_user_does_not_tell_how_many_cells_came_before(run: Run) -> None:
    """Nor is it ever the same again, where cells have users of their own."""
    suite = """
import os
def test_it():
    raise AssertionError(os.getuid())
"""
    found = [int(told(run(suite))) for _ in range(6)]
    if os.geteuid() == 0:
        assert len(set(found)) == len(found)
        assert len({later - earlier for earlier, later in pairwise(found)}) > 1
    else:
        assert set(found) == {os.geteuid()}
