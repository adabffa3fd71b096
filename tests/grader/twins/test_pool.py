"""The pool: who can tell its twins, and when it must be made anew."""

from dataclasses import replace

import pytest

from grader.twins.pool import SIZE, Pool, candidates, fingerprint
from tests.grader.facts import mutant

SOURCE = "def double(x):\n    return x * 2\n"
FAULT = mutant(id="m-01", edits=[{"replace": "x * 2", "with": "x * 3"}])
POOL = Pool(SOURCE, (FAULT,), tuple(candidates(None)))


def test_without_a_key_everyone_knows_the_seeds() -> None:
    """So that a course can ship its pool."""
    assert candidates(None) == candidates(None)
    assert len(set(candidates(None))) == SIZE


def test_a_courses_key_gives_seeds_that_nobody_else_can_tell() -> None:
    """Or a table of all texts would recognise every twin and mutant."""
    mine, others = candidates(b"one key"), candidates(b"another")
    assert len({*mine, *others, *candidates(None)}) == 3 * SIZE
    assert mine == candidates(b"one key")


def test_the_order_of_use_follows_from_key_and_purpose() -> None:
    """The same for the same student, whatever the tests."""
    orders = {
        tuple(POOL.order(key, purpose)) for key in (b"k", b"l") for purpose in ("right", "s01")
    }
    assert len(orders) == 4
    assert all(sorted(order) == sorted(POOL.seeds) for order in orders)


def test_a_mutant_looks_different_in_each_twin_and_behaves_the_same() -> None:
    """The same fault on another text."""
    texts = {POOL.plant(FAULT, seed) for seed in POOL.seeds}
    assert len(texts) == SIZE
    for text in texts:
        names: dict[str, object] = {}
        exec(text, names)
        assert names["double"](5) == 15  # type: ignore[operator] # the function planted above


def test_each_twin_holds_both_sides_of_the_mutants_change() -> None:
    """A test that looks for the shape of either finds it everywhere."""
    twins = [POOL.twin(seed) for seed in POOL.seeds]
    assert all(twin.count("return") > SOURCE.count("return") for twin in twins)


@pytest.mark.parametrize(
    "changed",
    [
        replace(POOL, source=SOURCE + "\n"),
        replace(POOL, mutants=()),
        replace(POOL, seeds=POOL.seeds[:-1]),
    ],
)
def test_a_pool_of_something_else_has_another_fingerprint(changed: Pool) -> None:
    """Then it is made and verified anew."""
    assert changed.sha256 != POOL.sha256
    assert fingerprint(POOL.source, POOL.mutants, POOL.seeds) == POOL.sha256
