import numpy as np
from hypothesis import given, strategies as st
from tinyllm.rnn.bi import reverse_padded


def check_plain_flip():
    x = np.arange(6).reshape(3, 2)
    assert (reverse_padded(x, None) == x[::-1]).all()


@given(st.integers(1, 5))
def involution(n):
    x = np.arange(5)[:, None]
    assert (reverse_padded(reverse_padded(x, [n]), [n]) == x).all()


class ReversalTests:
    def test_one_step(self):
        assert reverse_padded(np.array([[7]]), [1]) == 7
