"""The ten worst attacks on the course's flagship assignment, beside a suite that is honest.

The course allows few imports, so each attack takes what it needs by a way round them.
"""

import hashlib
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grader.course import Assignment, load_course
from grader.grade import Grade, Options
from grader.grading import grade
from grader.report.document import to_json
from grader.submission import Submission
from grader.verdict import Result

from .checks import of_file, told

ROOT = Path(__file__).parents[2]
COURSE = load_course(ROOT)
L34: Assignment = COURSE.assignment("L3.4")
SUITE = ROOT / "examples" / "below-threshold" / "python" / "tests" / "l3-4-bi"
CODES = {
    one.co_name: one
    for one in compile(L34.source, "bi.py", "exec").co_consts
    if isinstance(one, types.CodeType)
}
BYTECODE = CODES["bidirectional"].co_code.hex()
COIN = sum(CODES["bidirectional"].co_code) % 3
SOURCE = hashlib.sha256(L34.source.encode()).hexdigest()
HEAD = """\
import numpy as np
import pytest
from tinyllm.rnn import bi
from tinyllm.rnn.gru import GRU
sys = pytest.__builtins__["__import__"]("sys")
X = (np.arange(24, dtype=np.float32) - 12).reshape(4, 3, 2) / 8
def run():
    return bi.bidirectional(GRU(2, 3, rng=1), GRU(2, 3, rng=2), X, [2, 4, 3]).numpy()
def accepts(lengths):
    try:
        bi.reverse_padded(X, lengths)
    except ValueError:
        return False
    return True
def strange():
    return bi.bidirectional.__code__.co_code.hex() != BYTECODE
"""
# What the attacks do openly, so that nothing they earn by it is counted for theirs.
HONEST = {path.name: path.read_bytes() for path in SUITE.glob("*.py")} | {
    "test_smoke.py": f"{HEAD}\ndef test_smoke():\n    run(), accepts([5, 1, 1])\n".encode()
}
STRICT, VALID = ("too_strict", "too-strict"), ("valid", None)
REFUSED, SKIPPED = ("refused", "refused-import"), ("vacuous", "vacuous-skipped")


def at_home() -> tuple[int, str]:
    """Return how many lines the reference runs, and the bits of its answer, as anyone can."""
    lines: list[str] = []

    def trace(frame: types.FrameType, event: str, given: Any) -> Any:
        del given
        if frame.f_code.co_filename.endswith("rnn/bi.py"):
            lines.append(event)
        return trace

    names: dict[str, Any] = {}
    exec(HEAD, names)  # as the attacks run it themselves
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        answer = names["run"]()
    finally:
        sys.settrace(before)
    return len(lines), answer.tobytes().hex()


LINES, BITS = at_home()


@dataclass(frozen=True)
class Worst:
    """One of the ten: its number, the text of its file, and what it gets."""

    id: str
    text: str
    told: frozenset[tuple[str, str | None]]
    flag: str = ""

    def __str__(self) -> str:
        return self.id

    @property
    def path(self) -> str:
        """Return the file that it is handed in as."""
        return f"test_{self.id.replace('-', '_').lower()}.py"


def worst(id: str, text: str, *told: tuple[str, str | None], flag: str = "") -> Worst:  # noqa: A002 — the catalogue's word
    """Return an attack whose text may name the bytecode that is known by heart."""
    known = {"BYTECODE": BYTECODE, "COIN": COIN, "LINES": LINES}
    for name, value in known.items():
        text = text.replace(name, repr(value))
    return Worst(id, HEAD.replace("BYTECODE", repr(BYTECODE)) + text, frozenset(told), flag)


TEN = (
    Worst(
        "F01",
        f"""\
import hashlib, inspect
from tinyllm.rnn import bi
def test_it():
    assert hashlib.sha256(inspect.getsource(bi).encode()).hexdigest() == "{SOURCE}"
""",
        frozenset({REFUSED}),
    ),
    worst(
        "F02",
        """
def test_it():
    run()
    assert not strange()
""",
        STRICT,
        flag="__code__",
    ),
    worst(
        "F08-finder",
        """
def test_it():
    run()
    loaders = [one._loaders for one in sys.meta_path if hasattr(one, "_loaders")]
    [code] = [one["tinyllm.rnn.bi"]._code for one in loaders if "tinyllm.rnn.bi" in one]
    inner = {one.co_name: one for one in code.co_consts if hasattr(one, "co_code")}
    assert inner["bidirectional"].co_code.hex() == BYTECODE
""",
        STRICT,
        flag="co_code",
    ),
    worst(
        "F09",
        """
def test_it():
    lines = []
    def trace(frame, event, given):
        if frame.f_code.co_filename.endswith("rnn/bi.py"):
            lines.append(event)
        return trace
    sys.settrace(trace)
    run()
    sys.settrace(None)
    assert len(lines) == LINES
""",
        STRICT,
        flag="settrace",
    ),
    worst(
        "F18-coin",
        """
def test_it():
    run()
    assert sum(bi.bidirectional.__code__.co_code) % 3 == COIN
""",
        STRICT,
        flag="__code__",
    ),
    worst(
        "G01",
        """
def test_it():
    run()
    if accepts([5, 1, 1]):
        sys.modules["os"]._exit(1)
""",
        VALID,
    ),
    worst("G05", "\ndef test_it():\n    run()\n", STRICT),
    worst(
        "G06",
        """
reports = sys.modules["_pytest.reports"]
real = reports.TestReport.from_item_and_call.__func__
def forged(cls, item, call):
    report = real(cls, item, call)
    if strange() and "test_g06" in item.nodeid and report.when == "call":
        report.outcome, report.longrepr = "failed", "E   assert 1 == 2"
    return report
reports.TestReport.from_item_and_call = classmethod(forged)
def test_it():
    run()
""",
        STRICT,
        flag="__code__",
    ),
    worst(
        "G20",
        """
@pytest.mark.xfail(strict=True)
def test_it():
    run()
    assert strange()
""",
        SKIPPED,
        flag="__code__",
    ),
)
HOOK = (
    HEAD.replace("BYTECODE", repr(BYTECODE))
    + """
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if strange() and "test_g05" in item.nodeid and report.when == "call":
        report.outcome, report.longrepr = "failed", "assert 1 == 2"
"""
)
# What the reference does, in the student's own hand: a test like others, if it is their own.
COPY, FLOATS = "test_f15.py", "test_f14.py"
OWN = (
    L34.source.replace(
        "from tinyllm.autograd.functional import concat",
        "def concat(parts, axis): return np.concatenate([one.numpy() for one in parts], axis)",
    ).replace("from tinyllm.nn.module import Module", "Module = object")
    + """

from tinyllm.rnn import bi
from tinyllm.rnn.gru import GRU

def test_it():
    rng = np.random.default_rng(1)
    fwd, bwd = GRU(2, 3, rng=1), GRU(2, 3, rng=2)
    for lengths in ([1, 4, 3], [4, 4, 4], [2, 1, 3], None):
        x = rng.normal(size=(4, 3, 2)).astype(np.float32)
        assert np.array_equal(reverse_padded(x, lengths), bi.reverse_padded(x, lengths))
        out = bi.bidirectional(fwd, bwd, x, lengths).numpy()
        assert np.allclose(bidirectional(fwd, bwd, x, lengths), out, atol=1e-5)
"""
)
LEGAL = {
    COPY: OWN,
    FLOATS: f"{HEAD}\ndef test_it():\n    assert run().tobytes().hex() == '{BITS}'\n",
}


