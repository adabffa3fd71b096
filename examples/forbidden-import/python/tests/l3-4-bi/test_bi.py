"""The same without torch: an oracle of nested lists."""

import operator

import pytest
import numpy as np
from hypothesis import given, note, settings, strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU

lengths_of = lambda columns: [len(real) for real, _ in columns]


def stack(columns):
    """Columns of (real, padding) as a batch [T, B, 1]."""
    return np.array([[*real, *padding] for real, padding in columns], dtype=float).T[..., None]


@st.composite
def columns(draw):
    T = draw(st.integers(1, 6))
    found = []
    for _ in range(draw(st.integers(1, 4))):
        numbers = draw(st.lists(st.integers(0, 99), min_size=T, max_size=T, unique=True))
        n = draw(st.integers(1, T))
        found.append((numbers[:n], numbers[n:]))
    return found


@settings(max_examples=50)
@given(columns())
def test_oracle(cols):
    expected = stack([(real[::-1], padding) for real, padding in cols])
    note(f"expected {expected[..., 0].tolist()}")
    assert np.array_equal(reverse_padded(stack(cols), lengths_of(cols)), expected)
    assert np.array_equal(reverse_padded(Tensor(stack(cols)), lengths_of(cols)).numpy(), expected)


@settings(max_examples=30)
@given(columns())
def test_flip(cols):
    assert reverse_padded(stack(cols), None).tolist() == stack(cols).tolist()[::-1]


@settings(max_examples=30)
@given(columns())
def test_index_is_a_permutation(cols):
    n = lengths_of(cols)
    T = len(stack(cols))
    for column in reversal_index(n, T).T:
        assert sorted(column) == list(range(T))


@settings(max_examples=30)
@given(columns())
def test_gru(cols):
    x, n = stack(cols) / 100, lengths_of(cols)
    fwd = GRU(1, 2, rng=3, dtype="float64")
    bwd = GRU(1, 2, rng=4, dtype="float64")
    out = operator.methodcaller("numpy")(bidirectional(fwd, bwd, Tensor(x), n))
    for b, length in enumerate(n):
        one = x[:length, b : b + 1]
        there, _ = fwd(one)
        back, _ = bwd(one[::-1])
        assert out[:length, b, :2] == pytest.approx(there.numpy()[:, 0], rel=1e-9)
        assert out[:length, b, 2:] == pytest.approx(back.numpy()[::-1, 0], rel=1e-9)
        assert not out[length:, b].any()


@settings(max_examples=30)
@given(columns(), st.integers(), st.randoms(use_true_random=False))
def test_bad_length(cols, bad, random):
    n = lengths_of(cols)
    T = len(stack(cols))
    n[random.randrange(len(n))] = bad if not 1 <= bad <= T else 0
    for call in (lambda: reverse_padded(stack(cols), n), lambda: reversal_index(n, T)):
        with pytest.raises(ValueError):
            call()
