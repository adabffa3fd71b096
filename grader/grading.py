"""The façade: a course's assignment and a submission in, a grade out."""

import hashlib
import hmac
import json
import sys
import time
from collections.abc import Iterator, Set
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import platformdirs

from . import __version__
from .assessment import assess
from .canary import alarm
from .cells import Cell, Outcomes
from .course import Assignment
from .dominators import read_dominators
from .grade import Grade, Options, Progress
from .image import image_name, pins, worker_files
from .jobs import Jobs, preload, shared_modules
from .journal import Journal
from .knowledge import Knowledge, Request
from .lab import Lab
from .ledger import MOST_FLAKY, Entry, Ledger
from .messages import message
from .mutants import Mutant
from .outcome import End, Outcome
from .plan import next_cells
from .policy import policy
from .problems import Unusable, Void
from .review import often_flaky
from .sandbox import Sandbox
from .sandbox.session import Clock
from .status import Status
from .submission import Submission
from .twinning import twin_pool
from .twins.pool import Pool
from .whole import keeping, write_whole

SLACK, LEAST_SECONDS = 10.0, 5.0
FIRST_CELLS = 6  # more outcomes than the look and the calibration leave, in most gradings


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
    if options.matrix:
        read_dominators(assignment)  # a malformed file is refused before anything runs
    began = time.monotonic()
    work = _Grading(assignment, submission, options, own)
    try:
        found = assess(assignment, submission, options, work.run())
        if found.fault in (None, "student") and options.student:
            found = _with_history(found, submission)
    except Void as problem:
        found = Grade(assignment, options, graded=False, fault=problem.fault, why=problem.message)
    seconds = {"total": round(time.monotonic() - began, 3)}
    return replace(
        found,
        submission=submission,
        versions=work.versions,
        sealed=bool(work.sealed),
        seconds=seconds,
    )


