"""Reads a course from disk into typed values, and refuses a malformed one."""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .messages import message, near
from .mutants import MechanicalMutant, MechanicalPool, Mutant, SemanticLibrary, SemanticMutant
from .problems import Unusable

BUILTIN = Path(__file__).parent / "builtin"
PARTS = (
    "course.toml",
    "reference",
    "mutants",
    "fixtures",
    "tests/course",
    "tests/gold",
    "tests/starter",
)
Document = TypeVar("Document", bound=BaseModel)


class Limits(BaseModel):
    """What a run of a suite may use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds_per_test: Annotated[float, Field(gt=0)] = 20.0
    seconds_in_all: Annotated[float, Field(gt=0)] = 300.0
    tests: Annotated[int, Field(ge=1)] = 300
    examples: Annotated[int, Field(ge=1)] = 1000
    memory_megabytes: Annotated[int, Field(ge=256)] = 1024


class AssignmentSettings(BaseModel):
    """One assignment's entry in ``course.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    module: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
    rung: str | None = None
    contract: str | None = None
    needs: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    student_module: str | None = None
    student_tests: str | None = None
    allowed_imports: tuple[str, ...] = ("*",)
    preload: tuple[str, ...] = ()
    threshold_percent: Annotated[int, Field(ge=0, le=100)] = 80
    draws: Annotated[tuple[int, ...], Field(min_length=1)] = (1,)
    controls: Annotated[int, Field(ge=2)] = 4
    twins: Annotated[int, Field(ge=0)] = 0
    limits: Limits = Limits()
    visibility: Literal["open", "sealed"] = "open"
    reveal: Literal["none", "count", "pitfall", "behaviour", "diff"] = "behaviour"
    goldens: tuple[str, ...] = ()


class CourseSettings(BaseModel):
    """The content of ``course.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    schema_: Annotated[Literal[1], Field(alias="schema")]
    assignments: Mapping[str, AssignmentSettings]


@dataclass(frozen=True)
class Assignment:
    """One graded module of a course."""

    id: str
    course: "Course"
    settings: AssignmentSettings

    @property
    def module(self) -> str:
        """Name of the module under test."""
        return self.settings.module

    @property
    def module_path(self) -> str:
        """Path of the module under test below a folder of sources."""
        return self.module.replace(".", "/") + ".py"

    @property
    def student_module(self) -> str:
        """Path of a student's implementation in the student's repository."""
        return self.settings.student_module or f"python/{self.module_path}"

    @property
    def student_tests(self) -> str:
        """Path of a student's tests in the student's repository."""
        return self.settings.student_tests or f"python/tests/{self.id.lower()}"

    @property
    def contract_path(self) -> Path:
        """Where the contract lies, whether there is one or not."""
        default = f"reference/contracts/{self.module_path}i"
        return self.course.root / (self.settings.contract or default)

    @property
    def tests_path(self) -> Path:
        """Folder of the course's tests."""
        return self.course.root / "tests" / "course" / self.id

    @property
    def starter_path(self) -> Path:
        """Folder of the test files that a student starts from."""
        return self.course.root / "tests" / "starter" / self.id

    @property
    def gold_path(self) -> Path:
        """Folder of the gold suite."""
        return self.course.root / "tests" / "gold" / self.id

    @cached_property
    def source(self) -> str:
        """The reference's text of the module under test."""
        path = self.course.root / "reference" / self.module_path
        if not path.is_file():
            why = f"{self.id}: no reference at {path.relative_to(self.course.root)}"
            raise Unusable(message("course-inconsistent", path=self.course.root, why=why))
        return path.read_text(encoding="utf-8")

    @cached_property
    def semantic(self) -> tuple[SemanticMutant, ...]:
        """The named mutants, all required."""
        return self._library("semantic.toml", SemanticLibrary()).mutant

    @cached_property
    def pool(self) -> MechanicalPool:
        """The frozen pool of generated mutants, the excluded ones too."""
        return self._library("mechanical.toml", MechanicalPool(generator="", module=self.module))

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        """All that are scored, the named ones first."""
        mechanical: tuple[MechanicalMutant, ...] = self.pool.mutant
        return (*self.semantic, *(mutant for mutant in mechanical if mutant.scored))

    def mutant(self, wanted: str) -> Mutant:
        """Return one mutant by id, an excluded one too; raises `Unusable` if there is none."""
        known = {mutant.id: mutant for mutant in (*self.semantic, *self.pool.mutant)}
        if wanted not in known:
            listed = ", ".join(known)
            raise Unusable(
                message("unknown-mutant", mutant=wanted, assignment=self.id, known=listed)
            )
        return known[wanted]

    def dependencies(self) -> dict[str, str]:
        """Return the reference's modules that this one may import, by path.

        These are all but the modules of assignments that this one doesn't build on.
        """
        assignments = self.course.assignments.values()
        mine = {self.id, *self.course.closure(self.id)}
        foreign = {other.module_path for other in assignments if other.id not in mine}
        foreign.add(self.module_path)
        root = self.course.root / "reference"
        paths = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.py"))}
        return {
            name: path.read_text(encoding="utf-8")
            for name, path in paths.items()
            if name not in foreign
        }

    def _library(self, name: str, default: Document) -> Document:
        path = self.course.root / "mutants" / self.id / name
        return read_toml(path, type(default)) if path.is_file() else default


