"""How gradients find their way back through a broadcast, a matrix product and an index."""

from __future__ import annotations

from types import EllipsisType, NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# numpy's own annotations of an index are overloads that no single type covers.
Index = Any
_BASIC = int, np.integer, slice, EllipsisType, NoneType


def unbroadcast(grad: Array, shape: tuple[int, ...]) -> Array:
    """Sum ``grad`` over the axes that broadcasting had added to, or stretched in, ``shape``."""
    if grad.shape == shape:
        return grad
    added = grad.ndim - len(shape)
    stretched = tuple(added + axis for axis, size in enumerate(shape) if size == 1)
    summed: Array = grad.sum(axis=(*range(added), *stretched))
    return summed.reshape(shape)


def spread(
    grad: Array, axis: int | tuple[int, ...] | None, keepdims: bool, shape: tuple[int, ...]
) -> Array:
    """Give each element of a reduced array the gradient of what it went into."""
    if axis is not None and not keepdims:
        grad = np.expand_dims(grad, axis)
    return np.broadcast_to(grad, shape)


def base_gradient(grad: Array, base: Array, exponent: Array) -> Array:
    """Return the gradient of the base of a power, 0 where the exponent is."""
    nonzero = np.where(exponent == 0, 1, exponent)
    return np.asarray(grad * exponent * base ** (nonzero - 1))


def exponent_gradient(grad: Array, base: Array, exponent: Array) -> Array:
    """Return the gradient of the exponent of a power, 0 where the base is 0 and stays so."""
    flat = (base == 0) & (exponent >= 0)
    return np.asarray(np.where(flat, 0, grad * base**exponent * np.log(np.where(flat, 1, base))))


def matmul_gradients(grad: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """Return the gradients of both factors of ``left @ right``, vectors and stacks included."""
    rows = left[np.newaxis, :] if left.ndim == 1 else left
    columns = right[:, np.newaxis] if right.ndim == 1 else right
    stack = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    full = grad.reshape((*stack, rows.shape[-2], columns.shape[-1]))
    to_rows = unbroadcast(full @ columns.swapaxes(-1, -2), rows.shape)
    to_columns = unbroadcast(rows.swapaxes(-1, -2) @ full, columns.shape)
    return to_rows.reshape(left.shape), to_columns.reshape(right.shape)


def scatter(grad: Array, index: Index, shape: tuple[int, ...]) -> Array:
    """Put ``grad`` back where ``index`` had picked from, adding up what it picked repeatedly."""
    out = np.zeros(shape, grad.dtype)
    if _picks_nothing_twice(index, shape):
        out[index] = grad
    else:
        np.add.at(out, index, grad)
    return out


def _picks_nothing_twice(index: Index, shape: tuple[int, ...]) -> bool:
    """Tell whether the index surely picks each element at most once; False only costs time."""
    parts = index if isinstance(index, tuple) else (index,)
    if all(isinstance(part, _BASIC) for part in parts):
        return True
    if not all(isinstance(part, np.ndarray) for part in parts):
        return False
    if any(part.dtype.kind not in "iu" for part in parts):
        return len(parts) == 1
    flat = np.ravel_multi_index(parts, shape[: len(parts)], mode="wrap")
    return bool(np.bincount(flat.ravel()).max(initial=0) <= 1)
