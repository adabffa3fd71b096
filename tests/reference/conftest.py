"""What the tests of the course library share: gradients by finite differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor

Array = NDArray[Any]
Function = Callable[..., Tensor]


def _numerical_gradient(value: Callable[[], float], array: Array, step: float) -> Array:
    """Differentiate a value by each element of an array that it reads, in place and centrally."""
    gradient = np.empty_like(array)
    for place in np.ndindex(*array.shape):
        kept = array[place]
        array[place] = kept + step
        above = value()
        array[place] = kept - step
        below = value()
        array[place] = kept
        gradient[place] = (above - below) / (2 * step)
    return gradient


@pytest.fixture
def check_gradients() -> Callable[..., None]:
    """Return a check of a function's gradients by all its float64 arguments."""

    def check(function: Function, *arrays: Array) -> None:
        copies = [np.array(array, dtype=np.float64) for array in arrays]
        tensors = [Tensor(array.copy(), requires_grad=True) for array in copies]
        out = function(*tensors)
        weights = np.random.default_rng(7).normal(size=out.shape)
        out.backward(weights)

        def value() -> float:
            return float((function(*(Tensor(copy) for copy in copies)).data * weights).sum())

        for copy, tensor in zip(copies, tensors, strict=True):
            expected = _numerical_gradient(value, copy, step=1e-6)
            assert tensor.grad is not None
            np.testing.assert_allclose(tensor.grad, expected, rtol=1e-6, atol=1e-7)

    return check
