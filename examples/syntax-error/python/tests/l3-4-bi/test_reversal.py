import numpy as np
from hypothesis import given
from hypothesis.strategies import integers, lists

from tinyllm.rnn.bi import reverse_padded


@given(lists(integers(1, 6), min_size=1, max_size=6))
def test_mirror_and_fix(lengths):
    x = np.arange(6 * len(lengths)).reshape(6, len(lengths))
    y = reverse_padded(x, lengths)
    for b, n in enumerate(lengths):
        assert list(y[:, b]) == list(x[:n, b])[::-1] + list(x[n:, b])


def test_no_lengths():
    x = np.random.rand(4, 2, 3)
    assert np.array_equal(reverse_padded(x, None), x[::-1])
