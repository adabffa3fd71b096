"""The façade: a course's assignment and a submission in, a grade out."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import platformdirs

from . import __version__
from .cells import Cell
from .course import Assignment
from .grade import Grade, GradedTest, Options, Progress
from .image import image_name, pins, worker_files
from .jobs import Jobs, preload, shared_modules
from .journal import Journal
from .knowledge import Knowledge, Request
from .lab import Lab
from .messages import Message, message
from .outcome import End, Outcome, Watch
from .plan import next_cells
from .problems import Unusable, Void
from .sandbox import Sandbox
from .sandbox.session import Clock
from .score import score
from .status import TestStatus, statuses
from .submission import Submission, is_test_file
from .verdict import Result, Verdict, verdict

SLACK, LEAST_SECONDS = 10.0, 5.0


def grade(
    assignment: Assignment, submission: Submission, options: Options, own: bytes | None = None
) -> Grade:
    """Grade a student's tests by mutation.

    Parameters
    ----------
    assignment
        What is graded.
    submission
        The student's frozen test files.
    options
        How to run.
    own
        The student's own implementation, on which the tests are run once.

    Raises
    ------
    Unusable
        If the assignment has no mutants.

    Notes
    -----
    A fault of the harness or the machine is not raised: it gives a `Grade` without a score.
    """
    if not assignment.mutants:
        raise Unusable(message("no-mutants", assignment=assignment.id))
    began = time.monotonic()
    work = _Grading(assignment, submission, options, own)
    try:
        found = work.assess(work.run())
    except Void as problem:
        found = Grade(assignment, options, graded=False, fault=problem.fault, why=problem.message)
    seconds = {"total": round(time.monotonic() - began, 3)}
    return replace(found, submission=submission, versions=work.versions, seconds=seconds)


def make_sandbox(assignment: Assignment, options: Options) -> Sandbox:
    """Return the back-end that ``options`` name; raises `Void` if it can't work here."""
    if options.sandbox == "docker":
        from .sandbox.docker import DockerSandbox

        return DockerSandbox(assignment.settings.limits)
    from .sandbox.process import ProcessSandbox

    return ProcessSandbox(assignment.settings.limits)


