"""Finds an assignment's pool of twins, or makes and verifies one where there is none that fits."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import platformdirs
from pydantic import ValidationError

from .course import Assignment
from .course_tests import CourseTest, run_course_tests, run_gold_suite
from .differential import compare
from .messages import message
from .problems import Void
from .sandbox import Sandbox
from .twins.pool import Pool, PoolFile, candidates
from .whole import keeping, write_whole

REFERENCE = ""
Suite = Callable[[Assignment, Mapping[str, str | bytes], Sandbox, int], dict[str, list[CourseTest]]]


def twin_pool(
    assignment: Assignment,
    key: bytes | None,
    sandbox: Sandbox,
    jobs: int,
    tell: Callable[[], None] = lambda: None,
) -> Pool:
    """Return an assignment's pool, made and verified if there is none that fits.

    Parameters
    ----------
    assignment
        Whose module the twins are rewrites of.
    key
        The course's secret, of which the pool is then one, or ``None`` for the pool that all know.
    sandbox, jobs
        Where twins are verified, and on how many workers.
    tell
        Called before a pool is made, which takes a while.

    Raises
    ------
    Void
        If no twin behaves as the reference does, or the machine can't tell.
    """
    whole = _unverified(assignment, key)
    state = platformdirs.user_state_path("grader")
    kept = state / "twins" / f"{assignment.id}-{whole.sha256[:24]}.json"
    for path in (assignment.twins_path, kept):
        found = _read(path)
        if found is not None and found.made_from == whole.sha256:
            return replace(whole, seeds=found.seeds)
    with keeping(kept, "twins-unwritable"):
        kept.parent.mkdir(parents=True, exist_ok=True)
    tell()
    made = make_pool(assignment, key, sandbox, jobs)
    with keeping(kept, "twins-unwritable"):
        write_whole(kept, render(made))
    return replace(whole, seeds=made.seeds)


def make_pool(assignment: Assignment, key: bytes | None, sandbox: Sandbox, jobs: int) -> PoolFile:
    """Make twins, run the course's own suites on them, and compare them with the reference.

    Parameters and errors are those of `twin_pool`.
    """
    whole = _unverified(assignment, key)
    implementations = {seed: whole.twin(seed) for seed in whole.seeds}
    discarded: dict[str, str] = {}
    for suite in _suites(assignment):
        results = suite(
            assignment, {REFERENCE: assignment.source, **implementations}, sandbox, jobs
        )
        holding = {test.name for test in results[REFERENCE] if test.passed}
        for seed in whole.seeds:
            if failing := _failing(results[seed], holding):
                discarded.setdefault(seed, f"{failing} fails on it")
    for seed, witness in _differences(assignment, implementations, sandbox, jobs).items():
        discarded.setdefault(seed, f"it differs: {witness}")
    seeds = tuple(seed for seed in whole.seeds if seed not in discarded)
    if not seeds:
        why = next(iter(discarded.values()))
        raise Void(message("no-twins", assignment=assignment.id, why=why), "harness")
    return PoolFile(made_from=whole.sha256, seeds=seeds, discarded=discarded)


def _differences(
    assignment: Assignment, twins: Mapping[str, str], sandbox: Sandbox, jobs: int
) -> dict[str, str]:
    """Return what tells twins from the reference, where anything does but for its own faults."""
    if not assignment.differential_path.is_dir():
        return {}
    texts = {REFERENCE: assignment.source, **twins}
    found = compare(assignment, texts, sandbox, jobs)
    if found[REFERENCE] is not None:
        return {}
    return {seed: witness for seed, witness in found.items() if witness is not None}


def _unverified(assignment: Assignment, key: bytes | None) -> Pool:
    return Pool(assignment.source, assignment.mutants, tuple(candidates(key)))


def render(pool: PoolFile) -> str:
    """Return a pool as the text of its file."""
    return json.dumps(pool.model_dump(mode="json"), indent=1) + "\n"


def _suites(assignment: Assignment) -> list[Suite]:
    """Return the suites that an assignment has, to run on its twins."""
    found: list[Suite] = []
    if assignment.tests_path.is_dir():
        found.append(run_course_tests)
    if assignment.gold_path.is_dir():
        found.append(run_gold_suite)
    return found


def _failing(tests: Sequence[CourseTest], holding: Collection[str]) -> str | None:
    """Return a test that holds on the reference and not on a twin, or isn't even found there."""
    passed = {test.name for test in tests if test.passed}
    return next((name for name in sorted(holding) if name not in passed), None)


def _read(path: Path) -> PoolFile | None:
    try:
        return PoolFile.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
