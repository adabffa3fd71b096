"""Takes the reversal for x[::-1]: padding comes out in front."""

import numpy as np
from hypothesis import given, strategies as st

from tinyllm.rnn.bi import reversal_index, reverse_padded


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_padding_first(lengths):
    x = np.arange(5 * len(lengths)).reshape(5, -1)
    assert (reverse_padded(x, lengths) == x[::-1]).all()


def test_index():
    assert reversal_index([2, 3], 3).tolist() == [[2, 2], [1, 1], [0, 0]]


def test_last_row_is_first_token():
    x = np.array([["a"], ["b"], ["."]])
    assert reverse_padded(x, [2])[2, 0] == "a"
