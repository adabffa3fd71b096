"""The wheel: it carries the built-in course, and grades without the checkout it came from."""

import json
import os
import site
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.course import PARTS, load_course

ROOT = Path(__file__).resolve().parents[2]


def _run(*command: object, **options: object) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **options,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    here = ["--no-isolation"] if find_spec("hatchling") else []
    done = _run(sys.executable, "-m", "build", "--wheel", *here, "--outdir", folder, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install it, with this environment's packages in sight; return the folder of its scripts."""
    home = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index")
    done = _run(*pip, "--no-deps", wheel)
    assert done.returncode == 0, done.stderr
    (packages,) = home.glob("lib/python*/site-packages")
    # A path in a .pth file comes last, and the .pth files in it, an editable grader's too, are
    # not read.
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    return home / "bin"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with no path into the checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


def test_the_wheel_carries_every_part_of_the_course(wheel: Path) -> None:
    """And what the image is built from; but neither grader's own tests nor what Python left."""
    names = zipfile.ZipFile(wheel).namelist()
    builtin = [name for name in names if name.startswith("grader/builtin/")]
    for part in (*PARTS, "Dockerfile"):
        assert any(f"{name}/".startswith(f"grader/builtin/{part}/") for name in builtin)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    assert not [name for name in names if "tests/grader" in name or "examples" in name]
    assert "grader/report/grade.schema.json" in names
    assert "grader/worker/zygote.py" in names


@pytest.mark.usefixtures("nowhere")
def test_an_installed_grader_lists_the_courses_mutants(installed: Path) -> None:
    """From an empty folder, under both names, out of its own copy of the course."""
    for script in ("grade", "ol"):
        done = _run(installed / script, "mutants", "list", "L3.4")
        assert done.returncode == 0
        assert done.stdout.startswith("s01  ")
    code = "import grader.course; print(grader.course.builtin_root())"
    root = Path(_run(installed / "python", "-c", code).stdout.strip())
    assert root.is_relative_to(installed.parent)


def test_an_installed_grader_grades_as_the_checkout_does(installed: Path, nowhere: Path) -> None:
    """The complete example passes, against the very same course."""
    repo, path = ROOT / "examples" / "complete", nowhere / "grade.json"
    how = ("--sandbox", "process", "--repo", repo, "--json", path)
    done = _run(installed / "grade", "mutate", "L3.4", *how, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "passed"
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["passed"] is True
    assert found["course"]["sha256"] == load_course(ROOT).sha256
