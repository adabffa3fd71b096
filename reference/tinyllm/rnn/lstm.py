"""The LSTM layer, run over a whole padded batch as one node of the graph."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn._recurrent import Array, RecurrentModule, Seed, check_lengths, padding_mask


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
        h, c = (None, None) if state is None else state
        parents = (x, *self.weights(), self.check_state("h", h, x), self.check_state("c", c, x))
        unrolled = _Unrolled([parent.data for parent in parents], ends)
        packed = Tensor.from_op(
            unrolled.packed(), parents, lambda grad: unrolled.backward(grad, x.requires_grad)
        )
        out = packed[:steps]
        last = out[-1] if ends is None else out[ends - 1, np.arange(batch)]
        return out, (last, packed[steps])


class _Unrolled:
    """The layer unrolled over the steps of a batch, with all that the way back needs.

    `gates` [T+1, B, 5, H] holds i, f, g, o of each step and, fifth, the c that the step starts
    from: the pairs (i, f) and (g, c) are views, so one call multiplies both.
    Sequences that have ended run on over zeros, and nobody reads what they say.
    """

    def __init__(self, values: list[Array], ends: NDArray[np.int64] | None) -> None:
        dtype = np.result_type(*values)
        x, w_ih, w_hh, b_ih, b_hh, h, c = (value.astype(dtype, copy=False) for value in values)
        steps, batch, hidden = *x.shape[:2], len(w_hh.T)
        self.ends = ends
        self.padding = None if ends is None else padding_mask(ends, steps)
        self.x = x if self.padding is None else np.where(self.padding[..., np.newaxis], 0, x)
        self.w_ih, self.w_hh = w_ih, w_hh
        self.gates = np.empty((steps + 1, batch, 5, hidden), dtype)
        self.gates[0, :, 4] = c
        self.tanh_c = np.empty((steps, batch, hidden), dtype)
        self.h = np.empty((steps + 2, batch, hidden), dtype)
        self.h[0] = h
        scale, shift = _sigmoids_by_tanh(hidden, dtype)
        inputs = self.x.reshape(steps * batch, -1) @ w_ih.T
        inputs += b_ih + b_hh
        inputs *= scale
        self._run(
            inputs.reshape(steps, batch, -1), np.multiply(w_hh.T, scale, order="C"), scale, shift
        )

    def _run(self, inputs: Array, recurrent: Array, scale: Array, shift: Array) -> None:
        steps, batch, hidden = self.tanh_c.shape
        gates = self.gates[:steps]
        part = np.empty((batch, 4 * hidden), inputs.dtype)
        product = np.empty((batch, 2, hidden), inputs.dtype)
        kept, gained = product[:, 1], product[:, 0]
        views = zip(
            inputs,
            gates.reshape(steps, batch, -1)[:, :, : 4 * hidden],
            gates[:, :, :2],
            gates[:, :, 2::2],
            gates[:, :, 3],
            self.gates[1:, :, 4],
            self.tanh_c,
            self.h,
            self.h[1:],
            strict=False,
        )
        for entering, ifgo, i_f, g_c, o, c, tanh_c, h, next_h in views:
            h.dot(recurrent, part)
            np.add(part, entering, ifgo)
            np.tanh(ifgo, ifgo)
            np.multiply(ifgo, scale, ifgo)
            np.add(ifgo, shift, ifgo)
            np.multiply(i_f, g_c, product)
            np.add(kept, gained, c)
            np.tanh(c, tanh_c)
            np.multiply(o, tanh_c, next_h)

    def packed(self) -> Array:
        """Return out and, as one step more, the final c: [T+1, B, H]."""
        steps = len(self.tanh_c)
        c = self.gates[:, :, 4]
        packed = self.h[1:]
        if self.padding is None:
            packed[steps] = c[steps]
            return packed
        packed = packed.copy()
        packed[:steps][self.padding] = 0
        packed[steps] = c[self.ends, np.arange(c.shape[1])]
        return packed

    def backward(self, grad: Array, needs_dx: bool) -> tuple[Array | None, ...]:
        """Send the gradient of `packed` back through time, to the parents in their order."""
        steps, batch, hidden = self.tanh_c.shape
        upstream = grad[:steps]
        if self.padding is not None:
            upstream = np.where(self.padding[..., np.newaxis], 0, upstream)
        slopes = self._slopes()
        dh, dc = self._run_back(slopes, upstream, grad[steps])
        flat = slopes.reshape(steps * batch, 6 * hidden)[:, hidden : 5 * hidden]
        bias = flat.sum(axis=0)
        dx = (flat @ self.w_ih).reshape(self.x.shape) if needs_dx else None
        dw_ih = flat.T @ self.x.reshape(steps * batch, -1)
        dw_hh = flat.T @ self.h[:steps].reshape(steps * batch, hidden)
        return dx, dw_ih, dw_hh, bias, bias, dh, dc

    def _slopes(self) -> Array:
        """Return the derivatives [T, B, 6, H] by which the gradients are multiplied.

        Blocks 0 to 3 are those of the new c by the old one and by the pre-activations of i, f, g;
        4 and 5 those of h by the pre-activation of o and by the new c. So the pre-activations
        stand side by side, in torch's order, and the factors of dc and of dh do as well.
        """
        steps, batch, hidden = self.tanh_c.shape
        gates = self.gates[:steps]
        i, f, g, o = (gates[:, :, block] for block in range(4))
        slopes = np.empty((steps, batch, 6, hidden), gates.dtype)
        np.multiply(gates[:, :, :4], gates[:, :, :4], slopes[:, :, 1:5])
        np.subtract(gates[:, :, :2], slopes[:, :, 1:3], slopes[:, :, 1:3])
        np.subtract(1, slopes[:, :, 3], slopes[:, :, 3])
        np.subtract(o, slopes[:, :, 4], slopes[:, :, 4])
        slopes[:, :, 1:3] *= gates[:, :, 2::2]
        slopes[:, :, 3] *= i
        slopes[:, :, 4] *= self.tanh_c
        slopes[:, :, 0] = f
        np.multiply(self.h[1 : steps + 1], self.tanh_c, slopes[:, :, 5])
        np.subtract(o, slopes[:, :, 5], slopes[:, :, 5])
        if self.padding is not None:
            slopes[self.padding] = 0
            slopes[self.padding, 0] = 1
        return slopes

    def _run_back(self, slopes: Array, upstream: Array, dc_last: Array) -> tuple[Array, Array]:
        """Turn the slopes into gradients, last step first; return those of the initial state."""
        steps, batch, hidden = self.tanh_c.shape
        backwards = slopes[::-1]
        dh = np.zeros((batch, hidden), slopes.dtype)
        dc = np.empty_like(dh)
        each_dh, each_dc = dh[:, np.newaxis], dc[:, np.newaxis]
        carried = dc_last
        views = zip(
            upstream[::-1],
            backwards[:, :, 4:],
            backwards[:, :, 5],
            backwards[:, :, :4],
            backwards[:, :, 0],
            backwards.reshape(steps, batch, -1)[:, :, hidden : 5 * hidden],
            strict=True,
        )
        for arriving, by_h, c_by_h, by_c, c_by_c, preactivations in views:
            np.add(dh, arriving, dh)
            np.multiply(by_h, each_dh, by_h)
            np.add(carried, c_by_h, dc)
            np.multiply(by_c, each_dc, by_c)
            preactivations.dot(self.w_hh, dh)
            carried = c_by_c
        return dh, carried


@cache
def _sigmoids_by_tanh(hidden: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return the [4H] scale and shift that make sigmoids of tanh, for all gates but g.

    sigmoid(a) = tanh(a / 2) / 2 + 1 / 2: so a single tanh serves all four gates.
    """
    scale = np.repeat(np.array([0.5, 0.5, 1, 0.5], dtype), hidden)
    shift = np.repeat(np.array([0.5, 0.5, 0, 0.5], dtype), hidden)
    return scale, shift
