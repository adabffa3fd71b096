"""Bidirectional recurrent layers: padded batches, reversed inside each sequence's own length."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tinyllm.autograd.functional import concat
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module

_Lengths = Sequence[int] | NDArray[np.integer[Any]]
_Reversal = slice | tuple[NDArray[np.int64], NDArray[np.int64]]
_Batch = TypeVar("_Batch", Tensor, NDArray[Any])


def reversal_index(lengths: _Lengths, T: int) -> NDArray[np.int64]:  # noqa: N803 - the field's name
    """Return the index that mirrors each sequence and leaves its padding where it is.

    Column ``b`` is the permutation ``t -> lengths[b] - 1 - t`` for ``t < lengths[b]``, else
    ``t -> t``. It is its own inverse.

    Parameters
    ----------
    lengths : sequence or array of int, shape [B]
        Real steps of each sequence, each in ``1..T``.
    T : int
        Steps of the padded batch.

    Returns
    -------
    ndarray of int64, shape [T, B]

    Raises
    ------
    ValueError
        When ``lengths`` is not one-dimensional, holds anything but integers (bools are none), or
        a length lies outside ``1..T``.

    References
    ----------
    Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", 1997, section II-B.
    """
    return _mirror(_checked(lengths, T), T)


def reverse_padded(x: _Batch, lengths: _Lengths | None) -> _Batch:
    """Reverse every sequence of a padded batch inside its own length; padding stays in place.

    Reversing twice gives ``x`` back. On a Tensor the gradient goes through the same permutation.

    Parameters
    ----------
    x : Tensor or ndarray, shape [T, B, ...]
    lengths : sequence or array of int, shape [B], or None
        Real steps of each sequence, each in ``1..T``; None when nothing is padded.

    Returns
    -------
    Tensor or ndarray, shape [T, B, ...]
        The kind of ``x``. With ``lengths=None`` it is ``x[::-1]``.

    Raises
    ------
    ValueError
        When ``x`` has fewer than two dimensions, or ``lengths`` is not `B` integers in ``1..T``.

    References
    ----------
    Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", 1997, section II-B.
    """
    return x[_reversal(x.shape, lengths)]


def bidirectional(
    fwd: Module, bwd: Module, x: Tensor | NDArray[Any], lengths: _Lengths | None = None
) -> Tensor:
    """Run one module left to right and one right to left, and join their outputs per position.

    ``out = [fwd(x) ; R(bwd(R(x)))]`` on the last axis, where ``R`` is `reverse_padded`. The final
    states stand in the output: forward at ``[lengths[b] - 1, b, :Hf]``, backward at
    ``[0, b, Hf:]``.

    Parameters
    ----------
    fwd, bwd : Module
        Called as ``module(x, lengths=lengths)``, returning ``(out, state)``; ``out`` is 0 past
        each length.
    x : Tensor or ndarray, shape [T, B, D]
    lengths : sequence or array of int, shape [B], optional
        Real steps of each sequence, each in ``1..T``; None when nothing is padded.

    Returns
    -------
    Tensor, shape [T, B, Hf + Hb]
        The forward half first, 0 past each length.

    Raises
    ------
    ValueError
        When ``x`` has fewer than two dimensions, or ``lengths`` is not `B` integers in ``1..T``.

    References
    ----------
    Graves and Schmidhuber, "Framewise phoneme classification with bidirectional LSTM", 2005.
    """
    batch = x if isinstance(x, Tensor) else Tensor(x)
    reversal = _reversal(batch.shape, lengths)
    ahead, _ = fwd(batch, lengths=lengths)
    behind, _ = bwd(batch[reversal], lengths=lengths)
    return concat([ahead, behind[reversal]], axis=-1)


def _reversal(shape: tuple[int, ...], lengths: _Lengths | None) -> _Reversal:
    """Return what to index a batch of this shape with, so that it is reversed."""
    if len(shape) < 2:
        raise ValueError(f"x must have at least two dimensions [T, B, ...], got shape {shape}")
    if lengths is None:
        return slice(None, None, -1)
    steps, sequences = shape[:2]
    counts = _checked(lengths, steps, sequences)
    return _mirror(counts, steps), np.arange(sequences)


def _mirror(counts: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return `reversal_index` for lengths that are known to be good."""
    last = counts - 1
    step = np.arange(steps)[:, np.newaxis]
    return np.where(step <= last, last - step, step)


def _checked(lengths: _Lengths, steps: int, sequences: int | None = None) -> NDArray[np.int64]:
    """Return the lengths as an array, or raise ValueError for one that no batch can have."""
    counts = np.asarray(lengths)
    if counts.ndim != 1:
        raise ValueError(f"lengths must have one dimension, got {counts.ndim}: {lengths!r}")
    if not np.issubdtype(counts.dtype, np.integer):
        raise ValueError(f"lengths must be integers, got {counts.dtype}: {lengths!r}")
    if sequences is not None and counts.size != sequences:
        raise ValueError(f"lengths must name {sequences} sequences, got {counts.size}: {lengths!r}")
    outside = (counts <= 0) | (counts > steps)
    if outside.any():
        raise ValueError(f"lengths must lie in 1..{steps}, got {counts[outside].tolist()}")
    return counts.astype(np.int64)
