"""Properties 1 to 3 and 6 of the chapter, for the reversal by itself."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import reversal_index, reverse_padded


few = settings(max_examples=40)


@st.composite
def padded(draw):
    T = draw(st.integers(1, 7))
    lengths = draw(st.lists(st.integers(1, T), min_size=1, max_size=5))
    rest = draw(st.sampled_from([(), (2,), (3, 2)]))
    size = T * len(lengths) * int(np.prod(rest))
    x = np.random.default_rng(draw(st.integers(0, 999))).permutation(size) + 1.0
    return x.reshape(T, len(lengths), *rest), lengths


def both_kinds(x, lengths):
    """The result as arrays, once for an array and once for a Tensor."""
    array, tensor = reverse_padded(x, lengths), reverse_padded(Tensor(x), lengths)
    assert isinstance(array, np.ndarray) and isinstance(tensor, Tensor)
    return array, tensor.numpy()


@few
@given(padded())
def test_involution(batch):
    x, n = batch
    for once in both_kinds(x, n):
        assert_array_equal(reverse_padded(once, n), x)


@few
@given(padded())
@example((np.array([[1.0, 4.0], [2.0, 99.0], [3.0, 98.0]]), [3, 1]))
def test_mirror_and_fix(batch):
    x, n = batch
    for result in both_kinds(x, n):
        assert result.shape == x.shape
        for b, length in enumerate(n):
            assert_array_equal(result[:length, b], x[:length, b][::-1])
            assert_array_equal(result[length:, b], x[length:, b])


@few
@given(padded())
def test_plain_flip(batch):
    x, _ = batch
    for result in both_kinds(x, None):
        assert_array_equal(result, x[::-1])


@few
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 3))
def test_index(lengths, more):
    T = max(lengths) + more
    index = reversal_index(lengths, T)
    assert index.dtype == np.int64 and index.shape == (T, len(lengths))
    for b, n in enumerate(lengths):
        assert index[:, b].tolist() == [*range(n)][::-1] + [*range(n, T)]


def test_index_by_hand():
    assert reversal_index(np.array([3, 1, 2]), 3).tolist() == [[2, 0, 1], [1, 1, 0], [0, 2, 2]]


@few
@given(padded())
def test_gradient_goes_back_the_same_way(batch):
    x, n = batch
    leaf = Tensor(x, requires_grad=True)
    reverse_padded(leaf, n).backward(x)
    assert_array_equal(leaf.grad, reverse_padded(x, n))


@few
@given(padded(), st.data())
def test_lengths_outside_1_to_T_raise(batch, data):
    x, n = batch
    b = data.draw(st.integers(0, len(n) - 1))
    n[b] = data.draw(st.sampled_from([-1, 0, len(x) + 1, len(x) + 5]))
    with pytest.raises(ValueError):
        reverse_padded(x, n)
    with pytest.raises(ValueError):
        reversal_index(n, len(x))


@pytest.mark.parametrize("wrong", [[2], [2, 1], [2, 1, 3, 3], [], [2.0, 1.0, 3.0], 2, [[2, 1, 3]]])
def test_lengths_that_do_not_fit_raise(wrong):
    x = np.arange(12.0).reshape(4, 3)
    with pytest.raises(ValueError):
        reverse_padded(x, wrong)
    with pytest.raises(ValueError):
        reverse_padded(Tensor(x), wrong)


def test_too_few_dimensions_raise():
    with pytest.raises(ValueError):
        reverse_padded(np.arange(4.0), [1, 1, 1, 1])
    with pytest.raises(ValueError):
        reverse_padded(np.arange(4.0), None)
