"""Jobs: what a worker is given for a cell, and that it can't tell one variant from another."""

import base64
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grader import canary
from grader.cells import OWN, Cell, Variant
from grader.course import Assignment, load_course
from grader.jobs import Jobs, as_modules, entropy, preload, shared_modules
from grader.mutants import Mutant
from grader.problems import Unusable
from grader.submission import Submission
from grader.twins.pool import Pool
from grader.worker import wire

COURSE = """
title = "a course"
schema = 1

[assignments.A]
title = "the first"
module = "pack.base"

[assignments.B]
title = "the second"
module = "pack.inner.mod"
needs = ["A"]
preload = ["numpy"]
limits = { tests = 7, examples = 11 }

[assignments.C]
title = "the third"
module = "pack.later"
needs = ["B"]
"""
SEMANTIC = """
[[mutant]]
id = "s01"
title = "it adds"
pitfall = "p"
property = "q"
hint = ["a", "b", "c"]
[[mutant.edits]]
replace = "2 * n"
with = "2 + n"
"""
SOURCE = "def double(n):\n    return 2 * n\n"
FILES = {
    "conftest.py": b"",
    "helper.py": b"X = 1\n",
    "test_a.py": b"def test_a(): pass\n",
    "sub/b_test.py": b"def test_b(): pass\n",
}
CONTROL = Cell(purpose="control", draw=5)
TWIN = Cell(purpose="control", variant=Variant(kind="twin", id="b"), draw=5)
MUTATED = "def double(n):\n    return 2 + n\n"
MUTANT = Cell(purpose="mutant", variant=Variant(kind="mutant", id="s01"), draw=5)


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """Return an assignment of a small course."""
    for path, text in {
        "course.toml": COURSE,
        "reference/pack/__init__.py": "",
        "reference/pack/base.py": "BASE = 1\n",
        "reference/pack/inner/mod.py": SOURCE,
        "reference/pack/later.py": "LATER = 1\n",
        "mutants/B/semantic.toml": SEMANTIC,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return load_course(tmp_path).assignment("B")


KEY = b"a secret of sixteen bytes or more"
OWN_TEXT = b"def double(n):\n    return n << 1\n"


@pytest.fixture
def pool(assignment: Assignment) -> Pool:
    """Return a pool of three twins."""
    return Pool(assignment.source, assignment.mutants, ("a", "b", "c"))


@pytest.fixture
def jobs(assignment: Assignment, pool: Pool) -> Jobs:
    """Return the jobs of a grading with a student's own implementation."""
    return Jobs(assignment, Submission(FILES), pool, KEY, OWN_TEXT)


def text_of(job: wire.Cell) -> str:
    """Return the text of the module under test."""
    return job["modules"]["pack.inner.mod"]["source"]


def test_files_become_modules_by_their_path() -> None:
    """A folder is a package, whether it says so or not."""
    found = as_modules({"a/__init__.py": "A = 1\n", "a/b/c.py": "C = 1\n", "d.py": b"D = 1\n"})
    assert found == {
        "a": {"source": "A = 1\n", "package": True},
        "a.b": {"source": "", "package": True},
        "a.b.c": {"source": "C = 1\n", "package": False},
        "d": {"source": "D = 1\n", "package": False},
    }


@pytest.mark.parametrize("order", [1, -1])
def test_the_text_of_a_package_does_not_depend_on_the_order_of_files(order: int) -> None:
    """A module inside it may come first."""
    sources = {"a/__init__.py": "A = 1\n", "a/b.py": ""}
    found = as_modules(dict(list(sources.items())[::order]))
    assert found["a"] == {"source": "A = 1\n", "package": True}


def test_a_byte_order_mark_is_no_part_of_a_text() -> None:
    """Editors on Windows write one, and Python reads over it."""
    assert as_modules({"a.py": b"\xef\xbb\xbfx = 1\n"})["a"]["source"] == "x = 1\n"


def test_what_is_not_utf_8_can_still_be_sent() -> None:
    """Whoever imports it gets the error."""
    source = as_modules({"a.py": b"x = '\xff'\n"})["a"]["source"]
    with pytest.raises(ValueError, match="surrogates"):
        compile(source, "a.py", "exec")


def test_cells_share_the_references_modules_but_not_the_one_under_test(
    assignment: Assignment,
) -> None:
    """Nor those of assignments that come later."""
    assert set(shared_modules(assignment)) == {"pack", "pack.base"}
    assert preload(assignment) == ["numpy", "pack", "pack.base"]


def test_a_suite_is_sent_below_one_folder(jobs: Jobs) -> None:
    """Named so that Hypothesis takes no constants from it."""
    job = jobs(CONTROL)
    assert job["root"] == "tests"
    sent = {path: base64.b64decode(text) for path, text in job["files"].items()}
    assert sent == {f"tests/{path}": content for path, content in FILES.items()}


def test_only_test_files_are_run(jobs: Jobs) -> None:
    """By pytest's names for them, in the submission's order."""
    assert jobs(CONTROL)["targets"] == ["test_a.py", "sub/b_test.py"]


def test_a_look_takes_every_file(jobs: Jobs) -> None:
    """Helpers import, too."""
    job = jobs(Cell(purpose="look"))
    assert job["mode"] == "look"
    assert job["targets"] == list(job["files"]) == list(FILES)


def test_files_that_are_left_out_are_not_sent(jobs: Jobs) -> None:
    """Neither as a target nor as a helper."""
    job = jobs(CONTROL.but(without=("conftest.py", "sub/b_test.py")))
    assert set(job["files"]) == {"tests/helper.py", "tests/test_a.py"}
    assert job["targets"] == ["test_a.py"]


@pytest.mark.parametrize(
    ("cell", "doubled"),
    [
        (CONTROL, 14),
        (TWIN, 14),
        (MUTANT, 9),
        (Cell(purpose="own", variant=OWN), 14),
        (Cell(purpose="saboteur", variant=Variant(kind="saboteur", id="echoes")), 7),
    ],
)
def test_a_cell_gets_its_variant_under_the_one_name(jobs: Jobs, cell: Cell, doubled: int) -> None:
    """With the packages above it."""
    modules = jobs(cell)["modules"]
    assert set(modules) == {"pack", "pack.inner", "pack.inner.mod"}
    namespace: dict[str, Any] = {}
    exec(modules["pack.inner.mod"]["source"], namespace)
    assert namespace["double"](7) == doubled


def test_a_twin_and_a_mutant_look_like_nothing_on_disk(jobs: Jobs, pool: Pool) -> None:
    """A test that knows the texts of the course recognises neither."""
    assert text_of(jobs(TWIN)) == pool.twin("b")
    assert text_of(jobs(TWIN)) not in (SOURCE, pool.twin("a"))
    assert text_of(jobs(MUTANT)) != MUTATED


def test_each_sighting_and_attempt_meets_a_mutant_in_another_text(jobs: Jobs) -> None:
    """As long as there are twins to plant it in."""
    cells = [MUTANT, MUTANT.but(number=1), MUTANT.but(number=2)]
    assert len({text_of(jobs(cell)) for cell in cells}) == 3
    assert text_of(jobs(MUTANT)) != text_of(jobs(MUTANT.but(attempt=1)))


def test_the_key_says_which_twin_a_mutant_is_planted_in(
    assignment: Assignment, pool: Pool, jobs: Jobs
) -> None:
    """The same one for the same key, whatever else the student changed."""
    texts = set()
    for key in (KEY, b"1", b"2", b"3", b"4", b"5", b"6"):
        texts.add(text_of(Jobs(assignment, Submission({}), pool, key)(MUTANT)))
    assert len(texts) == 3
    assert text_of(Jobs(assignment, Submission({}), pool, KEY)(MUTANT)) == text_of(jobs(MUTANT))


def test_texts_are_made_one_at_a_time(
    assignment: Assignment, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many threads ask for a job: the parser isn't made for two."""
    busy = threading.Semaphore(1)

    def plant(self: Pool, mutant: Mutant, seed: str) -> str:
        del self, mutant, seed
        assert busy.acquire(blocking=False)
        time.sleep(0.01)
        busy.release()
        return SOURCE

    monkeypatch.setattr(Pool, "plant", plant)
    jobs = Jobs(assignment, Submission(FILES), pool, KEY)
    with ThreadPoolExecutor(4) as threads:
        texts = threads.map(jobs, [MUTANT.but(number=number) for number in range(8)])
        assert {text_of(job) for job in texts} == {SOURCE}


@pytest.mark.parametrize("variant", [cell.variant for cell in canary.CELLS])
def test_the_canary_runs_without_any_file_of_the_student(jobs: Jobs, variant: Variant) -> None:
    """Nothing of theirs can silence it."""
    job = jobs(Cell(purpose="canary", variant=variant))
    assert list(job["files"]) == ["tests/test_canary.py"]
    assert "conftest" not in str(job["files"])


def test_a_mutant_that_is_not_there_is_refused(jobs: Jobs) -> None:
    """By name."""
    with pytest.raises(Unusable, match="s99"):
        jobs(MUTANT.but(variant=Variant(kind="mutant", id="s99")))


def test_nothing_but_the_variant_and_the_seed_tells_cells_apart(jobs: Jobs) -> None:
    """No id, no name, no path, no order."""
    control, mutant = dict(jobs(CONTROL)), dict(jobs(MUTANT))
    for job in (control, mutant):
        del job["modules"], job["entropy"]
    assert control == mutant


def test_order_limits_and_draw_are_the_cells_and_the_assignments(jobs: Jobs) -> None:
    """The worker applies them."""
    job = jobs(CONTROL.but(skip=("a",), last=("c", "b")))
    assert (job["skip"], job["last"], job["draw"]) == (["a"], ["c", "b"], 5)
    assert (job["most_tests"], job["most_examples"]) == (7, 11)


class TestEntropy:
    """The seed of a cell's ``random`` state."""

    @pytest.mark.parametrize(
        "other",
        [
            CONTROL.but(number=1),
            CONTROL.but(attempt=1),
            CONTROL.but(draw=6),
            CONTROL.but(last=("a",)),
            MUTANT,
        ],
    )
    def test_it_is_another_for_each_cell(self, jobs: Jobs, other: Cell) -> None:
        """Or flakiness would hide."""
        assert jobs(CONTROL)["entropy"] != jobs(other)["entropy"]

    def test_it_is_the_same_in_every_grading(self, assignment: Assignment, jobs: Jobs) -> None:
        """Or grades would differ."""
        again = Jobs(assignment, Submission(FILES), jobs.pool, KEY)
        assert jobs(MUTANT)["entropy"] == again(MUTANT)["entropy"]

    def test_it_can_not_be_computed_without_the_variants_text(self, jobs: Jobs) -> None:
        """A test would else know its variant by the first random number."""
        seed = jobs(MUTANT)["entropy"]
        assert seed != entropy("B", MUTANT)
        assert seed != entropy(SOURCE, MUTANT)
        assert seed != entropy(MUTATED, MUTANT)
        assert seed == entropy(text_of(jobs(MUTANT)), MUTANT)

    def test_it_fits_where_numpy_takes_a_seed(self) -> None:
        """In four bytes."""
        assert all(0 <= entropy("A", CONTROL.but(number=n)) < 2**32 for n in range(50))

    def test_it_takes_any_text(self) -> None:
        """A student's own implementation need not be UTF-8."""
        assert entropy("\udcff", CONTROL) != entropy("\udcfe", CONTROL)
