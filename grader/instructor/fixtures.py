"""Goldens: written by an oracle with torch, and verified without it."""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.course import Assignment
from grader.course_tests import run_course_tests
from grader.messages import message
from grader.problems import Unusable, Void
from grader.sandbox import Sandbox

ORACLE_SECONDS = 600
Arrays = Mapping[str, NDArray[Any]]


class Tolerance(BaseModel):
    """How far two computations of an array may differ, and why that far."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rtol: Annotated[float, Field(ge=0)]
    atol: Annotated[float, Field(ge=0)]
    reason: Annotated[str, Field(min_length=1)]


class Manifest(BaseModel):
    """What is known of a golden file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    oracle: str
    seed: int
    torch: str
    numpy: str
    sha256: str
    arrays: int
    tolerances: Mapping[str, Tolerance]


@dataclass(frozen=True)
class Check:
    """One thing that was verified of a golden file."""

    subject: str
    good: bool
    text: str


@dataclass(frozen=True)
class Golden:
    """A golden file with its manifest and oracle."""

    manifest_path: Path
    manifest: Manifest

    @property
    def path(self) -> Path:
        """The golden file."""
        return self.manifest_path.parent / self.manifest.file

    @property
    def oracle(self) -> Path:
        """The script that computes it."""
        return self.manifest_path.parent / self.manifest.oracle


def goldens(assignment: Assignment) -> list[Golden]:
    """Return the goldens of an assignment; raises `Unusable` if there are none, or a bad one."""
    paths = [assignment.course.root / name for name in assignment.settings.goldens]
    if not paths:
        raise Unusable(message("no-goldens", assignment=assignment.id))
    found = []
    for path in paths:
        try:
            manifest = Manifest.model_validate_json(path.read_text(encoding="utf-8"))
        except OSError as problem:
            why = problem.strerror
            raise Unusable(message("manifest-unreadable", path=path, why=why)) from None
        except ValidationError as problem:
            first = problem.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise Unusable(message("manifest-unreadable", path=path, why=why)) from None
        found.append(Golden(path, manifest))
    return found


def read(path: Path) -> dict[str, NDArray[Any]]:
    """Read a golden file; nothing in it is ever unpickled.

    Raises
    ------
    ValueError
        If it is no archive of arrays, is damaged, or an array would need unpickling.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no archive of arrays")
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, zlib.error, EOFError) as problem:
        raise ValueError(f"{path} is damaged: {problem}") from None


def torch_version() -> str | None:
    """Return the version of torch, or ``None`` where it is not installed."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return None


