"""Properties 4 to 6 of the chapter: the layer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional
from tinyllm.rnn.gru import GRU
from tinyllm.rnn.lstm import LSTM

few = settings(max_examples=20)
D, HF, HB = 2, 3, 4
PAIRS = {
    cell.__name__: (
        cell(D, HF, rng=11, dtype=np.float64),
        cell(D, HB, rng=12, dtype=np.float64),
    )
    for cell in (GRU, LSTM)
}


class Counter:
    """A fake direction: says how many steps it has read. Never 0 unless it knows the length."""

    def __call__(self, x, lengths=None):
        assert isinstance(x, Tensor), "the contract promises a Tensor"
        T, B = x.shape[:2]
        count = np.tile(np.arange(1.0, T + 1)[:, None, None], (1, B, 1))
        if lengths is not None:
            count[count[..., 0] > np.asarray(lengths)] = 0
        return Tensor(count), None


@st.composite
def batches(draw):
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    T = draw(st.integers(max(lengths), 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.normal(size=(T, len(lengths), D)), lengths


def close(a, b):
    assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cell", PAIRS)
@few
@given(batch=batches())
def test_batch_equals_each_sequence_alone(cell, batch):
    fwd, bwd = PAIRS[cell]
    x, lengths = batch
    out = bidirectional(fwd, bwd, Tensor(x), lengths).numpy()
    assert out.shape == (*x.shape[:2], HF + HB)
    for b, n in enumerate(lengths):
        alone = x[:n, b : b + 1]
        close(out[:n, b : b + 1, :HF], fwd(Tensor(alone))[0].numpy())
        close(out[:n, b : b + 1, HF:], bwd(Tensor(alone[::-1].copy()))[0].numpy()[::-1])
        assert not out[n:, b].any()


@few
@given(batches(), st.sampled_from([0.0, -7.5, 1e6]))
def test_padding_is_inert(batch, garbage):
    fwd, bwd = PAIRS["GRU"]
    x, lengths = batch
    other = x.copy()
    for b, n in enumerate(lengths):
        other[n:, b] = garbage
    close(
        bidirectional(fwd, bwd, Tensor(other), lengths).numpy(),
        bidirectional(fwd, bwd, Tensor(x), lengths).numpy(),
    )


@few
@given(batches())
def test_steps_are_counted_from_both_ends(batch):
    x, lengths = batch
    out = bidirectional(Counter(), Counter(), Tensor(x), lengths).numpy()
    for b, n in enumerate(lengths):
        assert out[:n, b].tolist() == [[t + 1, n - t] for t in range(n)]
        assert out[n:, b].tolist() == [[0, 0]] * (len(x) - n)


@few
@given(batches())
def test_without_lengths_every_step_is_real(batch):
    x, _ = batch
    T, B, _ = x.shape
    out = bidirectional(Counter(), Counter(), x)
    assert_array_equal(out.numpy()[..., 0], np.tile(np.arange(1.0, T + 1)[:, None], B))
    assert_array_equal(out.numpy()[..., 1], np.tile(np.arange(T, 0.0, -1)[:, None], B))


@few
@given(batches())
def test_gradient_reaches_real_steps_and_no_padding(batch):
    fwd, bwd = PAIRS["GRU"]
    x, lengths = batch
    leaf = Tensor(x, requires_grad=True)
    bidirectional(fwd, bwd, leaf, lengths).backward(np.ones((*x.shape[:2], HF + HB)))
    for b, n in enumerate(lengths):
        assert leaf.grad[:n, b].any(axis=1).all()
        assert not leaf.grad[n:, b].any()


@pytest.mark.parametrize("wrong", [[0, 1], [1, 6], [3], [1, 2, 3], [1.0, 2.0]])
def test_bad_lengths_raise(wrong):
    with pytest.raises(ValueError):
        bidirectional(Counter(), Counter(), Tensor(np.ones((5, 2, D))), wrong)
