"""The pool: what a person decided on each mechanical mutant, kept when mutants are made anew."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from grader.instructor.candidates import GENERATOR, Candidate
from grader.mutants import Edit, MechanicalMutant, MechanicalPool

PROPOSED = "proposed: "
"""How the reason of a status begins that nobody has reviewed yet."""


@dataclass(frozen=True)
class Drift:
    """What generating anew would change in a pool: all that a person must look at."""

    new: tuple[Candidate, ...]
    """Nobody decided on them yet; the pool doesn't hold them."""
    vanished: tuple[MechanicalMutant, ...]
    """They are generated no more; the pool doesn't hold them, their decisions stand here."""
    stale: tuple[MechanicalMutant, ...]
    """The pool holds them, excluded as duplicates of a vanished mutant."""

    def __bool__(self) -> bool:
        return bool(self.new or self.vanished or self.stale)


def decide(candidate: Candidate, status: str, reason: str = "") -> MechanicalMutant:
    """Return the pool's entry for a candidate that a person has judged."""
    return MechanicalMutant(
        id=candidate.id,
        operator=candidate.operator,
        line=candidate.line,
        edits=(_edit(candidate),),
        status=status,
        reason=reason,
    )


def merge(old: MechanicalPool, candidates: Iterable[Candidate]) -> tuple[MechanicalPool, Drift]:
    """Return the pool with its decisions carried over to these candidates, and what differs."""
    decided = {mutant.id: mutant for mutant in old.mutant}
    found = {candidate.id: candidate for candidate in candidates}
    kept = tuple(_moved(decided[id_], found[id_]) for id_ in found if id_ in decided)
    vanished = tuple(mutant for mutant in old.mutant if mutant.id not in found)
    gone = {mutant.id for mutant in vanished}
    drift = Drift(
        new=tuple(candidate for id_, candidate in found.items() if id_ not in decided),
        vanished=vanished,
        stale=tuple(mutant for mutant in kept if mutant.original in gone),
    )
    return old.model_copy(update={"mutant": kept, "generator": GENERATOR}), drift


def extend(
    old: MechanicalPool, new: Iterable[MechanicalMutant], candidates: Iterable[Candidate]
) -> MechanicalPool:
    """Return the pool with mutants added, in the order of generation; all others stay."""
    place = {candidate.id: number for number, candidate in enumerate(candidates)}
    everyone = sorted([*old.mutant, *new], key=lambda mutant: place.get(mutant.id, len(place)))
    return old.model_copy(update={"mutant": tuple(everyone)})


def parse(text: str) -> MechanicalPool:
    """Return the pool that a `mechanical.toml` holds."""
    return MechanicalPool.model_validate(tomllib.loads(text))


def render(pool: MechanicalPool) -> str:
    """Return the pool as the text of a `mechanical.toml`."""
    head = f"generator = {_basic(pool.generator)}\nmodule = {_basic(pool.module)}\n"
    return "\n".join([head, *map(_render_mutant, pool.mutant)])


def _edit(candidate: Candidate) -> Edit:
    return Edit.model_validate({"replace": candidate.replace, "with": candidate.replacement})


def _moved(mutant: MechanicalMutant, candidate: Candidate) -> MechanicalMutant:
    """Return the same mutant and decision, at the place where the candidate stands."""
    place = {"line": candidate.line, "edits": (_edit(candidate),)}
    return mutant.model_copy(update=place)


def _render_mutant(mutant: MechanicalMutant) -> str:
    facts = mutant.model_dump(exclude={"edits"}, exclude_defaults=True)
    lines = ["[[mutant]]", *(f"{key} = {_scalar(value)}" for key, value in facts.items())]
    for edit in mutant.edits:
        lines += [
            "[[mutant.edits]]",
            f"replace = {_literal(edit.replace)}",
            f"with = {_literal(edit.by)}",
        ]
    return "\n".join(lines) + "\n"


def _scalar(value: str | int) -> str:
    return _basic(value) if isinstance(value, str) else json.dumps(value)


def _basic(text: str) -> str:
    # JSON's strings are TOML's but for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(text: str) -> str:
    """Return the text between triple quotes, as it stands where TOML allows that."""
    plain = all(character == "\n" or character.isprintable() for character in text)
    if not plain or "'''" in text or text.endswith("'"):
        return _basic(text)
    # TOML drops the newline after the opening quotes.
    return f"'''\n{text}'''"
