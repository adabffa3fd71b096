import unittest

import numpy as np
from helpers import good_lengths, numbered
from hypothesis import given, settings
from hypothesis import strategies as st
from tinyllm.rnn.bi import reversal_index, reverse_padded


class IndexCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = [([1], 1), ([3, 1, 2], 3), ((2, 2), 4), (np.array([4, 1]), 4)]

    def setUp(self):
        self.calls = 0

    def tearDown(self):
        self.assertGreater(self.calls, 0, "no call was made")

    def index(self, lengths, T):
        self.calls += 1
        return reversal_index(lengths, T)

    def test_table(self):
        for lengths, T in self.table:
            with self.subTest(lengths=lengths, T=T):
                index = self.index(lengths, T)
                self.assertEqual(index.shape, (T, len(lengths)))
                for b, n in enumerate(lengths):
                    self.assertEqual(list(index[:n, b]), list(range(n))[::-1])
                    self.assertEqual(list(index[n:, b]), list(range(n, T)))

    @settings(max_examples=30)
    @given(good_lengths(5))
    def test_twice_is_identity(self, lengths):
        index = self.index(lengths, 5)
        columns = np.arange(len(lengths))
        self.assertTrue((index[index, columns] == np.arange(5)[:, None]).all())

    @settings(max_examples=30)
    @given(st.integers(max_value=0) | st.integers(min_value=4, max_value=99))
    def test_out_of_range(self, bad):
        self.calls += 1
        with self.assertRaises(ValueError):
            self.index([bad, 2], 3)
        with self.assertRaises(ValueError):
            reverse_padded(numbered(3, 2), [2, bad])

    def test_wrong_count(self):
        self.calls += 1
        for lengths in ([], [2], [2, 2, 2]):
            with self.subTest(count=len(lengths)):
                self.assertRaises(ValueError, reverse_padded, numbered(3, 2), lengths)
