"""Triage: what is known of a mechanical mutant, and the status that it suggests.

Nothing is decided here: a person reads the evidence, and what was decided before stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.course import Assignment
from grader.course_tests import CourseTest, run_course_tests, run_gold_suite
from grader.differential import Comparison, compare_pairs
from grader.grade import Options
from grader.grading import make_sandbox
from grader.mutants import DUPLICATE, SCORED, MechanicalMutant, Mutant
from grader.sandbox import Sandbox

from .candidates import Candidate
from .likeness import fingerprint, same_but_for_wording
from .pool import PROPOSED, decide

REFERENCE = ""


@dataclass(frozen=True)
class Evidence:
    """What is known of one mutant."""

    gold: tuple[str, ...]  # the tests that catch it
    course: tuple[str, ...]
    comparison: Comparison  # with the reference
    same_code: str | None = None  # the mutant, or the reference, of the same bytecode
    same_behaviour: tuple[str, int] | None = None  # a mutant, and how many comparisons say so
    wording_only: bool = False


@dataclass(frozen=True)
class Proposal:
    """A status that the evidence suggests, and why; none where only a person can tell."""

    status: str | None
    reason: str = ""


@dataclass(frozen=True)
class Case:
    """A mutant with the evidence on it."""

    mutant: Mutant
    decided: bool
    evidence: Evidence

    @property
    def status(self) -> str:
        """What was decided; a named mutant always counts."""
        return self.mutant.status if isinstance(self.mutant, MechanicalMutant) else SCORED

    @property
    def proposal(self) -> Proposal:
        """What the evidence suggests."""
        return propose(self.evidence)

    @property
    def open(self) -> bool:
        """Whether a person should look: nobody decided, or the evidence suggests otherwise.

        That an input lies outside the contract no evidence can tell.
        """
        if not self.decided:
            return True
        return self.status not in ("outside-the-contract", self.proposal.status)


def propose(evidence: Evidence) -> Proposal:
    """Return the status that some evidence suggests; the first rule that matches counts."""
    if evidence.same_code == REFERENCE:
        return Proposal("equivalent", "It compiles to the reference's bytecode.")
    if evidence.same_code is not None:
        why = f"It compiles to the bytecode of {evidence.same_code}."
        return Proposal(DUPLICATE + evidence.same_code, why)
    if not (evidence.gold or evidence.course or evidence.comparison.witness):
        return _silent(evidence)
    if evidence.same_behaviour is not None:
        other, made = evidence.same_behaviour
        why = f"The same tests catch {other}, and {made} comparisons of the two find no difference."
        return Proposal(DUPLICATE + other, why)
    if evidence.gold:
        return Proposal(SCORED, f"{len(evidence.gold)} tests of the gold suite catch it.")
    return Proposal(None, "The gold suite lacks a test, or the input lies outside the contract.")


def _silent(evidence: Evidence) -> Proposal:
    """Return what to do with a mutant that nothing tells from the reference."""
    made = evidence.comparison.made
    if evidence.wording_only:
        why = f"Only texts of errors differ; {made} comparisons find no other difference."
        return Proposal("message-only", why)
    why = f"No test catches it, and {made} comparisons with the reference find no difference."
    return Proposal("equivalent", why)


def undecided(candidates: Iterable[Candidate]) -> list[MechanicalMutant]:
    """Return candidates as the mutants that they would be."""
    return [decide(candidate, SCORED) for candidate in candidates]


def proposals(cases: Iterable[Case]) -> list[MechanicalMutant]:
    """Return what to write into the pool: undecided mutants as proposed, for a person to review."""
    found = []
    for one in cases:
        status, reason = one.proposal.status, one.proposal.reason
        if status is None or one.decided or not isinstance(one.mutant, MechanicalMutant):
            continue
        changes = {"status": status, "reason": f"{PROPOSED}{reason}"}
        found.append(one.mutant.model_copy(update=changes))
    return found


def triage(
    assignment: Assignment,
    wanted: Sequence[Mutant],
    options: Options,
    others: Sequence[MechanicalMutant] = (),
) -> list[Case]:
    """Gather the evidence on mutants.

    Parameters
    ----------
    assignment
        Whose mutants they are.
    wanted
        The mutants, in the library or not yet.
    options
        How to run.
    others
        Mutants that are not in the pool yet, of which these may be duplicates.

    Raises
    ------
    Unusable
        If the assignment lacks a gold, course or differential suite, or a mutant doesn't apply.
    Void
        If the machine can't run them.
    """
    decided = {mutant.id for mutant in (*assignment.semantic, *assignment.pool.mutant)}
    work = _Triage(assignment, make_sandbox(assignment, options), options.jobs, others)
    evidence = work.evidence([mutant.id for mutant in wanted])
    return [Case(one, one.id in decided, evidence[one.id]) for one in wanted]


class _Triage:
    """Everything that could be compared: all mutants, as texts."""

    def __init__(
        self,
        assignment: Assignment,
        sandbox: Sandbox,
        jobs: int,
        others: Sequence[MechanicalMutant],
    ) -> None:
        self._assignment, self._sandbox, self._jobs = assignment, sandbox, jobs
        source = assignment.source
        everyone: list[Mutant] = [*assignment.semantic, *assignment.pool.mutant, *others]
        self._texts = {mutant.id: mutant.plant(source) for mutant in everyone}
        # A duplicate's original is a mutant that counts, or one that nobody has judged yet.
        self._originals = [mutant.id for mutant in everyone if mutant.scored]

    def evidence(self, wanted: Sequence[str]) -> dict[str, Evidence]:
        """Return the evidence on each of ``wanted``."""
        source = self._assignment.source
        prints = {name: fingerprint(text) for name, text in self._texts.items()}
        prints = {REFERENCE: fingerprint(source), **prints}
        compared = self._compare({name: (text, source) for name, text in self._texts.items()})
        alike = self._alike(wanted, compared)
        run = {*wanted, *(other for other, _ in alike.values())}
        texts = {name: self._texts[name] for name in sorted(run)}
        args = (self._assignment, texts, self._sandbox, self._jobs)
        gold, course = _catching(run_gold_suite(*args)), _catching(run_course_tests(*args))
        found = {}
        for name in wanted:
            like = alike.get(name)
            same = like and (gold[name], course[name]) == (gold[like[0]], course[like[0]])
            found[name] = Evidence(
                gold=gold[name],
                course=course[name],
                comparison=compared[name],
                same_code=self._first([REFERENCE, *self._before(name)], prints, prints[name]),
                same_behaviour=like if same else None,
                wording_only=same_but_for_wording(source, self._texts[name]),
            )
        return found

    def _compare(self, pairs: Mapping[str, tuple[str, str]]) -> dict[str, Comparison]:
        if not pairs:
            return {}
        return compare_pairs(self._assignment, pairs, self._sandbox, self._jobs)

    def _alike(
        self, wanted: Sequence[str], compared: Mapping[str, Comparison]
    ) -> dict[str, tuple[str, int]]:
        """Return, for each mutant, the first before it that no input tells it from.

        Only those are compared that the same input tells from the reference, by the same answer.
        """
        pairs = {
            f"{name} {other}": (name, other)
            for name in wanted
            for other in self._before(name)
            if compared[name].witness is not None and compared[name] == compared[other]
        }
        texts = {key: (self._texts[one], self._texts[two]) for key, (one, two) in pairs.items()}
        found: dict[str, tuple[str, int]] = {}
        for key, comparison in self._compare(texts).items():
            name, other = pairs[key]
            if comparison.witness is None:
                found.setdefault(name, (other, comparison.made))
        return found

    def _before(self, name: str) -> list[str]:
        """Return the mutants of which one may be a duplicate: those that come before it."""
        order = list(self._texts)
        return [one for one in self._originals if order.index(one) < order.index(name)]

    def _first(
        self, names: Sequence[str], prints: Mapping[str, object], mine: object
    ) -> str | None:
        return next((name for name in names if prints[name] == mine), None)


def _catching(results: Mapping[str, Sequence[CourseTest]]) -> dict[str, tuple[str, ...]]:
    """Return the names of the tests that fail on each mutant."""
    return {
        name: tuple(sorted(test.name for test in tests if not test.passed))
        for name, tests in results.items()
    }
