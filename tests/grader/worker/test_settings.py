"""Which inputs a property test meets: those of the draw, whatever a student's settings say."""

from collections.abc import Callable

import pytest

from grader.outcome import Outcome

Run = Callable[..., Outcome]

# Fails with all that it has drawn, so that two runs can be compared.
TELL = """
import hashlib, math
from hypothesis import given, settings, strategies as st, HealthCheck, Phase, example, seed
import toy.mod
seen = []
{before}
@given(st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
def test_{name}(n, x, text):
    seen.append((n, x, text))

def test_tell():
    digest = hashlib.sha256(repr(seen).encode()).hexdigest()
    raise AssertionError(f"{{len(seen)}} {{digest}}")
"""


def told(outcome: Outcome) -> str:
    """Return what ``test_tell`` said."""
    return outcome.runs["test_toy.py::test_tell"].failures[0].message


def inputs(run: Run, before: str = "", name: str = "it", **changes: object) -> str:
    """Return the number and the hash of the inputs that a property test meets."""
    return told(run(TELL.format(before=before, name=name), **changes))


def count(run: Run, before: str) -> int:
    """Return the number of inputs that a property test meets under ``before``."""
    return int(inputs(run, before).split()[0])


def test_the_same_draw_gives_the_same_inputs(run: Run) -> None:
    """Grading twice gives one grade."""
    assert inputs(run, draw=3) == inputs(run, draw=3)


def test_another_draw_gives_other_inputs(run: Run) -> None:
    """The forced seed is not ignored."""
    assert inputs(run, draw=3) != inputs(run, draw=4)


def test_the_state_of_random_changes_no_inputs(run: Run) -> None:
    """Controls differ in it, and in nothing else."""
    assert inputs(run, entropy=1) == inputs(run, entropy=2)


def test_renaming_a_test_changes_no_inputs(run: Run) -> None:
    """A name is no way to better luck."""
    assert inputs(run, name="it") == inputs(run, name="quite_another_name")


def test_a_constant_in_the_variant_changes_no_inputs(run: Run) -> None:
    """A mutant meets the same inputs as the reference, or a survivor proves nothing."""
    plain = inputs(run, variant="def double(n):\n    return 2 * n\n")
    odd = inputs(
        run, variant="X, Y, Z = 31.4159, 271828182, 'sixes'\ndef double(n):\n    return X * n\n"
    )
    assert plain == odd


def test_two_properties_of_a_file_draw_alike_with_and_without_each_other(run: Run) -> None:
    """A test's inputs are its own affair."""
    other = "@given(st.integers())\ndef test_other(n): pass\n"
    assert inputs(run) == inputs(run, before=other)


@pytest.mark.parametrize("value", ["", "true", "0"])
def test_ci_in_the_environment_changes_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """In Hypothesis it alone would turn the forced seed off."""
    expected = inputs(run)
    monkeypatch.setenv("CI", value)
    assert inputs(run) == expected
    assert inputs(run, before=f"import os; os.environ['CI'] = {value!r}") == expected


@pytest.mark.parametrize(
    "settings",
    [
        "derandomize=True",
        "database=None",
        "deadline=1",
        "print_blob=True",
        "report_multiple_bugs=True",
        "phases=list(Phase)",
        "phases=[Phase.generate]",
        "suppress_health_check=list(HealthCheck)",
    ],
)
def test_settings_that_are_the_graders_change_no_inputs(run: Run, settings: str) -> None:
    """They decide verdicts, so they are the same for everyone."""
    assert inputs(run, before=f"@settings({settings})") == inputs(run)


def test_a_profile_of_the_students_changes_no_inputs(run: Run) -> None:
    """A profile is only a longer way to write settings."""
    before = """
settings.register_profile("mine", derandomize=True, deadline=1)
settings.load_profile("mine")
"""
    assert inputs(run, before=before) == inputs(run)


def test_a_profile_loaded_in_a_conftest_keeps_its_number_of_examples(run: Run) -> None:
    """What is the student's to choose is kept there as well."""
    profile = """
from hypothesis import settings
settings.register_profile("mine", derandomize=True, max_examples=17)
settings.load_profile("mine")
"""
    files = {"conftest.py": profile, "test_toy.py": TELL.format(before="", name="it")}
    assert told(run(files)).startswith("17 ")


def test_the_students_number_of_examples_is_kept(run: Run) -> None:
    """Fewer examples make a weaker test, by choice."""
    assert count(run, "@settings(max_examples=7)") == 7


def test_the_number_of_examples_is_capped(run: Run) -> None:
    """More than the assignment allows would only cost time."""
    suite = TELL.format(before="@settings(max_examples=10**9)", name="it")
    assert told(run(suite, most_examples=23)).startswith("23 ")


