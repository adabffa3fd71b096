from hypothesis import given, settings, strategies as st
import numpy as np

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reverse_padded
from tinyllm.rnn.gru import GRU

FWD = GRU(2, 3, rng=5)
BWD = GRU(2, 3, rng=6)
numbers = st.integers(-9, 9).map(float)


@st.composite
def sentences(draw):
    """A few sentences of two-dimensional words."""
    word = st.tuples(numbers, numbers)
    return draw(st.lists(st.lists(word, min_size=1, max_size=5), min_size=1, max_size=3))


def pad(sentences):
    lengths = [len(s) for s in sentences]
    x = np.zeros((max(lengths) + 2, len(sentences), 2), dtype=np.float32)
    for b, s in enumerate(sentences):
        x[: len(s), b] = s
        # junk, so that it matters where the padding goes
        x[len(s) :, b] = 50 + np.arange(2 * (len(x) - len(s))).reshape(-1, 2)
    return x, lengths


@settings(max_examples=30)
@given(sentences())
def test_mirror_and_fix(s):
    x, lengths = pad(s)
    y = reverse_padded(x, lengths)
    for b, n in enumerate(lengths):
        assert np.array_equal(y[:n, b], x[:n, b][::-1])
        assert np.array_equal(y[n:, b], x[n:, b])


@settings(max_examples=30)
@given(sentences())
def test_same_as_alone(s):
    x, lengths = pad(s)
    out = bidirectional(FWD, BWD, Tensor(x), lengths).numpy()
    for b, n in enumerate(lengths):
        there = FWD(Tensor(x[:n, b : b + 1]))[0].numpy()
        back = BWD(Tensor(x[:n, b : b + 1][::-1].copy()))[0].numpy()[::-1]
        expected = np.concatenate([there, back], axis=2)[:, 0]
        assert np.allclose(out[:n, b], expected, rtol=1e-4, atol=1e-5)
        assert np.all(out[n:, b] == 0)
