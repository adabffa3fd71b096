"""Mutants: read from a course's files, and planted in a text by pure functions."""

import ast
import difflib
import warnings
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .messages import Message, message
from .problems import Unusable

DUPLICATE = "duplicate-of "
SCORED = "scored"
ID = "[A-Za-z0-9][A-Za-z0-9_.-]*"
STATUS = rf"^({SCORED}|equivalent|message-only|outside-the-contract|{DUPLICATE}{ID})$"


class Edit(BaseModel):
    """One change of the reference's text; ``replace`` stands in it exactly once."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    replace: Annotated[str, Field(min_length=1)]
    by: Annotated[str, Field(alias="with")]


class Kind(StrEnum):
    """Where a mutant comes from."""

    SEMANTIC = "semantic"
    MECHANICAL = "mechanical"


class Mutant(BaseModel):
    """A named fault of the module under test."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: Annotated[str, Field(pattern=f"^{ID}$")]
    edits: Annotated[tuple[Edit, ...], Field(min_length=1)]
    hangs: bool = False
    public: bool = False

    @property
    def kind(self) -> Kind:
        """Where it comes from."""
        raise NotImplementedError

    @property
    def scored(self) -> bool:
        """Whether it counts toward the rate."""
        return True

    @property
    def required(self) -> bool:
        """Whether the grade is not passed while it survives."""
        return self.kind is Kind.SEMANTIC

    @property
    def name(self) -> str:
        """What a person calls it."""
        raise NotImplementedError

    def plant(self, source: str) -> str:
        """Return ``source`` with this fault; raises `Unusable` where an edit doesn't fit."""
        places = sorted(
            ((self._place(edit, source), edit) for edit in self.edits), key=lambda place: place[0]
        )
        parts: list[str] = []
        end = 0
        for start, edit in places:
            if start < end:
                text = _first_line(edit.replace)
                raise Unusable(message("mutant-overlap", mutant=self.id, text=text))
            parts += [source[end:start], edit.by]
            end = start + len(edit.replace)
        return "".join([*parts, source[end:]])

    def _place(self, edit: Edit, source: str) -> int:
        found = [at for at in range(len(source)) if source.startswith(edit.replace, at)]
        if len(found) != 1:
            facts = {"mutant": self.id, "found": len(found), "text": _first_line(edit.replace)}
            raise Unusable(message("mutant-misfit", **facts))
        return found[0]


class SemanticMutant(Mutant):
    """A hand-written fault, one pitfall of the chapter."""

    title: str
    pitfall: str
    violates: Annotated[str, Field(alias="property")]
    hint: tuple[str, str, str]
    caught_by: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Where it comes from."""
        return Kind.SEMANTIC

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.title


class MechanicalMutant(Mutant):
    """A fault that mutmut generated and a person triaged."""

    operator: str
    line: Annotated[int, Field(ge=1)]
    status: Annotated[str, Field(pattern=STATUS)]
    reason: str = ""

    @model_validator(mode="after")
    def _excluded_with_a_reason(self) -> Self:
        if not self.scored and not self.reason.strip():
            raise ValueError(f"{self.id} is excluded as {self.status} and needs a reason")
        return self

    @property
    def original(self) -> str | None:
        """Id of the mutant that it duplicates."""
        return self.status.removeprefix(DUPLICATE) if self.status.startswith(DUPLICATE) else None

    @property
    def kind(self) -> Kind:
        """Where it comes from."""
        return Kind.MECHANICAL

    @property
    def scored(self) -> bool:
        """Whether it counts toward the rate."""
        return self.status == SCORED

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"{self.operator}, line {self.line}"


class Property(BaseModel):
    """Something that the chapter says of every right implementation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(min_length=1)]
    title: str
    follows_from: tuple[str, ...] = ()


class SemanticLibrary(BaseModel):
    """The content of ``semantic.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    property: tuple[Property, ...] = ()
    mutant: tuple[SemanticMutant, ...] = ()


class MechanicalPool(BaseModel):
    """The content of ``mechanical.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator: str
    module: str
    mutant: tuple[MechanicalMutant, ...] = ()


def difference(mutant: Mutant, source: str, path: str) -> str:
    """Return the unified difference that ``mutant`` makes to ``source``."""
    before, after = source.splitlines(keepends=True), mutant.plant(source).splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, path, path))


def defects(mutants: Sequence[Mutant], source: str) -> dict[str, str]:
    """Return, by id, what makes a mutant unusable on ``source`` before anything is run."""
    original = ast.dump(ast.parse(source))
    found = {mutant.id: _defect(mutant, source, original) for mutant in mutants}
    return {name: problem.text for name, problem in found.items() if problem is not None}


def _defect(mutant: Mutant, source: str, original: str) -> Message | None:
    try:
        planted = mutant.plant(source)
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(planted)
            compile(tree, mutant.id, "exec", dont_inherit=True)
    except Unusable as problem:
        return problem.message
    except SyntaxError as problem:
        facts = {"mutant": mutant.id, "line": problem.lineno, "why": problem.msg}
        return message("mutant-unparsable", **facts)
    if ast.dump(tree) == original:
        return message("mutant-unchanged", mutant=mutant.id)
    return None


def _first_line(text: str) -> str:
    lines = text.strip().splitlines() or [text]
    return lines[0].strip()[:80]
