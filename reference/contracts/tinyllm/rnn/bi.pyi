"""L3.4: read a padded batch in both directions.

Steps at and past a sequence's length are padding. Reversing leaves them where they are.

Tolerance
- float32: rtol=1e-4, atol=1e-5
- float64: rtol=1e-10, atol=1e-12
- It bounds what went through a module: a batch's product and a row's differ in their last bits.
- What was only moved is compared exactly.

Left open
- The wording of error messages, and which subclass of ValueError is raised.
- Whether a result is a view of its argument or a copy.
- The order in which floats are added and multiplied, within the tolerance.
- Private names, and which functions call one another.
- Kinds of lengths beyond list, tuple and one-dimensional integer array.
- Lists of lengths that mix bools with integers.
- Kinds of batch beyond Tensor and ndarray.
- What happens when T is not a positive integer, or a batch has no sequence.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module

_Lengths = Sequence[int] | NDArray[np.integer[Any]]
_Batch = TypeVar("_Batch", Tensor, NDArray[Any])

def reversal_index(lengths: _Lengths, T: int) -> NDArray[np.int64]:  # noqa: N803 - the field's name
    """Return the int64 index of shape [T, B] that mirrors each sequence and fixes its padding.

    Entry [t, b] is lengths[b] - 1 - t where t < lengths[b], else t.

    lengths: list, tuple or array of B integers, of any integer dtype, each in 1..T.
    Raises ValueError when lengths is not one-dimensional, holds floats or bools, or leaves 1..T.
    """

def reverse_padded(x: _Batch, lengths: _Lengths | None) -> _Batch:
    """Reverse each sequence of x [T, B, ...] inside its own length; padding stays in place.

    Gives back the kind of x, Tensor or ndarray, with its shape and dtype, and leaves x as it was.
    The gradient of a Tensor goes through the same permutation. lengths=None gives x[::-1].

    Raises ValueError when x has fewer than two dimensions, or lengths is not B integers in 1..T.
    """

def bidirectional(
    fwd: Module, bwd: Module, x: Tensor | NDArray[Any], lengths: _Lengths | None = None
) -> Tensor:
    """Run fwd left to right and bwd right to left over x [T, B, D]; join them, fwd's half first.

    Each is called as module(batch, lengths=lengths), batch being a Tensor, and returns
    (out [T, B, H], state), out being 0 past each length. The result is a Tensor [T, B, Hf + Hb],
    0 past each length, whose halves at a position both belong to that position. The forward
    half's final states are at [lengths[b] - 1, b], the backward half's at [0, b].

    Gradients reach x and the parameters of both modules; padding gets none.

    x may be an ndarray. lengths=None means that nothing is padded.

    Raises ValueError when x has fewer than two dimensions, or lengths is not B integers in 1..T,
    whatever the modules check.
    """
