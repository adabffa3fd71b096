"""The kill matrix as a part of the JSON document."""

from grader.grade import Grade
from grader.matrix import DominatorScore

from .part import Part


class SoleCatcherPart(Part):
    """A test, and the mutants that no other catches."""

    test: str
    mutants: tuple[str, ...]


class PropertyPart(Part):
    """What the tests that name one property caught together, and what no other test did."""

    name: str
    tests: tuple[str, ...]
    kills: tuple[str, ...]
    sole_kills: tuple[str, ...]


class DominatorScorePart(Part):
    """How many of the gold suite's classes of dominators are killed whole."""

    killed: int
    dominators: int


class MatrixPart(Part):
    """Which test caught which mutant; ``kills`` and ``not_reached`` have a row a test."""

    tests: tuple[str, ...]
    mutants: tuple[str, ...]
    kills: tuple[tuple[str, ...], ...]
    not_reached: tuple[tuple[str, ...], ...]
    redundant: tuple[tuple[str, ...], ...]
    idle: tuple[str, ...]
    sole_catchers: tuple[SoleCatcherPart, ...]
    properties: tuple[PropertyPart, ...]
    dominator_score: DominatorScorePart | None


def matrix_part(grade: Grade) -> MatrixPart | None:
    """Return the matrix of ``grade``, if there is one."""
    matrix = grade.matrix
    if matrix is None:
        return None
    return MatrixPart(
        tests=matrix.tests,
        mutants=matrix.mutants,
        kills=tuple(matrix.kills(test) for test in matrix.tests),
        not_reached=tuple(matrix.not_reached(test) for test in matrix.tests),
        redundant=matrix.redundant,
        idle=matrix.idle,
        sole_catchers=tuple(
            SoleCatcherPart(test=test, mutants=mutants)
            for test, mutants in matrix.sole_catchers.items()
        ),
        properties=tuple(
            PropertyPart(name=row.name, tests=row.tests, kills=row.kills, sole_kills=row.sole_kills)
            for row in matrix.properties
        ),
        dominator_score=_score(grade.dominator_score),
    )


def _score(score: DominatorScore | None) -> DominatorScorePart | None:
    if score is None:
        return None
    return DominatorScorePart(killed=score.killed, dominators=score.dominators)
