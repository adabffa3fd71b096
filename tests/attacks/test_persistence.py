"""What one run plants, and a later one in the same worker looks for: nothing arrives.

Each pair of suites is run in cells one after the other, in a container and in a child process.
"""

from collections.abc import Iterator

import pytest

from grader.course import Limits
from grader.outcome import End, Outcome
from grader.sandbox.process import ProcessSandbox
from tests.grader.conftest import Runner

MARK = "left-behind-by-the-first"
# Everywhere: a file, a folder, a link, and in what can be opened already.
PLANT_FILES = f"""
import os
def test_it():
    planted = []
    tops = ["/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/home",
            "/root", "/cells", os.path.expanduser("~"), os.getcwd(), "..", "../..", "../../.."]
    for top, folders, _ in os.walk("/"):
        tops += [os.path.join(top, one) for one in folders[:50]]
        if len(tops) > 3000:
            break
    for top in tops:
        for make in (lambda path: open(path, "w").write("x"), os.mkdir,
                     lambda path: os.symlink("x", path), os.mkfifo):
            try:
                make(os.path.join(top, "{MARK}" + str(len(planted))))
                planted.append(top)
            except OSError:
                pass
    assert planted
"""
FIND_FILES = f"""
import os
def test_it():
    found = []
    for top, folders, files in os.walk("/"):
        found += [os.path.join(top, one) for one in (*folders, *files) if "{MARK}" in one]
    for top in ("/tmp", "/var/tmp", "/dev/shm", "..", "../..", os.path.expanduser("~")):
        try:
            found += [one for one in os.listdir(top) if "{MARK}" in one]
        except OSError:
            pass
    assert found == []
"""
STEPS = {
    "P01": (PLANT_FILES, FIND_FILES),
    "P02": (
        """
from hypothesis import given, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
import os
@settings(database=DirectoryBasedExampleDatabase(os.path.expanduser("~/examples")))
@given(st.integers())
def test_it(n): assert n < 1000
""",
        """
import os
from hypothesis import given, settings, strategies as st
seen = []
@given(st.integers(0, 5))
def test_draws(n): seen.append(n)
def test_it():
    assert settings.default.database is None
    assert not os.path.exists(os.path.expanduser("~/examples"))
    assert not os.path.exists(".hypothesis")
    named = {"HYPOTHESIS_DATABASE_FILE", "HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY"}
    assert not named & set(os.environ)
""",
    ),
    "P03": (
        """
import os
def test_it():
    os.makedirs(".pytest_cache/v/cache", exist_ok=True)
    open(".pytest_cache/v/cache/lastfailed", "w").write('{"test_toy.py::test_it": true}')
    assert False
""",
        """
import os
def test_it(request):
    assert not os.path.exists(".pytest_cache")
    assert not hasattr(request.config, "cache")
""",
    ),
    "P04": (
        """
import glob, importlib.util, os, pathlib, py_compile, sys
def test_it():
    pathlib.Path("other.py").write_text("VALUE = 1\\n")
    py_compile.compile("other.py")
    for path in (importlib.util.cache_from_source(os.path.abspath("helper.py")), "helper.pyc"):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        pathlib.Path(path).write_bytes(pathlib.Path(
            importlib.util.cache_from_source(os.path.abspath("other.py"))).read_bytes())
    for top in sys.path:
        try:
            os.makedirs(os.path.join(top, "__pycache__"), exist_ok=True)
            pathlib.Path(top, "helper.py").write_text("VALUE = 1\\n")
        except OSError:
            pass
""",
        """
import importlib, sys
def test_it():
    assert "helper" not in sys.modules
    try:
        importlib.import_module("helper")
    except ImportError:
        return
    raise AssertionError("it was found")
""",
    ),
    "P05": (
        """
import ctypes, errno
def test_it():
    call = ctypes.CDLL(None, use_errno=True).syscall
    for number, *arguments in ((29, 77, 4096, 0o1666), (64, 77, 1, 0o1666), (68, 77, 0o1666),
                               (240, b"left", 0o102, 0o666, 0)):
        assert call(number, *arguments) == -1 and ctypes.get_errno() == errno.ENOSYS
""",
        """
import ctypes
def test_it():
    call = ctypes.CDLL(None, use_errno=True).syscall
    for number, *arguments in ((29, 77, 0, 0), (64, 77, 0, 0), (68, 77, 0), (240, b"left", 0)):
        assert call(number, *arguments) == -1
""",
    ),
    "P06": (
        """
import socket
def test_it():
    made = 0
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 40, 16, 17):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind)
                made += 1
            except OSError:
                pass
    assert made == 0
""",
        """
import socket
def test_it():
    try:
        socket.socket()
    except OSError:
        return
    raise AssertionError
""",
    ),
    "P07": (
        """
import os, subprocess, threading
def test_it():
    made = 0
    for start in (os.fork, lambda: subprocess.Popen(["/bin/sleep", "60"], start_new_session=True),
                  lambda: os.posix_spawn("/bin/sleep", ["sleep", "60"], {}),
                  threading.Thread(target=print).start, lambda: os.execv("/bin/true", ["true"])):
        try:
            start()
            made += 1
        except (OSError, RuntimeError):
            pass
    assert made == 0
""",
        "def test_it(): pass\n",
    ),
    "P08": (
        """
import ctypes, errno
def test_it():
    call = ctypes.CDLL(None, use_errno=True).syscall
    for number in (248, 249, 250):
        ctypes.set_errno(0)
        assert call(number, b"user", b"left", b"x", 1, -4) == -1
        assert ctypes.get_errno() == errno.ENOSYS
""",
        "def test_it(): pass\n",
    ),
    "P09": (
        """
import ctypes, errno, fcntl, os, sys
def test_it():
    with open(os.__file__) as shared:
        for lock in (lambda: fcntl.flock(shared, fcntl.LOCK_SH),
                     lambda: fcntl.lockf(shared, fcntl.LOCK_SH),
                     lambda: fcntl.fcntl(shared, 1024, fcntl.F_RDLCK),
                     lambda: fcntl.fcntl(shared, 1026, 1)):
            try:
                lock()
            except OSError as problem:
                assert problem.errno == errno.ENOSYS
            else:
                raise AssertionError
    call = ctypes.CDLL(None, use_errno=True).syscall
    for number in (425, 426, 427, 253, 254, 294, 300, 319, 323):
        ctypes.set_errno(0)
        assert call(number, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() == errno.ENOSYS, number
""",
        "def test_it(): pass\n",
    ),
    "P11": (
        """
import os
def test_it():
    names = {"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "CI_PROJECT_DIR"}
    assert not names & set(os.environ)
    os.environ["GITHUB_ENV"] = "left"
    os.environ["PATH"] = "/left"
""",
        """
import os
def test_it():
    assert "GITHUB_ENV" not in os.environ and "left" not in os.environ["PATH"]
""",
    ),
    "P12": (
        """
import os, pathlib, site
def test_it():
    assert not site.ENABLE_USER_SITE
    home = pathlib.Path.home() / ".local/lib/python3.11/site-packages"
    home.mkdir(parents=True)
    (home / "usercustomize.py").write_text("raise RuntimeError")
    (home / "left.pth").write_text("import os; os._exit(3)")
    (pathlib.Path.home() / ".pdbrc").write_text("left")
""",
        """
import os, pathlib
def test_it():
    assert list(pathlib.Path.home().iterdir()) == []
    assert os.environ["HOME"] == str(pathlib.Path.home())
""",
    ),
    # What a process is born with, and could hand down.
    "P01-state": (
        """
import os, resource, signal, random, sys
def test_it():
    os.umask(0)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
    for number in range(1, 60):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    random.seed(5); sys.setrecursionlimit(99_000)
    sys.path[:0] = ["/left"]; sys.modules["left"] = sys
    import builtins; builtins.left = 1
    sys.flags; sys.setswitchinterval(1.5)
""",
        """
import builtins, os, resource, signal, sys
def test_it():
    assert not hasattr(builtins, "left") and "left" not in sys.modules and "/left" not in sys.path
    assert os.umask(0o077) == 0o077
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (256, 256)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert sys.getrecursionlimit() == 1000 and sys.getswitchinterval() < 1
""",
    ),
}
# What the kernel counts, and both runs see: the second must see what the first did.
COUNTED = """
import os, resource, time
def test_it():
    for number in range({busy}):
        with open(f"f{{number}}", "w") as file: file.write("x" * 1000)
        os.unlink(f"f{{number}}")
    [bytearray(1 << 20) for _ in range({busy})]
    with open("here", "w") as file:
        seen = [file.fileno(), os.fstat(file.fileno()).st_nlink]
    seen += [os.stat(".").st_nlink, len(os.listdir("..")), os.getppid()]
    seen += [os.getpgrp() == os.getpid()]
    seen += [resource.getrlimit(one) for one in range(10)]
    raise AssertionError(repr(seen))
"""


