"""Calibration: how suites of known worth fare, by which a reader knows what a rate means."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.course import Assignment
from grader.dominators import read_dominators
from grader.evidence import function_of, governs
from grader.grade import Grade, Options
from grader.matrix import Classes, DominatorScore, KillMatrix, dominator_score
from grader.messages import message
from grader.mutants import Mutant, Property
from grader.problems import Unusable
from grader.score import Score, score
from grader.submission import Submission, freeze, is_test_file
from grader.verdict import Result, Verdict

from .finding import Finding
from .gold import gold_suite, graded

GOLD = "gold suite"
HEAD = ("suite", "tests", "scored pool", "raw mutants", "dominators", "required", "passes")


@dataclass(frozen=True)
class Yardsticks:
    """What a suite is measured against."""

    scored: Sequence[Mutant]
    raw: Collection[str]  # all that the generator gave, excluded ones too
    dominators: Classes | None
    threshold_percent: int

    @classmethod
    def of(cls, assignment: Assignment) -> "Yardsticks":
        """Return those of an assignment; raises `Unusable` for a malformed dominator set."""
        return cls(
            assignment.mutants,
            [mutant.id for mutant in assignment.pool.mutant],
            read_dominators(assignment),
            assignment.settings.threshold_percent,
        )


@dataclass(frozen=True)
class Row:
    """How one suite fares."""

    suite: str
    tests: int  # functions, however many cases they have
    score: Score
    raw_killed: int
    raw: int
    dominators: DominatorScore | None  # None where no set fits the scored mutants

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands below `HEAD`; percentages are rounded down."""
        score, classes = self.score, self.dominators
        return (
            self.suite,
            str(self.tests),
            _share(score.killed, score.scored),
            _share(self.raw_killed, self.raw),
            _share(classes.killed, classes.dominators) if classes else "-",
            f"{score.required_killed} of {score.required}",
            "yes" if score.passed else "no",
        )


@dataclass(frozen=True)
class Calibration:
    """How all suites fare, and what is wrong with them."""

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]


def calibrate(assignment: Assignment, options: Options) -> Calibration:
    """Measure the gold suite, its parts by property, and suites that are known to be weak.

    The weak ones are the files of ``tests/calibration/``, each a suite of its own. Parts of the
    gold suite aren't run: what they catch is read off its kill matrix.

    Raises
    ------
    Unusable
        If there are no mutants, no gold suite, or no test in a suite that holds.
    Void
        If the machine can't run one.
    """
    if not assignment.mutants:
        raise Unusable(message("no-mutants", assignment=assignment.id))
    suite = gold_suite(assignment)
    sticks = Yardsticks.of(assignment)
    everyone = (*assignment.semantic, *assignment.pool.mutant)
    whole = replace(options, mutants=tuple(mutant.id for mutant in everyone))
    gold = graded(assignment, suite, replace(whole, matrix=True))
    if gold.matrix is None:
        raise AssertionError("a grading with a matrix gives one")
    first, *others = parts_measured(gold.matrix, assignment.properties, sticks)
    weak, findings = [], [*_invalid(GOLD, gold)]
    for name, weaker in _weak_suites(assignment):
        found = graded(assignment, weaker, whole)
        weak.append(_measured_alone(name, found, sticks))
        findings += _invalid(name, found)
    findings += _misplaced(first, weak)
    return Calibration((first, *weak, *others), tuple(findings))


def measured(suite: str, tests: Collection[str], killed: Collection[str], by: Yardsticks) -> Row:
    """Return how a suite of these tests fares that kills these mutants."""
    verdicts = [
        Verdict(one, Result.KILLED if one.id in killed else Result.SURVIVED) for one in by.scored
    ]
    return Row(
        suite=suite,
        tests=len({function_of(test) for test in tests}),
        score=score(verdicts, by.threshold_percent),
        raw_killed=sum(name in killed for name in by.raw),
        raw=len(by.raw),
        dominators=None if by.dominators is None else dominator_score(by.dominators, killed),
    )


def parts_measured(matrix: KillMatrix, properties: Sequence[Property], by: Yardsticks) -> list[Row]:
    """Return how a whole suite fares, then each part of it, all from its matrix."""
    found = parts(matrix, properties).items()
    return [measured(name, tests, killed(matrix, tests), by) for name, tests in found]


def parts(matrix: KillMatrix, properties: Sequence[Property]) -> dict[str, frozenset[str]]:
    """Return the whole suite, it without each property in turn, and each property alone."""
    whole = frozenset(test for test in matrix.tests if "::" in test)
    named = {
        one.id: frozenset(test for test in whole if matrix.property_of.get(test) == one.id)
        for one in properties
    }
    checked = {name: tests for name, tests in named.items() if tests}
    return {
        GOLD: whole,
        **{f"without {name}": whole - tests for name, tests in checked.items()},
        **{f"only {name}": tests for name, tests in checked.items()},
    }


def killed(matrix: KillMatrix, tests: Collection[str]) -> frozenset[str]:
    """Return the mutants that these tests kill, or a file does that one of them is in."""

    def counts(row: str) -> bool:
        return row in tests or any(governs(row, test) for test in tests)

    return frozenset(name for name, rows in matrix.killed_by.items() if any(map(counts, rows)))


def markdown(rows: Sequence[Row]) -> str:
    """Return a table for documents."""
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def with_table(text: str, table: str) -> str:
    """Return a document with ``table`` where it has one of the same head, else at its end."""
    head = table.partition("\n")[0]
    before, found, after = text.partition(head)
    if not found:
        return "\n".join(part for part in (text, table) if part)
    lines = after.splitlines(keepends=True)[1:]
    length = next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return "".join([before, table, *lines[length:]])


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}, {100 * part // whole} %" if whole else "-"


def _weak_suites(assignment: Assignment) -> Iterator[tuple[str, Submission]]:
    """Yield each file of suites that are known to be weak, by what it is called."""
    folder = assignment.calibration_path
    for path, content in freeze(folder).files.items() if folder.is_dir() else ():
        if is_test_file(path):
            name = path.rpartition("/")[2].removesuffix(".py")
            yield name.removeprefix("test_").replace("_", " "), Submission({path: content})


def _measured_alone(name: str, found: Grade, by: Yardsticks) -> Row:
    tests = [test.status.id for test in found.tests if test.status.counts]
    caught = [one.mutant.id for one in found.verdicts if one.result is Result.KILLED]
    return measured(name, tests, caught, by)


def _invalid(name: str, found: Grade) -> Iterator[Finding]:
    for test in found.tests:
        if not test.status.counts:
            what = test.status.status.replace("_", " ")
            yield Finding(test.status.id, f"of the suite {name!r} is {what}")


def _misplaced(gold: Row, weak: Sequence[Row]) -> Iterator[Finding]:
    """Yield the suites that don't fare as their worth would have it."""
    if not gold.score.passed:
        yield Finding(gold.suite, "does not pass")
    for row in weak:
        if row.score.passed:
            yield Finding(row.suite, "passes, though it is a weak suite")