@dataclass(frozen=True)
class Course:
    """A course on disk."""

    root: Path
    settings: CourseSettings

    @cached_property
    def assignments(self) -> dict[str, Assignment]:
        """All assignments by id, in the order of the file."""
        return {
            name: Assignment(name, self, settings)
            for name, settings in self.settings.assignments.items()
        }

    def assignment(self, wanted: str) -> Assignment:
        """Return one assignment by id; raises `Unusable` if there is none."""
        if wanted not in self.assignments:
            known = list(self.assignments)
            raise Unusable(
                message(
                    "unknown-assignment",
                    assignment=wanted,
                    course=self.settings.title,
                    near=near(wanted, known),
                    known=", ".join(known),
                )
            )
        return self.assignments[wanted]

    def closure(self, assignment: str) -> frozenset[str]:
        """Return everything that ``assignment`` needs, directly or not."""
        found: set[str] = set()
        waiting = list(self.assignments[assignment].settings.needs)
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting.extend(self.assignments[current].settings.needs)
        return frozenset(found)

    @cached_property
    def sha256(self) -> str:
        """Hash of every file that belongs to the course, by path and content."""
        digest = hashlib.sha256()
        for path in self._files():
            content = path.read_bytes()
            name = path.relative_to(self.root).as_posix()
            digest.update(f"{len(name)}:{name}:{len(content)}:".encode())
            digest.update(content)
        return digest.hexdigest()

    def _files(self) -> Iterator[Path]:
        for part in PARTS:
            top = self.root / part
            found = [top] if top.is_file() else sorted(top.rglob("*"))
            yield from (
                path for path in found if path.is_file() and "__pycache__" not in path.parts
            )


def builtin_root() -> Path:
    """Return the built-in course's folder: beside an installed grader, or the checkout's root."""
    return BUILTIN if BUILTIN.is_dir() else Path(__file__).parents[1]


def load_course(root: Path | None = None) -> Course:
    """Read the course at ``root``, by default the built-in one; raises `Unusable`."""
    root = (root or builtin_root()).resolve()
    path = root / "course.toml"
    if not path.is_file():
        raise Unusable(message("no-course", path=root))
    settings = read_toml(path, CourseSettings)
    known = list(settings.assignments)
    for name, assignment in settings.assignments.items():
        for other in (*assignment.needs, *assignment.used_by):
            if other not in known:
                why = f"{name} refers to {other!r}, which the course doesn't have"
                raise Unusable(
                    message("course-inconsistent", path=path, why=why + near(other, known))
                )
    course = Course(root, settings)
    for name in known:
        if name in course.closure(name):
            why = f"{name} needs itself, by way of {', '.join(sorted(course.closure(name)))}"
            raise Unusable(message("course-inconsistent", path=path, why=why))
    return course


def read_toml(path: Path, document: type[Document]) -> Document:
    """Read ``path`` as ``document``; raises `Unusable` that names the key and what is near it."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise Unusable(message("course-unreadable", path=path, why=problem)) from None
    try:
        return document.model_validate(content)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        hint = ""
        if first["type"] == "extra_forbidden":
            hint = near(str(first["loc"][-1]), _keys(document))
        raise Unusable(
            message("course-malformed", path=path, where=where, why=first["msg"], near=hint)
        ) from None


def _keys(document: type[BaseModel]) -> list[str]:
    """Return every key that a document's models know, for suggestions."""
    schemas = [document.model_json_schema()]
    schemas += schemas[0].get("$defs", {}).values()
    return sorted({key for schema in schemas for key in schema.get("properties", {})})
