"""A course's committed dominator set: the mutants that its gold suite says stand for all."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .course import Assignment
from .matrix import Classes
from .toml import read_toml

Names = Annotated[tuple[str, ...], Field(min_length=1)]


class DominatorSet(BaseModel):
    """The content of ``dominators.toml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator: str
    mutants: tuple[str, ...]  # all that were scored when it was made
    dominators: tuple[Names, ...]

    @model_validator(mode="after")
    def _of_its_mutants(self) -> Self:
        named = [mutant for same in self.dominators for mutant in same]
        if len(set(named)) < len(named):
            raise ValueError("a mutant is in two classes")
        if unknown := set(named) - set(self.mutants):
            raise ValueError(f"{min(unknown)} is in a class and not among the mutants")
        return self


def read_dominators(assignment: Assignment) -> Classes | None:
    """Return the classes of dominators, or ``None`` if there are none for the scored mutants.

    Raises
    ------
    Unusable
        If the file is malformed.
    """
    path = assignment.dominators_path
    if not path.is_file():
        return None
    found = read_toml(path, DominatorSet)
    scored = {mutant.id for mutant in assignment.mutants}
    return found.dominators if set(found.mutants) == scored else None