def compute(golden: Golden, target: Path) -> None:
    """Run the oracle, which writes ``target``; raises `Void` with its last line if it fails."""
    command = [sys.executable, str(golden.oracle), str(target)]
    command += ["--seed", str(golden.manifest.seed)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=ORACLE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"it took over {ORACLE_SECONDS} s"
        raise Void(message("oracle-failed", oracle=golden.oracle, why=why), "harness") from None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise Void(message("oracle-failed", oracle=golden.oracle, why=why), "harness")


def regenerate(golden: Golden) -> list[str]:
    """Compute the golden anew and put it and its manifest in place, each at once or not at all.

    Returns a line on each array that changed; a failed oracle leaves the old file.

    Raises
    ------
    Void
        If torch is missing, or the oracle fails.
    """
    installed = torch_version()
    if installed is None:
        raise Void(message("no-torch", what="regenerating"), "machine")
    with tempfile.TemporaryDirectory(prefix=".", dir=golden.path.parent) as folder:
        # Beside the old files, so that each new one takes its place at once.
        fresh, draft = Path(folder) / "fresh.npz", Path(folder) / "manifest.json"
        new = _computed(golden, fresh)
        update = {
            "torch": installed.partition("+")[0],
            "numpy": np.__version__,
            "sha256": _sha256(fresh),
            "arrays": len(new),
        }
        manifest = golden.manifest.model_copy(update=update)
        text = json.dumps(manifest.model_dump(), indent=2, ensure_ascii=False) + "\n"
        draft.write_text(text, encoding="utf-8")
        changed = differences(_read_if_whole(golden.path), new)
        fresh.replace(golden.path)
        draft.replace(golden.manifest_path)
    return changed


def _computed(golden: Golden, target: Path) -> dict[str, NDArray[Any]]:
    """Run the oracle and read what it wrote; raises `Void` if that is no golden file."""
    compute(golden, target)
    try:
        return read(target)
    except ValueError as problem:
        raise Void(message("oracle-failed", oracle=golden.oracle, why=problem), "harness") from None


def _read_if_whole(path: Path) -> dict[str, NDArray[Any]]:
    """Read the file that is to be replaced; a missing or damaged one holds nothing."""
    try:
        return read(path)
    except ValueError:
        return {}


def differences(old: Arrays, new: Arrays) -> list[str]:
    """Return a line on each array that appeared, vanished or changed, with how far."""
    lines = [f"new       {name}" for name in new if name not in old]
    lines += [f"gone      {name}" for name in old if name not in new]
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        if before.shape != after.shape or before.dtype != after.dtype:
            lines.append(f"changed   {name}: {_kind(before)} became {_kind(after)}")
        elif not np.array_equal(before, after, equal_nan=_is_float(before)):
            absolute = np.abs(after.astype(np.float64) - before.astype(np.float64))
            scale = np.maximum(np.abs(before.astype(np.float64)), np.finfo(np.float64).tiny)
            lines.append(
                f"changed   {name}: by at most {absolute.max():.3g},"
                f" relatively {(absolute / scale).max():.3g}"
            )
    return lines


def verify(assignment: Assignment, golden: Golden, sandbox: Sandbox) -> list[Check]:
    """Verify a committed golden: against its manifest, the reference, and torch where it is."""
    checks = [_matches_manifest(golden)]
    try:
        committed = read(golden.path)
    except ValueError as problem:
        return [*checks, Check("arrays", good=False, text=str(problem))]
    checks.append(_arrays(golden, committed))
    checks.append(_matches_reference(assignment, sandbox))
    if torch_version() is not None:
        checks.append(_matches_torch(golden, committed))
    return checks


def _matches_manifest(golden: Golden) -> Check:
    if not golden.path.is_file():
        return Check("file", good=False, text=f"{golden.path} is missing")
    found = _sha256(golden.path)
    if found == golden.manifest.sha256:
        return Check("file", good=True, text=f"{golden.manifest.file} has the manifest's sha256")
    text = f"sha256 {found[:12]}…, the manifest says {golden.manifest.sha256[:12]}…"
    return Check("file", good=False, text=f"{golden.path}: {text}: regenerate it")


def _arrays(golden: Golden, committed: Arrays) -> Check:
    bad = [
        name
        for name, array in committed.items()
        if _is_float(array) and not np.isfinite(array).all()
    ]
    count = len(committed)
    good = not bad and count == golden.manifest.arrays
    text = f"{count} of {golden.manifest.arrays} arrays"
    return Check("arrays", good, text + (f", not finite: {', '.join(bad)}" if bad else ""))


def _matches_reference(assignment: Assignment, sandbox: Sandbox) -> Check:
    results = run_course_tests(assignment, {"reference": assignment.source}, sandbox, 1)
    golden = [test for test in results["reference"] if test.kind == "golden"]
    failed = [test for test in golden if not test.passed]
    if golden and not failed:
        return Check("reference", good=True, text=f"agrees, by {len(golden)} golden tests")
    why = "; ".join(f"{t.name}: {t.failure.message if t.failure else t.result}" for t in failed)
    return Check("reference", good=False, text=why or "the course has no test marked golden")


def _matches_torch(golden: Golden, committed: Arrays) -> Check:
    with tempfile.TemporaryDirectory() as folder:
        try:
            regenerated = _computed(golden, Path(folder) / "regenerated.npz")
        except Void as problem:
            return Check("torch", good=False, text=str(problem))
    bad = outside(committed, regenerated, golden.manifest.tolerances)
    text = f"torch {torch_version()} computes the same within the tolerance"
    return Check("torch", not bad, "; ".join(bad) if bad else text)


def outside(
    committed: Arrays, regenerated: Arrays, tolerances: Mapping[str, Tolerance]
) -> list[str]:
    """Return a line on each array that differs by more than its type's tolerance."""
    if committed.keys() != regenerated.keys():
        odd = sorted(committed.keys() ^ regenerated.keys())
        return [f"not in both: {', '.join(odd)}"]
    return [
        line
        for name in sorted(committed)
        if (line := _outside(name, committed[name], regenerated[name], tolerances))
    ]


def _outside(
    name: str, old: NDArray[Any], new: NDArray[Any], tolerances: Mapping[str, Tolerance]
) -> str | None:
    if old.shape != new.shape or old.dtype != new.dtype:
        return f"{name}: {_kind(old)} became {_kind(new)}"
    tolerance = tolerances.get(str(old.dtype), Tolerance(rtol=0, atol=0, reason="exact"))
    if np.allclose(new, old, rtol=tolerance.rtol, atol=tolerance.atol):
        return None
    return f"{name}: differs by {np.abs(new - old).max():.3g}"


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _is_float(array: NDArray[Any]) -> bool:
    return np.issubdtype(array.dtype, np.floating)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
