"""What the recurrent layers share: parameters, checks of the arguments, lengths as masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module

Array = NDArray[Any]
Seed = np.random.Generator | int | None


class RecurrentModule(Module):
    """A single recurrent layer with torch's parameters, `gates` blocks of rows in each.

    Without `rng` the values come from numpy's global generator: layers made one after the other
    differ, and `numpy.random.seed` makes them reproducible.
    """

    def __init__(
        self, gates: int, input_size: int, hidden_size: int, rng: Seed, dtype: DTypeLike
    ) -> None:
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        uniform = np.random.uniform if rng is None else np.random.default_rng(rng).uniform
        bound = 1 / np.sqrt(hidden_size)

        def parameter(*shape: int) -> Tensor:
            return Tensor(uniform(-bound, bound, shape), requires_grad=True, dtype=dtype)

        self.weight_ih_l0 = parameter(gates * hidden_size, input_size)
        self.weight_hh_l0 = parameter(gates * hidden_size, hidden_size)
        self.bias_ih_l0 = parameter(gates * hidden_size)
        self.bias_hh_l0 = parameter(gates * hidden_size)

    def weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the four parameters in torch's order."""
        return self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0

    def check_input(self, x: ArrayLike) -> Tensor:
        """Return x as a tensor [T, B, D]; ValueError if it is none."""
        x = x if isinstance(x, Tensor) else Tensor(x)
        expected = f"[T, B, {self.input_size}] with T and B of at least 1"
        if x.ndim != 3 or x.shape[2] != self.input_size or not x.size:
            raise ValueError(f"x must have shape {expected}, got {list(x.shape)}")
        return x

    def check_state(self, name: str, state: ArrayLike | None, x: Tensor) -> Tensor:
        """Return a part of the initial state as a tensor [B, H], zeros by default."""
        shape = (x.shape[1], self.hidden_size)
        if state is None:
            return Tensor(np.zeros(shape, self.weight_hh_l0.dtype))
        state = state if isinstance(state, Tensor) else Tensor(state)
        if state.shape != shape:
            raise ValueError(f"{name} must have shape {list(shape)}, got {list(state.shape)}")
        return state


def check_lengths(lengths: ArrayLike, steps: int, batch: int | None = None) -> NDArray[np.int64]:
    """Return the lengths of a padded batch as an int64 array [B].

    Parameters
    ----------
    lengths : array_like of int, [B]
        The number of real steps of each sequence.
    steps : int
        T, the number of steps of the padded batch.
    batch : int, optional
        B, the number of sequences; by default as many as there are lengths.

    Raises
    ------
    ValueError
        The lengths are not integers (booleans and floats aren't), not one-dimensional, not B, or
        not in 1..T.
    """
    try:
        array = np.asarray(lengths)
    except ValueError:
        array = np.empty(0, object)
    fits = array.ndim == 1 and array.dtype.kind in "iu" and batch in (None, array.size)
    if not fits or _holds_a_boolean(lengths) or (array < 1).any() or (array > steps).any():
        count = "one" if batch is None else f"{batch}, one"
        raise ValueError(
            f"lengths must be integers in 1..{steps}, {count} a sequence; got {lengths!r}"
        )
    return array.astype(np.int64)


def _holds_a_boolean(lengths: ArrayLike) -> bool:
    """Tell whether a list holds a bool, which numpy takes for an integer beside integers."""
    return isinstance(lengths, list | tuple) and any(
        isinstance(length, bool | np.bool_) for length in lengths
    )


def padding_mask(ends: NDArray[np.int64], steps: int) -> NDArray[np.bool_]:
    """Return [T, B], true at the steps past each sequence's end."""
    return np.arange(steps)[:, np.newaxis] >= ends


def blank(batch: Array, padding: NDArray[np.bool_] | None) -> Array:
    """Return a padded batch [T, B, ...] with its padding replaced by zeros."""
    return batch if padding is None else np.where(padding[:, :, np.newaxis], 0, batch)


def by_rows(steps: Array) -> Array:
    """Lay [T, rows, B] out as [rows, T * B], for one product over all steps."""
    count, rows, batch = steps.shape
    return steps.swapaxes(0, 1).reshape(rows, count * batch)
