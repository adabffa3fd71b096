"""Every example gets the grade that its ``expected.json`` tells, on both back-ends."""

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.cli import main
from grader.course import PARTS, builtin_root
from grader.report.document import SCHEMA_PATH

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.name: path for path in sorted((ROOT / "examples").iterdir()) if path.is_dir()}
# Each kind of end in a container too: passed, missed, ungraded, timed out, crashed, refused.
IN_CONTAINERS = {"complete", "misses-s05-s06", "not-built", "hanging", "crash", "forbidden-import"}
EXAMPLE = pytest.mark.parametrize(
    "example",
    [pytest.param(one, marks=[pytest.mark.docker] * (one in IN_CONTAINERS)) for one in EXAMPLES],
)
# What may differ between two gradings: without the matrix a run ends at the first catch, and what
# else was seen until then is chance.
CHANCE = frozenset({"seconds", "versions", "sandbox", "killed_by", "kills", "witness"})

Document = dict[str, Any]


@dataclass(frozen=True)
class Graded:
    """What one grading left."""

    exit: int
    document: Document
    errors: str

    @property
    def summary(self) -> Document:
        """What an ``expected.json`` tells of it."""
        score = self.document["score"]
        kept = ("killed", "scored", "required_killed", "required")
        return {
            "exit": self.exit,
            **{key: self.document[key] for key in ("graded", "passed", "fault")},
            "score": score and {key: score[key] for key in kept},
            "statuses": {test["id"]: test["status"] for test in self.document["tests"]},
            "verdicts": {mutant["id"]: mutant["verdict"] for mutant in self.document["mutants"]},
        }


Grading = Callable[[str, str], Graded]


@pytest.fixture(scope="module")
def impatient_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built-in course with a shorter limit: a test that never ends uses it up twice."""
    course = tmp_path_factory.mktemp("course")
    for part in PARTS:
        source = builtin_root() / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        (course / part).parent.mkdir(parents=True, exist_ok=True)
        copy(source, course / part)
    settings = course / "course.toml"
    patient = settings.read_text(encoding="utf-8")
    impatient = patient.replace("seconds_per_test = 20.0", "seconds_per_test = 4.0")
    assert impatient != patient
    settings.write_text(impatient, encoding="utf-8")
    return course


@pytest.fixture(scope="module")
def grading(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    impatient_course: Path,
) -> Grading:
    """Return a function that grades an example with a back-end."""
    scratch = tmp_path_factory.mktemp("gradings")

    def graded(example: str, sandbox: str) -> Graded:
        if sandbox == "docker":
            request.getfixturevalue("worker_image")
        more = ["--course", str(impatient_course)] if example == "hanging" else []
        command = _expected(example)["command"]
        return grade(command, EXAMPLES[example], sandbox, scratch / f"{example}-{sandbox}", more)

    return graded


def grade(command: str, repo: Path, sandbox: str, scratch: Path, more: list[str]) -> Graded:
    """Grade a repository from the command line."""
    report, errors = scratch / "grade.json", io.StringIO()
    scratch.mkdir()
    assignment = _expected(repo.name).get("assignment", "L3.4") if repo.name in EXAMPLES else "L3.4"
    arguments = [command, assignment, "--repo", repo, "--sandbox", sandbox]
    arguments += ["--json", report, "--run-dir", scratch / "runs", *more]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = main([str(argument) for argument in arguments], "grade")
    assert report.exists(), f"exit {code}: {errors.getvalue()}"
    return Graded(code, json.loads(report.read_text(encoding="utf-8")), errors.getvalue())


def _expected(example: str) -> Document:
    text = (EXAMPLES[example] / "expected.json").read_text(encoding="utf-8")
    expected: Document = json.loads(text)
    return expected


def _spelt_out(verdicts: dict[str, str], mutants: list[Document]) -> dict[str, str]:
    """Give each mutant its verdict; ``*`` stands for all that are not named."""
    named = {name: verdict for name, verdict in verdicts.items() if name != "*"}
    return {mutant["id"]: verdicts["*"] for mutant in mutants} | named


def _leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Yield each value in a document with its place, entries of lists by their id."""
    if isinstance(value, list):
        value = {_name(one, number): one for number, one in enumerate(value)}
    if not isinstance(value, dict) or not value:
        yield place, value
        return
    for key, one in value.items():
        if key not in CHANCE:
            yield from _leaves(one, f"{place} {key}".strip())


def _name(entry: object, number: int) -> object:
    return entry.get("id", number) if isinstance(entry, dict) else number


def _differences(found: Document, expected: Document) -> str:
    """Return one line for each value that differs."""
    here, there = dict(_leaves(found)), dict(_leaves(expected))
    return "".join(
        f"\n  {place}: {there.get(place, 'nothing')!r} expected,"
        f" {here.get(place, 'nothing')!r} found"
        for place in (there | here)
        if here.get(place, "nothing") != there.get(place, "nothing")
    )


@EXAMPLE
def test_an_example_gets_the_grade_that_it_expects(example: str, grading: Grading) -> None:
    """Exit, score, the status of every test and the verdict on every mutant; in a document
    that follows its schema, and in a container the same in all that isn't chance.
    """
    graded, expected = grading(example, "process"), _expected(example)
    for key in ("command", "assignment"):
        expected.pop(key, None)
    assert graded.errors == expected.pop("errors", "")
    own = expected.pop("own_implementation", None)
    assert own is None or {one["own_implementation"] for one in graded.document["tests"]} == {own}
    if graded.document["mutants"]:
        expected["verdicts"] = _spelt_out(expected["verdicts"], graded.document["mutants"])
    differences = _differences(graded.summary, expected)
    assert not differences, differences
    schema = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(graded.document)
    if example in IN_CONTAINERS:
        contained = grading(example, "docker")
        assert (contained.exit, contained.errors) == (graded.exit, graded.errors)
        differences = _differences(contained.document, graded.document)
        assert not differences, differences


def test_the_starter_holds_and_leaves_the_rest_to_the_student(tmp_path: Path) -> None:
    """What `start` writes passes on the course's code and misses required faults."""
    repo = tmp_path / "repo"
    repo.mkdir()
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["start", "L3.4", "--repo", str(repo)], "grade") == 0
    graded = grade("mutate", repo, "process", tmp_path / "grading", [])
    summary = graded.summary
    assert graded.exit == 1
    assert set(summary["statuses"].values()) == {"valid"}
    assert 0 < summary["score"]["required_killed"] < summary["score"]["required"]


def test_every_example_says_what_it_shows() -> None:
    """In a README of its own."""
    for name, path in EXAMPLES.items():
        text = (path / "README.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {name}\n\n")
