"""Functions of tensors, each one node of the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tinyllm.autograd.tensor import Tensor


def concat(tensors: Sequence[ArrayLike], axis: int = -1) -> Tensor:
    """Join tensors along an axis; all other axes must agree.

    Parameters
    ----------
    tensors : sequence of Tensor or array_like
        At least one.
    axis : int
        The axis to join along, by default the last.

    Returns
    -------
    Tensor
        The parts in their order.

    Raises
    ------
    ValueError
        There is nothing to join, or the shapes don't fit.
    """
    parts = [_tensor(part) for part in tensors]
    joined = np.concatenate([part.data for part in parts], axis=axis)
    ends = np.cumsum([part.shape[axis] for part in parts])[:-1]
    return Tensor.from_op(joined, parts, lambda grad: np.split(grad, ends, axis=axis))


def sum(  # noqa: A001 - numpy's name
    x: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Tensor:
    """Sum over one axis, several or all."""
    return _tensor(x).sum(axis, keepdims)


def mean(x: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Average over one axis, several or all."""
    return _tensor(x).mean(axis, keepdims)


def matmul(left: ArrayLike, right: ArrayLike) -> Tensor:
    """Multiply matrices, vectors or stacks of matrices, as numpy's ``@`` does."""
    return _tensor(left) @ right


def exp(x: ArrayLike) -> Tensor:
    """Raise e to the power of each element."""
    x = _tensor(x)
    y = np.exp(x.data)
    return Tensor.from_op(y, (x,), lambda grad: (grad * y,))


def log(x: ArrayLike) -> Tensor:
    """Take the natural logarithm of each element."""
    x = _tensor(x)
    data = x.data
    return Tensor.from_op(np.log(data), (x,), lambda grad: (grad / data,))


def tanh(x: ArrayLike) -> Tensor:
    """Take the hyperbolic tangent of each element."""
    x = _tensor(x)
    y = np.tanh(x.data)
    return Tensor.from_op(y, (x,), lambda grad: (grad * (1 - y * y),))


def sigmoid(x: ArrayLike) -> Tensor:
    """Compute ``1 / (1 + exp(-x))`` of each element, with no overflow for any x."""
    x = _tensor(x)
    small = np.exp(-np.abs(x.data))
    y = np.where(x.data >= 0, 1, small) / (1 + small)
    return Tensor.from_op(y, (x,), lambda grad: (grad * y * (1 - y),))


def relu(x: ArrayLike) -> Tensor:
    """Replace negative elements by 0; the gradient at 0 is 0."""
    x = _tensor(x)
    data = x.data
    return Tensor.from_op(np.maximum(data, 0), (x,), lambda grad: (grad * (data > 0),))


def _tensor(x: ArrayLike) -> Tensor:
    return x if isinstance(x, Tensor) else Tensor(x)
