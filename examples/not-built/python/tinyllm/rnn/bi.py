import numpy as np

from tinyllm.autograd.functional import concat
from tinyllm.autograd.tensor import Tensor


def reversal_index(lengths, T):
    n = np.asarray(lengths)
    if n.ndim != 1 or not np.issubdtype(n.dtype, np.integer):
        raise ValueError("lengths: a list of integers, please")
    n = n.astype(np.int64)
    if ((n < 1) | (n > T)).any():
        raise ValueError(f"lengths must be from 1 to {T}")
    t = np.arange(T).reshape(-1, 1)
    real = (t < n).astype(np.int64)
    return real * (n - 1 - t) + (1 - real) * t


def reverse_padded(x, lengths):
    if len(x.shape) < 2:
        raise ValueError("x is too flat")
    if lengths is None:
        return x[::-1]
    if np.shape(lengths) != (x.shape[1],):
        raise ValueError("one length per sequence")
    return x[reversal_index(lengths, x.shape[0]), np.arange(x.shape[1])]


def bidirectional(fwd, bwd, x, lengths=None):
    x = x if isinstance(x, Tensor) else Tensor(x)
    reverse_padded(x, lengths)  # complains
    f, _ = fwd(x, lengths=lengths)
    b, _ = bwd(reverse_padded(x, lengths), lengths=lengths)
    return concat([f, reverse_padded(b, lengths)], axis=-1)
