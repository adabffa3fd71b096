"""Both directions of a padded batch."""

import numpy as np

from tinyllm.autograd.functional import concat
from tinyllm.autograd.tensor import Tensor


def reversal_index(lengths, T):
    """The [T, B] index that turns each sequence around and keeps its padding."""
    index = np.tile(np.arange(T, dtype=np.int64)[:, None], (1, len(_row(lengths))))
    for column, n in zip(index.T, _row(lengths)):
        if not 1 <= n <= T:
            raise ValueError(f"a sequence of {n} steps in a batch of {T}")
        column[:n] = np.arange(n)[::-1]
    return index


def reverse_padded(x, lengths):
    """Turn every sequence of x [T, B, ...] around within its length."""
    if x.ndim < 2:
        raise ValueError("need [T, B, ...]")
    T, B = x.shape[:2]
    if lengths is None:
        lengths = [T] * B
    if len(_row(lengths)) != B:
        raise ValueError(f"{B} sequences, but {len(_row(lengths))} lengths")
    return x[reversal_index(lengths, T), np.arange(B)]


def bidirectional(fwd, bwd, x, lengths=None):
    """fwd over x, bwd over x turned around, side by side."""
    if not isinstance(x, Tensor):
        x = Tensor(x)
    turned = reverse_padded(x, lengths)
    left_to_right = fwd(x, lengths=lengths)[0]
    right_to_left = bwd(turned, lengths=lengths)[0]
    return concat([left_to_right, reverse_padded(right_to_left, lengths)], axis=-1)


def _row(lengths):
    """lengths as a list of Python ints, or ValueError."""
    array = np.asarray(lengths)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"lengths must be a row of integers: {lengths!r}")
    return array.tolist()
