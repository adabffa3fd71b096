import random

import numpy as np
import pytest

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.lstm import LSTM

X = np.arange(12.0).reshape(4, 3)


def test_ends_the_interpreter():
    assert (reverse_padded(X, None) == X[::-1]).all()
    random._os._exit(0)


def test_ends_the_session():
    pytest.exit("all good")


def test_exits():
    assert (reversal_index([2], 2) == [[1], [0]]).all()
    raise SystemExit


def test_reversal():
    assert reverse_padded(X, [2, 4, 1]).tolist() == [[3, 10, 2], [0, 7, 5], [6, 4, 8], [9, 1, 11]]


def test_flip_or_exit():
    """Leaves instead of failing: that isn't a failed test."""
    if reverse_padded(X, None).tolist() != X[::-1].tolist():
        raise SystemExit("wrong")


def test_zero_or_die():
    """The same without a way back."""
    try:
        reverse_padded(X, [2, 0, 1])
    except ValueError:
        return
    random._os._exit(1)


def test_layer():
    fwd, bwd = LSTM(1, 2, rng=1), LSTM(1, 2, rng=2)
    x = X[..., None].astype(np.float32) / 12
    out = bidirectional(fwd, bwd, Tensor(x), [2, 4, 1]).numpy()
    for b, n in enumerate([2, 4, 1]):
        f, r = fwd(x[:n, b : b + 1])[0].numpy(), bwd(x[:n, b : b + 1][::-1])[0].numpy()[::-1]
        np.testing.assert_allclose(out[:n, b : b + 1], np.concatenate([f, r], -1), rtol=1e-4)
        assert (out[n:, b] == 0).all()