def test_hypothesis_own_number_is_the_default(run: Run) -> None:
    """Students know it from home."""
    assert count(run, "") == 100


def test_phases_that_the_student_leaves_out_stay_out(run: Run) -> None:
    """Explicit examples alone are a fair test."""
    before = "@settings(phases=[Phase.explicit])\n@example(1, 1.0, 'one')"
    assert count(run, before) == 1


def test_an_explicit_example_comes_first(run: Run) -> None:
    """It is the student's own counterexample."""
    outcome = run("""
from hypothesis import example, given, strategies as st
@example(-12345)
@given(st.integers(0, 9))
def test_it(n):
    assert n >= 0
""")
    failure = outcome.runs["test_toy.py::test_it"].failures[0]
    assert "-12345" in (failure.witness or "")


def test_nothing_shrinks_a_failing_input(run: Run) -> None:
    """A verdict needs no smallest input, and a failing test must stay quick."""
    outcome = run("""
from hypothesis import Phase, given, settings, strategies as st
calls = []
@settings(phases=list(Phase))
@given(st.integers(0, 10**6))
def test_it(n):
    calls.append(n)
    assert n < 1000
def test_tell():
    raise AssertionError(str(len([n for n in calls if n >= 1000])))
""")
    # Found once, and replayed once for its traceback.
    assert told(outcome) == "2"


def test_a_deadline_of_the_students_is_lifted(run: Run) -> None:
    """A slow machine is no finding."""
    outcome = run("""
import time
from hypothesis import given, settings, strategies as st
@settings(deadline=1, max_examples=3)
@given(st.integers())
def test_it(n):
    time.sleep(0.02)
""")
    assert not outcome.runs["test_toy.py::test_it"].failed


def test_slow_drawing_is_no_finding(run: Run) -> None:
    """Nor is one while inputs are drawn."""
    outcome = run("""
import time
from hypothesis import given, settings, strategies as st
@settings(max_examples=12)
@given(st.integers().map(lambda n: time.sleep(0.15) or n))
def test_it(n):
    pass
""")
    assert not outcome.runs["test_toy.py::test_it"].failed


def test_no_example_database_is_written(run: Run) -> None:
    """It would carry inputs from one run into another."""
    outcome = run("""
import os, pathlib
from hypothesis import given, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
@settings(database=DirectoryBasedExampleDatabase("kept"))
@given(st.integers())
def test_it(n):
    assert n < 10
def test_tell():
    raise AssertionError(str(sorted(p.name for p in pathlib.Path().iterdir())))
""")
    assert "kept" not in told(outcome)
    assert ".hypothesis" not in told(outcome)


def test_what_hypothesis_keeps_lies_in_the_cells_own_folder(run: Run) -> None:
    """And goes with it; the worker's tables are out of reach."""
    outcome = run("""
import os
from hypothesis import given, strategies as st
from hypothesis.configuration import storage_directory
@given(st.characters(codec="latin-1"))
def test_it(letter): pass
def test_tell():
    assert str(storage_directory().path) == os.environ["HYPOTHESIS_STORAGE_DIRECTORY"]
    raise AssertionError(os.path.relpath(storage_directory().path, os.path.realpath("..")))
""")
    assert told(outcome) == "tmp/hypothesis"


def test_a_state_machine_keeps_its_number_of_examples_and_nothing_else(run: Run) -> None:
    """Its settings lie elsewhere than a function's."""
    outcome = run("""
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, rule
machines = []
class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        machines.append(1)
    @rule()
    def step(self): pass
TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=6, stateful_step_count=2, derandomize=True)
def test_tell():
    used = TestMachine.settings
    raise AssertionError(f"{len(machines)} {used.derandomize} {used.deadline} {used.database}")
""")
    assert told(outcome) == "6 False None None"


def test_a_seed_of_the_students_own_is_respected(run: Run) -> None:
    """It fixes the inputs of that one test, for every variant alike."""
    assert inputs(run, "@seed(5)", draw=1) == inputs(run, "@seed(5)", draw=2)


def test_random_and_numpy_start_from_the_cells_entropy(run: Run) -> None:
    """A test that draws from them differs between controls, and never between gradings."""
    suite = """
import random, numpy
def test_tell():
    raise AssertionError(f"{random.random()} {numpy.random.random()}")
"""
    first, again, other = (told(run(suite, entropy=entropy)) for entropy in (1, 1, 2))
    assert first == again
    assert first.split()[0] != other.split()[0]
    assert first.split()[1] != other.split()[1]
