"""A grade: what a grading found, for every report."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from .course import Assignment
from .course_tests import CourseTest
from .matrix import DominatorScore, KillMatrix
from .messages import Message
from .policy import Policy, PolicyName, policy
from .review import Flag
from .score import Score
from .status import TestStatus
from .submission import Submission
from .verdict import Verdict

Fault = Literal["student", "harness", "machine"]
SandboxName = Literal["docker", "process"]
Isolation = Literal["shared", "container"]
Reveal = Literal["none", "count", "pitfall", "behaviour", "diff"]


@dataclass(frozen=True)
class Progress:
    """How far a grading is."""

    doing: str
    done: int
    planned: int


@dataclass(frozen=True)
class Options:
    """How to grade; nothing here changes a verdict.

    With ``only``, a part of the names of tests, or ``mutants``, a choice of them, it is a look
    at a part, and never a grade.
    """

    sandbox: SandboxName
    isolation: Isolation = "shared"
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    matrix: bool = False
    reveal: Reveal | None = None
    policy: PolicyName = "practice"
    seed: int | None = None
    only: str = ""
    mutants: tuple[str, ...] = ()
    shrink: bool = False
    student: str = ""
    course_key: bytes | None = None
    use_cache: bool = True
    run_dir: Path | None = None
    staff: bool = False
    tell: Callable[[Progress], None] = lambda progress: None

    @property
    def partial(self) -> bool:
        """Whether only some tests run, or only on some mutants."""
        return bool(self.only or self.mutants)


@dataclass(frozen=True)
class GradedTest:
    """One test of the student, with what it did."""

    __test__ = False
    status: TestStatus
    kills: tuple[str, ...] = ()
    own_implementation: Literal["passed", "failed", "skipped", "not run"] | None = None
    own_failure: str | None = None


@dataclass(frozen=True)
class Grade:
    """What a grading found."""

    assignment: Assignment
    options: Options
    graded: bool
    fault: Fault | None = None
    why: Message | None = None
    score: Score | None = None
    tests: tuple[GradedTest, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[Message, ...] = ()
    submission: Submission | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    sealed: bool = False  # whether every cell gave up system calls
    seconds: Mapping[str, float] = field(default_factory=dict)
    course_tests: tuple[CourseTest, ...] | None = None
    matrix: KillMatrix | None = None
    dominator_score: DominatorScore | None = None
    review: tuple[Flag, ...] | None = None  # None where it wasn't asked for

    @property
    def partial(self) -> bool:
        """Whether only some tests ran, or only on some mutants."""
        return self.options.partial

    @property
    def policy(self) -> Policy:
        """How often each thing was seen."""
        return policy(self.options.policy, self.assignment.settings)

    @property
    def passed(self) -> bool:
        """Whether it is a pass; never without a score, nor with a course test that failed."""
        if not self.graded or self.score is None or self.partial:
            return False
        return self.score.passed and all(test.passed for test in self.course_tests or ())

    @property
    def reveal(self) -> Reveal:
        """How much a report may say of what was not caught: at most what the course allows."""
        levels: tuple[Reveal, ...] = get_args(Reveal)
        allowed = self.assignment.settings.reveal
        return min(self.options.reveal or allowed, allowed, key=levels.index)
