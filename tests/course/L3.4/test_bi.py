"""What every implementation of the length-aware bidirectional layer keeps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU
from tinyllm.rnn.lstm import LSTM

GOLDEN = Path(__file__).resolve().parents[3] / "fixtures" / "L3.4" / "bi_torch.npz"
CASES = ["equal_lengths", "mixed_lengths", "one_sequence", "one_step"]
TOLERANCE = {"float32": {"rtol": 1e-4, "atol": 1e-5}, "float64": {"rtol": 1e-10, "atol": 1e-12}}
CELLS = {"gru": (GRU, 3), "lstm": (LSTM, 4)}
PARAMETERS = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]

Array = NDArray[Any]
Lengths = list[int] | tuple[int, ...] | Array
Run = tuple[Tensor, Tensor]

few_examples = settings(max_examples=50, deadline=None, database=None)


class _RunningSum(Module):
    """A module to follow by hand: each output is the sum of the inputs so far, 0 in the padding."""

    def __call__(self, x: Tensor, lengths: Lengths | None = None) -> tuple[Tensor, Tensor]:
        return self.forward(x, lengths=lengths)

    def forward(self, x: Tensor, lengths: Lengths | None = None) -> tuple[Tensor, Tensor]:
        values = _array(x)
        steps = np.arange(len(values))[:, None, None]
        ends = np.full(values.shape[1], len(values)) if lengths is None else np.asarray(lengths)
        real = steps < ends[:, None]
        sums = np.cumsum(np.where(real, values, 0), axis=0)
        return Tensor(np.where(real, sums, 0)), Tensor(sums[-1])


def _array(value: Tensor | Array) -> Array:
    """Return a Tensor's or an array's numbers."""
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def _close(actual: Tensor | Array, expected: Tensor | Array, dtype: str = "float64") -> None:
    np.testing.assert_allclose(_array(actual), _array(expected), **TOLERANCE[dtype])


def _same(actual: Tensor | Array, expected: Tensor | Array) -> None:
    actual, expected = _array(actual), _array(expected)
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def _recurrent(cell: str, inputs: int, hidden: int, rng: np.random.Generator) -> Module:
    """Return a module of float64 with random weights."""
    make, gates = CELLS[cell]
    module = make(inputs, hidden, dtype=np.float64)
    shapes = [(gates * hidden, inputs), (gates * hidden, hidden), (gates * hidden,)]
    shapes.append(shapes[-1])
    draws = {name: rng.normal(size=s) / 2 for name, s in zip(PARAMETERS, shapes, strict=True)}
    module.load_state_dict(draws)
    return module


def _alone(fwd: Module, bwd: Module, x: Array, length: int) -> tuple[Run, Run]:
    """Run both modules over one sequence `x` [length, D], unpadded; return it and the halves."""
    sequence = Tensor(x[:length, None].copy(), requires_grad=True)
    backwards = Tensor(x[:length, None][::-1].copy(), requires_grad=True)
    return (sequence, fwd(sequence)[0]), (backwards, bwd(backwards)[0])


@st.composite
def _padded_batches(draw: st.DrawFn) -> tuple[Array, list[int], Lengths]:
    """Draw a batch [T, B, ...] in which no two values are equal, and good lengths of some kind."""
    steps = draw(st.integers(1, 7))
    lengths = draw(st.lists(st.integers(1, steps), min_size=1, max_size=5))
    features = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = (steps, len(lengths), *features)
    x = np.arange(np.prod(shape), dtype=dtype).reshape(shape) + 1
    kind = draw(st.sampled_from([list, tuple, np.array, np.int32]))
    return x, lengths, np.array(lengths, kind) if kind is np.int32 else kind(lengths)


@pytest.mark.unit
def test_hand_example_reversal() -> None:
    """Lengths 3, 1 and 2: each word is reversed, what pads it stays."""
    index = reversal_index([3, 1, 2], 3)
    assert index.dtype == np.int64
    _same(index, np.array([[2, 0, 1], [1, 1, 0], [0, 2, 2]]))

    # Digits are padding; all differ, so that any that moves shows.
    words = ["abc", "d12", "ef3"]
    batch = np.array([[ord(letter) for letter in word] for word in words], dtype=np.float64).T
    for x in (batch, batch[..., None], Tensor(batch), Tensor(batch[..., None])):
        reversed_ = reverse_padded(x, [3, 1, 2])
        assert isinstance(reversed_, Tensor if isinstance(x, Tensor) else np.ndarray)
        columns = _array(reversed_).reshape(3, 3).T.astype(int)
        assert ["".join(map(chr, column)) for column in columns] == ["cba", "d12", "fe3"]


@pytest.mark.unit
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_hand_example_running_sums(kind: Callable[[list[int]], Lengths]) -> None:
    """Prefix sums, then suffix sums, and 99 in the padding never enters."""
    x = np.array([[1.0, 4.0], [2.0, 99.0], [3.0, 99.0]])[..., None]
    out = bidirectional(_RunningSum(), _RunningSum(), Tensor(x), kind([3, 1]))
    assert isinstance(out, Tensor)
    _same(out, np.array([[[1.0, 6], [4, 4]], [[3, 5], [0, 0]], [[6, 3], [0, 0]]]))


@pytest.mark.property
@few_examples
@given(_padded_batches())
def test_reversal_is_an_involution_that_keeps_padding(
    batch: tuple[Array, list[int], Lengths],
) -> None:
    """Each sequence is mirrored, padding fixed, and gradients take the same way back."""
    x, lengths, given_lengths = batch
    untouched = x.copy()
    expected = x.copy()
    for b, length in enumerate(lengths):
        expected[:length, b] = x[:length, b][::-1]

    once = reverse_padded(x, given_lengths)
    assert isinstance(once, np.ndarray)
    assert once.dtype == x.dtype
    _same(once, expected)
    _same(reverse_padded(once, given_lengths), untouched)
    _same(x, untouched)

    leaf = Tensor(x, requires_grad=True)
    moved = reverse_padded(leaf, given_lengths)
    assert isinstance(moved, Tensor)
    _same(moved, expected)
    _same(reverse_padded(moved, given_lengths), untouched)
    # With x as upstream, each gradient must arrive where its value came from.
    moved.backward(x.copy())
    _same(leaf.grad, expected)


@pytest.mark.unit
def test_no_lengths_is_a_plain_flip() -> None:
    """Where nothing is padded, reversal is x[::-1]."""
    x = np.arange(24.0).reshape(4, 3, 2)
    for batch in (x, x[..., 0], x.astype(np.float32)):
        _same(reverse_padded(batch, None), batch[::-1])
    leaf = Tensor(x, requires_grad=True)
    flipped = reverse_padded(leaf, None)
    assert isinstance(flipped, Tensor)
    _same(flipped, x[::-1])
    flipped.backward(x * 2)
    _same(leaf.grad, x[::-1] * 2)

    prefixes, suffixes = np.cumsum(x, axis=0), np.cumsum(x[::-1], axis=0)[::-1]
    both = np.concatenate([prefixes, suffixes], axis=-1)
    _same(bidirectional(_RunningSum(), _RunningSum(), Tensor(x)), both)
    _same(bidirectional(_RunningSum(), _RunningSum(), Tensor(x), [4, 4, 4]), both)


@pytest.mark.golden
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_matches_torch_bidirectional(cell: str, case: str, dtype: str) -> None:
    """Outputs and every gradient are those that torch computed over packed batches."""
    prefix = f"{cell}/{case}/{dtype}/"
    with np.load(GOLDEN, allow_pickle=False) as file:
        golden = {key[len(prefix) :]: file[key] for key in file.files if key.startswith(prefix)}
    make, _ = CELLS[cell]
    modules = {}
    for suffix in ("", "_reverse"):
        inputs, hidden = golden["x"].shape[-1], golden["weight_hh_l0"].shape[-1]
        modules[suffix] = make(inputs, hidden, dtype=np.dtype(dtype))
        modules[suffix].load_state_dict({name: golden[name + suffix] for name in PARAMETERS})

    x = Tensor(golden["x"], requires_grad=True)
    out = bidirectional(modules[""], modules["_reverse"], x, golden["lengths"])
    _close(out, golden["output"], dtype)

    out.backward(golden["upstream"])
    _close(x.grad, golden["grad_x"], dtype)
    for suffix, module in modules.items():
        parameters = dict(module.named_parameters())
        for name in PARAMETERS:
            _close(parameters[name].grad, golden[f"grad_{name}{suffix}"], dtype)


@pytest.mark.differential
@pytest.mark.parametrize("lengths", [[4, 1, 6, 3], [5], [1, 2], [3, 3, 3]])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_matches_per_sequence_loop(cell: str, lengths: list[int]) -> None:
    """A batch gives what each of its sequences gives alone, and so do its gradients."""
    rng = np.random.default_rng(34)
    fwd, bwd = _recurrent(cell, 2, 3, rng), _recurrent(cell, 2, 4, rng)
    x = rng.normal(size=(6, len(lengths), 2))
    upstream = rng.normal(size=(6, len(lengths), 7))
    batch = Tensor(x, requires_grad=True)
    out = bidirectional(fwd, bwd, batch, lengths)
    assert out.shape == (6, len(lengths), 7)
    out.backward(upstream)

    for b, n in enumerate(lengths):
        (sequence, ahead), (backwards, behind) = _alone(fwd, bwd, x[:, b], n)
        _close(_array(out)[:n, b, :3], _array(ahead)[:, 0])
        _close(_array(out)[:n, b, 3:], _array(behind)[::-1, 0])
        _same(_array(out)[n:, b], np.zeros((6 - n, 7)))

        ahead.backward(upstream[:n, b : b + 1, :3])
        behind.backward(upstream[:n, b : b + 1, 3:][::-1].copy())
        gradient = _array(sequence.grad) + _array(backwards.grad)[::-1]
        _close(_array(batch.grad)[:n, b], gradient[:, 0])


@pytest.mark.boundary
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_padding_never_reaches_either_direction(cell: str) -> None:
    """Garbage in the padding changes no output, gets no gradient and moves no final state."""
    rng = np.random.default_rng(43)
    lengths = [2, 5, 1, 4]
    fwd, bwd = _recurrent(cell, 3, 2, rng), _recurrent(cell, 3, 2, rng)
    clean = rng.normal(size=(5, 4, 3))
    real = np.arange(5)[:, None] < np.array(lengths)
    clean[~real] = 0
    garbage = np.where(real[..., None], clean, rng.normal(scale=9, size=clean.shape))
    batch = Tensor(garbage, requires_grad=True)
    out = bidirectional(fwd, bwd, batch, lengths)

    _close(out, bidirectional(fwd, bwd, Tensor(clean), lengths))
    _same(_array(out)[~real], np.zeros((8, 4)))
    # The loss reads the padded positions too.
    out.backward(rng.normal(size=(5, 4, 4)))
    _same(_array(batch.grad)[~real], np.zeros((8, 3)))
    assert np.all(_array(batch.grad)[real] != 0)

    for b, n in enumerate(lengths):
        (_, ahead), (_, behind) = _alone(fwd, bwd, garbage[:, b], n)
        _close(_array(out)[n - 1, b, :2], _array(ahead)[-1, 0])
        _close(_array(out)[0, b, 2:], _array(behind)[-1, 0])


BAD_LENGTHS = {
    "zero": [3, 0, 2],
    "negative": [3, -1, 2],
    "longer than T": [3, 5, 2],
    "floats": [3.0, 1.0, 2.0],
    "a float among integers": [3, 1.5, 2],
    "an array of floats": np.array([3.0, 1.0, 2.0]),
}
WRONG_COUNTS = {"too few": [3, 1], "too many": [3, 1, 2, 4], "one for all": [3], "none": []}


@pytest.mark.boundary
@pytest.mark.parametrize("reason", [*BAD_LENGTHS, *WRONG_COUNTS])
def test_bad_lengths(reason: str) -> None:
    """Every way in refuses lengths that no batch can have, and takes the extreme good ones."""
    x = np.arange(24.0).reshape(4, 3, 2)
    gru = GRU(2, 2, dtype=np.float64)
    calls = [
        lambda lengths: reverse_padded(x, lengths),
        lambda lengths: reverse_padded(Tensor(x), lengths),
        lambda lengths: bidirectional(_RunningSum(), _RunningSum(), Tensor(x), lengths),
        lambda lengths: bidirectional(gru, gru, Tensor(x), lengths),
    ]
    if reason in BAD_LENGTHS:
        calls.append(lambda lengths: reversal_index(lengths, 4))
    for call in calls:
        call([1, 4, 2])
        with pytest.raises((ValueError, TypeError)):
            call({**BAD_LENGTHS, **WRONG_COUNTS}[reason])
