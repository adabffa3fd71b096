"""L3.3: gated recurrent units, one layer, read over a padded batch.

Tolerance
- float32: rtol=1e-4, atol=1e-5
- float64: rtol=1e-10, atol=1e-12

Left open
- The wording of error messages, and which subclass of ValueError is raised.
- The order in which floats are added and multiplied, within the tolerance.
- How many nodes of the graph a call makes.
- Which values a seed leads to, as long as the same seed leads to the same ones.
- Kinds of lengths beyond list, tuple and one-dimensional integer array.
"""

from numpy.random import Generator
from numpy.typing import ArrayLike, DTypeLike
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module

class GRU(Module):
    """One layer with torch's parameters: blocks of rows for r, z, n, in this order.

    r and z are sigmoid(W_i x_t + b_i + W_h h + b_h), each with its own block;
    n = tanh(W_in x_t + b_in + r * (W_hn h + b_hn)); then h = (1 - z) * n + z * h.

    The parameters are drawn uniformly from [-1/sqrt(H), 1/sqrt(H)], by rng: a Generator, a seed, or
    None for numpy's global generator. Raises ValueError when a size is below 1 or dtype isn't
    floating-point.
    """

    input_size: int
    """D"""

    hidden_size: int
    """H"""

    weight_ih_l0: Tensor
    """[3H, D]"""

    weight_hh_l0: Tensor
    """[3H, H]"""

    bias_ih_l0: Tensor
    """[3H]"""

    bias_hh_l0: Tensor
    """[3H]"""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        rng: Generator | int | None = None,
        dtype: DTypeLike = ...,
    ) -> None: ...
    def forward(
        self,
        x: ArrayLike,
        lengths: ArrayLike | None = None,
        state: ArrayLike | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Read x [T, B, D] from left to right; return (out [T, B, H], h).

        lengths: the real steps of each sequence, B integers in 1..T; None means T for all.
        state: the initial h [B, H]; zeros by default.

        out[t, b] is h after step t, and exactly 0 from t = lengths[b] on. The returned state is
        that after each sequence's last real step. What stands in the padding, NaN and infinity
        included, reaches no output and no gradient, and its own gradient is exactly 0. Gradients
        flow from both results to x, to the parameters and to the initial state. The result has
        the type that numpy promotes x, state and parameters to.

        Raises ValueError when x isn't [T, B, D] with T and B of at least 1, when the lengths aren't
        B integers in 1..T in one dimension (bools and floats are no integers), and when state has
        another shape.
        """
