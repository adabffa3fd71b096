"""One test an entry of the index, named by the entry: the names come from the code under test."""

import pytest

from tinyllm.rnn.bi import reversal_index


@pytest.mark.parametrize("t, b, source", [
    (t, b, source)
    for t, row in enumerate(reversal_index([4, 2], 5).tolist())
    for b, source in enumerate(row)
])
def test_entry(t, b, source):
    n = [4, 2][b]
    assert source == (n - 1 - t if t < n else t)
