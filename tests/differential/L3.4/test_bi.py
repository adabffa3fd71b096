"""The bidirectional layer beside another text of it, input by input; a failure names the input.

What the contract leaves open is not tried: a batch without sequences or steps, mixed bools.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import oracle
import pytest
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module
from tinyllm.rnn import bi
from tinyllm.rnn.gru import GRU
from tinyllm.rnn.lstm import LSTM

Array = NDArray[Any]
Facts = Mapping[str, Any]

# What went through a module may differ by this much, by the contract; what was moved, not at all.
TOLERANCE = {"float32": {"rtol": 1e-4, "atol": 1e-5}, "float64": {"rtol": 1e-10, "atol": 1e-12}}
KINDS_OF_LENGTHS = ["none", "mixed", "all T", "all 1"]
CONTAINERS = [list, tuple, np.array, np.int32, np.uint8]


class RunningSum(Module):
    """Sums the features of the steps so far, in `width` columns; 0 past each length."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor, lengths: Any = None) -> tuple[Tensor, Tensor]:
        if not isinstance(x, Tensor):
            raise TypeError(x)
        steps, sequences, features = x.shape
        ends = np.full(sequences, steps) if lengths is None else np.asarray(lengths)
        real = (np.arange(steps)[:, None] < ends)[..., None]
        sums = np.cumsum(x.numpy().sum(axis=-1, keepdims=True), axis=0)
        values = np.where(real, sums, 0).repeat(self.width, axis=-1)

        def backward(grad: Array) -> list[Array]:
            arrived = np.where(real, grad, 0).sum(axis=-1, keepdims=True)
            return [np.cumsum(arrived[::-1], axis=0)[::-1].repeat(features, axis=-1)]

        return Tensor.from_op(values, [x], backward), Tensor(sums[-1])


def _seen(work: Callable[[ModuleType], Facts], module: ModuleType) -> Facts:
    """Return what some work with one of the two modules gives, or the kind of its exception."""
    try:
        return work(module)
    except ValueError:
        return {"raised": "ValueError"}  # or a subclass: which one is left open
    except Exception as problem:  # noqa: BLE001 - which one is what is compared
        return {"raised": type(problem).__name__}


def _agree(
    text: str, work: Callable[[ModuleType], Facts], tolerance: Mapping[str, float] | None = None
) -> None:
    """Fail where the two modules differ, with `text` to name the input."""
    mine, theirs = _seen(work, bi), _seen(work, oracle)
    if "raised" in mine or "raised" in theirs:
        here, there = mine.get("raised", "no error"), theirs.get("raised", "no error")
        if here != there:
            raise AssertionError(f"{here} in place of {there}: {text}")
        return
    for name in theirs:
        why = _difference(mine[name], theirs[name], tolerance or {"rtol": 0, "atol": 0})
        if why:
            raise AssertionError(f"{name} {why}: {text}")


def _difference(here: Any, there: Any, tolerance: Mapping[str, float]) -> str:
    if not (isinstance(here, np.ndarray) and isinstance(there, np.ndarray)):
        same = type(here) is type(there) and here == there
        return "" if same else f"is {_short(here)}, not {_short(there)}"
    for name in ("shape", "dtype"):
        if getattr(here, name) != getattr(there, name):
            return f"has the {name} {getattr(here, name)}, not {getattr(there, name)}"
    wrong = np.argwhere(~np.isclose(here, there, equal_nan=True, **tolerance))
    if not len(wrong):
        return ""
    at = tuple(wrong[0].tolist())
    return f"at {list(at)} is {here[at]:.6g}, not {there[at]:.6g}"


def _short(value: object) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else str(value)


def _result(value: Any) -> dict[str, Any]:
    """Return a result's facts: its kind, and its numbers."""
    values = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    return {"the kind of the result": type(value).__name__, "the result": values}


