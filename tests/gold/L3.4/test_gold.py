"""A student's property tests of the bidirectional layer, as good as they get."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU
from tinyllm.rnn.lstm import LSTM

Array = NDArray[Any]
Batch = tuple[Array, list[int]]

quick = settings(max_examples=30, deadline=None)
recurrent = pytest.mark.parametrize("cell", [GRU, LSTM])


class _RunningSum:
    """Outputs the sum of the inputs so far in each of `width` columns, 0 past each length."""

    def __init__(self, width: int) -> None:
        self.width = width

    def __call__(self, x: Tensor, lengths: Any = None) -> tuple[Tensor, None]:
        assert isinstance(x, Tensor)
        ends = np.full(x.shape[1], x.shape[0]) if lengths is None else np.asarray(lengths)
        real = (np.arange(x.shape[0])[:, None] < ends)[..., None]
        sums = np.cumsum(x.numpy().sum(axis=-1, keepdims=True), axis=0)
        return Tensor(np.where(real, sums, 0).repeat(self.width, axis=-1)), None


def _close(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


@st.composite
def _batches(draw: st.DrawFn, features: tuple[int, ...] | None = None) -> Batch:
    """Draw a batch [T, B, ...] of values that all differ, with good lengths."""
    steps = draw(st.integers(1, 6))
    lengths = draw(st.lists(st.integers(1, steps), min_size=1, max_size=4))
    if features is None:
        features = draw(st.sampled_from([(), (2,), (2, 3)]))
    size = steps * len(lengths) * int(np.prod(features))
    order = draw(st.randoms(use_true_random=False)).sample(range(1, size + 1), size)
    return np.array(order, dtype=float).reshape(steps, len(lengths), *features), lengths


def _layers(cell: type[GRU] | type[LSTM], inputs: int) -> tuple[Any, Any]:
    fwd = cell(inputs, 2, rng=np.random.default_rng(1), dtype=np.float64)
    bwd = cell(inputs, 3, rng=np.random.default_rng(2), dtype=np.float64)
    return fwd, bwd


def _mirrored(x: Array, lengths: list[int]) -> Array:
    expected = x.copy()
    for b, length in enumerate(lengths):
        expected[:length, b] = x[:length, b][::-1]
    return expected


@pytest.mark.property("involution")
@quick
@given(_batches())
def test_reversing_twice_changes_nothing(batch: Batch) -> None:
    """R(R(x)) = x."""
    x, lengths = batch
    np.testing.assert_array_equal(reverse_padded(reverse_padded(x, lengths), lengths), x)


@pytest.mark.property("mirror and fix")
@quick
@given(_batches(), st.sampled_from([np.int32, np.float32, np.float64]))
def test_real_steps_are_mirrored_and_padding_stays(batch: Batch, dtype: type[np.generic]) -> None:
    """For arrays and tensors, of the kind, type and shape that came in, which is left alone."""
    x, lengths = batch
    x = x.astype(dtype)
    before = x.copy()
    array = reverse_padded(x, lengths)
    tensor = reverse_padded(Tensor(x), lengths)
    assert isinstance(array, np.ndarray)
    assert isinstance(tensor, Tensor)
    for result in (array, tensor.numpy()):
        np.testing.assert_array_equal(result, _mirrored(before, lengths), strict=True)
    np.testing.assert_array_equal(x, before)


@pytest.mark.property("mirror and fix")
@quick
@given(
    _batches(),
    st.sampled_from([list, tuple, *(np.dtype(t).type for t in ("int64", "int32", "uint64", "u1"))]),
)
def test_the_index_follows_its_formula(batch: Batch, kind: type) -> None:
    """For lengths in every container and integer type."""
    x, lengths = batch
    given_lengths = kind(lengths) if kind in (list, tuple) else np.array(lengths, dtype=kind)
    index = reversal_index(given_lengths, len(x))
    expected = [[n - 1 - t if t < n else t for n in lengths] for t in range(len(x))]
    np.testing.assert_array_equal(index, np.array(expected, dtype=np.int64), strict=True)
    np.testing.assert_array_equal(reverse_padded(x, given_lengths), _mirrored(x, lengths))


@pytest.mark.property("mirror and fix")
@quick
@given(_batches())
def test_gradients_take_the_same_permutation(batch: Batch) -> None:
    """What flows into a moved value flows out at the place it came from."""
    x, lengths = batch
    leaf = Tensor(x, requires_grad=True)
    reverse_padded(leaf, lengths).backward(x)
    np.testing.assert_array_equal(leaf.grad, _mirrored(x, lengths))


@pytest.mark.property("plain flip")
@quick
@given(_batches())
def test_without_lengths_it_is_a_plain_flip(batch: Batch) -> None:
    """reverse_padded(x, None) is x[::-1], for arrays and tensors, and so is its gradient."""
    x, _ = batch
    np.testing.assert_array_equal(reverse_padded(x, None), x[::-1])
    leaf = Tensor(x, requires_grad=True)
    flipped = reverse_padded(leaf, None)
    np.testing.assert_array_equal(flipped.numpy(), x[::-1])
    flipped.backward(x)
    np.testing.assert_array_equal(leaf.grad, x[::-1])


@pytest.mark.property("plain flip")
@quick
@given(_batches(features=(2,)))
def test_without_lengths_the_layer_reads_every_step(batch: Batch) -> None:
    """Prefix sums of everything, then suffix sums."""
    x, lengths = batch
    out = bidirectional(_RunningSum(1), _RunningSum(2), Tensor(x)).numpy()
    sums = x.sum(axis=-1, keepdims=True)
    np.testing.assert_array_equal(out[..., :1], np.cumsum(sums, axis=0))
    np.testing.assert_array_equal(out[..., 2:], np.cumsum(sums[::-1], axis=0)[::-1])
    full = bidirectional(_RunningSum(1), _RunningSum(2), x, [len(x)] * len(lengths))
    np.testing.assert_array_equal(out, full.numpy(), strict=True)


@pytest.mark.property("per-sequence equivalence")
@quick
@given(_batches(features=(1,)))
def test_running_sums_become_prefix_and_suffix_sums(batch: Batch) -> None:
    """The forward half comes first, and the padding is 0 and in no sum."""
    x, lengths = batch
    out = bidirectional(_RunningSum(1), _RunningSum(2), x, lengths)
    expected = np.zeros((*x.shape[:2], 3))
    for b, n in enumerate(lengths):
        expected[:n, b, :1] = np.cumsum(x[:n, b], axis=0)
        expected[:n, b, 1:] = np.cumsum(x[:n, b][::-1], axis=0)[::-1]
    assert isinstance(out, Tensor)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.property("per-sequence equivalence")
@recurrent
@quick
@given(_batches(features=(2,)))
def test_a_batch_equals_its_sequences_alone(cell: type[GRU], batch: Batch) -> None:
    """Outputs of both halves, and the gradient of the batch."""
    x, lengths = batch[0] / 10, batch[1]
    fwd, bwd = _layers(cell, 2)
    leaf = Tensor(x, requires_grad=True)
    out = bidirectional(fwd, bwd, leaf, np.array(lengths))
    out.backward(np.ones(out.shape))
    for b, n in enumerate(lengths):
        sequence = Tensor(x[:n, b : b + 1], requires_grad=True)
        backwards = Tensor(x[:n, b : b + 1][::-1], requires_grad=True)
        ahead, behind = fwd(sequence)[0], bwd(backwards)[0]
        _close(out.numpy()[:n, b, :2], ahead.numpy()[:, 0])
        _close(out.numpy()[:n, b, 2:], behind.numpy()[::-1, 0])
        assert not out.numpy()[n:, b].any()
        ahead.backward(np.ones(ahead.shape))
        behind.backward(np.ones(behind.shape))
        _close(leaf.grad[:n, b], (sequence.grad + backwards.grad[::-1])[:, 0])
        assert not leaf.grad[n:, b].any()


@pytest.mark.property("padding is inert")
@recurrent
@quick
@given(_batches(features=(2,)), st.floats(-50, 50))
def test_padding_is_inert(cell: type[GRU], batch: Batch, garbage: float) -> None:
    """Whatever stands in the padding, the output is the same."""
    x, lengths = batch[0] / 10, batch[1]
    fwd, bwd = _layers(cell, 2)
    real = (np.arange(len(x))[:, None] < lengths)[..., None]
    out = bidirectional(fwd, bwd, Tensor(x), lengths)
    other = bidirectional(fwd, bwd, Tensor(np.where(real, x, garbage)), lengths)
    _close(out.numpy(), other.numpy())


def _every_way_in(x: Array, lengths: Any) -> list[Callable[[], object]]:
    fwd, bwd = _RunningSum(1), _RunningSum(1)
    return [
        lambda: reverse_padded(x, lengths),
        lambda: reverse_padded(Tensor(x), lengths),
        lambda: bidirectional(fwd, bwd, x, lengths),
        lambda: bidirectional(fwd, bwd, Tensor(x), lengths),
    ]


def _all_raise(calls: list[Callable[[], object]]) -> None:
    for call in calls:
        with pytest.raises(ValueError):  # noqa: PT011 - the wording is left open
            call()


@pytest.mark.property("bad lengths")
@quick
@given(_batches(features=(1,)), st.integers(-3, 9), st.data())
def test_a_length_outside_the_batch_raises(batch: Batch, bad: int, data: st.DataObject) -> None:
    """Only 1..T will do, for each sequence."""
    x, lengths = batch
    if 1 <= bad <= len(x):
        bad = data.draw(st.sampled_from([0, len(x) + 1]))
    lengths[data.draw(st.integers(0, len(lengths) - 1))] = bad
    _all_raise([*_every_way_in(x, lengths), lambda: reversal_index(lengths, len(x))])


@pytest.mark.property("bad lengths")
@pytest.mark.parametrize(
    "lengths",
    [
        [2.0, 3.0],
        [2, 2.5],
        np.array([2.0, 3.0]),
        [True, True],
        ["2", "3"],
        2,
        [[2, 3]],
        np.array([[2], [3]]),
    ],
)
def test_lengths_that_are_no_row_of_integers_raise(lengths: Any) -> None:
    """Floats, bools, text, a single number and tables are none."""
    x = np.ones((3, 2, 1))
    _all_raise([*_every_way_in(x, lengths), lambda: reversal_index(lengths, 3)])


@pytest.mark.property("bad lengths")
@quick
@given(_batches(features=(1,)), st.lists(st.just(1), max_size=6))
def test_a_wrong_count_of_lengths_raises(batch: Batch, lengths: list[int]) -> None:
    """One length a sequence, also where a single one could be stretched."""
    x, good = batch
    if len(lengths) == len(good):
        lengths = [*lengths, 1]
    _all_raise(_every_way_in(x, lengths))


@pytest.mark.property("bad lengths")
@pytest.mark.parametrize("lengths", [None, [1], [1, 1, 1]])
@pytest.mark.parametrize("x", [np.array(1.0), np.ones(3)])
def test_a_batch_needs_two_dimensions(x: Array, lengths: list[int] | None) -> None:
    """With lengths or without."""
    _all_raise(_every_way_in(x, lengths))
