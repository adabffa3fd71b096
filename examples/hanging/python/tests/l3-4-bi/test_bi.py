import random

import numpy as np
from hypothesis import given, settings, strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reverse_padded
from tinyllm.rnn.gru import GRU


def test_some_lengths_that_sum_to_T():
    rng = random.Random(1)
    lengths = [0]
    while sum(lengths) != 4:  # four lengths of 2 at least: never
        lengths = [rng.randint(2, 4) for _ in range(4)]
    reverse_padded(np.zeros((4, 4)), lengths)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4))
def test_words(lengths):
    fwd, bwd = GRU(1, 2, rng=0, dtype=np.float64), GRU(1, 2, rng=1, dtype=np.float64)
    x = np.linspace(-1, 1, 6 * len(lengths)).reshape(6, -1, 1)
    y = reverse_padded(x, lengths)
    out = bidirectional(fwd, bwd, Tensor(x), lengths).numpy()
    for b, n in enumerate(lengths):
        word = x[:n, b : b + 1]
        assert np.array_equal(y[:, b], np.concatenate([word[::-1, 0], x[n:, b]]))
        assert np.allclose(out[:n, b : b + 1, :2], fwd(word)[0].numpy())
        assert np.allclose(out[:n, b : b + 1, 2:], bwd(word[::-1])[0].numpy()[::-1])
        assert not out[n:, b].any()


def test_flipping_comes_back_after_two():
    """Flips until the batch is as before. Where a flip loses steps, that is never."""
    x = np.arange(10).reshape(5, 2)
    y, flips = reverse_padded(x, None), 1
    while not np.array_equal(x, y):
        y, flips = reverse_padded(y, None), flips + 1
    assert flips == 2
