"""Everything is computed once, while the file is imported."""

import numpy as np
from hypothesis import given, strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU

LENGTHS = [3, 1, 2]
X = np.arange(24.0).reshape(4, 3, 2) / 24
INDEX = reversal_index(LENGTHS, 4)
REVERSED = reverse_padded(X, LENGTHS)
FWD, BWD = GRU(2, 2, rng=8, dtype=np.float64), GRU(2, 2, rng=9, dtype=np.float64)
OUT = bidirectional(FWD, BWD, Tensor(X), LENGTHS).numpy()
FLIPPED = bidirectional(FWD, BWD, X).numpy()
# any step of the batch, by what the index says of it
steps = st.sampled_from([(t, b, INDEX[t, b]) for t in range(4) for b in range(3)])


@given(steps)
def test_index(step):
    t, b, source = step
    assert source == (LENGTHS[b] - 1 - t if t < LENGTHS[b] else t)


@given(steps)
def test_reversed(step):
    t, b, _ = step
    n = LENGTHS[b]
    assert (REVERSED[t, b] == X[n - 1 - t if t < n else t, b]).all()


@given(steps)
def test_padding_is_zero(step):
    t, b, _ = step
    if t >= LENGTHS[b]:
        assert (OUT[t, b] == 0).all()


def test_halves():
    for b, n in enumerate(LENGTHS):
        there, back = FWD(X[:n, b : b + 1])[0], BWD(X[:n, b : b + 1][::-1])[0]
        np.testing.assert_allclose(OUT[:n, b, :2], there.numpy()[:, 0], rtol=1e-9)
        np.testing.assert_allclose(OUT[:n, b, 2:], back.numpy()[::-1, 0], rtol=1e-9)


def test_no_lengths():
    np.testing.assert_allclose(FLIPPED[..., :2], FWD(X)[0].numpy(), rtol=1e-9)
    np.testing.assert_allclose(FLIPPED[..., 2:], BWD(X[::-1])[0].numpy()[::-1], rtol=1e-9)


try:
    reverse_padded(X, [0, 1, 1])
    REFUSES_ZERO = False
except ValueError:
    REFUSES_ZERO = True


def test_refuses_zero():
    assert REFUSES_ZERO
