"""Your property tests of the bidirectional layer: a place to start from.

These tests are graded by running them on the course's own code, where all of them must pass, and
on faulty versions of it, where at least one of them must fail each time. What stands here passes
on the course's code and lets most of the required faults through: the rest is yours to write.

Import nothing but tinyllm.rnn.bi, tinyllm.rnn.gru, tinyllm.rnn.lstm, tinyllm.autograd.tensor,
pytest, hypothesis, numpy, unittest and the plainer parts of the standard library.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional, reverse_padded
from tinyllm.rnn.gru import GRU

Array = NDArray[np.float64]


def close(actual: Array, expected: Array) -> None:
    """Compare what went through a module, within the tolerance that the contract promises."""
    # The product of a whole batch and that of one row differ in their last bits. These figures
    # are for float64; for float32 they are rtol=1e-4, atol=1e-5.
    # What only moves is compared exactly instead, with assert_array_equal.
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


@st.composite
def batches(draw: st.DrawFn) -> tuple[Array, list[int]]:
    """Draw a padded batch x [T, B, D] and the length of each of its B sequences, in 1..T."""
    steps = draw(st.integers(1, 6))
    lengths = draw(st.lists(st.integers(1, steps), min_size=1, max_size=4))
    features = draw(st.integers(1, 3))
    # All values differ, those in the padding too: whatever moves can be seen to have moved.
    x = np.arange(steps * len(lengths) * features, dtype=np.float64)
    return x.reshape(steps, len(lengths), features), lengths


@given(batches())
def test_reversing_twice_changes_nothing(batch: tuple[Array, list[int]]) -> None:
    """A property: it holds for every batch, and Hypothesis looks for one where it doesn't."""
    x, lengths = batch
    np.testing.assert_array_equal(reverse_padded(reverse_padded(x, lengths), lengths), x)


def test_the_forward_half_of_one_sequence_comes_first() -> None:
    """An example: one batch, one sequence of it, one half of the output."""
    # Without rng a GRU takes its weights from numpy's global generator, other ones each time, and
    # a failure can't be found again. Two seeds, since two equal directions can't be told apart.
    fwd = GRU(3, 2, rng=1, dtype=np.float64)
    bwd = GRU(3, 4, rng=2, dtype=np.float64)
    x = np.random.default_rng(0).normal(size=(5, 3, 3))
    b, n = 1, 4  # the second sequence, of length 4

    # One sequence, unpadded. `x[:n, b]` would have two dimensions, and a module takes three,
    # [T, B, D]; the slice `b : b + 1` keeps the middle one, as a batch of one.
    alone = Tensor(x[:n, b : b + 1])
    ahead, _ = fwd(alone)  # a module returns its outputs [T, B, H] and its last state

    out = bidirectional(fwd, bwd, alone)
    close(out.numpy()[:, :, :2], ahead.numpy())


# What to do next, a property each, most of them in a few lines:
#
# - Mirror and fix. Inside its length each sequence is reversed; its padding is where it was.
#   (The property above follows from this one, so by itself it catches little.)
# - Plain flip. With lengths=None the result is x[::-1].
# - Per-sequence equivalence. A whole batch with its lengths gives, in both halves, what each
#   sequence gives alone, and 0 in the padded rows. Look at those rows too.
# - Padding is inert. Other values in the padding, the same output.
# - Bad lengths raise. Which ones can there be, and by which of the functions? Ask for ValueError
#   and not for its words, which the contract leaves open.
#
# Both functions take Tensors and arrays; there is reversal_index too. The contract, which
# `start` printed, says what is promised. `mutate L3.4` says which required faults got through.