@pytest.fixture(
    scope="module", params=["process", pytest.param("docker", marks=pytest.mark.docker)]
)
def run(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Run toy suites in one worker of each back-end."""
    if request.param == "docker":
        from grader.sandbox.docker import DockerSandbox

        request.getfixturevalue("worker_image")
        runner = Runner(DockerSandbox(Limits()))
    else:
        runner = Runner(ProcessSandbox(Limits()))
    yield runner
    runner.close()


def _said(outcome: Outcome) -> str | None:
    assert outcome.end is End.COMPLETE
    failures = outcome.runs["test_toy.py::test_it"].failures
    return failures[0].message if failures else None


@pytest.mark.parametrize("number", STEPS)
def test_what_one_run_plants_no_later_run_finds(number: str, run: Runner) -> None:
    """The same worker serves both."""
    plant, find = STEPS[number]
    planted = _said(run(plant))
    assert planted is None or number in ("P02", "P03"), planted
    assert _said(run(find)) is None


@pytest.mark.parametrize("number", ["P01-counters"])
def test_what_the_kernel_counts_for_a_run_begins_anew(number: str, run: Runner) -> None:
    """A run that was busy moves nothing that a later one could read."""
    assert number
    before = _said(run(COUNTED.format(busy=1)))
    _said(run(COUNTED.format(busy=150)))
    assert _said(run(COUNTED.format(busy=1))) == before
