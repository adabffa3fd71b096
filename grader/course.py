"""Reads a course from disk into typed values, and refuses a malformed one."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from .messages import message, near
from .mutants import MechanicalPool, Mutant, Property, SemanticLibrary, SemanticMutant
from .problems import Unusable
from .toml import Document, read_toml

BUILTIN = Path(__file__).parent / "builtin"
PARTS = (
    "course.toml",
    "reference",
    "mutants",
    "fixtures",
    "tests/course",
    "tests/gold",
    "tests/differential",
    "tests/calibration",
    "tests/starter",
)


def _all_different(items: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(items)) < len(items):
        raise ValueError("an entry occurs twice")
    return items


AssignmentId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Draw = Annotated[int, Field(ge=0)]
Draws = Annotated[tuple[Draw, ...], Field(min_length=1), AfterValidator(_all_different)]


class Limits(BaseModel):
    """What a run of a suite may use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds_per_test: Annotated[float, Field(gt=0)] = 20.0
    seconds_in_all: Annotated[float, Field(gt=0)] = 300.0
    tests: Annotated[int, Field(ge=1)] = 300
    examples: Annotated[int, Field(ge=1)] = 1000
    memory_megabytes: Annotated[int, Field(ge=256)] = 1024
    event_loop: bool = False


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
    draws: Draws = (1,)
    controls: Annotated[int, Field(ge=1)] = 1
    twins: Annotated[int, Field(ge=0)] = 2
    limits: Limits = Limits()
    visibility: Literal["open", "sealed"] = "open"
    reveal: Literal["none", "count", "pitfall", "behaviour", "diff"] = "behaviour"
    goldens: tuple[str, ...] = ()


class CourseSettings(BaseModel):
    """The content of ``course.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    schema_: Annotated[Literal[1], Field(alias="schema")]
    assignments: Mapping[AssignmentId, AssignmentSettings]


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

    def published(self) -> list[str]:
        """Return the texts that a student has of the course: contracts, its tests, first tests."""
        contracts = self.course.root / "reference" / "contracts"
        paths = {self.contract_path, *contracts.rglob("*.pyi")}
        paths |= {*self.tests_path.rglob("*.py"), *self.starter_path.rglob("*.py")}
        return [path.read_text(encoding="utf-8") for path in sorted(paths) if path.is_file()]

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

    @property
    def differential_path(self) -> Path:
        """Folder of the tests that compare a text with the reference, whether there is one."""
        return self.course.root / "tests" / "differential" / self.id

    @property
    def calibration_path(self) -> Path:
        """Folder of suites that are known to be weak, whether there is one or not."""
        return self.course.root / "tests" / "calibration" / self.id

    @cached_property
    def source(self) -> str:
        """The reference's text of the module under test."""
        path = self.course.root / "reference" / self.module_path
        if not path.is_file():
            why = f"{self.id}: no reference at {path.relative_to(self.course.root)}"
            raise Unusable(message("course-inconsistent", path=self.course.root, why=why))
        return path.read_text(encoding="utf-8")

    @property
    def semantic(self) -> tuple[SemanticMutant, ...]:
        """The named mutants, all required."""
        return self._named.mutant

    @property
    def properties(self) -> tuple[Property, ...]:
        """What the chapter says of every right implementation."""
        return self._named.property

    @cached_property
    def _named(self) -> SemanticLibrary:
        return self._read_mutants("semantic.toml", SemanticLibrary())

    @cached_property
    def pool(self) -> MechanicalPool:
        """The frozen pool of generated mutants, the excluded ones too."""
        empty = MechanicalPool(generator="", module=self.module)
        return self._read_mutants("mechanical.toml", empty)

    @property
    def pool_path(self) -> Path:
        """The file of generated mutants, whether there is one or not."""
        return self._mutants_path / "mechanical.toml"

    @property
    def dominators_path(self) -> Path:
        """The file of mutants that stand for all, whether there is one or not."""
        return self._mutants_path / "dominators.toml"

    @property
    def twins_path(self) -> Path:
        """The file of seeds whose twins were verified, whether there is one or not."""
        return self._mutants_path / "twins.json"

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        """All that are scored, the named ones first."""
        return tuple(mutant for mutant in self._library.values() if mutant.scored)

    def mutant(self, wanted: str) -> Mutant:
        """Return one mutant by id, an excluded one too; raises `Unusable` if there is none."""
        if wanted not in self._library:
            listed = ", ".join(self._library)
            raise Unusable(
                message("unknown-mutant", mutant=wanted, assignment=self.id, known=listed)
            )
        return self._library[wanted]

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

    @cached_property
    def _library(self) -> dict[str, Mutant]:
        """Every mutant by id, the named ones first."""
        found: dict[str, Mutant] = {}
        for mutant in (*self.semantic, *self.pool.mutant):
            if mutant.id in found:
                path, why = self._mutants_path, f"two mutants are called {mutant.id}"
                raise Unusable(message("course-inconsistent", path=path, why=why))
            found[mutant.id] = mutant
        return found

    @property
    def _mutants_path(self) -> Path:
        return self.course.root / "mutants" / self.id

    def _read_mutants(self, name: str, default: Document) -> Document:
        path = self._mutants_path / name
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
            for path in [top] if top.is_file() else sorted(top.rglob("*")):
                if path.is_file() and "__pycache__" not in path.relative_to(self.root).parts:
                    yield path


def builtin_root() -> Path:
    """Return the built-in course's folder: beside an installed grader, or the checkout's root."""
    return BUILTIN if BUILTIN.is_dir() else Path(__file__).parents[1]


def load_course(root: Path | None = None) -> Course:
    """Read the course at ``root``, by default the built-in one; raises `Unusable`."""
    root = (root or builtin_root()).resolve()
    path = root / "course.toml"
    if not path.is_file():
        raise Unusable(message("no-course", path=root))
    course = Course(root, read_toml(path, CourseSettings))
    for why in _inconsistencies(course):
        raise Unusable(message("course-inconsistent", path=path, why=why))
    return course


def _inconsistencies(course: Course) -> Iterator[str]:
    """Yield what no single entry of a course is to blame for, dangling names before cycles."""
    assignments = course.settings.assignments
    owners: dict[str, str] = {}
    for name, settings in assignments.items():
        for other in (*settings.needs, *settings.used_by):
            if other not in assignments:
                hint = near(other, list(assignments))
                yield f"{name} refers to {other!r}, which the course doesn't have{hint}"
        if (first := owners.setdefault(settings.module, name)) != name:
            yield f"{first} and {name} are both of the module {settings.module}"
    for name in assignments:
        if name in (closure := course.closure(name)):
            yield f"{name} needs itself, by way of {', '.join(sorted(closure))}"
