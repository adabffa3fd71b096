"""The LSTM layer, run over a whole padded batch as one node of the graph."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn._recurrent import (
    Array,
    RecurrentModule,
    Seed,
    blank,
    by_rows,
    check_lengths,
    padding_mask,
)


class LSTM(RecurrentModule):
    """One layer of long short-term memory, with torch's parameters and gate order.

    With ``i, f, o = sigmoid``, ``g = tanh`` of the four blocks of
    ``W_ih x_t + b_ih + W_hh h_{t-1} + b_hh``::

        c_t = f * c_{t-1} + i * g
        h_t = o * tanh(c_t)

    Parameters
    ----------
    input_size : int
        D, the number of features of a step.
    hidden_size : int
        H, the size of the state.
    rng : numpy.random.Generator or int, optional
        Where the initial values are drawn from, uniform in ``[-1/sqrt(H), 1/sqrt(H)]``.
        By default numpy's global generator.
    dtype : dtype
        The parameters' floating-point type.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0 : Tensor, [4H, D] and [4H, H]
    bias_ih_l0, bias_hh_l0 : Tensor, [4H]
        The blocks of rows belong to the gates i, f, g, o.

    Raises
    ------
    ValueError
        A size is below 1, or the type isn't floating-point.

    Notes
    -----
    Hochreiter and Schmidhuber, "Long short-term memory" (1997), with the forget gate of Gers et
    al. (2000).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        rng: Seed = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__(4, input_size, hidden_size, rng, dtype)

    def forward(
        self,
        x: ArrayLike,
        lengths: ArrayLike | None = None,
        state: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read a padded batch from left to right.

        Parameters
        ----------
        x : Tensor or array_like, [T, B, D]
            The steps of the sequences; what stands past a sequence's length is never read.
        lengths : array_like of int, [B], optional
            The number of real steps of each sequence, in 1..T. By default all are T.
        state : pair of Tensor or array_like, each [B, H], optional
            The initial ``(h, c)``, by default zeros.

        Returns
        -------
        out : Tensor, [T, B, H]
            The state h after each step, 0 past a sequence's length.
        state : pair of Tensor, each [B, H]
            ``(h, c)`` after each sequence's last real step.

        Raises
        ------
        ValueError
            x, lengths or state have another shape, or the lengths are not integers in 1..T.
        """
        x = self.check_input(x)
        steps, batch, _ = x.shape
        ends = None if lengths is None else check_lengths(lengths, steps, batch)
        parents = (x, *self.weights(), *self._check_pair(state, x))
        unrolled = _Unrolled([parent.data for parent in parents], ends)
        packed = Tensor.from_op(
            unrolled.packed(), parents, lambda grad: unrolled.backward(grad, x.requires_grad)
        )
        out = packed[:steps]
        last = out[-1] if ends is None else out[ends - 1, np.arange(batch)]
        return out, (last, packed[steps])

    def _check_pair(
        self, state: tuple[ArrayLike, ArrayLike] | None, x: Tensor
    ) -> tuple[Tensor, Tensor]:
        pair = (None, None) if state is None else state
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"state must be a pair (h, c), got {state!r}")
        h, c = pair
        return self.check_state("state[0]", h, x), self.check_state("state[1]", c, x)


class _Unrolled:
    """The layer unrolled over the steps of a batch, with all that the way back needs.

    Inside, features stand before the batch, [T, rows, B]: so the rows of a gate are contiguous,
    and a call on them costs numpy a third of what it would. `h` has a last row of ones, so that a
    product with it brings the biases along.
    Sequences that have ended run on over zeros, and nobody reads what they say.
    """

    def __init__(self, values: list[Array], ends: NDArray[np.int64] | None) -> None:
        dtype = np.result_type(*values)
        x, w_ih, w_hh, b_ih, b_hh, h, c = (value.astype(dtype, copy=False) for value in values)
        self.steps, self.batch, _ = x.shape
        self.size = size = w_hh.shape[1]
        self.ends = ends
        self.padding = None if ends is None else padding_mask(ends, self.steps)
        self.x = blank(x, self.padding)
        self.w_ih, self.w_hh = w_ih, w_hh
        # One block, that of the way back included: the C library returns large ones to the kernel
        # when they are freed, and several fetched anew cost more than the arithmetic.
        tape = np.empty((self.steps + 1, 13 * size + 1, self.batch), dtype)
        self.gates, self.tanh_c = tape[:-1, : 4 * size], tape[:-1, 4 * size : 5 * size]
        self.slopes = tape[:-1, 5 * size : 11 * size].reshape(self.steps, 6, size, self.batch)
        self.c, self.h = tape[:, 11 * size : 12 * size], tape[:, 12 * size :]
        self.c[0], self.h[0, :size], self.h[:, size] = c.T, h.T, 1
        scale, shift = _sigmoids_by_tanh(size, self.batch, dtype)
        np.matmul(w_ih * scale[:, :1], self.x.transpose(0, 2, 1), self.gates)
        recurrent = np.concatenate((w_hh, (b_ih + b_hh)[:, np.newaxis]), axis=1)
        self._run(recurrent * scale[:, :1], scale, shift)

    def _run(self, recurrent: Array, scale: Array, shift: Array) -> None:
        """Turn the gates' inputs into gates, step by step, and find h and c."""
        part, gain = np.empty_like(scale), np.empty_like(self.c[0])
        h = self.h[:, : self.size]
        views = zip(
            self.gates,
            *self._each_gate(),
            self.c,
            self.c[1:],
            self.tanh_c,
            self.h,
            h[1:],
            strict=False,
        )
        for gates, i, f, g, o, c, next_c, tanh_c, h_and_1, next_h in views:
            recurrent.dot(h_and_1, part)
            np.add(gates, part, gates)
            np.tanh(gates, gates)
            np.multiply(gates, scale, gates)
            np.add(gates, shift, gates)
            np.multiply(f, c, next_c)
            np.multiply(i, g, gain)
            np.add(next_c, gain, next_c)
            np.tanh(next_c, tanh_c)
            np.multiply(o, tanh_c, next_h)

    def _each_gate(self) -> Array:
        """Return the gates as [4, T, H, B]: i, f, g, o."""
        return self.gates.reshape(self.steps, 4, self.size, self.batch).swapaxes(0, 1)

    def packed(self) -> Array:
        """Return out and, as one step more, the final c: [T+1, B, H]."""
        packed = np.empty((self.steps + 1, self.batch, self.size), self.h.dtype)
        out, c = packed[:-1], packed[-1]
        out[...] = self.h[1:, : self.size].transpose(0, 2, 1)
        if self.padding is None:
            c[...] = self.c[-1].T
        else:
            out[self.padding] = 0
            c[...] = self.c[self.ends, :, np.arange(self.batch)]
        return packed

    def backward(self, grad: Array, needs_dx: bool) -> tuple[Array | None, ...]:
        """Send the gradient of `packed` back through time, to the parents in their order."""
        steps, batch, size = self.steps, self.batch, self.size
        self._find_slopes()
        upstream = blank(grad[:-1], self.padding).transpose(0, 2, 1).copy()
        dh, dc = self._run_back(upstream, grad[-1].T)
        rows = by_rows(self.slopes[:, 1:5].reshape(steps, 4 * size, batch))
        dx = (rows.T @ self.w_ih).reshape(self.x.shape) if needs_dx else None
        dw_ih = rows @ self.x.reshape(steps * batch, self.x.shape[2])
        dw_hh = rows @ by_rows(self.h[:-1]).T
        bias = dw_hh[:, size]
        return dx, dw_ih, dw_hh[:, :size], bias, bias, dh.T, dc.T

    def _find_slopes(self) -> None:
        """Fill in the derivatives [T, 6, H, B] by which the gradients are multiplied.

        Blocks 0 to 3 are those of the new c by the old one and by the inputs of the gates i, f, g;
        4 and 5 those of h by the input of o and by the new c. So the gates stand side by side, in
        torch's order, and what dc and dh are multiplied by does as well.
        """
        i, f, g, o = self._each_gate()
        c_by_c, c_by_i, c_by_f, c_by_g, h_by_o, h_by_c = self.slopes.swapaxes(0, 1)
        gates = self.slopes[:, 1:5].reshape(self.gates.shape)
        np.multiply(self.gates, self.gates, gates)
        np.subtract(i, c_by_i, c_by_i)
        np.subtract(f, c_by_f, c_by_f)
        np.subtract(1, c_by_g, c_by_g)
        np.subtract(o, h_by_o, h_by_o)
        c_by_i *= g
        c_by_f *= self.c[:-1]
        c_by_g *= i
        h_by_o *= self.tanh_c
        c_by_c[...] = f
        np.multiply(self.h[1:, : self.size], self.tanh_c, h_by_c)
        np.subtract(o, h_by_c, h_by_c)
        if self.padding is not None:
            past = self.padding[:, np.newaxis, np.newaxis]
            np.copyto(self.slopes, 0, where=past)
            np.copyto(c_by_c, 1, where=past[:, 0])

    def _run_back(self, upstream: Array, dc: Array) -> tuple[Array, Array]:
        """Turn the slopes into gradients, last step first; return those of the initial state."""
        slopes = self.slopes[::-1]
        dh = np.zeros((self.size, self.batch), slopes.dtype)
        dc_here = np.empty_like(dh)
        to_h = self.w_hh.T
        views = zip(
            upstream[::-1],
            slopes[:, 4],
            slopes[:, 5],
            slopes[:, :4],
            slopes[:, 0],
            slopes[:, 1:5].reshape(self.steps, 4 * self.size, self.batch),
            strict=True,
        )
        for arriving, h_by_o, h_by_c, c_by, c_by_c, gates in views:
            np.add(dh, arriving, dh)
            np.multiply(h_by_o, dh, h_by_o)
            np.multiply(h_by_c, dh, h_by_c)
            np.add(dc, h_by_c, dc_here)
            np.multiply(c_by, dc_here, c_by)
            to_h.dot(gates, dh)
            dc = c_by_c
        return dh, dc


@lru_cache(maxsize=8)
def _sigmoids_by_tanh(hidden: int, batch: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return the scale and shift [4H, B] that make sigmoids of tanh, for all gates but g.

    sigmoid(a) = tanh(a / 2) / 2 + 1 / 2: so a single tanh serves all four gates.
    """
    scale = np.repeat(np.array([0.5, 0.5, 1, 0.5], dtype), hidden * batch)
    shift = np.repeat(np.array([0.5, 0.5, 0, 0.5], dtype), hidden * batch)
    return scale.reshape(4 * hidden, batch), shift.reshape(4 * hidden, batch)