def _lengths(kind: str, steps: int, sequences: int, seed: int) -> Any:
    """Return good lengths of a kind, in some container."""
    rng = np.random.default_rng(seed)
    if kind == "none":
        return None
    lows, highs = {"mixed": (1, steps), "all T": (steps, steps), "all 1": (1, 1)}[kind]
    lengths = rng.integers(lows, highs + 1, sequences).tolist()
    container = CONTAINERS[rng.integers(len(CONTAINERS))]
    if container in (list, tuple, np.array):
        return container(lengths)
    return np.array(lengths, dtype=container)


def _sizes(seed: int) -> tuple[int, int]:
    """Return steps and sequences; every fourth batch has one step, every fifth one sequence."""
    steps, sequences = np.random.default_rng(seed).integers(2, [7, 5]).tolist()
    return 1 if seed % 4 == 3 else steps, 1 if seed % 5 == 4 else sequences


@pytest.mark.parametrize("kind", KINDS_OF_LENGTHS[1:])
@pytest.mark.parametrize("seed", range(10))
def test_the_index_is_the_same(seed: int, kind: str) -> None:
    """In its type too."""
    steps, sequences = _sizes(seed)
    lengths = _lengths(kind, steps, sequences, seed)
    text = f"reversal_index({lengths!r}, {steps})"
    _agree(text, lambda module: _result(module.reversal_index(lengths, steps)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("kind", KINDS_OF_LENGTHS)
@pytest.mark.parametrize("seed", range(5))
def test_the_reversal_is_the_same(seed: int, kind: str, dtype: str) -> None:
    """Of arrays, which stay as they were, and of tensors, with the gradient."""
    steps, sequences = _sizes(seed)
    features = [(), (2,), (0,), (2, 3), (1,)][seed]
    lengths = _lengths(kind, steps, sequences, seed)
    shape = (steps, sequences, *features)
    size = int(np.prod(shape))
    x = np.random.default_rng(seed).permutation(size).reshape(shape).astype(dtype)
    upstream = np.arange(size, dtype=dtype).reshape(shape)

    def work(module: ModuleType) -> Facts:
        before, leaf = x.copy(), Tensor(x.copy(), requires_grad=dtype != "int64")
        facts = _result(module.reverse_padded(before, lengths))
        moved = module.reverse_padded(leaf, lengths)
        facts |= {f"{name} on a Tensor": value for name, value in _result(moved).items()}
        if leaf.requires_grad:
            moved.backward(upstream)
        return {**facts, "x afterwards": before, "the gradient": leaf.grad}

    drawn = f"np.random.default_rng({seed}).permutation({size}).reshape({shape})"
    _agree(f"reverse_padded(x, {lengths!r}), x = {drawn} as {dtype}", work)


def _layers(cell: str, dtype: str, seed: int) -> tuple[Module, Module]:
    """Return two modules of 2 and 3 outputs for batches of 2 features, the same for each seed."""
    if cell == "running sum":
        return RunningSum(2), RunningSum(3)
    make = {"GRU": GRU, "LSTM": LSTM}[cell]
    rng = np.random.default_rng(seed)
    fwd, bwd = (make(2, size, rng=rng, dtype=np.dtype(dtype)) for size in (2, 3))
    return fwd, bwd


@pytest.mark.parametrize("cell", ["running sum", "GRU", "LSTM"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS_OF_LENGTHS)
@pytest.mark.parametrize("seed", range(4))
def test_the_layer_is_the_same(seed: int, kind: str, dtype: str, cell: str) -> None:
    """Its output, and the gradients of the batch and of every parameter."""
    steps, sequences = _sizes(seed)
    lengths = _lengths(kind, steps, sequences, seed)
    rng, shape = np.random.default_rng(seed), (steps, sequences, 2)
    x = rng.normal(size=shape).astype(dtype)
    upstream = rng.normal(size=(steps, sequences, 5)).astype(dtype)
    batch = ["leaf", "array", "tensor", "leaf"][seed]

    def work(module: ModuleType) -> Facts:
        fwd, bwd = _layers(cell, dtype, seed)
        leaf = Tensor(x.copy(), requires_grad=batch == "leaf")
        given = (x.copy(),) if batch == "array" else (leaf,)
        optional = {} if lengths is None and seed % 2 else {"lengths": lengths}
        out = module.bidirectional(fwd, bwd, *given, **optional)
        parameters = [*fwd.named_parameters(), *bwd.named_parameters()]
        if leaf.requires_grad or parameters:
            out.backward(upstream)
        facts = {**_result(out), "the gradient of x": leaf.grad}
        for number, (name, parameter) in enumerate(parameters):
            half = "fwd" if number < len(parameters) / 2 else "bwd"
            facts[f"the gradient of {half}.{name}"] = parameter.grad
        return facts

    modules = (
        "RunningSum(2), RunningSum(3)" if cell == "running sum" else f"{cell}(2, 2), {cell}(2, 3)"
    )
    given = {"leaf": "a Tensor that requires its gradient", "tensor": "a Tensor"}.get(
        batch, "an array"
    )
    text = (
        f"bidirectional({modules}, x, lengths={lengths!r}), x {given} of"
        f" np.random.default_rng({seed}).normal(size={shape}) as {dtype},"
        f" parameters drawn with rng=np.random.default_rng({seed})"
    )
    _agree(text, work, TOLERANCE[dtype])


BAD_LENGTHS: dict[str, Any] = {
    "zero": [3, 0],
    "negative": [-1, 3],
    "over T": [4, 2],
    "far over T": [1, 2**40],
    "floats": [3.0, 2.0],
    "one float": [3, 1.5],
    "array of floats": np.array([3.0, 2.0]),
    "bools": [True, True],
    "text": ["3", "2"],
    "a number": 2,
    "a table": [[3, 2]],
    "a column": np.array([[3], [2]]),
}
WRONG_COUNTS: dict[str, Any] = {"none": [], "too few": [2], "too many": [3, 2, 1], "floats": [2.0]}


def _ways_in(x: Array, lengths: Any) -> dict[str, Callable[[ModuleType], Any]]:
    fwd, bwd = RunningSum(2), RunningSum(3)
    return {
        "reverse_padded(array)": lambda module: module.reverse_padded(x, lengths),
        "reverse_padded(Tensor)": lambda module: module.reverse_padded(Tensor(x), lengths),
        "bidirectional(array)": lambda module: module.bidirectional(fwd, bwd, x, lengths),
        "bidirectional(Tensor)": lambda module: module.bidirectional(fwd, bwd, Tensor(x), lengths),
    }


WAYS_IN = list(_ways_in(np.ones(1), None))


@pytest.mark.parametrize("lengths", BAD_LENGTHS)
def test_bad_lengths_end_alike_in_an_index(lengths: str) -> None:
    """In the same kind of exception."""
    bad = BAD_LENGTHS[lengths]
    _agree(f"reversal_index({bad!r}, 3)", lambda module: _result(module.reversal_index(bad, 3)))


@pytest.mark.parametrize("way", WAYS_IN)
@pytest.mark.parametrize("lengths", [*BAD_LENGTHS, *(f"{name} counts" for name in WRONG_COUNTS)])
def test_bad_lengths_end_alike_with_a_batch(lengths: str, way: str) -> None:
    """In the same kind of exception, whatever the modules check."""
    bad = (BAD_LENGTHS | {f"{name} counts": one for name, one in WRONG_COUNTS.items()})[lengths]
    act = _ways_in(np.arange(12.0).reshape(3, 2, 2), bad)[way]
    text = f"{way} of shape (3, 2, 2), lengths={bad!r}"
    _agree(text, lambda module: _result(act(module)))


@pytest.mark.parametrize("way", WAYS_IN)
@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("lengths", [None, [1], [1, 1, 1], []])
def test_fewer_than_two_dimensions_end_alike(
    lengths: list[int] | None, shape: tuple[int, ...], way: str
) -> None:
    """With lengths and without."""
    act = _ways_in(np.ones(shape), lengths)[way]
    text = f"{way} of shape {shape}, lengths={lengths!r}"
    _agree(text, lambda module: _result(act(module)))
