"""Commands of an instructor: goldens and mutants."""

from typing import Any

import click
from rich.console import RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from grader.course import Assignment
from grader.grade import Options
from grader.grading import make_sandbox
from grader.instructor import dominators as references
from grader.instructor import fixtures as goldens
from grader.instructor.candidates import generate
from grader.instructor.library import Verification, verify
from grader.instructor.pool import merge, render
from grader.mutants import MechanicalMutant, Mutant, SemanticMutant, difference
from grader.twinning import make_pool
from grader.twinning import render as render_twins
from grader.untrusted import terminal
from grader.whole import write_whole

from .calibrate import calibrate_mutants
from .exits import Exit
from .options import Chosen, Place, ProgressBar, course_option, sandbox_options
from .output import show
from .triage import triage_mutants


@click.group("fixtures")
def fixtures() -> None:
    """Goldens from torch."""


@fixtures.command("regenerate")
@click.argument("assignment")
@course_option
def regenerate(place: Place, assignment: str) -> int:
    """Compute an assignment's goldens anew with torch, and say what changed."""
    for golden in goldens.goldens(place.assignment(assignment)):
        lines = goldens.regenerate(golden)
        result = f"{len(lines)} arrays changed" if lines else "the same"
        show(*lines, f"{golden.path}: {result}")
    return Exit.PASSED


