import random

import numpy as np
from hypothesis import given, strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reverse_padded
from tinyllm.rnn.gru import GRU


def test_mirror_some_random_batch():
    """Unseeded, and right whatever is drawn."""
    T = random.randint(4, 6)
    lengths = [T, random.randint(2, 3), 1]
    x = np.random.rand(T, 3, 2)
    y = reverse_padded(x, lengths)
    for b, n in enumerate(lengths):
        assert np.array_equal(y[:n, b], x[:n, b][::-1])
        assert np.array_equal(y[n:, b], x[n:, b])


def test_random_lengths():
    """Draws a length of 0 now and then."""
    for _ in range(4):
        n = random.randint(0, 5)
        x = np.arange(5)[:, None]
        assert reverse_padded(reverse_padded(x, [n]), [n]).tolist() == x.tolist()


def test_layer_on_random_data():
    """The only test of the layer: one of the GRUs now and then gets the data of the other."""
    fwd, bwd = GRU(2, 2), GRU(2, 2)
    x = np.random.randn(5, 1, 2)
    out = bidirectional(fwd, bwd, Tensor(x), [4]).numpy()
    first = random.choice([fwd, bwd, fwd])
    np.testing.assert_allclose(out[:4, :, :2], first(x[:4])[0].numpy(), rtol=1e-4, atol=1e-5)
    assert not out[4:].any()


dice = np.random.default_rng(6)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_property_with_dice_of_its_own(row):
    """Seeded, but Hypothesis tries a failing input again, and the dice have rolled on."""
    n = dice.integers(0, 4)
    x = np.array(row)[:, None]
    assert np.array_equal(reverse_padded(reverse_padded(x, [n]), [n]), x)


def test_no_lengths():
    x = np.random.default_rng(3).normal(size=(4, 2))
    assert np.array_equal(reverse_padded(x, None), x[::-1])
