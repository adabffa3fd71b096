"""How a cell may end, and that its end is named and spoils no other cell."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome, Watch
from grader.sandbox.session import Clock

Run = Callable[..., Outcome]

BEFORE = "import os, signal, sys, time\n\ndef test_before(): pass\n\n"
AFTER = "\n\ndef test_after(): pass\n"
IT = "test_toy.py::test_it"
SHORT = Clock(per_test=1.0, in_all=60)


def with_body(body: str) -> str:
    """Return a suite whose middle test runs ``body``."""
    return f"{BEFORE}def test_it():\n    {body}{AFTER}"


def assert_healthy(run: Run) -> None:
    """Assert that the next cell of the worker runs as if nothing had been."""
    outcome = run(with_body("pass"))
    assert outcome.end is End.COMPLETE
    assert len(outcome.tests) == 3
    assert not any(ran.failed for ran in outcome.runs.values())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("os._exit(0)", "exit status 0"),
        ("os._exit(7)", "exit status 7"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "signal SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGRTMIN + 6)", f"signal {34 + 6}"),
        ("os.abort()", "signal SIGABRT"),
        ("import ctypes; ctypes.string_at(0)", "signal SIGSEGV"),
        ("import pytest; pytest.exit('bye', returncode=0)", "pytest ended early with exit code 0"),
        ("raise KeyboardInterrupt", "pytest ended early with exit code 2"),
        ("signal.raise_signal(signal.SIGINT)", "pytest ended early with exit code 2"),
    ],
)
def test_a_test_that_ends_the_interpreter_is_named(run: Run, body: str, reason: str) -> None:
    """Leaving early, with whatever code, hides nothing that ran before."""
    outcome = run(with_body(body))
    assert (outcome.end, outcome.at, outcome.reason) == (End.CRASH, IT, reason)
    assert outcome.collected
    assert outcome.runs["test_toy.py::test_before"].finished
    assert "test_toy.py::test_after" not in outcome.runs
    assert_healthy(run)


@pytest.mark.parametrize("code", ["sys.exit(0)", "sys.exit('text')", "quit()"])
def test_sys_exit_in_a_test_fails_it_and_ends_nothing(run: Run, code: str) -> None:
    """pytest catches it, and it is no kill."""
    outcome = run(with_body(code))
    assert outcome.end is End.COMPLETE
    assert outcome.runs[IT].failures[0].kind == "exit"
    assert outcome.runs["test_toy.py::test_after"].finished


@pytest.mark.parametrize(
    "line",
    ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit(0)", "raise KeyboardInterrupt"],
)
def test_a_file_that_ends_the_interpreter_while_it_is_read_is_named(run: Run, line: str) -> None:
    """The others can then be run without it."""
    files = {"test_a.py": AFTER, "test_toy.py": BEFORE + line, "test_z.py": AFTER}
    outcome = run(files)
    assert (outcome.end, outcome.at) == (End.CRASH, "test_toy.py")
    assert not outcome.collected
    assert_healthy(run)


def test_what_is_registered_for_the_exit_never_runs(run: Run) -> None:
    """It could report success, or hang."""
    outcome = run(with_body("import atexit; atexit.register(os._exit, 0)"))
    assert outcome.end is End.COMPLETE
    outcome = run(with_body("import atexit; atexit.register(time.sleep, 600)"))
    assert outcome.end is End.COMPLETE


def test_a_thread_that_never_ends_holds_up_nothing(run: Run) -> None:
    """A cell ends with its session."""
    body = "import threading; threading.Thread(target=time.sleep, args=(600,)).start()"
    assert run(with_body(body)).end is End.COMPLETE
    assert_healthy(run)


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(600)",
        "\n    while True: pass",
        "10 ** 10 ** 10",
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(600)",
        "\n    while True:\n        try: time.sleep(600)\n        except BaseException: pass",
        "os.kill(os.getpid(), signal.SIGSTOP)",
    ],
)
def test_a_test_that_hangs_is_ended_at_its_limit_and_named(run: Run, body: str) -> None:
    """However it hangs; the clock is outside."""
    outcome = run(with_body(body), clock=SHORT)
    assert (outcome.end, outcome.at) == (End.TIMEOUT, IT)
    assert not outcome.ran_out
    assert outcome.runs["test_toy.py::test_before"].finished
    assert_healthy(run)


def test_a_test_has_a_limit_of_its_own(run: Run) -> None:
    """Limits come from how long a test took on the reference."""
    clock = Clock(per_test=60, in_all=60, tests={IT: 0.5})
    assert run(with_body("time.sleep(600)"), clock=clock).at == IT
    generous = Clock(per_test=0.8, in_all=60, tests={IT: 60})
    assert run(with_body("time.sleep(1.2)"), clock=generous).end is End.COMPLETE


def test_the_limit_of_all_tests_together_is_told_apart(run: Run) -> None:
    """The test that happens to run then is not to blame."""
    clock = Clock(per_test=60, in_all=1.0)
    outcome = run(with_body("time.sleep(600)"), clock=clock)
    assert (outcome.end, outcome.at, outcome.ran_out) == (End.TIMEOUT, IT, True)


def test_a_file_that_hangs_while_it_is_read_is_named(run: Run) -> None:
    """Reading a file has a test's limit."""
    files = {"test_a.py": AFTER, "test_toy.py": BEFORE + "time.sleep(600)", "test_z.py": AFTER}
    outcome = run(files, clock=SHORT)
    assert (outcome.end, outcome.at) == (End.TIMEOUT, "test_toy.py")
    assert not outcome.collected


