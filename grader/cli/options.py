"""Options that several commands share, declared once."""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from grader.course import Assignment, Course, load_course
from grader.grade import Isolation, Options, Reveal, SandboxName
from grader.grade import Progress as Step
from grader.messages import message
from grader.policy import PolicyName
from grader.problems import Unusable, Void
from grader.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Place:
    """Where a command works: a course, and a student's repository."""

    course_root: Path | None
    repo: Path
    program: str

    @property
    def course(self) -> Course:
        """The course; raises `Unusable`."""
        return load_course(self.course_root)

    @property
    def workspace(self) -> Workspace:
        """The student's repository; raises `Unusable`."""
        return Workspace.at(self.repo)

    def assignment(self, name: str) -> Assignment:
        """One assignment of the course; raises `Unusable`."""
        return self.course.assignment(name)


FOLDER = click.Path(path_type=Path)
SHORTEST_KEY = 16


def program() -> str:
    """Return the name of this program that was typed."""
    return click.get_current_context().find_root().info_name or "grade"


def course_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--course``; the command gets a `Place`."""

    def with_place(*, course: Path | None, **others: Any) -> R:  # noqa: ANN401 — click's own values
        return command(place=Place(course, others.pop("repo", None) or Path(), program()), **others)

    option = click.option(
        "--course", type=FOLDER, help="The course's folder.  [default: the built-in course]"
    )
    return option(_named(with_place, command))


def repo_option(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--repo`` and ``--course``; the command gets a `Place`."""
    option = click.option(
        "--repo",
        type=FOLDER,
        default=Path(),
        help="The student's repository: a folder, .zip or .tar.gz.  [default: here]",
    )
    return option(course_option(command))


def _named(wrapper: Callable[..., R], command: Callable[..., R]) -> Callable[..., R]:
    wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
    if hasattr(command, "__click_params__"):
        wrapper.__click_params__ = command.__click_params__  # type: ignore[attr-defined] # where click keeps options
    return wrapper


def sandbox_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--sandbox``, ``--isolation`` and ``--jobs``."""
    for option in (
        click.option(
            "--jobs", type=click.IntRange(1), help="Workers at once.  [default: one a core]"
        ),
        click.option(
            "--isolation",
            type=click.Choice(["shared", "container"]),
            default="shared",
            show_default=True,
            help="Whether runs share a worker, or each gets its own.",
        ),
        click.option(
            "--sandbox",
            type=click.Choice(["auto", "docker", "process"]),
            default="auto",
            show_default=True,
            help="Where tests run; auto takes Docker when its engine answers.",
        ),
    ):
        command = option(command)
    return command


def grading_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options of a grading."""
    for option in (
        click.option(
            "--mutant", "mutants", multiple=True, help="Only this fault: a part, never a grade."
        ),
        click.option(
            "--shrink", is_flag=True, help="With --mutant: make the inputs that catch it small."
        ),
        click.option(
            "-k", "only", default="", help="Only tests with this in their name: never a grade."
        ),
        click.option("--run-dir", type=FOLDER, help="Where outcomes are kept."),
        click.option("--seed", type=int, help="Seed of twins and order, in place of the key's."),
        click.option(
            "--course-key",
            type=FOLDER,
            help="File with the course's secret, from which twins and order follow.",
        ),
        click.option("--student", default="", help="Whose tests they are, as the course says it."),
        click.option(
            "--policy",
            type=click.Choice(get_args(PolicyName)),
            default="practice",
            show_default=True,
            help="How often each thing is seen.",
        ),
        click.option("--no-cache", is_flag=True, help="Run everything anew."),
        click.option("--json", "json_path", type=FOLDER, help="Write the grade to this file too."),
        click.option(
            "--reveal",
            type=click.Choice(["none", "count", "pitfall", "behaviour", "diff"]),
            help="How much to say of what was not caught; at most what the course allows.",
        ),
        click.option(
            "--matrix-csv", type=FOLDER, help="Write who caught what to this file; as --matrix."
        ),
        click.option("--staff", is_flag=True, help="Add what a person should look at."),
        click.option("--matrix", is_flag=True, help="Run every test on every fault."),
    ):
        command = option(command)
    return sandbox_options(command)


@dataclass
class Chosen:
    """The options of a grading, as they were typed."""

    sandbox: str
    isolation: Isolation
    jobs: int | None
    matrix: bool = False
    matrix_csv: Path | None = None
    reveal: Reveal | None = None
    json_path: Path | None = None
    no_cache: bool = False
    policy: PolicyName = "practice"
    seed: int | None = None
    only: str = ""
    mutants: tuple[str, ...] = ()
    shrink: bool = False
    student: str = ""
    course_key: Path | None = None
    run_dir: Path | None = None
    staff: bool = False

    def options(self, tell: Callable[[Step], None] = lambda step: None) -> Options:
        """Return them as the library wants them."""
        optional: dict[str, Any] = {"jobs": self.jobs} if self.jobs else {}
        return Options(
            sandbox=choose_sandbox(self.sandbox),
            isolation=self.isolation,
            matrix=self.matrix or self.matrix_csv is not None,
            reveal=self.reveal,
            policy=self.policy,
            seed=self.seed,
            only=self.only,
            mutants=self.mutants,
            shrink=self.shrink,
            student=self.student,
            course_key=read_key(self.course_key),
            use_cache=not self.no_cache,
            run_dir=self.run_dir,
            staff=self.staff,
            tell=tell,
            **optional,
        )


def read_key(path: Path | None) -> bytes | None:
    """Return a course's secret; raises `Unusable` if there is none in the file."""
    if path is None:
        return None
    try:
        key = path.read_bytes().strip()
    except OSError as problem:
        raise Unusable(message("unreadable", path=path, why=problem.strerror)) from None
    if len(key) < SHORTEST_KEY:
        raise Unusable(message("key-short", path=path, least=SHORTEST_KEY, count=len(key)))
    return key


def choose_sandbox(asked: str) -> SandboxName:
    """Return the back-end to use: what was asked for, or Docker when its engine answers."""
    if asked == "process":
        return "process"
    # Elsewhere than on Linux nothing but Docker can work, so its own complaint is the one to hear.
    if asked == "docker" or platform.system() != "Linux":
        return "docker"
    from grader.sandbox.engine import engine

    try:
        engine().close()
    except Void:
        return "process"
    return "docker"


class ProgressBar:
    """Shows how far a grading is, on standard error and only at a terminal."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, step: Step) -> None:
        """Show one step."""
        total = step.planned or None
        self._bar.update(
            self._task, description=step.doing, completed=step.done, total=total, refresh=True
        )
