"""The GRU layer, run over a whole padded batch as one node of the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn._recurrent import Array, RecurrentModule, Seed, check_lengths, padding_mask


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

    `h` [T+1, B, H+1] has a last column of ones, so that its product brings b_hh along. `hidden`
    [T, B, 3H] holds r, z and, third, what the state gives to n; `inputs` [T, B, 3H] ends as n in
    its third block. Sequences that have ended run on over zeros, and nobody reads what they say.
    """

    def __init__(self, values: list[Array], ends: NDArray[np.int64] | None) -> None:
        dtype = np.result_type(*values)
        x, w_ih, w_hh, b_ih, b_hh, h = (value.astype(dtype, copy=False) for value in values)
        steps, batch, size = *x.shape[:2], len(w_hh.T)
        self.padding = None if ends is None else padding_mask(ends, steps)
        self.x = x if self.padding is None else np.where(self.padding[..., np.newaxis], 0, x)
        self.w_ih, self.w_hh = w_ih, w_hh
        self.h = np.empty((steps + 1, batch, size + 1), dtype)
        self.h[:, :, size] = 1
        self.h[0, :, :size] = h
        self.hidden = np.empty((steps, batch, 3 * size), dtype)
        inputs = self.x.reshape(steps * batch, -1) @ w_ih.T
        inputs += b_ih
        self.inputs = inputs.reshape(steps, batch, 3 * size)
        self._run(np.concatenate((w_hh.T, b_hh[np.newaxis])))

    def _run(self, recurrent: Array) -> None:
        _, batch, size = *self.h.shape[:2], self.h.shape[2] - 1
        # sigmoid(a) = tanh(a / 2) / 2 + 1 / 2
        half = np.asarray(0.5, self.h.dtype)
        recurrent[:, : 2 * size] *= half
        self.inputs[:, :, : 2 * size] *= half
        part = np.empty((batch, size), self.h.dtype)
        h = self.h[:, :, :size]
        views = zip(
            self.h,
            self.hidden,
            self.inputs[:, :, : 2 * size],
            self.inputs[:, :, 2 * size :],
            self.hidden[:, :, : 2 * size],
            self.hidden[:, :, :size],
            self.hidden[:, :, size : 2 * size],
            self.hidden[:, :, 2 * size :],
            h,
            h[1:],
            strict=False,
        )
        for h_and_1, hidden, entering, n, r_z, r, z, n_from_h, h, next_h in views:
            h_and_1.dot(recurrent, hidden)
            np.add(r_z, entering, r_z)
            np.tanh(r_z, r_z)
            np.multiply(r_z, half, r_z)
            np.add(r_z, half, r_z)
            np.multiply(r, n_from_h, part)
            np.add(n, part, n)
            np.tanh(n, n)
            np.subtract(h, n, part)
            np.multiply(part, z, part)
            np.add(n, part, next_h)

    def out(self) -> Array:
        """Return the states [T, B, H], 0 past each end."""
        out = self.h[1:, :, :-1].copy()
        if self.padding is not None:
            out[self.padding] = 0
        return out

    def backward(self, grad: Array, needs_dx: bool) -> tuple[Array | None, ...]:
        """Send the gradient of `out` back through time, to the parents in their order."""
        steps, batch, size = grad.shape
        if self.padding is not None:
            grad = np.where(self.padding[..., np.newaxis], 0, grad)
        slopes = self._slopes()
        dh = self._run_back(slopes, grad)
        flat = slopes.reshape(steps * batch, 5 * size)[:, : 3 * size]
        hidden = flat.T @ self.h[:steps].reshape(steps * batch, size + 1)
        slopes[:, :, 2] = slopes[:, :, 3]
        dx = (flat @ self.w_ih).reshape(self.x.shape) if needs_dx else None
        dw_ih = flat.T @ self.x.reshape(steps * batch, -1)
        return dx, dw_ih, hidden[:, :size], flat.sum(axis=0), hidden[:, size], dh

    def _slopes(self) -> Array:
        """Return the derivatives [T, B, 5, H] of the new h that its gradient is multiplied by.

        The blocks: by the pre-activations of r and z, by what the state gives to n, by the
        pre-activation of n, by the old h directly.
        """
        steps, batch, size = *self.inputs.shape[:2], self.h.shape[2] - 1
        r, z, n_from_h = np.moveaxis(self.hidden.reshape(steps, batch, 3, size), 2, 0)
        n = self.inputs[:, :, 2 * size :]
        slopes = np.empty((steps, batch, 5, size), self.h.dtype)
        by_r, by_z, by_n_from_h, by_n, by_h = np.moveaxis(slopes, 2, 0)
        update = 1 - z
        np.multiply(n, n, by_n)
        np.subtract(1, by_n, by_n)
        by_n *= update
        np.multiply(by_n, r, by_n_from_h)
        np.subtract(1, r, by_r)
        by_r *= n_from_h
        by_r *= by_n_from_h
        np.subtract(self.h[:steps, :, :size], n, by_z)
        by_z *= z
        by_z *= update
        by_h[...] = z
        if self.padding is not None:
            slopes[self.padding] = 0
        return slopes

    def _run_back(self, slopes: Array, grad: Array) -> Array:
        """Turn the slopes into gradients, last step first; return that of the initial state."""
        steps, batch, size = grad.shape
        backwards = slopes[::-1]
        dh = np.zeros((batch, size), slopes.dtype)
        each_dh = dh[:, np.newaxis]
        views = zip(
            grad[::-1],
            backwards,
            backwards.reshape(steps, batch, 5 * size)[:, :, : 3 * size],
            backwards[:, :, 4],
            strict=True,
        )
        for arriving, slope, preactivations, by_h in views:
            np.add(dh, arriving, dh)
            np.multiply(slope, each_dh, slope)
            preactivations.dot(self.w_hh, dh)
            np.add(dh, by_h, dh)
        return dh
