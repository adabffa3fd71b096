"""The toy course, a course as small as one can be, and copies of it with other settings."""

import shutil
from collections.abc import Mapping
from pathlib import Path

TOY = Path(__file__).parent / "grader" / "cli" / "toy"


def changed(folder: Path, changes: Mapping[str, str]) -> Path:
    """Copy the toy course to ``folder`` with ``changes`` of its settings' text; returns it."""
    root = Path(shutil.copytree(TOY, folder))
    path = root / "course.toml"
    text = path.read_text(encoding="utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return root
