"""L0.2: functions of tensors. Each takes arrays too and returns a Tensor.

Tolerance
- float32: rtol=1e-4, atol=1e-5
- float64: rtol=1e-10, atol=1e-12

Left open
- The wording of error messages, and which subclass of ValueError is raised.
- Warnings of numpy where a value leaves a function's domain.
"""

from collections.abc import Sequence

from numpy.typing import ArrayLike
from tinyllm.autograd.tensor import Tensor

def concat(tensors: Sequence[ArrayLike], axis: int = -1) -> Tensor:
    """Join tensors along an axis, in their order; each gets its own part of the gradient.

    Raises ValueError when there is none, or another axis differs.
    """

def sum(  # noqa: A001 - numpy's name
    x: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Tensor:
    """Sum over one axis, several or all."""

def mean(x: ArrayLike, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Average over one axis, several or all."""

def matmul(left: ArrayLike, right: ArrayLike) -> Tensor:
    """Multiply vectors, matrices or stacks of matrices, as numpy's @ does."""

def exp(x: ArrayLike) -> Tensor:
    """Return e to the power of each element."""

def log(x: ArrayLike) -> Tensor:
    """Return the natural logarithm of each element."""

def tanh(x: ArrayLike) -> Tensor:
    """Return the hyperbolic tangent of each element."""

def sigmoid(x: ArrayLike) -> Tensor:
    """Return 1 / (1 + exp(-x)) of each element, finite and without a warning for any finite x."""

def relu(x: ArrayLike) -> Tensor:
    """Return each element, 0 in place of a negative one. The gradient at 0 is 0."""
