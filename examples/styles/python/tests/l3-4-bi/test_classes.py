"""Classes: a base that isn't collected, two heirs, and one class with a property."""

import numpy as np
import pytest
from helpers import by_hand, good_lengths, numbered
from hypothesis import given, settings
from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import reverse_padded


class Reversal:
    lengths = [4, 1, 3]

    def wrap(self, x):
        raise NotImplementedError

    def reverse(self, x, lengths):
        return np.asarray(reverse_padded(self.wrap(x), lengths))

    def test_mirror_and_fix(self):
        x = numbered(5, 3, 2)
        np.testing.assert_array_equal(self.reverse(x, self.lengths), by_hand(x, self.lengths))

    def test_flip(self):
        x = numbered(5, 3)
        np.testing.assert_array_equal(self.reverse(x, None), x[::-1])

    def test_kind(self):
        x = self.wrap(numbered(5, 3, 2))
        assert type(reverse_padded(x, self.lengths)) is type(x)


class TestArrays(Reversal):
    def wrap(self, x):
        return x


class TestTensors(Reversal):
    lengths = (5, 5, 2)

    def wrap(self, x):
        return Tensor(x)

    def test_flip(self):
        super().test_flip()
        with pytest.raises(ValueError):
            self.reverse(numbered(5), None)


class TestProperty:
    steps = 6

    @settings(max_examples=30)
    @given(good_lengths(steps))
    def test_involution(self, lengths):
        x = numbered(self.steps, len(lengths))
        once = reverse_padded(x, lengths)
        assert np.array_equal(once, by_hand(x, lengths))
        assert np.array_equal(reverse_padded(once, lengths), x)
