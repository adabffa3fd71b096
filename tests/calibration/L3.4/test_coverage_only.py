"""Reaches every line of the module, and looks at little but shapes."""

import numpy as np
import pytest
from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reversal_index, reverse_padded
from tinyllm.rnn.gru import GRU

X = np.arange(24.0).reshape(4, 2, 3)


def test_the_index_has_a_column_a_sequence() -> None:
    """The good way through."""
    assert reversal_index([4, 2], 4).shape == (4, 2)


def test_reversing_keeps_the_shape() -> None:
    """With lengths and without, arrays and tensors."""
    assert reverse_padded(X, [4, 2]).shape == X.shape
    assert reverse_padded(Tensor(X), None).shape == X.shape


def test_the_layer_joins_both_outputs() -> None:
    """For tensors and arrays."""
    fwd, bwd = GRU(3, 2), GRU(3, 5)
    assert bidirectional(fwd, bwd, Tensor(X), [4, 2]).shape == (4, 2, 7)
    assert bidirectional(fwd, bwd, X).shape == (4, 2, 7)


@pytest.mark.parametrize("lengths", [[[4, 2]], [4.0, 2.0], [4, 2, 1], [9, 9]])
def test_bad_lengths_raise(lengths: list[int]) -> None:
    """Once for each line that raises."""
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is left open
        reverse_padded(X, lengths)


def test_too_few_dimensions_raise() -> None:
    """The last line that raises."""
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is left open
        reverse_padded(X[:, 0, 0], [4])