@fixtures.command("verify")
@click.argument("assignment", required=False)
@sandbox_options
@course_option
def verify_fixtures(place: Place, assignment: str | None, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Compare committed goldens with manifest and reference, and with torch where it is."""
    options, good = Chosen(**typed).options(), True
    for chosen in _with_goldens(place, assignment):
        sandbox = make_sandbox(chosen, options)
        for golden in goldens.goldens(chosen):
            for check in goldens.verify(chosen, golden, sandbox):
                good &= check.good
                mark = Text("ok     ", "green") if check.good else Text("differs", "red")
                show(Text.assemble(mark, f"  {chosen.id}  {check.subject}: {terminal(check.text)}"))
    return Exit.PASSED if good else Exit.NOT_PASSED


def _with_goldens(place: Place, wanted: str | None) -> list[Assignment]:
    if wanted is not None:
        return [place.assignment(wanted)]
    return [one for one in place.course.assignments.values() if one.settings.goldens]


@click.group("mutants")
def mutants() -> None:
    """The library of faults."""


@mutants.command("list")
@click.argument("assignment")
@click.option("--all", "everything", is_flag=True, help="The excluded ones too.")
@course_option
def list_mutants(place: Place, assignment: str, *, everything: bool) -> int:
    """List an assignment's mutants."""
    chosen = place.assignment(assignment)
    table = Table.grid(padding=(0, 2))
    excluded = [mutant for mutant in chosen.pool.mutant if not mutant.scored]
    for mutant in (*chosen.mutants, *(excluded if everything else [])):
        kind = "required" if mutant.required else "scored" if mutant.scored else "excluded"
        reason = mutant.reason if isinstance(mutant, MechanicalMutant) else ""
        table.add_row(mutant.id, kind, Text(mutant.name), Text(reason, "dim"))
    count = f"\n{len(chosen.mutants)} scored, {len(excluded)} excluded"
    show(table, count)
    return Exit.PASSED


@mutants.command("show")
@click.argument("assignment")
@click.argument("mutant")
@course_option
def show_mutant(place: Place, assignment: str, mutant: str) -> int:
    """Show one mutant: what it does, its hints, and its difference to the reference."""
    chosen = place.assignment(assignment)
    found = chosen.mutant(mutant)
    lines: list[RenderableType] = [Text.assemble((found.id, "bold"), "  ", found.name)]
    lines += [Text(f"{name:<10}{value}") for name, value in _facts(found)]
    diff = difference(found, chosen.source, chosen.module_path)
    show(*lines, "", Syntax(diff, "diff", background_color="default", word_wrap=True))
    return Exit.PASSED


def _facts(mutant: Mutant) -> list[tuple[str, str]]:
    if isinstance(mutant, SemanticMutant):
        hints = [(f"hint {number}", text) for number, text in enumerate(mutant.hint, 1)]
        caught = [("caught by", ", ".join(mutant.caught_by))]
        return [("pitfall", mutant.pitfall), ("property", mutant.violates), *hints, *caught]
    if isinstance(mutant, MechanicalMutant):
        return [("status", mutant.status), *([("reason", mutant.reason)] if mutant.reason else [])]
    return []


@mutants.command("generate")
@click.argument("assignment")
@click.option("--write", is_flag=True, help="Write the pool as it is now, decisions kept.")
@course_option
def generate_mutants(place: Place, assignment: str, *, write: bool) -> int:
    """Generate mutants anew and say where they differ from the frozen pool.

    A new one joins the pool once a person has decided on it; a decision on one that is generated
    no more is shown before it goes.
    """
    chosen = place.assignment(assignment)
    pool, drift = merge(chosen.pool, generate(chosen.module, chosen.source))
    for candidate in drift.new:
        show(f"undecided  {candidate.id}  {candidate.operator}, line {candidate.line}")
    for word, gone in (("vanished", drift.vanished), ("stale", drift.stale)):
        for mutant in gone:
            show(f"{word:<9}  {mutant.id}  {mutant.name}: {mutant.status}  {mutant.reason}")
    if write:
        write_whole(chosen.pool_path, render(pool))
    if not drift:
        show(f"{len(pool.mutant)} mutants, as in the frozen pool")
    return Exit.NOT_PASSED if drift else Exit.PASSED


@mutants.command("twins")
@click.argument("assignment")
@click.option("--write", is_flag=True, help="Write the pool beside the mutants.")
@sandbox_options
@course_option
def make_twins(place: Place, assignment: str, *, write: bool, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Make rewrites of the reference, verify that they do the same, and name those that don't."""
    chosen, options = place.assignment(assignment), Chosen(**typed).options()
    pool = make_pool(chosen, None, make_sandbox(chosen, options), options.jobs)
    for seed, why in pool.discarded.items():
        show(Text.assemble((seed, "red"), f"  is no twin, a fault of grader's: {terminal(why)}"))
    show(f"{len(pool.seeds)} twins do what the reference does")
    if write:
        write_whole(chosen.twins_path, render_twins(pool))
    return Exit.NOT_PASSED if pool.discarded else Exit.PASSED


@mutants.command("verify")
@click.argument("assignment")
@sandbox_options
@course_option
def verify_mutants(place: Place, assignment: str, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Verify a library: mutants, decisions on them, and what each property catches.

    Each edit applies once; each scored mutant is caught by the gold suite; decisions are reviewed,
    and the frozen pool is what its generator gives; each property catches something.
    """
    chosen = place.assignment(assignment)
    with ProgressBar() as bar:
        options: Options = Chosen(**typed).options(bar.tell)
        verification = verify(chosen, options)
    if verification.matrix:
        show(_matrix(chosen, verification))
    if verification.properties:
        show(_properties(verification))
    for note in verification.notes:
        show(note)
    for finding in verification.findings:
        show(Text.assemble((finding.subject, "red"), f"  {finding.text}"))
    if verification.good:
        show(f"{len(chosen.mutants)} scored mutants: each applies, differs and is caught")
    return Exit.PASSED if verification.good else Exit.NOT_PASSED


@mutants.command("dominators")
@click.argument("assignment")
@sandbox_options
@course_option
def write_dominators(place: Place, assignment: str, **typed: Any) -> int:  # noqa: ANN401 — click's own values
    """Run the gold suite on every mutant, and write which mutants stand for all.

    The share of them that a suite kills is its dominator score.
    """
    chosen = place.assignment(assignment)
    with ProgressBar() as bar:
        found = references.dominators(chosen, Chosen(**typed).options(bar.tell))
    write_whole(chosen.dominators_path, references.render(found))
    show(*(", ".join(same) for same in found.dominators))
    show(f"{len(found.dominators)} dominators of {len(found.mutants)} scored mutants")
    return Exit.PASSED


def _matrix(assignment: Assignment, verification: Verification) -> Table:
    """Return the course's tests against the named mutants; a mark is a catch."""
    ids = [mutant.id for mutant in assignment.semantic]
    table = Table("course test", *ids, box=None, pad_edge=False)
    for test, row in verification.matrix.items():
        table.add_row(test, *("x" if row[name] else "·" for name in ids))
    return table


def _properties(verification: Verification) -> Table:
    """Return what the gold suite's tests of each property catch."""
    table = Table("property", "caught", "by it alone", box=None, pad_edge=False)
    for one in verification.properties:
        table.add_row(one.property.id, str(len(one.caught)), str(len(one.alone)))
    return table


mutants.add_command(triage_mutants)
mutants.add_command(calibrate_mutants)

COMMANDS = (fixtures, mutants)
