import numpy as np
import pytest
from tinyllm.rnn.gru import GRU


@pytest.fixture
def directions():
    """Two GRUs of different width."""
    return GRU(2, 3, rng=21, dtype=np.float64), GRU(2, 1, rng=22, dtype=np.float64)
