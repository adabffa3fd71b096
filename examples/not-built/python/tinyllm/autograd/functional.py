import numpy as np

from tinyllm.autograd.tensor import Tensor


def concat(tensors, axis=-1):
    ends = np.cumsum([t.shape[axis] for t in tensors])[:-1]
    return Tensor.made(
        np.concatenate([t.data for t in tensors], axis),
        *((t, lambda g, i=i: np.split(g, ends, axis)[i]) for i, t in enumerate(tensors)),
    )


def stack(tensors):
    return Tensor.made(
        np.stack([t.data for t in tensors]),
        *((t, lambda g, i=i: g[i]) for i, t in enumerate(tensors)),
    )


def sigmoid(x):
    y = 1 / (1 + np.exp(-x.data))
    return Tensor.made(y, (x, lambda g: g * y * (1 - y)))


def tanh(x):
    y = np.tanh(x.data)
    return Tensor.made(y, (x, lambda g: g * (1 - y * y)))
