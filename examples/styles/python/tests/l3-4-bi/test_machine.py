"""A state machine: reversals in any order, against a list that is reversed in plain Python."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tinyllm.rnn.bi import reverse_padded


class Sequence(RuleBasedStateMachine):
    @initialize(values=st.lists(st.integers(), min_size=1, max_size=6, unique=True))
    def start(self, values):
        self.model = list(values)
        self.batch = np.array(values, dtype=object)[:, None]

    @rule(data=st.data())
    def reverse(self, data):
        n = data.draw(st.integers(1, len(self.model)))
        self.model[:n] = self.model[:n][::-1]
        self.batch = reverse_padded(self.batch, [n])

    @rule()
    def flip(self):
        self.model.reverse()
        self.batch = reverse_padded(self.batch, None)

    @invariant()
    def agrees(self):
        if hasattr(self, "model"):
            assert self.batch[:, 0].tolist() == self.model


TestSequence = Sequence.TestCase
TestSequence.settings = settings(max_examples=20, stateful_step_count=8)
