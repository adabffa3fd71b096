"""L0.1: a numpy array that knows how it was computed, so that gradients flow back through it.

Shapes, types and broadcasting follow numpy. A Python number beside a tensor takes its type.

Tolerance
- float32: rtol=1e-4, atol=1e-5
- float64: rtol=1e-10, atol=1e-12
- What was only moved is compared exactly.

Left open
- The wording of error messages, and which subclass of the named error is raised.
- Whether a result's data are a view of its operand's or a copy, unless said.
- Whether tensors that an operation made keep a gradient of their own.
- The text of repr.
- Gradients where a function has none, like that of a power at base 0.
- What happens to a gradient when data are changed between the operation and backward.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

class Tensor:
    """An array of booleans, integers or floats with reverse-mode automatic differentiation.

    data keep their type unless dtype is given; a list of Python floats becomes float64.
    TypeError when data aren't numbers; ValueError when requires_grad is asked for data that
    aren't floating-point.
    """

    __array_priority__: float
    """Above an array's, so that array * tensor is a Tensor."""

    data: NDArray[Any]
    """The values."""

    grad: NDArray[Any] | None
    """The gradient that backward has added up, of the shape and type of data; None before."""

    requires_grad: bool
    """Whether backward reaches this tensor; true for a result if it is for any operand."""

    def __init__(
        self, data: ArrayLike, requires_grad: bool = False, dtype: DTypeLike | None = None
    ) -> None: ...
    @classmethod
    def from_op(
        cls,
        data: ArrayLike,
        parents: Sequence[Tensor],
        backward: Callable[[NDArray[Any]], Sequence[NDArray[Any] | None]],
    ) -> Tensor:
        """Make the result of an operation, as one node of the graph whatever was fused into it.

        backward takes the result's gradient, which it leaves as it was, and returns one gradient
        a parent, each of its parent's shape; None stands for no gradient.
        """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def T(self) -> Tensor:  # noqa: N802 - numpy's name
        """The axes in reverse order."""

    def numpy(self) -> NDArray[Any]:
        """Return the values, sharing their memory."""

    def detach(self) -> Tensor:
        """Return a tensor of the same values, sharing their memory, through which nothing flows."""

    def item(self) -> bool | int | float:
        """Return the only element as a Python number; ValueError when there are more."""

    def zero_grad(self) -> None:
        """Set grad to None."""

    def backward(self, grad: ArrayLike | None = None) -> None:
        """Add this tensor's gradient to the grad of every leaf that it was computed from.

        A leaf is a tensor that no operation made. A second call adds again. Graphs of any length
        work, whatever Python's recursion limit.

        grad: the gradient to begin with, of this tensor's shape; 1 for a single element.
        Raises ValueError when this tensor requires no gradient, when grad is missing beside more
        than one element, and when it has another shape.
        """

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """Sum over one axis, several or all."""

    def mean(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """Average over one axis, several or all."""

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """Lay the elements out in another shape, given as one tuple or as several integers."""

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """Permute the axes, given as one tuple or as several integers; by default reverse them."""

    def __getitem__(self, index: object) -> Tensor:
        """Pick elements as numpy does: integers, slices, ellipsis, None, masks, integer arrays.

        Integer and boolean tensors stand for their arrays. An element that was picked several
        times gets the sum of its gradients.
        """
    # Arithmetic, with broadcasting; an operand's gradient has the operand's shape.
    def __add__(self, other: ArrayLike) -> Tensor: ...
    def __radd__(self, other: ArrayLike) -> Tensor: ...
    def __sub__(self, other: ArrayLike) -> Tensor: ...
    def __rsub__(self, other: ArrayLike) -> Tensor: ...
    def __mul__(self, other: ArrayLike) -> Tensor: ...
    def __rmul__(self, other: ArrayLike) -> Tensor: ...
    def __truediv__(self, other: ArrayLike) -> Tensor: ...
    def __rtruediv__(self, other: ArrayLike) -> Tensor: ...
    def __pow__(self, other: ArrayLike) -> Tensor: ...
    def __rpow__(self, other: ArrayLike) -> Tensor: ...
    def __matmul__(self, other: ArrayLike) -> Tensor: ...
    def __rmatmul__(self, other: ArrayLike) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    # Comparisons are elementwise and carry no gradient, so they give arrays of booleans.
    def __eq__(self, other: object) -> NDArray[Any]: ...  # type: ignore[override]  # elementwise
    def __ne__(self, other: object) -> NDArray[Any]: ...  # type: ignore[override]  # elementwise
    def __lt__(self, other: ArrayLike) -> NDArray[Any]: ...
    def __le__(self, other: ArrayLike) -> NDArray[Any]: ...
    def __gt__(self, other: ArrayLike) -> NDArray[Any]: ...
    def __ge__(self, other: ArrayLike) -> NDArray[Any]: ...
    def __hash__(self) -> int:
        """Hash by identity."""

    def __bool__(self) -> bool:
        """Return the truth of the only element; ValueError when there are more."""

    def __float__(self) -> float:
        """Return the only element; ValueError when there are more."""

    def __len__(self) -> int:
        """Return the length of the first axis; TypeError when there is none."""

    def __iter__(self) -> Iterator[Tensor]:
        """Go through the first axis; TypeError when there is none."""

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        """Let numpy's functions take a tensor for its array."""
