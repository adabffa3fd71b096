"""Functions of tensors: values, gradients and the edges of their domains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tinyllm.autograd import functional as F  # noqa: N812 - the course's name for it
from tinyllm.autograd.tensor import Tensor

Array = NDArray[Any]
Check = Callable[..., None]

UNARY: dict[str, tuple[Callable[..., Tensor], Callable[[Array], Array]]] = {
    "exp": (F.exp, np.exp),
    "log": (F.log, np.log),
    "tanh": (F.tanh, np.tanh),
    "sigmoid": (F.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "relu": (F.relu, lambda x: np.maximum(x, 0)),
}


@pytest.fixture(params=UNARY)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_values_are_the_functions(name: str) -> None:
    function, expected = UNARY[name]
    x = np.random.default_rng(0).uniform(0.1, 3, size=(3, 4))
    np.testing.assert_allclose(function(Tensor(x)).data, expected(x), rtol=1e-14)


def test_gradients_agree_with_differences(name: str, check_gradients: Check) -> None:
    check_gradients(UNARY[name][0], np.random.default_rng(0).uniform(0.1, 3, size=(3, 4)))


def test_arrays_and_numbers_are_taken_too(name: str) -> None:
    function, _ = UNARY[name]
    assert isinstance(function(np.ones(2)), Tensor)
    assert isinstance(function(0.5), Tensor)


def test_float32_is_kept_in_values_and_gradients(name: str) -> None:
    x = Tensor(np.ones(3, np.float32), requires_grad=True)
    result = UNARY[name][0](x)
    result.sum().backward()
    assert result.dtype == np.float32
    assert x.grad is not None
    assert x.grad.dtype == np.float32


@pytest.mark.parametrize("function", [F.tanh, F.sigmoid, F.relu])
def test_negative_arguments_have_gradients_too(
    function: Callable[..., Tensor], check_gradients: Check
) -> None:
    check_gradients(function, np.array([-3.0, -1.0, -0.25, 0.75]))


class TestSigmoid:
    """Stable at both ends."""

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_no_argument_overflows(self, dtype: type) -> None:
        x = Tensor(np.array([-1e30, -1000, 0, 1000, 1e30], dtype), requires_grad=True)
        y = F.sigmoid(x)
        y.sum().backward()
        np.testing.assert_array_equal(y.data, [0, 0, 0.5, 1, 1])
        np.testing.assert_array_equal(x.grad, [0, 0, 0.25, 0, 0])

    def test_small_values_keep_their_digits(self) -> None:
        np.testing.assert_allclose(F.sigmoid(-50.0).data, np.exp(-50.0), rtol=1e-12)


def test_the_gradient_of_relu_at_zero_is_zero() -> None:
    x = Tensor([-1.0, 0.0, 2.0], requires_grad=True)
    F.relu(x).sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 0.0, 1.0])


class TestConcat:
    """Joining tensors."""

    PARTS = (np.ones((2, 1, 3)), np.full((2, 1, 2), 2.0), np.full((2, 1, 1), 3.0))

    def test_the_last_axis_is_the_default(self) -> None:
        joined = F.concat([Tensor(part) for part in self.PARTS])
        np.testing.assert_array_equal(joined.data, np.concatenate(self.PARTS, axis=-1))

    @pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
    def test_each_part_gets_its_own_gradient(self, axis: int, check_gradients: Check) -> None:
        parts = []
        for size in (1, 3, 2):
            shape = [2, 2, 2]
            shape[axis] = size
            parts.append(np.random.default_rng(size).normal(size=shape))
        joined = F.concat(parts, axis=axis)
        np.testing.assert_array_equal(joined.data, np.concatenate(parts, axis=axis))
        check_gradients(lambda *tensors: F.concat(tensors, axis=axis), *parts)

    def test_the_same_tensor_may_come_twice(self) -> None:
        x = Tensor([1.0, 2.0], requires_grad=True)
        F.concat([x, x]).backward([1.0, 2.0, 10.0, 20.0])
        np.testing.assert_array_equal(x.grad, [11.0, 22.0])

    def test_a_single_part_is_itself(self) -> None:
        assert F.concat([Tensor([1.0, 2.0])]).data.tolist() == [1.0, 2.0]

    def test_parts_without_a_gradient_may_be_among_them(self) -> None:
        x = Tensor([1.0], requires_grad=True)
        F.concat([np.zeros(2), x]).backward([1.0, 2.0, 3.0])
        np.testing.assert_array_equal(x.grad, [3.0])

    @pytest.mark.parametrize("parts", [[], [np.ones((2, 2)), np.ones((3, 2))]])
    def test_what_cannot_be_joined_is_refused(self, parts: list[Array]) -> None:
        with pytest.raises(ValueError, match=r"concatenate|dimensions"):
            F.concat(parts)


def test_sum_mean_and_matmul_are_those_of_tensors(check_gradients: Check) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3))
    np.testing.assert_array_equal(F.sum(x, axis=0).data, x.sum(axis=0))
    np.testing.assert_array_equal(F.mean(x, 1, keepdims=True).data, x.mean(1, keepdims=True))
    np.testing.assert_array_equal(F.sum(x).data, x.sum())
    np.testing.assert_array_equal(F.mean(x).data, x.mean())
    assert F.sum(x).shape == F.mean(x).shape == ()
    np.testing.assert_array_equal(F.matmul(x, x.T).data, x @ x.T)
    check_gradients(lambda t: F.sum(t, axis=0), x)
    check_gradients(F.mean, x)
    check_gradients(F.matmul, x, x.T)
