"""Verifies the decisions in a pool without running anything."""

from collections.abc import Iterator

from grader.course import Assignment
from grader.problems import Unusable

from .candidates import GENERATOR, generate
from .finding import Finding
from .pool import PROPOSED, merge


def decision_findings(assignment: Assignment) -> list[Finding]:
    """Return what is wrong with decisions: unreviewed ones, and duplicates of nothing."""
    counting = {mutant.id for mutant in assignment.mutants}
    found = []
    for mutant in assignment.pool.mutant:
        if mutant.reason.startswith(PROPOSED):
            text = f"is {mutant.status} by proposal: review it and reword its reason"
            found.append(Finding(mutant.id, text))
        if mutant.original is not None and mutant.original not in counting:
            text = f"is a duplicate of {mutant.original}, which is no scored mutant"
            found.append(Finding(mutant.id, text))
    return found


def drift_findings(assignment: Assignment) -> tuple[list[Finding], str | None]:
    """Return where generating anew differs from the frozen pool, or why that can't be known."""
    pool = assignment.pool
    if not pool.mutant:
        return [], None
    if pool.generator.split()[:1] != GENERATOR.split()[:1]:
        return [], f"the pool is made {pool.generator}, so no generator was compared with it"
    try:
        return list(_drift(assignment)), None
    except Unusable as problem:
        return [], f"the pool was not compared with its generator: {problem.message.text}"


def _drift(assignment: Assignment) -> Iterator[Finding]:
    pool = assignment.pool
    candidates = generate(assignment.module, assignment.source)
    if pool.generator != GENERATOR:
        yield Finding("pool", f"is made by {pool.generator}, and {GENERATOR} is the generator now")
    merged, drift = merge(pool, candidates)
    for candidate in drift.new:
        yield Finding(candidate.id, "is generated, and nobody has decided on it")
    for mutant in drift.vanished:
        yield Finding(mutant.id, f"is generated no more: {mutant.status}")
    moved = {mutant.id: mutant for mutant in merged.mutant}
    for mutant in pool.mutant:
        if mutant.id in moved and moved[mutant.id] != mutant:
            yield Finding(mutant.id, "stands elsewhere than where it is generated")
