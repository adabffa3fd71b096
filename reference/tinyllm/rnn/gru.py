"""The GRU layer, run over a whole padded batch as one node of the graph."""

from __future__ import annotations

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


class GRU(RecurrentModule):
    """One layer of gated recurrent units, with torch's parameters, gate order and reset gate.

    With the three blocks of rows r, z, n of each parameter::

        r = sigmoid(W_ir x_t + b_ir + W_hr h_{t-1} + b_hr)
        z = sigmoid(W_iz x_t + b_iz + W_hz h_{t-1} + b_hz)
        n = tanh(W_in x_t + b_in + r * (W_hn h_{t-1} + b_hn))
        h_t = (1 - z) * n + z * h_{t-1}

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
    weight_ih_l0, weight_hh_l0 : Tensor, [3H, D] and [3H, H]
    bias_ih_l0, bias_hh_l0 : Tensor, [3H]

    Raises
    ------
    ValueError
        A size is below 1, or the type isn't floating-point.

    Notes
    -----
    Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical machine
    translation" (2014), with the reset gate after the product, as in cuDNN and torch.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        rng: Seed = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__(3, input_size, hidden_size, rng, dtype)

    def forward(
        self, x: ArrayLike, lengths: ArrayLike | None = None, state: ArrayLike | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read a padded batch from left to right.

        Parameters
        ----------
        x : Tensor or array_like, [T, B, D]
            The steps of the sequences; what stands past a sequence's length is never read.
        lengths : array_like of int, [B], optional
            The number of real steps of each sequence, in 1..T. By default all are T.
        state : Tensor or array_like, [B, H], optional
            The initial h, by default zeros.

        Returns
        -------
        out : Tensor, [T, B, H]
            The state h after each step, 0 past a sequence's length.
        state : Tensor, [B, H]
            h after each sequence's last real step.

        Raises
        ------
        ValueError
            x, lengths or state have another shape, or the lengths are not integers in 1..T.
        """
        x = self.check_input(x)
        steps, batch, _ = x.shape
        ends = None if lengths is None else check_lengths(lengths, steps, batch)
        parents = (x, *self.weights(), self.check_state("state", state, x))
        unrolled = _Unrolled([parent.data for parent in parents], ends)
        out = Tensor.from_op(
            unrolled.out(), parents, lambda grad: unrolled.backward(grad, x.requires_grad)
        )
        return out, out[-1] if ends is None else out[ends - 1, np.arange(batch)]


