from unittest import runner

import numpy as np
from hypothesis import given, settings, strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU

wait = runner.time.sleep  # a stand-in for a slow machine


def expected(x, lengths):
    columns = [np.concatenate([x[:n, b][::-1], x[n:, b]]) for b, n in enumerate(lengths)]
    return np.stack(columns, axis=1)


def test_reversal():
    x = np.arange(20.0).reshape(5, 4)
    assert np.array_equal(reverse_padded(x, [5, 3, 1, 2]), expected(x, [5, 3, 1, 2]))
    assert np.array_equal(reverse_padded(x, None), x[::-1])


def test_index():
    assert reversal_index([2, 3], 4).tolist() == [[1, 2], [0, 1], [2, 0], [3, 3]]


def test_layer():
    fwd, bwd = GRU(1, 2, rng=31, dtype=np.float64), GRU(1, 2, rng=32, dtype=np.float64)
    x = np.linspace(0, 1, 20).reshape(5, 4, 1)
    out = bidirectional(fwd, bwd, x, [5, 3, 1, 2]).numpy()
    for b, n in enumerate([5, 3, 1, 2]):
        there, back = fwd(x[:n, b : b + 1])[0].numpy(), bwd(x[:n, b : b + 1][::-1])[0].numpy()
        np.testing.assert_allclose(out[:n, b, :2], there[:, 0], rtol=1e-9)
        np.testing.assert_allclose(out[:n, b, 2:], back[::-1, 0], rtol=1e-9)
        assert not out[n:, b].any()
    flipped = bidirectional(fwd, bwd, Tensor(x)).numpy()
    np.testing.assert_allclose(flipped[..., 2:], bwd(x[::-1])[0].numpy()[::-1], rtol=1e-9)


def test_zero():
    try:
        reversal_index([0], 3)
    except ValueError:
        return
    raise AssertionError("a length of 0 was taken")


def test_gradient():
    x = Tensor(np.ones((2, 1)), requires_grad=True)
    bidirectional(lambda x, lengths: (x, None), lambda x, lengths: (x, None), x).sum().backward()
    assert x.grad.tolist() == [[2], [2]]


@settings(max_examples=2)
@given(st.integers(1, 5))
def test_slower_than_the_usual_deadline(n):
    """Hypothesis allows 200 ms an example by itself."""
    wait(0.25)
    x = np.arange(5)[:, None]
    assert np.array_equal(reverse_padded(x, [n]), expected(x, [n]))


@settings(max_examples=2, deadline=20)
@given(st.integers(1, 5))
def test_slower_than_its_own_deadline(n):
    wait(0.05)
    x = np.arange(5)[:, None]
    assert np.array_equal(reverse_padded(reverse_padded(x, [n]), [n]), x)


def test_two_seconds():
    wait(2)
    for lengths in ([1], [1, 1, 1]):
        try:
            reverse_padded(np.zeros((3, 2)), lengths)
        except ValueError:
            continue
        raise AssertionError(f"{len(lengths)} lengths for two sequences")
