"""Goldens: regenerated at once or not at all, and verified whether there is torch or not."""

import hashlib
import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.course import Assignment, Limits
from grader.instructor import fixtures
from grader.instructor.fixtures import (
    Golden,
    Manifest,
    Tolerance,
    differences,
    goldens,
    outside,
    read,
    regenerate,
    verify,
)
from grader.problems import Unusable, Void
from grader.sandbox.process import ProcessSandbox

Arrays = dict[str, NDArray[Any]]
ORACLE = """\
import sys
import numpy as np
rng = np.random.default_rng(int(sys.argv[3]))
np.savez(sys.argv[1], a=rng.normal(size=3), n=np.arange(2))
"""
TOLERANCES = {"float64": Tolerance(rtol=1e-6, atol=0, reason="as an example")}


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a machine without torch."""
    monkeypatch.setattr(fixtures, "torch_version", lambda: None)


@pytest.fixture
def some_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a machine with a torch that no oracle here imports."""
    monkeypatch.setattr(fixtures, "torch_version", lambda: "2.14.1+cpu")


@pytest.fixture
def small(tmp_path: Path) -> Golden:
    """Return a golden whose oracle needs nothing but numpy; its file isn't made yet."""
    (tmp_path / "oracle.py").write_text(ORACLE, encoding="utf-8")
    manifest = Manifest(
        file="small.npz",
        oracle="oracle.py",
        seed=3,
        torch="0",
        numpy="0",
        sha256="0",
        arrays=0,
        tolerances=TOLERANCES,
    )
    path = tmp_path / "manifest.json"
    path.write_text(manifest.model_dump_json(), encoding="utf-8")
    return Golden(path, manifest)


def _verified(assignment: Assignment) -> dict[str, fixtures.Check]:
    """Return what a verification says, by subject."""
    (golden,) = goldens(assignment)
    return {check.subject: check for check in verify(assignment, golden, ProcessSandbox(Limits()))}


def _rewrite(assignment: Assignment, change: Callable[[Arrays], None]) -> None:
    """Change the golden file, and its manifest with it, so that the two agree."""
    (golden,) = goldens(assignment)
    arrays = read(golden.path)
    change(arrays)
    np.savez(golden.path, **arrays)
    sha256 = hashlib.sha256(golden.path.read_bytes()).hexdigest()
    manifest = {**golden.manifest.model_dump(), "sha256": sha256, "arrays": len(arrays)}
    golden.manifest_path.write_text(json.dumps(manifest), encoding="utf-8")


def _tamper(arrays: Arrays) -> None:
    arrays["gru/mixed_lengths/float64/output"][0, 0, 0] += 1e-6


# --- verification --------------------------------------------------------------------------


@pytest.mark.usefixtures("no_torch")
def test_the_committed_goldens_are_verified_without_torch(flagship: Assignment) -> None:
    """Against the manifest and the reference."""
    found = _verified(flagship)
    assert list(found) == ["file", "arrays", "reference"]
    assert all(check.good for check in found.values())


@pytest.mark.torch
def test_the_committed_goldens_are_what_torch_computes(flagship: Assignment) -> None:
    """Within the manifest's tolerance."""
    found = _verified(flagship)
    assert list(found) == ["file", "arrays", "reference", "torch"]
    assert all(check.good for check in found.values())
    assert "within the tolerance" in found["torch"].text


@pytest.mark.usefixtures("no_torch")
def test_one_value_that_was_tampered_with_is_found_by_the_reference(flagship: Assignment) -> None:
    """Though the manifest was changed along with it."""
    _rewrite(flagship, _tamper)
    found = _verified(flagship)
    assert {name: check.good for name, check in found.items()} == {
        "file": True,
        "arrays": True,
        "reference": False,
    }
    assert "test_matches_torch_bidirectional[gru-mixed_lengths-float64]" in found["reference"].text


@pytest.mark.torch
def test_one_value_that_was_tampered_with_is_found_by_torch(flagship: Assignment) -> None:
    """By name, with how far it is off."""
    _rewrite(flagship, _tamper)
    found = _verified(flagship)
    assert not found["torch"].good
    assert found["torch"].text == "gru/mixed_lengths/float64/output: differs by 1e-06"


@pytest.mark.usefixtures("no_torch")
def test_a_file_that_isnt_the_manifests_is_found(flagship: Assignment) -> None:
    """Even where its arrays are the same."""
    (golden,) = goldens(flagship)
    with golden.path.open("ab") as file:
        file.write(b"\0")
    found = _verified(flagship)
    assert not found["file"].good
    assert "regenerate it" in found["file"].text


def _drop(arrays: Arrays) -> None:
    arrays.pop("lstm/one_step/float32/x")


def _break(arrays: Arrays) -> None:
    arrays["lstm/one_step/float32/x"][0] = np.nan