class _Unrolled:
    """The layer unrolled over the steps of a batch, with all that the way back needs.

    Inside, features stand before the batch, [T, rows, B]: so the rows of a gate are contiguous,
    and a call on them costs numpy a third of what it would. `h` has a last row of ones, so that a
    product with it brings b_hh along. `inputs` holds what x gives to r, z and n, and n itself in
    the end; `gates` holds r, z and what the state gives to n.
    Sequences that have ended run on over zeros, and nobody reads what they say.
    """

    def __init__(self, values: list[Array], ends: NDArray[np.int64] | None) -> None:
        dtype = np.result_type(*values)
        x, w_ih, w_hh, b_ih, b_hh, h = (value.astype(dtype, copy=False) for value in values)
        self.steps, self.batch, _ = x.shape
        self.size = size = w_hh.shape[1]
        self.padding = None if ends is None else padding_mask(ends, self.steps)
        self.x = blank(x, self.padding)
        self.w_ih, self.w_hh = w_ih, w_hh
        # One block, that of the way back included: the C library returns large ones to the kernel
        # when they are freed, and several fetched anew cost more than the arithmetic.
        tape = np.empty((self.steps + 1, 12 * size + 1, self.batch), dtype)
        self.inputs, self.gates = tape[:-1, : 3 * size], tape[:-1, 3 * size : 6 * size]
        self.slopes = tape[:-1, 6 * size : 11 * size].reshape(self.steps, 5, size, self.batch)
        self.n, self.h = self.inputs[:, 2 * size :], tape[:, 11 * size :]
        self.h[0, :size], self.h[:, size] = h.T, 1
        # sigmoid(a) = tanh(a / 2) / 2 + 1 / 2
        self.half = np.asarray(0.5, dtype)
        recurrent = np.concatenate((w_hh, b_hh[:, np.newaxis]), axis=1)
        recurrent[: 2 * size] *= self.half
        np.matmul(w_ih, self.x.transpose(0, 2, 1), self.inputs)
        self.inputs += b_ih[:, np.newaxis]
        self.inputs[:, : 2 * size] *= self.half
        self._run(recurrent)

    def _run(self, recurrent: Array) -> None:
        """Find the gates and the new h, step by step."""
        size, half = self.size, self.half
        h = self.h[:, :size]
        part = np.empty_like(h[0])
        views = zip(
            self.inputs[:, : 2 * size],
            self.gates,
            self.gates[:, : 2 * size],
            *self._each_gate(),
            self.n,
            self.h,
            h,
            h[1:],
            strict=False,
        )
        for r_z_inputs, gates, r_z, r, z, n_by_h, n, h_and_1, h, next_h in views:
            recurrent.dot(h_and_1, gates)
            np.add(r_z, r_z_inputs, r_z)
            np.tanh(r_z, r_z)
            np.multiply(r_z, half, r_z)
            np.add(r_z, half, r_z)
            np.multiply(r, n_by_h, part)
            np.add(n, part, n)
            np.tanh(n, n)
            np.subtract(h, n, part)
            np.multiply(z, part, part)
            np.add(n, part, next_h)

    def _each_gate(self) -> Array:
        """Return r, z and what the state gives to n as [3, T, H, B]."""
        return self.gates.reshape(self.steps, 3, self.size, self.batch).swapaxes(0, 1)

    def out(self) -> Array:
        """Return the states [T, B, H], 0 past each end."""
        out = self.h[1:, : self.size].transpose(0, 2, 1).copy()
        if self.padding is not None:
            out[self.padding] = 0
        return out

    def backward(self, grad: Array, needs_dx: bool) -> tuple[Array | None, ...]:
        """Send the gradient of `out` back through time, to the parents in their order."""
        steps, batch, size = self.steps, self.batch, self.size
        self._find_slopes()
        dh = self._run_back(blank(grad, self.padding).transpose(0, 2, 1).copy())
        gates = self.slopes[:, :3].reshape(steps, 3 * size, batch)
        dw_hh = by_rows(gates) @ by_rows(self.h[:-1]).T
        # What x gives to n is not reset by r: from here on the third block is that of n's input.
        self.slopes[:, 2] = self.slopes[:, 3]
        rows = by_rows(gates)
        dx = (rows.T @ self.w_ih).reshape(self.x.shape) if needs_dx else None
        dw_ih = rows @ self.x.reshape(steps * batch, self.x.shape[2])
        return dx, dw_ih, dw_hh[:, :size], rows.sum(axis=1), dw_hh[:, size], dh.T

    def _find_slopes(self) -> None:
        """Fill in the derivatives [T, 5, H, B] of the new h by which its gradient is multiplied.

        The blocks: by the inputs of r and z, by what the state gives to n, by the input of n, by
        the old h directly.
        """
        r, z, n_by_h = self._each_gate()
        by_r, by_z, by_n_by_h, by_n, by_h = self.slopes.swapaxes(0, 1)
        update = 1 - z
        np.multiply(self.n, self.n, by_n)
        np.subtract(1, by_n, by_n)
        by_n *= update
        np.multiply(by_n, r, by_n_by_h)
        np.subtract(1, r, by_r)
        by_r *= n_by_h
        by_r *= by_n_by_h
        np.subtract(self.h[:-1, : self.size], self.n, by_z)
        by_z *= z
        by_z *= update
        by_h[...] = z
        if self.padding is not None:
            np.copyto(self.slopes, 0, where=self.padding[:, np.newaxis, np.newaxis])

    def _run_back(self, upstream: Array) -> Array:
        """Turn the slopes into gradients, last step first; return that of the initial state."""
        slopes = self.slopes[::-1]
        dh = np.zeros((self.size, self.batch), slopes.dtype)
        to_h = self.w_hh.T
        views = zip(
            upstream[::-1],
            slopes,
            slopes[:, :3].reshape(self.steps, 3 * self.size, self.batch),
            slopes[:, 4],
            strict=True,
        )
        for arriving, slope, gates, by_h in views:
            np.add(dh, arriving, dh)
            np.multiply(slope, dh, slope)
            to_h.dot(gates, dh)
            np.add(dh, by_h, dh)
        return dh
