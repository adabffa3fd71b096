"""Calibration: what a matrix says of parts of a suite, and suites that are known to be weak."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import grading
from grader.course import Assignment, builtin_root, load_course
from grader.grade import Options
from grader.instructor import calibration
from grader.instructor.calibration import (
    GOLD,
    HEAD,
    Calibration,
    Row,
    Yardsticks,
    calibrate,
    killed,
    markdown,
    measured,
    parts,
    parts_measured,
    with_table,
)
from grader.instructor.dominators import dominators, render
from grader.matrix import DominatorScore, KillMatrix
from grader.messages import message
from grader.mutants import MechanicalMutant, Mutant, Property, SemanticMutant
from grader.problems import Unusable, Void

EDITS = [{"replace": "x", "with": "y"}]
MIRROR, FLIP, IDLE = (Property(id=name, title="t") for name in ("mirror", "flip", "idle"))
A, B, C = "t.py::test_a[1]", "t.py::test_a[2]", "u.py::test_c"
MATRIX = KillMatrix(
    tests=(A, B, C, "u.py"),
    mutants=("s1", "m1", "m2", "m3"),
    killed_by={
        "s1": frozenset({A, C}),
        "m1": frozenset({B}),
        "m2": frozenset({"u.py"}),
        "m3": frozenset(),
    },
    property_of={A: "mirror", B: "mirror", C: "flip"},
)


def _required(name: str) -> Mutant:
    facts = {"title": "t", "pitfall": "p", "property": "q", "hint": ["1", "2", "3"]}
    return SemanticMutant.model_validate({"id": name, "edits": EDITS, **facts})


def _scored(name: str) -> Mutant:
    facts = {"operator": "o", "line": 1, "status": "scored"}
    return MechanicalMutant.model_validate({"id": name, "edits": EDITS, **facts})


STICKS = Yardsticks(
    scored=[_required("s1"), _scored("m1"), _scored("m2"), _scored("m4"), _scored("m5")],
    raw=["m1", "m2", "m3", "m4", "m5", "m6"],
    dominators=(("s1",), ("m1", "m2")),
    threshold_percent=80,
)


class TestArithmetic:
    """From kills to a row."""

    def test_each_yardstick_counts_its_own_mutants(self) -> None:
        """Excluded ones are raw ones; a class counts once it is caught whole."""
        row = measured("some", [A, B, C], {"s1", "m1", "m3"}, STICKS)
        assert (row.score.killed, row.score.scored) == (2, 5)
        assert (row.raw_killed, row.raw) == (2, 6)
        assert row.dominators == DominatorScore(1, 2)
        assert row.cells == (
            "some",
            "2",
            "2 of 5, 40 %",
            "2 of 6, 33 %",
            "1 of 2, 50 %",
            "1 of 1",
            "no",
        )

    @pytest.mark.parametrize(
        ("caught", "passes"),
        [
            ({"s1", "m1", "m2", "m4"}, True),  # 80 % and no more
            ({"s1", "m1", "m2"}, False),
            ({"m1", "m2", "m4", "m5"}, False),  # 80 % without the required one
        ],
    )
    def test_a_pass_needs_the_rate_and_every_required_one(
        self, caught: set[str], *, passes: bool
    ) -> None:
        """As in any grading."""
        assert measured("some", [A], caught, STICKS).score.passed is passes

    def test_a_rate_is_never_rounded_up(self) -> None:
        """79.96 % is not 80 %."""
        names = [f"m{number}" for number in range(2500)]
        sticks = Yardsticks([_scored(name) for name in names], names, None, 80)
        row = measured("some", [A], names[:1999], sticks)
        assert row.cells[2:] == ("1999 of 2500, 79 %", "1999 of 2500, 79 %", "-", "0 of 0", "no")


class TestParts:
    """What is read off one suite's matrix."""

    def test_each_property_is_left_out_and_left_alone(self) -> None:
        """One that no test names makes no part; a file isn't a test."""
        assert parts(MATRIX, [MIRROR, IDLE, FLIP]) == {
            GOLD: {A, B, C},
            "without mirror": {C},
            "without flip": {A, B},
            "only mirror": {A, B},
            "only flip": {C},
        }

    def test_a_part_kills_what_any_of_its_tests_does(self) -> None:
        """And what a file does that keeps one of its tests from running."""
        assert killed(MATRIX, [A]) == {"s1"}
        assert killed(MATRIX, [A, B]) == {"s1", "m1"}
        assert killed(MATRIX, [C]) == {"s1", "m2"}
        assert killed(MATRIX, []) == frozenset()

    def test_the_whole_suite_comes_first(self) -> None:
        """Then those without a property, then those of one."""
        rows = parts_measured(MATRIX, [MIRROR, FLIP], STICKS)
        assert [(row.suite, row.tests, row.score.killed) for row in rows] == [
            (GOLD, 2, 3),
            ("without mirror", 1, 2),
            ("without flip", 1, 2),
            ("only mirror", 1, 2),
            ("only flip", 1, 2),
        ]


