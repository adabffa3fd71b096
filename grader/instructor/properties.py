"""The chapter's properties: which tests name them, and what each catches that no other does."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.course import Assignment
from grader.evidence import function_of
from grader.grade import Grade
from grader.mutants import Property
from grader.submission import Submission

from .finding import Finding

MARK = "pytest.mark.property"


@dataclass(frozen=True)
class Catch:
    """What the tests of one property catch.

    ``alone`` are the mutants that are caught by no test of a property that could hold without it.
    """

    property: Property
    caught: frozenset[str]
    alone: frozenset[str]


def named_properties(suite: Submission) -> dict[str, str]:
    """Return the property that each test names by its mark, by the test's id without parameters."""
    return {
        f"{path}::{name}": named
        for path, content in suite.files.items()
        if path.endswith(".py")
        for name, named in _marked(ast.parse(content).body)
    }


def catches(properties: Sequence[Property], naming: Mapping[str, str], gold: Grade) -> list[Catch]:
    """Return what the gold suite's tests of each property catch; it was graded with its matrix."""
    caught: dict[str, set[str]] = {one.id: set() for one in properties}
    for test in gold.tests:
        named = naming.get(function_of(test.status.id))
        if named in caught:
            caught[named] |= set(test.kills)
    known = {one.id: one for one in properties}
    found = []
    for one in properties:
        rivals = [
            other for other in known if other != one.id and one.id not in _roots(other, known)
        ]
        by_rivals = set().union(*(caught[rival] for rival in rivals))
        mine = frozenset(caught[one.id])
        found.append(Catch(one, mine, mine - by_rivals))
    return found


def property_findings(
    assignment: Assignment, naming: Mapping[str, str], gold: Grade, found: Sequence[Catch]
) -> list[Finding]:
    """Return what is wrong with the properties, or with those who name them."""
    known = {one.id for one in assignment.properties}
    return [
        *_unknown(assignment, known),
        *_unnamed(naming, gold, known),
        *(Finding(one.property.id, text) for one in found for text in _idle(one)),
    ]


def _unknown(assignment: Assignment, known: set[str]) -> Iterator[Finding]:
    for one in assignment.properties:
        for other in one.follows_from:
            if other not in known - {one.id}:
                yield Finding(one.id, f"follows from {other!r}, which is no other property")
    for mutant in assignment.semantic:
        if mutant.violates not in known:
            yield Finding(mutant.id, f"violates {mutant.violates!r}, which is no property")


def _unnamed(naming: Mapping[str, str], gold: Grade, known: set[str]) -> Iterator[Finding]:
    for test in dict.fromkeys(function_of(one.status.id) for one in gold.tests):
        named = naming.get(test)
        if named is None:
            yield Finding(test, "of the gold suite names no property")
        elif named not in known:
            yield Finding(test, f"of the gold suite names {named!r}, which is no property")


def _idle(catch: Catch) -> Iterator[str]:
    if not catch.caught:
        yield "catches nothing: no scored mutant violates it, or no gold test checks it"
    elif not catch.property.follows_from and not catch.alone:
        yield "follows from no other property, and is the only catcher of no scored mutant"


def _roots(name: str, known: Mapping[str, Property]) -> set[str]:
    """Return all that a property follows from, by way of others too."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = known.get(waiting.pop())
        new = set(one.follows_from) - found if one else set()
        found |= new
        waiting += new
    return found


def _marked(body: Sequence[ast.stmt], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name, classes included, and the property of each marked function."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _marked(node.body, f"{above}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == MARK and mark.args:
                    yield f"{above}{node.name}", ast.literal_eval(mark.args[0])