@pytest.mark.usefixtures("no_torch")
def test_arrays_that_are_missing_or_not_finite_are_found(flagship: Assignment) -> None:
    """By name."""
    _rewrite(flagship, _break)
    found = _verified(flagship)["arrays"]
    assert (found.good, found.text) == (
        False,
        "336 of 336 arrays, not finite: lstm/one_step/float32/x",
    )
    (golden,) = goldens(flagship)
    arrays = read(golden.path)
    _drop(arrays)
    np.savez(golden.path, **arrays)
    found = _verified(flagship)["arrays"]
    assert not found.good
    assert found.text.startswith("335 of 336 arrays")


@pytest.mark.usefixtures("no_torch")
def test_a_missing_golden_is_found(flagship: Assignment) -> None:
    """And nothing is run."""
    (golden,) = goldens(flagship)
    golden.path.unlink()
    found = _verified(flagship)
    assert list(found) == ["file", "arrays"]
    assert found["file"].text == f"{golden.path} is missing"
    assert not any(check.good for check in found.values())


@pytest.mark.usefixtures("no_torch")
def test_goldens_that_no_test_reads_are_not_verified(flagship: Assignment) -> None:
    """A mark went astray."""
    (path,) = flagship.tests_path.glob("test_*.py")
    text = path.read_text(encoding="utf-8").replace("pytest.mark.golden", "pytest.mark.unit")
    path.write_text(text, encoding="utf-8")
    found = _verified(flagship)["reference"]
    assert (found.good, found.text) == (False, "the course has no test marked golden")


@pytest.mark.usefixtures("some_torch")
def test_an_oracle_that_fails_is_no_agreement(flagship: Assignment) -> None:
    """Whatever the rest says."""
    (golden,) = goldens(flagship)
    golden.oracle.write_text("raise SystemExit('no luck')", encoding="utf-8")
    found = _verified(flagship)
    assert found["reference"].good
    assert not found["torch"].good
    assert "no luck" in found["torch"].text


# --- regeneration --------------------------------------------------------------------------


@pytest.mark.torch
def test_regenerating_the_committed_goldens_changes_no_byte(flagship: Assignment) -> None:
    """Neither of the file nor of its manifest."""
    (golden,) = goldens(flagship)
    before = golden.path.read_bytes(), golden.manifest_path.read_bytes()
    assert regenerate(golden) == []
    assert (golden.path.read_bytes(), golden.manifest_path.read_bytes()) == before


@pytest.mark.usefixtures("some_torch")
def test_regenerating_writes_file_and_manifest(small: Golden) -> None:
    """With what made them; and a second time the same bytes."""
    assert regenerate(small) == ["new       a", "new       n"]
    first = small.path.read_bytes()
    manifest = json.loads(small.manifest_path.read_text(encoding="utf-8"))
    assert manifest["sha256"] == hashlib.sha256(first).hexdigest()
    assert manifest["arrays"] == 2
    assert manifest["torch"] == "2.14.1"
    assert manifest["numpy"] == np.__version__
    assert manifest["seed"] == 3

    assert regenerate(small) == []
    assert small.path.read_bytes() == first
    assert _files(small) == {"manifest.json", "oracle.py", "small.npz"}


def _files(golden: Golden) -> set[str]:
    return {path.name for path in golden.path.parent.iterdir()}


@pytest.mark.usefixtures("some_torch")
def test_regenerating_says_what_changed(small: Golden) -> None:
    """Array by array."""
    np.savez(small.path, a=np.zeros(3), n=np.arange(3), gone=np.ones(1))
    first, second, third = regenerate(small)
    assert first == "gone      gone"
    assert second.startswith("changed   a: by at most 2.5")
    assert third == "changed   n: int64[3] became int64[2]"


