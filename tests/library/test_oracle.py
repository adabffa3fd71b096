"""The golden file of L3.4: complete, as its manifest says, and what torch computes today."""

import hashlib
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "L3.4"
MANIFEST = json.loads((FIXTURES / "manifest.json").read_text(encoding="utf-8"))
GOLDEN = FIXTURES / MANIFEST["file"]

CASES = {"equal_lengths", "mixed_lengths", "one_sequence", "one_step"}
WEIGHTS = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}
PARAMETERS = WEIGHTS | {f"{name}_reverse" for name in WEIGHTS}
NAMES = PARAMETERS | {f"grad_{name}" for name in PARAMETERS | {"x"}}
NAMES |= {"x", "lengths", "output", "upstream"}


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def _write(path: Path, seed: int = MANIFEST["seed"]) -> bytes:
    command = [sys.executable, FIXTURES / MANIFEST["oracle"], path, "--seed", str(seed)]
    subprocess.run(command, check=True, timeout=120)
    return path.read_bytes()


def test_the_golden_file_is_the_one_that_the_manifest_names() -> None:
    """Byte for byte."""
    assert hashlib.sha256(GOLDEN.read_bytes()).hexdigest() == MANIFEST["sha256"]


def test_the_golden_file_holds_every_array_of_every_case() -> None:
    """Both cells, four cases, two types: inputs, parameters, outputs and all gradients."""
    arrays = _arrays(GOLDEN)
    groups = product(("gru", "lstm"), CASES, ("float32", "float64"), NAMES)
    assert arrays.keys() == {"/".join(group) for group in groups}
    assert len(arrays) == MANIFEST["arrays"]
    for key, array in arrays.items():
        _, _, dtype, name = key.split("/")
        assert array.dtype == ("int64" if name == "lengths" else dtype)
        assert np.isfinite(array).all()


def test_the_cases_are_what_their_names_say() -> None:
    """With padding that isn't zero wherever there is any."""
    arrays = _arrays(GOLDEN)
    for key in (key.removesuffix("/lengths") for key in arrays if key.endswith("/lengths")):
        lengths, x = arrays[f"{key}/lengths"], arrays[f"{key}/x"]
        promises = {
            "equal_lengths": bool((lengths == len(x)).all()),
            "mixed_lengths": 1 in lengths and len(set(lengths.tolist())) == len(lengths) > 1,
            "one_sequence": len(lengths) == 1,
            "one_step": len(x) == 1,
        }
        assert promises[key.split("/")[1]]
        padding = np.arange(len(x))[:, None] >= lengths
        assert np.all(x[padding] != 0)
        assert not arrays[f"{key}/output"][padding].any()
        assert not arrays[f"{key}/grad_x"][padding].any()


@pytest.mark.torch
def test_the_oracle_writes_the_same_bytes_twice_and_agrees_with_the_golden_file(
    tmp_path: Path,
) -> None:
    """Within the manifest's tolerances; inputs, which torch doesn't compute, exactly."""
    first, second = _write(tmp_path / "first.npz"), _write(tmp_path / "second.npz")
    assert first == second

    golden, regenerated = _arrays(GOLDEN), _arrays(tmp_path / "first.npz")
    assert golden.keys() == regenerated.keys()
    for key, expected in golden.items():
        _, _, dtype, name = key.split("/")
        if name.startswith("grad_") or name == "output":
            bounds = {bound: MANIFEST["tolerances"][dtype][bound] for bound in ("rtol", "atol")}
        else:
            bounds = {"rtol": 0, "atol": 0}
        np.testing.assert_allclose(regenerated[key], expected, **bounds, err_msg=key)


@pytest.mark.torch
def test_another_seed_gives_other_goldens(tmp_path: Path) -> None:
    """The file depends on the seed that its manifest names."""
    _write(tmp_path / "other.npz", seed=MANIFEST["seed"] + 1)
    golden, other = _arrays(GOLDEN), _arrays(tmp_path / "other.npz")
    assert not np.array_equal(golden["gru/one_step/float64/x"], other["gru/one_step/float64/x"])
