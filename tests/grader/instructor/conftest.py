"""Copies of courses, to be spoiled."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course import Assignment, builtin_root, load_course

TOY = Path(__file__).resolve().parents[1] / "cli" / "toy"
PARTS = ("reference", "mutants", "fixtures", "tests/course", "tests/gold", "tests/differential")


@pytest.fixture
def flagship(tmp_path: Path) -> Assignment:
    """Return L3.4 of a copy of the built-in course."""
    copy = tmp_path / "course"
    for part in PARTS:
        shutil.copytree(
            builtin_root() / part, copy / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(builtin_root() / "course.toml", copy)
    return load_course(copy).assignment("L3.4")


@pytest.fixture(scope="session")
def toy_copy(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that copies the toy course."""
    return lambda: Path(shutil.copytree(TOY, tmp_path_factory.mktemp("toy") / "course"))
