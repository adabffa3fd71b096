"""The tensor: an array that remembers how it was computed, so that gradients can flow back."""

# ruff: noqa: SLF001 - the tensors of a graph follow each other's links

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tinyllm.autograd._gradients import (
    Array,
    Index,
    base_gradient,
    exponent_gradient,
    matmul_gradients,
    scatter,
    spread,
    unbroadcast,
)

_Backward = Callable[[Array], Sequence[Array | None]]
_Rule = Callable[[Array, Array, Array], Array]
_Axis = int | tuple[int, ...] | None


class Tensor:
    """A numpy array with reverse-mode automatic differentiation.

    Parameters
    ----------
    data : array_like
        The values: booleans, integers or floats. An array is shared, not copied, unless `dtype`
        asks for another type.
    requires_grad : bool
        Whether `backward` shall leave the gradient of this tensor in `grad`.
    dtype : dtype, optional
        The type to convert to. By default the data keep their own (Python floats: float64).

    Raises
    ------
    TypeError
        The data are not numbers.
    ValueError
        A gradient is asked for data that are not floating-point.

    Notes
    -----
    Results follow numpy's rules for shapes and types: a Python number never widens a float32
    tensor. Only leaves, the tensors that no operation made, keep a gradient.
    Baydin et al., "Automatic differentiation in machine learning: a survey" (2018), section 3.2.
    """

    __slots__ = ("__weakref__", "_backward", "_parents", "data", "grad", "requires_grad")

    # Above numpy's own, so that `array * tensor` asks the tensor.
    __array_priority__ = 1000.0

    def __init__(
        self, data: ArrayLike, requires_grad: bool = False, dtype: DTypeLike | None = None
    ) -> None:
        self.data: Array = np.asarray(data, dtype=dtype)
        kind = self.data.dtype.kind
        if kind not in "biuf":
            raise TypeError(f"data must be booleans, integers or floats, got {self.data.dtype}")
        if requires_grad and kind != "f":
            raise ValueError(f"requires_grad needs floating-point data, got {self.data.dtype}")
        self.requires_grad = requires_grad
        self.grad: Array | None = None
        self._parents: tuple[Tensor, ...] = ()
        self._backward: _Backward | None = None

    @classmethod
    def from_op(cls, data: ArrayLike, parents: Sequence[Tensor], backward: _Backward) -> Tensor:
        """Make the result of an operation, however much that operation has fused into one.

        Parameters
        ----------
        data : array_like
            The result's values.
        parents : sequence of Tensor
            The tensors it was computed from.
        backward : callable
            Takes the gradient of the result, an array of its shape that it must not change, and
            returns one entry a parent: an array of that parent's shape, or None for no gradient.

        Returns
        -------
        Tensor
            It requires a gradient if any parent does.
        """
        out = cls(data, requires_grad=any(parent.requires_grad for parent in parents))
        if out.requires_grad:
            out._parents = tuple(parents)
            out._backward = backward
        return out

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.data.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.data.size

    @property
    def T(self) -> Tensor:  # noqa: N802 - numpy's name
        """The tensor with its axes in reverse order."""
        return self.transpose()

    def numpy(self) -> Array:
        """Return the values, shared with this tensor."""
        return self.data

    def detach(self) -> Tensor:
        """Return a tensor with the same, shared values and no history."""
        return Tensor(self.data)

    def item(self) -> bool | int | float:
        """Return the only element as a Python number; ValueError if there are more."""
        number: bool | int | float = self.data.item()
        return number

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def backward(self, grad: ArrayLike | None = None) -> None:
        """Add the gradient of this tensor to the `grad` of every leaf that it depends on.

        Parameters
        ----------
        grad : array_like, optional
            The gradient of this tensor, of its shape. One, if it has a single element.

        Raises
        ------
        ValueError
            This tensor requires no gradient, `grad` is missing where there is more than one
            element, or its shape is another.
        """
        if not self.requires_grad:
            raise ValueError("backward needs a tensor that requires a gradient")
        flowing: dict[int, Array] = {id(self): self._upstream(grad)}
        for node in _outputs_first(self):
            arrived = flowing.pop(id(node), None)
            if arrived is None:
                continue
            if node._backward is None:
                node._accumulate(arrived)
                continue
            for parent, share in zip(node._parents, node._backward(arrived), strict=True):
                if share is not None and parent.requires_grad:
                    earlier = flowing.get(id(parent))
                    fitted = _fitted(share, parent)
                    flowing[id(parent)] = fitted if earlier is None else earlier + fitted

    def _accumulate(self, grad: Array) -> None:
        self.grad = np.array(grad) if self.grad is None else np.asarray(self.grad + grad)

    def _upstream(self, grad: ArrayLike | None) -> Array:
        if grad is None:
            if self.size != 1:
                raise ValueError(
                    f"backward needs grad for a tensor of more than one element, shape {self.shape}"
                )
            return np.ones(self.shape, self.dtype)
        upstream = np.asarray(grad, dtype=self.dtype)
        if upstream.shape != self.shape:
            raise ValueError(f"grad must have shape {self.shape}, got {upstream.shape}")
        return upstream

    def sum(self, axis: _Axis = None, keepdims: bool = False) -> Tensor:
        """Sum over one axis, several or all."""
        data = self.data.sum(axis=axis, keepdims=keepdims)
        return Tensor.from_op(
            data, (self,), lambda grad: (spread(grad, axis, keepdims, self.shape),)
        )

    def mean(self, axis: _Axis = None, keepdims: bool = False) -> Tensor:
        """Average over one axis, several or all."""
        data = self.data.mean(axis=axis, keepdims=keepdims)
        weight = np.size(data) / max(self.size, 1)
        return Tensor.from_op(
            data, (self,), lambda grad: (spread(grad * weight, axis, keepdims, self.shape),)
        )

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """Lay the elements out in another shape, given as one tuple or as several integers."""
        data = self.data.reshape(_as_one_tuple(shape))
        return Tensor.from_op(data, (self,), lambda grad: (grad.reshape(self.shape),))

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """Permute the axes, given as one tuple or as several integers; by default reverse them."""
        order = _as_one_tuple(axes) or tuple(reversed(range(self.ndim)))
        data = self.data.transpose(order)
        back = np.argsort([axis % self.ndim for axis in order])
        return Tensor.from_op(data, (self,), lambda grad: (grad.transpose(back),))

    def __getitem__(self, index: Index) -> Tensor:
        plain = _without_tensors(index)
        data = self.data[plain]
        return Tensor.from_op(data, (self,), lambda grad: (scatter(grad, plain, self.shape),))

    def __add__(self, other: ArrayLike) -> Tensor:
        return _elementwise(
            np.add, self, _operand(other, self), lambda g, _a, _b: g, lambda g, _a, _b: g
        )

    def __sub__(self, other: ArrayLike) -> Tensor:
        return _elementwise(
            np.subtract, self, _operand(other, self), lambda g, _a, _b: g, lambda g, _a, _b: -g
        )

    def __mul__(self, other: ArrayLike) -> Tensor:
        return _elementwise(
            np.multiply, self, _operand(other, self), lambda g, _, b: g * b, lambda g, a, _: g * a
        )

    def __truediv__(self, other: ArrayLike) -> Tensor:
        return _elementwise(
            np.divide,
            self,
            _operand(other, self),
            lambda g, _, b: g / b,
            lambda g, a, b: -g * a / (b * b),
        )

    def __pow__(self, other: ArrayLike) -> Tensor:
        return _elementwise(np.power, self, _operand(other, self), base_gradient, exponent_gradient)

    def __matmul__(self, other: ArrayLike) -> Tensor:
        left, right = self, _operand(other, self)
        return Tensor.from_op(
            left.data @ right.data,
            (left, right),
            lambda grad: matmul_gradients(grad, left.data, right.data),
        )

    def __radd__(self, other: ArrayLike) -> Tensor:
        return _operand(other, self) + self

    def __rsub__(self, other: ArrayLike) -> Tensor:
        return _operand(other, self) - self

    def __rmul__(self, other: ArrayLike) -> Tensor:
        return _operand(other, self) * self

    def __rtruediv__(self, other: ArrayLike) -> Tensor:
        return _operand(other, self) / self

    def __rpow__(self, other: ArrayLike) -> Tensor:
        return _operand(other, self) ** self

    def __rmatmul__(self, other: ArrayLike) -> Tensor:
        return _operand(other, self) @ self

    def __neg__(self) -> Tensor:
        return Tensor.from_op(-self.data, (self,), lambda grad: (-grad,))

    # Comparisons carry no gradient, so they give plain arrays, ready for `.all()` or as a mask.

    def __eq__(self, other: object) -> Array:  # type: ignore[override]  # elementwise, as numpy's
        return np.asarray(self.data == _values(other))

    def __ne__(self, other: object) -> Array:  # type: ignore[override]  # elementwise, as numpy's
        return np.asarray(self.data != _values(other))

    def __lt__(self, other: ArrayLike) -> Array:
        return np.asarray(self.data < np.asarray(other))

    def __le__(self, other: ArrayLike) -> Array:
        return np.asarray(self.data <= np.asarray(other))

    def __gt__(self, other: ArrayLike) -> Array:
        return np.asarray(self.data > np.asarray(other))

    def __ge__(self, other: ArrayLike) -> Array:
        return np.asarray(self.data >= np.asarray(other))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Tensor]:
        return map(self.__getitem__, range(len(self)))

    def __float__(self) -> float:
        return float(self.item())

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:
        return np.array(self.data, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        values = np.array2string(self.data, separator=", ", prefix="Tensor(")
        flag = ", requires_grad=True" if self.requires_grad else ""
        return f"Tensor({values}, dtype={self.dtype}{flag})"


def _operand(other: ArrayLike, beside: Tensor) -> Tensor:
    """Make a tensor of the other operand; a Python number takes the type of the one beside it."""
    if isinstance(other, Tensor):
        return other
    if isinstance(other, bool | int | float):
        return Tensor(np.asarray(other, np.result_type(beside.data, other)))
    return Tensor(other)


def _elementwise(
    operation: np.ufunc, left: Tensor, right: Tensor, to_left: _Rule, to_right: _Rule
) -> Tensor:
    """Apply a binary operation with broadcasting; a rule maps (grad, left, right) to a gradient."""
    a, b = left.data, right.data

    def backward(grad: Array) -> tuple[Array | None, Array | None]:
        return (
            unbroadcast(to_left(grad, a, b), a.shape) if left.requires_grad else None,
            unbroadcast(to_right(grad, a, b), b.shape) if right.requires_grad else None,
        )

    return Tensor.from_op(operation(a, b), (left, right), backward)


def _without_tensors(index: Index) -> Index:
    if isinstance(index, tuple):
        return tuple(_values(part) for part in index)
    return _values(index)


def _values(operand: object) -> object:
    return operand.data if isinstance(operand, Tensor) else operand


def _as_one_tuple(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Accept ``f(1, 2)`` and ``f((1, 2))`` alike."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], Sequence) else given


def _fitted(share: Array, parent: Tensor) -> Array:
    """Check the shape of a gradient that an operation returned, and give it its parent's type."""
    if share.shape != parent.shape:
        raise ValueError(f"a gradient has shape {share.shape}, its tensor {parent.shape}")
    return share if share.dtype == parent.dtype else share.astype(parent.dtype)


def _outputs_first(root: Tensor) -> list[Tensor]:
    """Order a graph so that every tensor comes before those it was computed from."""
    order: list[Tensor] = []
    seen = {id(root)}
    path = [(root, iter(root._parents))]
    while path:
        node, parents = path[-1]
        for parent in parents:
            if parent.requires_grad and id(parent) not in seen:
                seen.add(id(parent))
                path.append((parent, iter(parent._parents)))
                break
        else:
            order.append(node)
            path.pop()
    order.reverse()
    return order