class TestDocument:
    """The table in a document."""

    rows = (measured("some", [A], {"s1"}, STICKS),)

    def test_a_table_has_a_line_a_suite(self) -> None:
        """Below a head."""
        assert markdown(self.rows) == (
            f"| {' | '.join(HEAD)} |\n"
            "| --- | --- | --- | --- | --- | --- | --- |\n"
            "| some | 1 | 1 of 5, 20 % | 0 of 6, 0 % | 1 of 2, 50 % | 1 of 1 | no |\n"
        )

    def test_it_takes_the_place_of_an_earlier_one(self) -> None:
        """And of no other table; writing it again changes nothing."""
        table = markdown(self.rows)
        other = "| a | b |\n|---|---|\n| 1 | 2 |\n"
        old = markdown([*self.rows, *self.rows])
        text = f"# Title\n\n{other}\n{old}\nAfter it.\n\n{other}"
        new = with_table(text, table)
        assert new == f"# Title\n\n{other}\n{table}\nAfter it.\n\n{other}"
        assert with_table(new, table) == new

    def test_without_an_earlier_one_it_comes_last(self) -> None:
        """In an empty document it is all there is."""
        table = markdown(self.rows)
        assert with_table("", table) == table
        assert with_table("# Title\n", table) == f"# Title\n\n{table}"
        assert with_table(table, table) == table


# --- on courses ------------------------------------------------------------------------------

WEAK = """\
from toy.double import double

def test_a_number_comes_back() -> None:
    assert isinstance(double(3), int)
    assert double(0) == 0
"""
STRONG = """\
import pytest
from toy.double import double

def test_everything() -> None:
    assert [double(n) for n in range(4)] == [0, 2, 4, 6]
    for n in (-1, -7):
        with pytest.raises(ValueError):
            double(n)
"""


@pytest.fixture
def toy(toy_copy: Callable[[], Path]) -> Path:
    """Return a copy of the toy course."""
    return toy_copy()


def _options(tmp_path: Path) -> Options:
    return Options(sandbox="process", jobs=1, run_dir=tmp_path / "runs")


def _with_weak(course: Path, text: str) -> Assignment:
    folder = course / "tests" / "calibration" / "T1"
    folder.mkdir(parents=True)
    (folder / "test_looks_only.py").write_text(text, encoding="utf-8")
    (folder / "notes.py").write_text("no test", encoding="utf-8")
    return load_course(course).assignment("T1")


def _by_suite(found: Calibration) -> dict[str, Row]:
    return {row.suite: row for row in found.rows}


def _said(found: Calibration) -> list[tuple[str, str]]:
    return [(finding.subject, finding.text) for finding in found.findings]


def test_a_weak_suite_is_measured_by_what_the_gold_suite_is(toy: Path, tmp_path: Path) -> None:
    """Each file of them is one; excluded mutants are run too."""
    assignment = _with_weak(toy, WEAK)
    reference = dominators(assignment, _options(tmp_path))
    assignment.dominators_path.write_text(render(reference), encoding="utf-8")
    found = calibrate(assignment, _options(tmp_path))
    assert not found.findings
    assert [row.cells for row in found.rows] == [
        (GOLD, "2", "5 of 5, 100 %", "3 of 4, 75 %", "2 of 2, 100 %", "2 of 2", "yes"),
        ("looks only", "1", "2 of 5, 40 %", "1 of 4, 25 %", "0 of 2, 0 %", "1 of 2", "no"),
    ]


