import numpy as np
import pytest
from hypothesis import given, strategies as st, settings
from tinyllm.rnn.bi import reversal_index, reverse_padded, bidirectional
from tinyllm.rnn.lstm import LSTM
from tinyllm.autograd.tensor import Tensor

settings.register_profile("fast", max_examples=20)
settings.load_profile("fast")

# T, lengths
sizes = st.integers(1, 8).flatmap(
    lambda T: st.tuples(st.just(T), st.lists(st.integers(1, T), min_size=1, max_size=4))
)


def make_x(T, B, seed=0, D=3):
    return np.random.default_rng(seed).standard_normal((T, B, D))


@given(sizes)
def test_involution(size):
    T, n = size
    x = make_x(T, len(n))
    assert (reverse_padded(reverse_padded(x, n), n) == x).all()


@given(sizes)
def test_mirror_and_fix(size):
    T, n = size
    x = make_x(T, len(n))
    for y in [reverse_padded(x, n), reverse_padded(Tensor(x), n).numpy()]:
        for b in range(len(n)):
            for t in range(T):
                if t < n[b]:
                    assert (y[t, b] == x[n[b] - 1 - t, b]).all()
                else:
                    assert (y[t, b] == x[t, b]).all()


@given(sizes)
def test_index_formula(size):
    T, n = size
    idx = reversal_index(n, T)
    for t in range(T):
        for b in range(len(n)):
            assert idx[t, b] == (n[b] - 1 - t if t < n[b] else t)


def test_works_for_T_B_batches_too():
    x = np.array([[1, 5], [2, 6], [3, 7]])
    assert reverse_padded(x, [2, 3]).tolist() == [[2, 7], [1, 6], [3, 5]]


@given(sizes)
def test_plain_flip(size):
    T, n = size
    x = make_x(T, len(n))
    assert (reverse_padded(x, None) == x[::-1]).all()


@given(sizes, st.integers(0, 100))
def test_per_sequence(size, seed):
    T, n = size
    x = make_x(T, len(n), seed)
    fwd = LSTM(3, 2, rng=np.random.default_rng(seed), dtype=np.float64)
    bwd = LSTM(3, 2, rng=np.random.default_rng(seed + 1), dtype=np.float64)
    out = bidirectional(fwd, bwd, Tensor(x), n).numpy()
    for b in range(len(n)):
        one = x[: n[b], b : b + 1]
        f = fwd(Tensor(one))[0].numpy()[:, 0]
        r = bwd(Tensor(one[::-1].copy()))[0].numpy()[:, 0][::-1]
        np.testing.assert_allclose(out[: n[b], b], np.concatenate([f, r], axis=1), atol=1e-9)


@given(sizes)
def test_padding_is_inert(size):
    T, n = size
    x = make_x(T, len(n))
    y = x.copy()
    for b in range(len(n)):
        y[n[b] :, b] = 1000
    fwd, bwd = LSTM(3, 2, rng=0, dtype=np.float64), LSTM(3, 2, rng=1, dtype=np.float64)
    a = bidirectional(fwd, bwd, x, n).numpy()
    c = bidirectional(fwd, bwd, y, n).numpy()
    for b in range(len(n)):
        np.testing.assert_allclose(a[: n[b], b], c[: n[b], b], atol=1e-9)


def test_gradient_gets_through():
    x = Tensor(make_x(4, 2), requires_grad=True)
    bidirectional(LSTM(3, 2, rng=0), LSTM(3, 2, rng=1), x, [4, 2]).sum().backward()
    assert (x.grad[:2] != 0).all()


@pytest.mark.parametrize(
    "n", [[0, 1], [1, -1], [1, 6], [1], [1, 1, 1], [1.0, 2.0], np.array([1.5, 2.5])]
)
def test_bad_lengths(n):
    x = make_x(5, 2)
    with pytest.raises(ValueError):
        reverse_padded(x, n)
    with pytest.raises(ValueError):
        bidirectional(LSTM(3, 2), LSTM(3, 2), Tensor(x), n)