def _with_history(grade: Grade, submission: Submission) -> Grade:
    """Enter a grade's flags into the student's ledger, and flag what has become a habit."""

    def having(status: Status) -> tuple[str, ...]:
        return tuple(test.status.id for test in grade.tests if test.status.status is status)

    folder = platformdirs.user_state_path("grader") / "students"
    ledger = Ledger.of(folder, grade.assignment.id, grade.options.student)
    flaky, too_strict = having(Status.FLAKY), having(Status.TOO_STRICT)
    ledger.note(Entry(submission=submission.sha256, flaky=flaky, too_strict=too_strict))
    if grade.review is None or ledger.flaky <= MOST_FLAKY:
        return grade
    return replace(grade, review=(*grade.review, often_flaky(ledger.flaky)))


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
        self._own = own
        chosen = tuple(map(assignment.mutant, options.mutants))
        self._mutants: tuple[Mutant, ...] = chosen or assignment.mutants
        self.versions: dict[str, str] = {"grader": __version__}
        self.sealed: bool | None = None  # until a worker has said it

    def run(self) -> Knowledge:
        """Run cells until nothing is missing; raises `Void` where the machine spoils one.

        An engine that doesn't answer is told of even where all is known already: what a grading
        says must not depend on which was made before.
        """
        if self._options.sandbox == "docker":
            _require_engine()
        key = _key(self._assignment, self._options)
        sandbox = make_sandbox(self._assignment, self._options)
        if self._options.sandbox == "docker":
            self.versions["image"] = _image()
        pool = self._pool(sandbox)
        jobs = Jobs(
            assignment=self._assignment,
            submission=self._submission,
            pool=pool,
            key=key,
            own=self._own,
            only=self._options.only,
            shrink=self._options.shrink,
        )
        request = self._request(pool, key)
        folder = self._folder(pool, key)
        with ExitStack() as stack:
            journal = stack.enter_context(
                Journal(folder / "journal.jsonl", fresh=not self._options.use_cache)
            )
            if self._options.use_cache:
                self._recall(folder)
            lab: Lab | None = None
            while cells := _missing(request, journal.outcomes):
                lab = lab or stack.enter_context(self._lab(sandbox))
                known = Knowledge(request, dict(journal.outcomes))
                for cell, outcome in self._batch(lab, cells, jobs, known):
                    # Beforehand: once all outcomes are known, no worker is asked again.
                    self._remember(folder, lab)
                    journal.append(cell, outcome)
            return Knowledge(request, dict(journal.outcomes))

    def _pool(self, sandbox: Sandbox) -> Pool:
        def tell() -> None:
            self._options.tell(Progress("making rewrites of the course's code, once", 0, 0))

        options = self._options
        return twin_pool(self._assignment, options.course_key, sandbox, options.jobs, tell)

    def _request(self, pool: Pool, key: bytes) -> Request:
        settings = self._assignment.settings
        applied = policy(self._options.policy, settings)
        return Request(
            settings=settings,
            files=tuple(sorted(self._submission.files)),
            mutants=self._mutants,
            has_own_implementation=self._own is not None,
            shuffle=key.hex(),
            matrix=self._options.matrix,
            policy=applied,
            twins=tuple(pool.order(key, "right")[: applied.twins]),
        )

    def _batch(
        self, lab: Lab, cells: list[Cell], jobs: Jobs, known: Knowledge
    ) -> Iterator[tuple[Cell, Outcome]]:
        purposes = {cell.purpose for cell in cells}
        doing = _doing(purposes, len(known.outcomes))
        self._options.tell(Progress(doing, 0, len(cells)))
        calibrated = not purposes & {"look", "canary", "calibration"}
        clock = self._clock(known if calibrated else None)
        for done, (cell, outcome) in enumerate(lab.run(cells, jobs, clock, known.enough), 1):
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

    def _lab(self, sandbox: Sandbox) -> Lab:
        self._options.tell(Progress("starting workers", 0, 0))
        return Lab(
            sandbox,
            shared_modules(self._assignment),
            preload(self._assignment),
            self._options.jobs,
            fresh=self._options.isolation == "container",
        )

    def _folder(self, pool: Pool, key: bytes) -> Path:
        """Return where this grading's outcomes lie: by the content of all that decides them."""
        state = platformdirs.user_state_path("grader")
        top = self._options.run_dir or state / "runs"
        decisive = {
            "assignment": self._assignment.id,
            "course": self._assignment.course.sha256,
            "submission": self._submission.sha256,
            "own": hashlib.sha256(self._own).hexdigest() if self._own is not None else None,
            "worker": hashlib.sha256(b"".join(worker_files().values())).hexdigest(),
            "grader": __version__,
            "pins": pins(),
            "sandbox": self._options.sandbox,
            "interpreter": self.versions.get("image", sys.version),
            "isolation": self._options.isolation,
            "policy": self._options.policy,
            "matrix": self._options.matrix,
            "only": self._options.only,
            "mutants": self._options.mutants,
            "shrink": self._options.shrink,
            "key": hashlib.sha256(key).hexdigest(),
            "twins": pool.sha256,
        }
        name = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        return top / f"{self._assignment.id}-{name[:24]}"

    def _remember(self, folder: Path, lab: Lab) -> None:
        before = self.versions, self.sealed
        self.versions = self.versions | lab.versions
        self.sealed = lab.sealed and self.sealed is not False
        if (self.versions, self.sealed) == before:
            return
        known = {"versions": self.versions, "sealed": self.sealed}
        with keeping(path := folder / "workers.json", "journal-unwritable"):
            write_whole(path, json.dumps(known))

    def _recall(self, folder: Path) -> None:
        """Read what the workers of an earlier, unfinished or finished, grading said."""
        path = folder / "workers.json"
        if path.is_file():
            known = json.loads(path.read_text(encoding="utf-8"))
            self.versions, self.sealed = known["versions"], known["sealed"]


def _missing(request: Request, outcomes: Outcomes) -> list[Cell]:
    """Return the cells to run next; raises `Void` if the canary says that none can be believed."""
    if (wrong := alarm(outcomes)) is not None:
        raise Void(wrong, "harness")
    return next_cells(request, outcomes)


def _require_engine() -> None:
    from .sandbox.engine import engine

    engine().close()


def _image() -> str:
    """Return the digest of the image: built alike on another base, it is another."""
    from .sandbox.engine import answering, engine

    with answering(), closing(engine()) as client:
        found: str = client.inspect_image(image_name())["Id"]  # type: ignore[no-untyped-call] # a gap in the stubs
    return found


def _key(assignment: Assignment, options: Options) -> bytes:
    """Return the secret from which twins and order follow: an edit of the tests doesn't change it.

    Without a course's own key it is no secret, but the same wherever the course is the same.
    """
    if options.seed is not None:
        return hashlib.sha256(f"seed:{options.seed}".encode()).digest()
    course_key = options.course_key or bytes.fromhex(assignment.course.sha256)
    return hmac.digest(course_key, options.student.encode(), hashlib.sha256)


def _doing(purposes: Set[str], outcomes: int) -> str:
    if purposes & {"look", "canary"}:
        return "looking at the tests"
    if "calibration" in purposes:
        return "running them on the course's code"
    return "running them on faulty versions" if outcomes < FIRST_CELLS else "confirming"