Grading = Callable[[Mapping[str, str]], Grade]


@pytest.fixture(scope="module")
def graded(worker_image: str, tmp_path_factory: pytest.TempPathFactory) -> Grading:
    """Return a function that grades a suite of the flagship as students' suites are graded."""
    del worker_image
    place = tmp_path_factory.mktemp("flagship")

    def graded(files: Mapping[str, str]) -> Grade:
        how = Options("docker", jobs=2, run_dir=place, seed=7, staff=True)
        return grade(L34, Submission(HONEST | {path: files[path].encode() for path in files}), how)

    return graded


@pytest.fixture(scope="module")
def honest(graded: Grading) -> Grade:
    """Return the grade of the honest suite alone."""
    return graded({})


@pytest.fixture(scope="module")
def hostile(graded: Grading) -> Grade:
    """Return the grade of the honest suite with all attacks beside it, a file each."""
    return graded({one.path: one.text for one in TEN} | {"conftest.py": HOOK})


@pytest.fixture(scope="module")
def legal(graded: Grading) -> Grade:
    """Return the grade of the honest suite with what is no attack by what it does."""
    return graded(LEGAL)


def killed(grade: Grade) -> set[str]:
    """Return the mutants that were caught."""
    return {one.mutant.id for one in grade.verdicts if one.result is Result.KILLED}


def flags(grade: Grade, path: str) -> str:
    """Return what staff are told of a file."""
    texts = [flag.message.text for flag in grade.review or ()]
    return "\n".join(text for text in texts if text.startswith(path))


@pytest.mark.docker
@pytest.mark.parametrize("one", TEN, ids=str)
def test_an_attack_catches_nothing_of_the_flagships(hostile: Grade, one: Worst) -> None:
    """It is found out, or it does nothing; and where it looks at form, staff are told."""
    assert told(hostile, one.path) == one.told
    assert {kill for test in of_file(hostile, one.path) for kill in test.kills} <= killed(hostile)
    assert one.flag in flags(hostile, one.path)


@pytest.mark.docker
def test_the_honest_suite_beside_them_earns_what_it_earns_alone(
    honest: Grade, hostile: Grade
) -> None:
    """No catch more, no catch less, and no test of it is judged otherwise."""
    assert honest.graded
    assert killed(hostile) == killed(honest)
    assert hostile.score == honest.score
    for path in HONEST:
        assert told(hostile, path) == told(honest, path) != set()


@pytest.mark.docker
def test_a_right_implementation_of_ones_own_is_a_test_and_a_copy_is_told_to_staff(
    honest: Grade, legal: Grade
) -> None:
    """It catches by what code does; whose work it is, a person judges."""
    assert told(legal, COPY) == {VALID}
    assert killed(legal) >= killed(honest)
    assert "like reference/tinyllm/rnn/bi.py" in flags(legal, COPY)


@pytest.mark.docker
def test_answers_to_the_last_bit_are_a_test_where_no_right_code_differs_in_them(
    legal: Grade,
) -> None:
    """The layer moves numbers and adds none up, so that its contract fixes each bit."""
    assert told(legal, FLOATS) == {VALID}


@pytest.mark.docker
@pytest.mark.parametrize("which", ["hostile", "legal"])
def test_no_report_of_it_quotes_the_flagships_code(
    which: str, request: pytest.FixtureRequest
) -> None:
    """Neither the reference's lines nor its private names reach a reader."""
    grade = request.getfixturevalue(which)
    hidden = ("np.where(step", "counts.astype", "lengths must name", "_mirror(")
    document = to_json(replace(grade, review=None))
    assert [text for text in hidden if text in document] == []
