import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU


@pytest.fixture
def x():
    return np.arange(40.0).reshape(5, 4, 2)


@pytest.fixture
def layers():
    return GRU(2, 2, rng=1, dtype=np.float64), GRU(2, 3, rng=2, dtype=np.float64)


# Every combination of lengths of three sequences in a batch of four steps.
ALL_LENGTHS = list(itertools.product(range(1, 5), repeat=3))


def test_every_combination_of_lengths():
    x = np.arange(12.0).reshape(4, 3)
    for lengths in ALL_LENGTHS:
        expected = np.array(
            [[*x[:n, b][::-1], *x[n:, b]] for b, n in enumerate(lengths)]
        ).T
        np.testing.assert_array_equal(reverse_padded(x, lengths), expected)
        np.testing.assert_array_equal(x[reversal_index(lengths, 4), np.arange(3)], expected)


def test_flip(x):
    np.testing.assert_array_equal(reverse_padded(x, None), np.flip(x, 0))


@pytest.mark.parametrize("lengths", [[5, 1, 3, 2], (1, 1, 1, 1), np.array([5, 5, 5, 5])])
def test_alone(x, layers, lengths):
    fwd, bwd = layers
    x = x / 40
    out = bidirectional(fwd, bwd, x, lengths).numpy()
    for b, n in enumerate(lengths):
        one = x[:n, b : b + 1]
        np.testing.assert_allclose(out[:n, b, :2], fwd(one)[0].numpy()[:, 0], rtol=1e-9)
        np.testing.assert_allclose(out[:n, b, 2:], bwd(one[::-1])[0].numpy()[::-1, 0], rtol=1e-9)
        np.testing.assert_array_equal(out[n:, b], 0)


@pytest.mark.parametrize("lengths", [[0, 1, 1, 1], [6, 1, 1, 1], [1], [1, 1], [1, 1, 1, 1, 1]])
def test_bad_lengths(x, lengths):
    with pytest.raises(ValueError):
        reverse_padded(x, lengths)


# --- and these are wrong ---------------------------------------------------------------------


@given(st.integers(1, 6), st.data())
def test_padding_comes_out_as_zero(T, data):
    """Mixes up the reversal, which leaves the padding alone, with the layer's output."""
    n = data.draw(st.lists(st.integers(1, T), min_size=1, max_size=3))
    y = reverse_padded(np.ones((T, len(n))), n)
    for b, length in enumerate(n):
        assert (y[length:, b] == 0).all()


def test_whole_floats_are_lengths_too(x):
    assert reverse_padded(x, [2.0, 1.0, 3.0, 5.0]).shape == x.shape


@given(st.lists(st.integers(1, 100), min_size=4, max_size=4))
def test_lengths_that_nobody_draws(n):
    assume(sum(n) == 4 and max(n) == 2)
    reverse_padded(np.zeros((2, 4)), n)


@given(st.floats(-1, 1))
def test_a_fixture_beside_given(x, scale):
    """`x` is made once and not once an example, which Hypothesis refuses."""
    np.testing.assert_array_equal(reverse_padded(scale * x, None), scale * x[::-1])


def test_a_plugin_that_is_not_there(mocker):
    fwd = mocker.Mock()
    bidirectional(fwd, fwd, Tensor(np.zeros((1, 1, 1))))
    assert fwd.call_count == 2


@settings(max_examples=20)
@given(st.integers(1, 4))
def test_a_longer_length_is_cut(n):
    """True for lengths up to 3, so only some inputs disagree."""
    y = reverse_padded(np.array([[1], [2], [3]]), [n])
    assert y[0, 0] == min(n, 3)
