"""The command that gathers evidence on mutants, and proposes what to decide."""

from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.text import Text

from grader.course import Assignment
from grader.instructor.candidates import Candidate, generate
from grader.instructor.pool import extend, merge, render
from grader.instructor.triage import Case, Evidence, proposals, triage, undecided
from grader.mutants import MechanicalMutant, Mutant
from grader.problems import Unusable
from grader.whole import write_whole

from .exits import Exit
from .options import Chosen, Place, course_option, sandbox_options
from .output import show


@click.command("triage")
@click.argument("assignment")
@click.argument("names", metavar="[MUTANT]…", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Those decided on too, for review.")
@click.option("--write", is_flag=True, help="Write the proposals into the pool, for review.")
@sandbox_options
@course_option
def triage_mutants(
    place: Place,
    assignment: str,
    names: tuple[str, ...],
    *,
    everything: bool,
    write: bool,
    **typed: Any,  # noqa: ANN401 — click's own values
) -> int:
    """Gather evidence on mutants that nobody has decided on, and propose a status for each.

    Name mutants to answer a claim that they are equivalent: each with the input that tells it
    apart, or with the number of inputs that don't. A decision is never changed.
    """
    chosen = place.assignment(assignment)
    known = {mutant.id for mutant in (*chosen.semantic, *chosen.pool.mutant)}
    candidates = (
        [] if names and known.issuperset(names) else _generate(chosen, needed=not everything)
    )
    new = undecided(merge(chosen.pool, candidates)[1].new)
    wanted = _wanted(chosen, new, names, everything=everything)
    cases = triage(chosen, wanted, Chosen(**typed).options(), new) if wanted else []
    for case in cases:
        show(*_told(case))
    if write:
        pool = extend(chosen.pool, proposals(cases), candidates)
        write_whole(chosen.pool_path, render(pool))
    left = sum(case.open for case in cases)
    show(f"{len(cases)} looked at, {left} for a person to decide on")
    return Exit.NOT_PASSED if left else Exit.PASSED


def _generate(assignment: Assignment, *, needed: bool) -> list[Candidate]:
    try:
        return generate(assignment.module, assignment.source)
    except Unusable as problem:
        if needed:
            raise
        show(f"undecided mutants are not known: {problem.message.text}")
        return []


def _wanted(
    assignment: Assignment,
    new: Sequence[MechanicalMutant],
    names: Sequence[str],
    *,
    everything: bool,
) -> list[Mutant]:
    if names:
        fresh = {mutant.id: mutant for mutant in new}
        return [fresh.get(name) or assignment.mutant(name) for name in names]
    return [*assignment.pool.mutant, *new] if everything else list(new)


def _told(case: Case) -> Iterator[Text]:
    """Yield a line on a mutant, and one for each piece of evidence."""
    decided = f"decided: {case.status}" if case.decided else "undecided"
    proposed = f", proposed: {case.proposal.status or 'nothing'}" if case.open else ""
    yield Text.assemble((case.mutant.id, "bold"), f"  {case.mutant.name}  {decided}{proposed}")
    if case.open:
        yield Text(f"    {case.proposal.reason}")
    for line in _evidence(case.evidence):
        yield Text(f"    {line}", "dim")


def _evidence(evidence: Evidence) -> Iterator[str]:
    for suite, tests in (("gold suite", evidence.gold), ("course tests", evidence.course)):
        functions = dict.fromkeys(test.partition("[")[0] for test in tests)
        yield f"{suite}: {', '.join(functions) or 'none catches it'}"
    comparison = evidence.comparison
    if comparison.witness is None:
        yield f"comparisons with the reference: no difference in {comparison.made}"
    else:
        yield f"told from the reference by: {comparison.witness.splitlines()[0]}"
    if evidence.wording_only:
        yield "texts: only those of errors differ"
    if evidence.same_code is not None:
        yield f"bytecode: that of {evidence.same_code or 'the reference'}"
    if evidence.same_behaviour is not None:
        other, made = evidence.same_behaviour
        yield f"told from {other} by none of {made} comparisons, nor by any test"