class _Grading:
    """One grading's state: what was asked, and what is known so far."""

    def __init__(
        self,
        assignment: Assignment,
        submission: Submission,
        options: Options,
        own: bytes | None,
    ) -> None:
        self._assignment, self._submission, self._options = assignment, submission, options
        self._jobs = Jobs(assignment, submission, own)
        self._request = Request(
            settings=assignment.settings,
            files=tuple(sorted(submission.files)),
            mutants=assignment.mutants,
            has_own_implementation=own is not None,
            shuffle=str(options.seed if options.seed is not None else assignment.course.sha256),
            matrix=options.matrix,
        )
        self.versions: dict[str, str] = {"grader": __version__}

    def run(self) -> Knowledge:
        """Run cells until nothing is missing; raises `Void` where the machine spoils one.

        An engine that doesn't answer is told of even where all is known already: what a grading
        says must not depend on which was made before.
        """
        if self._options.sandbox == "docker":
            _require_engine()
        folder = self._folder()
        with ExitStack() as stack:
            journal = stack.enter_context(
                Journal(folder / "journal.jsonl", fresh=not self._options.use_cache)
            )
            lab: Lab | None = None
            while cells := next_cells(self._request, journal.outcomes):
                lab = lab or stack.enter_context(self._lab())
                for cell, outcome in self._batch(lab, cells, journal.outcomes):
                    journal.append(cell, outcome)
                self._remember(folder, lab)
            self._recall(folder)
            known = Knowledge(self._request, dict(journal.outcomes))
            if _nothing_could_be_imported(known):
                self._require_reference(lab or stack.enter_context(self._lab()))
            return known

    def _require_reference(self, lab: Lab) -> None:
        """Raise `Void` if the module under test itself can't be imported on the reference."""
        cell = Cell(purpose="calibration", draw=self._assignment.settings.draws[0])
        canary = f"import {self._assignment.module}\n\ndef test_canary(): pass\n"
        jobs = Jobs(self._assignment, Submission({"test_canary.py": canary.encode()}))
        for _, outcome in lab.run([cell], jobs, self._clock(None), lambda cell, watch: False):
            if outcome.end is not End.COMPLETE or outcome.unreadable:
                broken = [one.failure.exception for one in outcome.unreadable]
                why = f"importing it raises {broken[0]}" if broken else outcome.reason
                raise Void(message("reference-broken", why=why), "harness")

    def _batch(
        self, lab: Lab, cells: list[Cell], outcomes: dict[Cell, Outcome]
    ) -> Iterator[tuple[Cell, Outcome]]:
        known = Knowledge(self._request, dict(outcomes))
        doing = _doing(cells[0].purpose, len(outcomes))
        self._options.tell(Progress(doing, 0, len(cells)))
        calibrated = cells[0].purpose not in ("look", "calibration")

        def enough(cell: Cell, watch: Watch) -> bool:
            return cell.purpose == "mutant" and known.enough(watch)

        clock = self._clock(known if calibrated else None)
        for done, (cell, outcome) in enumerate(lab.run(cells, self._jobs, clock, enough), 1):
            if outcome.end is End.FAULT:
                facts = {"count": 1, "total": len(cells), "why": outcome.reason}
                raise Void(message("cells-failed", **facts), "machine")
            self._options.tell(Progress(doing, done, len(cells)))
            yield cell, outcome

    def _clock(self, known: Knowledge | None) -> Clock:
        limits = self._assignment.settings.limits
        if known is None:
            return Clock(limits.seconds_per_test, limits.seconds_in_all)
        runs = known.calibration.last[1].runs
        tests = {test: max(LEAST_SECONDS, SLACK * run.seconds) for test, run in runs.items()}
        return Clock(limits.seconds_per_test, limits.seconds_in_all, tests)

    def _lab(self) -> Lab:
        self._options.tell(Progress("starting workers", 0, 0))
        return Lab(
            make_sandbox(self._assignment, self._options),
            shared_modules(self._assignment),
            preload(self._assignment),
            self._options.jobs,
            fresh=self._options.isolation == "container",
        )

    def _folder(self) -> Path:
        """Return where this grading's outcomes lie: by the content of all that decides them."""
        state = platformdirs.user_state_path("grader")
        top = self._options.run_dir or state / "runs"
        own = self._jobs.own
        decisive = {
            "assignment": self._assignment.id,
            "course": self._assignment.course.sha256,
            "submission": self._submission.sha256,
            "own": hashlib.sha256(own).hexdigest() if own is not None else None,
            "worker": hashlib.sha256(b"".join(worker_files().values())).hexdigest(),
            "grader": __version__,
            "pins": pins(),
            "sandbox": self._options.sandbox,
            "image": image_name() if self._options.sandbox == "docker" else None,
            "isolation": self._options.isolation,
            "policy": self._options.policy,
            "matrix": self._options.matrix,
            "shuffle": self._request.shuffle,
        }
        key = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        return top / f"{self._assignment.id}-{key[:24]}"

    def _remember(self, folder: Path, lab: Lab) -> None:
        self.versions |= lab.versions
        (folder / "versions.json").write_text(json.dumps(self.versions), encoding="utf-8")

    def _recall(self, folder: Path) -> None:
        path = folder / "versions.json"
        if path.is_file():
            self.versions = json.loads(path.read_text(encoding="utf-8"))

    def assess(self, known: Knowledge) -> Grade:
        """Return the grade that ``known`` amounts to."""
        found = statuses(known.evidence)
        holding = [one for one in found.values() if one.counts]
        verdicts = tuple(
            verdict(mutant, known.evidence, known.valid) for mutant in self._assignment.mutants
        )
        why = None if holding else self._nothing_holds(found)
        return Grade(
            self._assignment,
            self._options,
            graded=bool(holding),
            fault=None if holding else "student",
            why=why,
            score=score(verdicts, self._assignment.settings.threshold_percent),
            tests=tuple(self._graded(one, known, verdicts) for one in found.values()),
            verdicts=verdicts,
            warnings=tuple(self._warnings(known)),
        )

    def _nothing_holds(self, found: dict[str, TestStatus]) -> Message:
        if found:
            return message("no-valid-test")
        return message("no-tests", path=self._assignment.student_tests)

    def _graded(
        self, status: TestStatus, known: Knowledge, verdicts: tuple[Verdict, ...]
    ) -> GradedTest:
        kills = tuple(
            one.mutant.id
            for one in verdicts
            if one.result is Result.KILLED and status.id in one.killed_by
        )
        own = next((o for c, o in known.outcomes.items() if c.purpose == "own"), None)
        if own is None or "::" not in status.id:
            return GradedTest(status, kills)
        run = own.run(status.id)
        if run is None or not run.finished:
            return GradedTest(status, kills, "not run")
        if run.failed:
            failure = next((p.failure for p in run.phases if p.failure), None)
            text = f"{failure.exception}: {failure.message}" if failure else None
            return GradedTest(status, kills, "failed", text)
        return GradedTest(status, kills, "skipped" if run.skipped else "passed")

    def _warnings(self, known: Knowledge) -> Iterator[Message]:
        for one in self._submission.left_out:
            yield message("left-out", path=one.path, why=one.why)
        looks = known.look.last[1].looks
        for look in looks:
            for name, line in look.near_misses if is_test_file(look.path) else ():
                yield message("near-miss", path=look.path, line=line, name=name)
            if not is_test_file(look.path) and look.near_misses:
                yield message("near-file", path=look.path)
        module = self._assignment.module
        names = {name.replace(":", ".") for look in looks for name, _ in look.imports}
        if looks and not any(f"{name}.".startswith(f"{module}.") for name in names):
            yield message("untested-module", module=module, assignment=self._assignment.id)
        calibration = known.calibration.last[1] if known.targets else None
        if calibration is not None and calibration.left_out:
            most = self._assignment.settings.limits.tests
            yield message("too-many-tests", count=calibration.left_out, most=most)


def _require_engine() -> None:
    from .sandbox.docker import engine

    engine().close()


def _nothing_could_be_imported(known: Knowledge) -> bool:
    """Return whether tests were there and none could be collected, which may be our own fault."""
    if not known.targets:
        return False
    found = known.calibrated
    return bool(found.unreadable) and not found.tests


def _doing(purpose: str, outcomes: int) -> str:
    match purpose:
        case "look":
            return "looking at the tests"
        case "calibration":
            return "running them on the course's code"
        case _:
            return "running them on faulty versions" if outcomes < 4 else "confirming"
