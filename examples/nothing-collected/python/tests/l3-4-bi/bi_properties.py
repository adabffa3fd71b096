"""Good tests in a file that pytest doesn't look at."""

import numpy as np
from tinyllm.rnn.bi import reverse_padded


def test_padding_stays():
    x = np.arange(12).reshape(4, 3)
    assert (reverse_padded(x, [1, 1, 1]) == x).all()