@pytest.mark.usefixtures("some_torch")
@pytest.mark.parametrize(
    ("oracle", "why"),
    [
        ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
        ("import sys; sys.exit(3)", "it said nothing"),
        ("import time; time.sleep(60)", "it took over 1 s"),
        ("import sys; open(sys.argv[1], 'w').write('junk')", "is no archive of arrays"),
        ("", "is no archive of arrays"),
        (
            "import sys, numpy as np; np.savez(sys.argv[1], a=np.array([{}], dtype=object))",
            "allow_pickle=False",
        ),
    ],
)
def test_an_oracle_that_fails_leaves_the_old_file(
    oracle: str, why: str, small: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its manifest, and nothing else."""
    regenerate(small)
    before = {path: path.read_bytes() for path in (small.path, small.manifest_path)}
    small.oracle.write_text(oracle, encoding="utf-8")
    monkeypatch.setattr(fixtures, "ORACLE_SECONDS", 1 if "sleep" in oracle else 60)
    with pytest.raises(Void) as caught:
        regenerate(small)
    assert caught.value.fault == "harness"
    assert "oracle.py failed, so the old file stays: " in str(caught.value)
    assert why in str(caught.value)
    assert {path: path.read_bytes() for path in before} == before
    assert _files(small) == {"manifest.json", "oracle.py", "small.npz"}


@pytest.mark.usefixtures("some_torch")
def test_a_damaged_file_is_regenerated(small: Golden) -> None:
    """As if there were none."""
    regenerate(small)
    good = small.path.read_bytes()
    small.path.write_bytes(good[: len(good) // 2])
    assert regenerate(small) == ["new       a", "new       n"]
    assert small.path.read_bytes() == good


@pytest.mark.usefixtures("no_torch")
def test_without_torch_nothing_is_regenerated(small: Golden) -> None:
    """And the oracle isn't tried."""
    with pytest.raises(Void, match="needs torch") as caught:
        regenerate(small)
    assert caught.value.fault == "machine"
    assert not small.path.exists()


# --- reading -------------------------------------------------------------------------------


class _Trap:
    """Sets itself off when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return exec, ("raise SystemExit('unpickled')",)


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    """An object array is refused, unread."""
    path = tmp_path / "trap.npz"
    np.savez(path, trap=np.array([_Trap()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read(path)
    path.write_bytes(pickle.dumps(_Trap()))
    with pytest.raises(ValueError, match="no archive of arrays"):
        read(path)


@pytest.mark.parametrize("kept", [0, 10, -30])
def test_a_damaged_file_is_refused(kept: int, tmp_path: Path) -> None:
    """Cut off anywhere."""
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(1000))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"archive|damaged"):
        read(path)


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    """The archive's own checksum is heeded."""
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(1000))
    content = bytearray(path.read_bytes())
    content[2000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged: Bad CRC-32"):
        read(path)


def test_one_array_alone_is_no_archive(tmp_path: Path) -> None:
    """Whatever its name."""
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match="no archive of arrays"):
        read(tmp_path / "a.npz")


# --- comparison ----------------------------------------------------------------------------


def test_arrays_are_compared_within_their_types_tolerance() -> None:
    """And exactly where the manifest names none."""
    old: Arrays = {"x": np.array([1.0, 2.0]), "n": np.array([1, 2])}
    near: Arrays = {**old, "x": old["x"] * (1 + 5e-7)}
    assert outside(old, near, TOLERANCES) == []
    assert outside(old, near, {}) == ["x: differs by 1e-06"]
    far: Arrays = {"x": old["x"] + [0, 1], "n": old["n"] + 1}
    assert outside(old, far, TOLERANCES) == ["n: differs by 1", "x: differs by 1"]


@pytest.mark.parametrize(
    ("new", "line"),
    [
        ({"x": np.ones(3)}, "x: float64[2] became float64[3]"),
        ({"x": np.ones(2, dtype=np.float32)}, "x: float64[2] became float32[2]"),
        ({"x": np.array([1.0, np.nan])}, "x: differs by nan"),
        ({"x": np.ones(2), "y": np.ones(1)}, "not in both: y"),
        ({}, "not in both: x"),
    ],
)
def test_what_cant_be_compared_differs(new: Mapping[str, NDArray[Any]], line: str) -> None:
    """In shape, type or name; and what isn't a number is near to nothing."""
    assert outside({"x": np.ones(2)}, new, TOLERANCES) == [line]


def test_differences_say_how_far() -> None:
    """Absolutely and relatively; equal arrays say nothing, not even with NaN."""
    old: Arrays = {"a": np.array([1.0, 4.0]), "b": np.array([np.nan, 1.0]), "c": np.zeros(1)}
    new: Arrays = {"a": np.array([1.0, 5.0]), "b": old["b"].copy(), "d": np.zeros(1)}
    assert differences(old, new) == [
        "new       d",
        "gone      c",
        "changed   a: by at most 1, relatively 0.25",
    ]


# --- manifests -----------------------------------------------------------------------------


def test_a_manifest_that_makes_no_sense_is_refused_by_name(flagship: Assignment) -> None:
    """With the key."""
    (golden,) = goldens(flagship)
    whole = golden.manifest.model_dump()
    spoiled: list[tuple[dict[str, Any], str]] = [
        ({**whole, "extra": 1}, "extra"),
        ({key: value for key, value in whole.items() if key != "seed"}, "seed"),
        ({**whole, "tolerances": {"float32": {"rtol": 0, "atol": 0}}}, "tolerances.float32.reason"),
        (
            {**whole, "tolerances": {"f": {"rtol": -1, "atol": 0, "reason": "x"}}},
            "tolerances.f.rtol",
        ),
    ]
    for manifest, key in spoiled:
        golden.manifest_path.write_text(json.dumps(manifest), encoding="utf-8")
        with pytest.raises(Unusable, match=key) as caught:
            goldens(flagship)
        assert str(golden.manifest_path) in str(caught.value)


def test_an_assignment_without_goldens_says_so(flagship: Assignment) -> None:
    """By its id."""
    with pytest.raises(Unusable, match=r"L3\.2 has no goldens"):
        goldens(flagship.course.assignment("L3.2"))
