"""Parameters, fixtures of a module and of a function, sub-tests of pytest."""

import numpy as np
import pytest
from helpers import numbered
from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional

LENGTHS = {"mixed": [4, 1, 3], "equal": [4, 4, 4], "short": [1, 2, 1]}


@pytest.fixture(scope="module")
def batch():
    return numbered(4, 3, 2) / 24


@pytest.fixture(params=LENGTHS.values(), ids=LENGTHS)
def lengths(request):
    return request.param


@pytest.fixture
def out(batch, lengths, directions):
    return bidirectional(*directions, Tensor(batch), lengths).numpy()


@pytest.mark.parametrize("b", range(3))
def test_forward_half(out, batch, lengths, directions, b):
    n = lengths[b]
    alone, _ = directions[0](batch[:n, b : b + 1])
    np.testing.assert_allclose(out[:n, b, :3], alone.numpy()[:, 0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("b", [pytest.param(b, id=f"sequence {b}") for b in range(3)])
def test_backward_half(out, batch, lengths, directions, b):
    n = lengths[b]
    alone, _ = directions[1](batch[:n, b : b + 1][::-1])
    np.testing.assert_allclose(out[:n, b, 3:], alone.numpy()[::-1, 0], rtol=1e-10, atol=1e-12)


def test_padding(out, lengths, subtests):
    for b, n in enumerate(lengths):
        with subtests.test("padded rows are 0", sequence=b):
            assert not out[n:, b].any()


def test_array_and_tensor_agree(batch, directions):
    a = bidirectional(*directions, batch)
    b = bidirectional(*directions, Tensor(batch), [4, 4, 4])
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10, atol=1e-12)
