"""Attacks on what is kept between gradings: a coin drawn again, a foreign or a broken cache."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from docker import APIClient

from grader.course import Assignment
from grader.grade import Grade, Options
from grader.grading import grade
from grader.ledger import MOST_FLAKY
from grader.report.document import to_json
from grader.sandbox.engine import engine
from grader.status import Status
from grader.submission import Submission

from .case import HONEST, HONEST_PATH

Grader = Callable[..., Grade]
STRONG = f"""{HONEST}
import pytest
def test_negative():
    with pytest.raises(ValueError):
        double(-1)
"""
COINS = """\
import os, pytest
from toy.double import double
@pytest.mark.parametrize("n", range(12))
def test_coin(n):
    assert os.urandom(1)[0] % 3
"""
JUNK = (
    b"",
    b"\n\n\n",
    b"\x00" * 4096 + b"\n",
    b"{" * 100_000 + b"\n",
    b'{"cell": {}, "outcome": {"end": "complete"}}\n',
    b'{"cell": {"purpose": "mutant", "draw": 11}, "outcome": {"end": "killed", "tests": ["a"]}}\n',
    "\ud800".encode("utf-8", "surrogatepass") + b"\n",
)


def submission(text: str, path: str = HONEST_PATH) -> Submission:
    """Return a suite of one file."""
    return Submission({path: text.encode()})


@pytest.fixture
def graded(assignment: Assignment, state: Path, tmp_path: Path, worker_image: str) -> Grader:
    """Return a function that grades a suite, with all gradings' outcomes in one folder."""
    del state, worker_image

    def graded(suite: Submission, **options: str) -> Grade:
        how = Options("docker", jobs=2, run_dir=tmp_path, seed=7, staff=True)
        return grade(assignment, suite, replace(how, **options))  # type: ignore[arg-type] # each option has a type of its own

    return graded


def said(grade: Grade) -> object:
    """Return what a report says, without how long it took."""
    document = json.loads(to_json(grade))
    del document["seconds"]
    return document


def verdicts(grade: Grade) -> dict[str, str]:
    """Return what became of each mutant."""
    return {one.mutant.id: one.result.value for one in grade.verdicts}


def journals(folder: Path) -> dict[Path, bytes]:
    """Return what is kept of each grading."""
    return {path: path.read_bytes() for path in folder.glob("*/journal.jsonl")}


@pytest.mark.docker
@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_c04_what_no_grading_wrote_is_not_believed(
    graded: Grader, tmp_path: Path, junk: bytes
) -> None:
    """A line of a journal that makes no sense is no outcome: its cell is run."""
    whole = said(graded(submission(HONEST)))
    [(path, kept)] = journals(tmp_path).items()
    lines = kept.splitlines(keepends=True)
    path.write_bytes(junk + b"".join(lines[: len(lines) // 2]) + junk + lines[-1][:-9])
    assert said(graded(submission(HONEST))) == whole


@pytest.mark.docker
def test_c04_a_journal_that_is_handed_in_is_a_file_like_others(
    graded: Grader, tmp_path: Path
) -> None:
    """No name and no text of a submission leads to another's outcomes."""
    strong = graded(submission(STRONG))
    assert set(verdicts(strong).values()) == {"killed"}
    [(path, kept)] = journals(tmp_path).items()
    suite = Submission(
        {
            HONEST_PATH: HONEST.encode(),
            "journal.py": b"",
            "journal_jsonl.py": kept.replace(b"\n", b"\n#"),
            f"{path.parent.name}.py": STRONG.encode(),
        }
    )
    assert verdicts(graded(suite)) == {"s01": "killed", "s02": "survived"}
    assert journals(tmp_path)[path] == kept


@pytest.mark.docker
def test_c06_a_suite_that_is_graded_again_is_answered_and_not_drawn_again(
    graded: Grader, tmp_path: Path
) -> None:
    """Coins fall once: to grade them further times throws none again."""
    first = said(graded(submission(COINS)))
    kept = journals(tmp_path)
    assert [said(graded(submission(COINS))) for _ in range(3)] == [first] * 3
    assert journals(tmp_path) == kept


@pytest.mark.docker
def test_c06_a_coin_that_is_thrown_in_one_text_after_another_is_told_to_staff(
    graded: Grader,
) -> None:
    """That a suite contradicted itself is kept, even where no test of it was left to grade."""
    caught = 0
    for attempt in range(9):
        if caught <= MOST_FLAKY:
            found = graded(submission(f"{COINS}# attempt {attempt}\n"), student="ada")
            caught += any(test.status.status is Status.FLAKY for test in found.tests)
    assert caught > MOST_FLAKY
    honest = graded(submission(HONEST), student="ada")
    assert "review-history" in {flag.message.slug for flag in honest.review or ()}
    other = graded(submission(HONEST), student="grace")
    assert "review-history" not in {flag.message.slug for flag in other.review or ()}


@pytest.mark.docker
def test_c08_what_a_verdict_hangs_on_is_in_its_report(graded: Grader, worker_image: str) -> None:
    """Each version, and the hashes of what was graded and of what it was graded against."""
    suite = submission(HONEST)
    document = json.loads(to_json(graded(suite)))
    assert {"grader", "python", "pytest", "hypothesis", "numpy"} <= document["versions"].keys()
    with closing(engine()) as client:
        image = client.inspect_image(worker_image)  # type: ignore[no-untyped-call] # a gap in the stubs
    assert document["versions"]["image"] == image["Id"]
    assert document["submission"]["sha256"] == suite.sha256
    assert len(document["course"]["sha256"]) == 64
    again = json.loads(to_json(graded(suite)))
    assert again["versions"] == document["versions"]


@pytest.mark.docker
def test_c08_outcomes_of_another_image_of_the_same_name_are_not_believed(
    graded: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was built alike on another base may hold another Python."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(APIClient, "inspect_image", lambda *_: {"Id": "sha256:other"})
        document = json.loads(to_json(graded(submission(HONEST))))
    assert document["versions"]["image"] == "sha256:other"
    [other] = journals(tmp_path)
    graded(submission(HONEST))
    assert len(journals(tmp_path).keys() - {other}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a.py": b"x", "b.py": b"y"}, {"a.py": b"x4:b.py1:y"}),
        ({"a.py": b"", "b.py": b"x"}, {"a.py": b"x", "b.py": b""}),
        ({"a/b.py": b"x"}, {"a.py": b"x"}),
        ({"a.py": b"x"}, {"a.py": b"x\n"}),
        ({"a.py": b"x"}, {"A.py": b"x"}),
    ],
)
def test_c09_two_suites_have_one_key_only_if_they_are_the_same(
    one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    """Where a file ends and the next begins is a part of it; in which order they came is none."""
    assert Submission(one).sha256 != Submission(other).sha256
    assert Submission(dict(reversed(one.items()))).sha256 == Submission(one).sha256


@pytest.mark.docker
def test_c09_outcomes_of_two_suites_in_one_folder_are_never_mixed_up(graded: Grader) -> None:
    """Each suite is answered with its own, in whatever order they come again."""
    suites = {"killed": submission(STRONG), "survived": submission(HONEST)}
    found = {expected: said(graded(suite)) for expected, suite in suites.items()}
    for expected in ("survived", "killed", "survived"):
        again = graded(suites[expected])
        assert verdicts(again)["s02"] == expected
        assert said(again) == found[expected]
    renamed = graded(submission(STRONG, "test_other.py"))
    assert {one.status.id.partition("::")[0] for one in renamed.tests} == {"test_other.py"}
