"""With LSTMs, since there is no GRU yet."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.lstm import LSTM

lengths_of_six_steps = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@given(lengths_of_six_steps)
def test_reversal(n):
    x = np.arange(6 * len(n)).reshape(6, len(n))
    y = reverse_padded(x, n)
    assert (x[reversal_index(n, 6), range(len(n))] == y).all()
    for b, length in enumerate(n):
        assert (y[:length, b] == x[:length, b][::-1]).all()
        assert (y[length:, b] == x[length:, b]).all()


def test_flip():
    x = np.arange(24).reshape(4, 3, 2)
    assert (reverse_padded(x, None) == x[::-1]).all()


@settings(max_examples=30)
@given(lengths_of_six_steps)
def test_per_sequence(n):
    fwd, bwd = LSTM(2, 3, rng=3, dtype=np.float64), LSTM(2, 3, rng=4, dtype=np.float64)
    x = np.random.default_rng(5).normal(size=(6, len(n), 2))
    out = bidirectional(fwd, bwd, Tensor(x), n).numpy()
    for b, length in enumerate(n):
        one = x[:length, b : b + 1]
        np.testing.assert_allclose(out[:length, b, :3], fwd(Tensor(one))[0].numpy()[:, 0])
        back = bwd(Tensor(one[::-1].copy()))[0].numpy()[::-1]
        np.testing.assert_allclose(out[:length, b, 3:], back[:, 0])
        assert (out[length:, b] == 0).all()


@pytest.mark.parametrize("n", [[0, 1], [7, 1], [1], [1, 1, 1], [1.5, 2.5]])
def test_bad_lengths(n):
    with pytest.raises(ValueError):
        reverse_padded(np.zeros((6, 2)), n)
