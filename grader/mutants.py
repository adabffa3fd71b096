"""Mutants: read from a course's files, and planted in a text by pure functions."""

import ast
import difflib
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .messages import message
from .problems import Unusable

DUPLICATE = "duplicate-of "


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

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
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
        for edit in self.edits:
            found = source.count(edit.replace)
            if found != 1:
                raise Unusable(
                    message(
                        "mutant-misfit", mutant=self.id, found=found, text=_first_line(edit.replace)
                    )
                )
            source = source.replace(edit.replace, edit.by)
        return source


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
    status: Annotated[
        str,
        Field(
            pattern=r"^(scored|equivalent|message-only|outside-the-contract|duplicate-of m-[0-9a-f]+)$"
        ),
    ]
    reason: str = ""

    @model_validator(mode="after")
    def _excluded_with_a_reason(self) -> Self:
        if self.status != "scored" and not self.reason.strip():
            raise ValueError(f"{self.id} is excluded as {self.status} and needs a reason")
        return self

    @property
    def kind(self) -> Kind:
        """Where it comes from."""
        return Kind.MECHANICAL

    @property
    def scored(self) -> bool:
        """Whether it counts toward the rate."""
        return self.status == "scored"

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"{self.operator}, line {self.line}"


class SemanticLibrary(BaseModel):
    """The content of ``semantic.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mutant: tuple[SemanticMutant, ...] = ()


class MechanicalPool(BaseModel):
    """The content of ``mechanical.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator: str
    module: str
    mutant: tuple[MechanicalMutant, ...] = ()


def defects(mutants: Sequence[Mutant], source: str) -> dict[str, str]:
    """Return, by id, what makes a mutant unusable on ``source`` before anything is run."""
    found: dict[str, str] = {}
    original = ast.dump(ast.parse(source))
    for mutant in mutants:
        try:
            planted = mutant.plant(source)
            if ast.dump(ast.parse(planted)) == original:
                found[mutant.id] = message("mutant-unchanged", mutant=mutant.id).text
        except Unusable as problem:
            found[mutant.id] = str(problem)
        except SyntaxError as problem:
            found[mutant.id] = message(
                "mutant-unparsable", mutant=mutant.id, line=problem.lineno, why=problem.msg
            ).text
    return found


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0].strip()[:80]


def difference(mutant: Mutant, source: str, path: str) -> str:
    """Return the unified difference that ``mutant`` makes to ``source``."""
    planted = mutant.plant(source)
    lines = difflib.unified_diff(
        source.splitlines(keepends=True), planted.splitlines(keepends=True), path, path
    )
    return "".join(lines)