def test_a_conftest_that_hangs_while_it_is_read_is_named(run: Run) -> None:
    """It is read before any test file."""
    files = {"conftest.py": "import time; time.sleep(600)", "test_toy.py": AFTER}
    outcome = run(files, clock=SHORT)
    assert (outcome.end, outcome.at) == (End.TIMEOUT, "conftest.py")


def test_of_several_conftests_the_one_that_hangs_is_named(run: Run) -> None:
    """They are read in an order of pytest's."""
    files = {
        "conftest.py": "",
        "a/__init__.py": "",
        "a/conftest.py": "",
        "a/test_a.py": AFTER,
        "b/__init__.py": "",
        "b/conftest.py": "import time; time.sleep(600)",
        "b/test_b.py": AFTER,
    }
    assert run(files, clock=SHORT).at == "b/conftest.py"


def test_very_many_parameters_end_at_the_limit_of_reading_a_file(run: Run) -> None:
    """So do more than memory holds."""
    suite = """
import pytest
@pytest.mark.parametrize("n", range(10**8))
def test_it(n): pass
"""
    outcome = run(suite, clock=SHORT)
    assert outcome.end is not End.COMPLETE
    assert outcome.at == "test_toy.py"
    assert_healthy(run)


def test_a_hang_after_the_last_test_is_ended(run: Run) -> None:
    """No test is to blame for it."""
    files = {
        "conftest.py": "import time\ndef pytest_sessionfinish(): time.sleep(600)\n",
        "test_toy.py": AFTER,
    }
    outcome = run(files, clock=SHORT)
    assert (outcome.end, outcome.at) == (End.TIMEOUT, None)
    assert outcome.runs["test_toy.py::test_after"].finished


def test_a_cell_is_ended_once_it_has_shown_enough(run: Run) -> None:
    """Grading needs one kill a mutant."""

    def enough(watch: Watch) -> bool:
        return bool(watch.failing())

    outcome = run(
        f"{BEFORE}def test_it(): assert False\ndef test_on(): time.sleep(600)\n", enough=enough
    )
    assert outcome.end is End.STOPPED
    assert outcome.runs[IT].failed
    assert_healthy(run)


def test_a_cell_that_has_ended_is_not_disturbed_by_having_shown_enough(run: Run) -> None:
    """The order to end may cross the end."""

    def enough(watch: Watch) -> bool:
        return watch.finished is not None

    for _ in range(3):
        assert run(with_body("pass"), enough=enough).end is End.STOPPED
    assert_healthy(run)


def test_deep_recursion_is_an_error_and_no_crash(run: Run) -> None:
    """Python's own limit holds."""
    outcome = run(with_body("def f(n): return f(n + 1)\n    f(0)"))
    assert outcome.end is End.COMPLETE
    assert outcome.runs[IT].failures[0].exception == "RecursionError"


def test_an_overflow_of_the_real_stack_is_a_crash_with_a_name(run: Run) -> None:
    """Where Python's limit was lifted."""
    outcome = run(
        with_body(
            "sys.setrecursionlimit(10**9)\n    class A:\n"
            "        def __getattr__(self, name): return getattr(self, name + '')\n    A().x"
        )
    )
    assert (outcome.end, outcome.at, outcome.reason) == (End.CRASH, IT, "signal SIGSEGV")
    assert_healthy(run)
