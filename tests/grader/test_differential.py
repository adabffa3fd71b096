"""Differential comparison: what behaves the same is the same, and the rest has a witness."""

import shutil
from pathlib import Path

import pytest

from grader.course import Assignment, Limits, load_course
from grader.differential import Comparison, compare, compare_pairs
from grader.problems import Unusable
from grader.sandbox.process import ProcessSandbox
from grader.twins import TwinMaker
from grader.twins.decoys import decoys

TOY = Path(__file__).with_name("cli") / "toy"
SANDBOX = ProcessSandbox(Limits())
TWINS = ["a", "b", "c"]


@pytest.fixture
def toy(tmp_path: Path) -> Assignment:
    """Return T1 of a copy of the toy course."""
    return load_course(shutil.copytree(TOY, tmp_path / "course")).assignment("T1")


@pytest.fixture(scope="module")
def flagship() -> Assignment:
    """Return L3.4 of the built-in course."""
    return load_course().assignment("L3.4")


@pytest.fixture(scope="module")
def witnesses(flagship: Assignment) -> dict[str, str | None]:
    """Compare twins and every mutant of L3.4 with the reference."""
    source = flagship.source
    planted = {mutant.id: mutant.plant(source) for mutant in flagship.mutants}
    excluded = {one.id: one.plant(source) for one in flagship.pool.mutant if not one.scored}
    maker = TwinMaker(source, decoys(source, list(planted.values())))
    twins = {seed: maker.twin(seed) for seed in TWINS}
    texts = {"": source, **twins, **planted, **excluded}
    return compare(flagship, texts, SANDBOX, 2)


def _double(toy: Assignment, old: str, new: str) -> str:
    assert old in toy.source
    return toy.source.replace(old, new)


def test_rewrites_of_the_reference_behave_as_it_does(witnesses: dict[str, str | None]) -> None:
    """And so does the reference itself."""
    assert {witnesses[name] for name in ("", *TWINS)} == {None}


def test_every_scored_mutant_is_told_from_the_reference(
    flagship: Assignment, witnesses: dict[str, str | None]
) -> None:
    """The named ones and the generated ones, each by an input."""
    silent = [mutant.id for mutant in flagship.mutants if witnesses[mutant.id] is None]
    assert len(flagship.mutants) >= 50
    assert silent == []


def test_what_was_excluded_for_behaving_the_same_does(
    flagship: Assignment, witnesses: dict[str, str | None]
) -> None:
    """Other texts of errors are no other behaviour."""
    same = [one.id for one in flagship.pool.mutant if one.status in ("equivalent", "message-only")]
    assert same
    assert {witnesses[name] for name in same} == {None}


@pytest.mark.parametrize(
    ("mutant", "said"),
    [
        ("s01", "reverse_padded(x, (6, 4, 4)), x = np.random.default_rng(0).permutation(18)"),
        ("s04", "the result at [4, 1] is 5, not 4: reversal_index((6, 4, 4), 6)"),
        ("s06", "bidirectional(RunningSum(2), RunningSum(3), x, lengths=(6, 4, 4)), x a Tensor"),
        ("m-2f289e9f", "no error in place of ValueError: reversal_index([3, 0], 3)"),
    ],
)
def test_a_witness_names_the_input(
    mutant: str, said: str, witnesses: dict[str, str | None]
) -> None:
    """So that anybody can try it."""
    assert said in (witnesses[mutant] or "")


@pytest.mark.parametrize(
    ("old", "new", "witness"),
    [
        ("if n < 0", "if 0 > n", None),
        ('"n is negative"', "n", None),
        ("range(n)", "range(n + 1)", "7 in place of 6: double(3)"),
        ("if n < 0", "if n < 1", "ValueError in place of 0: double(0)"),
        ("raise ValueError", "raise TypeError", "TypeError in place of ValueError: double(-1)"),
    ],
)
def test_results_and_kinds_of_exceptions_are_compared(
    old: str, new: str, witness: str | None, toy: Assignment
) -> None:
    """The wording of an error is left open."""
    text = _double(toy, old, new)
    found = compare(toy, {"it": text}, SANDBOX, 1)["it"]
    assert (found or "").splitlines()[0:1] == ([] if witness is None else [witness])


def test_any_two_texts_can_be_compared(toy: Assignment) -> None:
    """Two mutants with each other, as well as each with the reference."""
    one, two = _double(toy, "range(n)", "range(n + 1)"), _double(toy, "total = n", "total = n + 1")
    pairs = {"alike": (one, two), "first": (one, toy.source)}
    found = compare_pairs(toy, pairs, SANDBOX, 1)
    assert found["alike"] == Comparison(made=6)
    assert found["first"].test == "test_same[3]"


def test_the_comparisons_that_found_nothing_are_counted(toy: Assignment) -> None:
    """Up to the first that found something: nothing runs after it that could change the answer."""
    same = toy.source
    other = _double(toy, "if n < 0", "if n == -1")
    found = compare_pairs(toy, {"same": (same, same), "other": (other, same)}, SANDBOX, 2)
    assert found["same"] == Comparison(made=6)
    assert (found["other"].made, found["other"].test) == (4, "test_same[-2]")


def test_what_cant_be_imported_differs(toy: Assignment) -> None:
    """By what importing it raises."""
    found = compare(toy, {"it": toy.source + "\nraise KeyError('x')\n"}, SANDBOX, 1)["it"]
    assert (found or "").startswith("KeyError")


def test_what_ends_the_interpreter_differs(toy: Assignment) -> None:
    """Or never returns: neither hides behind what was compared before."""
    text = _double(toy, "if n < 0:", "if n == 1:\n        __import__('os')._exit(0)\n    if n < 0:")
    found = compare(toy, {"it": text}, SANDBOX, 1)["it"]
    assert found == "crash: ended the interpreter"


def test_what_there_was_no_time_to_compare_is_not_called_the_same(toy: Assignment) -> None:
    """Be it that the suite is slow and not the implementation."""
    limits = Limits(seconds_per_test=30, seconds_in_all=3)
    hasty = Assignment(toy.id, toy.course, toy.settings.model_copy(update={"limits": limits}))
    path = toy.course.root / "tests" / "differential" / "T1" / "test_slow.py"
    path.write_text("import time\n\ndef test_never(): time.sleep(60)\n", encoding="utf-8")
    found = compare(hasty, {"it": toy.source}, SANDBOX, 1)["it"]
    assert found == "there was no time to compare it"


def test_a_course_without_such_a_suite_is_refused(toy: Assignment) -> None:
    """By the suite's name."""
    shutil.rmtree(toy.course.root / "tests" / "differential")
    with pytest.raises(Unusable, match="T1 has no differential tests"):
        compare(toy, {"it": toy.source}, SANDBOX, 1)