def test_a_weak_suite_that_passes_is_found(toy: Path, tmp_path: Path) -> None:
    """Then the pool is too easy, or the suite isn't weak."""
    found = calibrate(_with_weak(toy, STRONG), _options(tmp_path))
    assert _said(found) == [("looks only", "passes, though it is a weak suite")]


def test_a_test_that_does_not_count_is_found(toy: Path, tmp_path: Path) -> None:
    """It would make a suite look weaker than it is."""
    vacuous = f"{WEAK}\ndef test_nothing() -> None:\n    assert callable(double)\n"
    found = calibrate(_with_weak(toy, vacuous), _options(tmp_path))
    assert _said(found) == [
        ("test_looks_only.py::test_nothing", "of the suite 'looks only' is vacuous")
    ]
    assert _by_suite(found)["looks only"].tests == 1


def test_a_gold_suite_that_does_not_pass_is_found(toy: Path, tmp_path: Path) -> None:
    """Nobody could."""
    (toy / "tests" / "gold" / "T1" / "test_gold.py").write_text(WEAK, encoding="utf-8")
    found = calibrate(load_course(toy).assignment("T1"), _options(tmp_path))
    assert _said(found) == [(GOLD, "does not pass")]


def test_without_mutants_gold_suite_or_a_test_that_holds_there_is_nothing_to_measure(
    toy: Path, tmp_path: Path
) -> None:
    """Each is named."""
    course = load_course(toy)
    gold = toy / "tests" / "gold" / "T1" / "test_gold.py"
    slugs = []
    for name, spoil in (
        ("T0", lambda: None),
        ("T1", lambda: gold.write_text("def test_no(): assert False\n", encoding="utf-8")),
        ("T1", lambda: (gold.unlink(), gold.parent.rmdir())),
    ):
        spoil()
        with pytest.raises(Unusable) as caught:
            calibrate(course.assignment(name), _options(tmp_path))
        slugs.append(caught.value.message.slug)
    assert slugs == ["no-mutants", "no-valid-test", "no-gold-suite"]


def test_a_fault_of_the_machine_measures_nothing(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no suite looks weak by it."""

    def broken(*_: object) -> object:
        raise Void(message("machine", what="no memory"), "machine")

    monkeypatch.setattr(grading, "make_sandbox", broken)
    with pytest.raises(Void) as caught:
        calibrate(load_course(toy).assignment("T1"), _options(tmp_path))
    assert caught.value.fault == "machine"


def test_the_coverage_only_suite_reaches_every_line_of_the_module(tmp_path: Path) -> None:
    """Or it would not show what coverage alone is worth."""
    assignment = load_course().assignment("L3.4")
    module = builtin_root() / "reference" / assignment.module_path
    suite = assignment.calibration_path / "test_coverage_only.py"
    coverage = [sys.executable, "-m", "coverage"]
    pytest_run = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(suite)]
    data, report = f"--data-file={tmp_path / 'data'}", tmp_path / "report.json"
    for command in (
        [*coverage, "run", data, f"--include={module}", *pytest_run],
        [*coverage, "json", data, "-o", str(report)],
    ):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": str(builtin_root() / "reference"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    assert totals["num_statements"] > 0
    assert totals["missing_lines"] == 0


def test_the_table_in_the_docs_has_a_row_for_each_suite() -> None:
    """Of the course as it is."""
    root = Path(calibration.__file__).parents[2]
    text = (root / "docs" / "calibration.md").read_text(encoding="utf-8")
    named = [one.id for one in load_course().assignment("L3.4").properties]
    wanted = [
        GOLD,
        "coverage only",
        *(f"without {n}" for n in named),
        *(f"only {n}" for n in named),
    ]
    head = f"| {' | '.join(HEAD)} |\n"
    assert head in text
    table = text.partition(head)[2].partition("\n\n")[0].splitlines()[1:]
    assert [line.split(" | ")[0].removeprefix("| ") for line in table] == wanted
