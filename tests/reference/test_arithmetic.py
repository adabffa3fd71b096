"""Arithmetic with broadcasting, reductions and changes of shape: values and gradients."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor

Array = NDArray[Any]
Check = Callable[..., None]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
SHAPES = [
    ((), ()),
    ((3,), ()),
    ((), (3,)),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 3), (2, 1)),
    ((1, 3), (2, 1)),
    ((4, 2, 3), (2, 3)),
    ((1,), (4, 2, 3)),
    ((4, 1, 1), (1, 2, 3)),
]


def positive(*shape: int) -> Array:
    return np.random.default_rng(0).uniform(0.5, 2.0, size=shape)


def mixed(*shape: int) -> Array:
    return np.random.default_rng(1).normal(size=shape)


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_gradients_of_binary_operations_agree_with_differences(
    check_gradients: Check,
    operation: Callable[[Tensor, Tensor], Tensor],
    left: tuple[int, ...],
    right: tuple[int, ...],
) -> None:
    check_gradients(operation, positive(*left), positive(*right) + 0.25)


@settings(deadline=None, max_examples=60)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4),
    operation=st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv]),
)
def test_values_are_numpys_and_gradients_have_the_operands_shapes(
    shapes: hnp.BroadcastableShapes, operation: Callable[[Any, Any], Any]
) -> None:
    left, right = (Tensor(positive(*shape), requires_grad=True) for shape in shapes.input_shapes)
    result = operation(left, right)
    np.testing.assert_array_equal(result.data, operation(left.data, right.data))
    assert result.shape == shapes.result_shape
    result.sum().backward()
    assert left.grad is not None
    assert right.grad is not None
    assert left.grad.shape == left.shape
    assert right.grad.shape == right.shape


def test_a_gradient_is_summed_over_the_axes_that_were_broadcast() -> None:
    row = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    column = Tensor([[10.0], [20.0]], requires_grad=True)
    (row * column).backward([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    np.testing.assert_array_equal(row.grad, [50.0, 50.0, 50.0])
    np.testing.assert_array_equal(column.grad, [[6.0], [12.0]])


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        Tensor(np.ones(2)) + Tensor(np.ones(3))


@pytest.mark.parametrize("operation", BINARY)
def test_a_number_on_either_side_gets_no_gradient_in_the_way(
    check_gradients: Check, operation: Callable[[Any, Any], Any]
) -> None:
    check_gradients(lambda x: operation(x, 3.0), positive(2, 2))
    check_gradients(lambda x: operation(3.0, x), positive(2, 2))
    check_gradients(lambda x: operation(np.full(2, 1.5), x), positive(2, 2))


def test_negation_negates_the_values_and_the_gradient() -> None:
    x = Tensor([1.0, -2.0], requires_grad=True)
    negated = -x
    negated.backward([3.0, 4.0])
    np.testing.assert_array_equal(negated.data, [-1.0, 2.0])
    np.testing.assert_array_equal(x.grad, [-3.0, -4.0])


class TestPowers:
    """Where the rule of powers would divide by zero, or take its logarithm."""

    def test_a_negative_base_can_be_squared(self, check_gradients: Check) -> None:
        check_gradients(lambda x: x**2, mixed(5))
        check_gradients(lambda x: x**3, mixed(5))

    def test_at_base_zero_the_slope_of_a_whole_power_is_finite(self) -> None:
        for exponent, slope in ((0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0)):
            x = Tensor([0.0], requires_grad=True)
            (x**exponent).backward()
            np.testing.assert_array_equal(x.grad, [slope])

    def test_at_base_zero_the_exponent_has_no_slope(self) -> None:
        exponent = Tensor([0.0, 1.0, 2.5], requires_grad=True)
        (Tensor(np.zeros(3)) ** exponent).sum().backward()
        np.testing.assert_array_equal(exponent.grad, [0.0, 0.0, 0.0])

    def test_base_and_exponent_may_be_one_tensor(self, check_gradients: Check) -> None:
        check_gradients(lambda x: x**x, positive(4))


MATRICES = [
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)),
    ((1, 2, 3), (4, 3, 2)),
]


class TestMatrixProducts:
    """Products of vectors, matrices and stacks of them."""

    @pytest.mark.parametrize(("left", "right"), MATRICES)
    def test_values_are_numpys(self, left: tuple[int, ...], right: tuple[int, ...]) -> None:
        a, b = mixed(*left), positive(*right)
        np.testing.assert_array_equal((Tensor(a) @ Tensor(b)).data, a @ b)
        np.testing.assert_array_equal((a @ Tensor(b)).data, a @ b)

    @pytest.mark.parametrize(("left", "right"), MATRICES)
    def test_gradients_agree_with_differences(
        self, check_gradients: Check, left: tuple[int, ...], right: tuple[int, ...]
    ) -> None:
        check_gradients(operator.matmul, mixed(*left), positive(*right))

    @pytest.mark.parametrize(("left", "right"), [((2, 3), (2, 3)), ((3,), (2,)), ((), (2,))])
    def test_what_does_not_fit_is_refused(
        self, left: tuple[int, ...], right: tuple[int, ...]
    ) -> None:
        with pytest.raises(ValueError, match="matmul"):
            Tensor(np.ones(left)) @ Tensor(np.ones(right))


AXES = [None, 0, 1, 2, -1, -3, (0, 1), (0, 2), (-1, 0), (0, 1, 2), ()]


class TestReductions:
    """Sums and means over any axes."""

    @pytest.mark.parametrize("axis", AXES)
    @pytest.mark.parametrize("keepdims", [False, True])
    @pytest.mark.parametrize("name", ["sum", "mean"])
    def test_values_are_numpys_and_gradients_agree_with_differences(
        self, check_gradients: Check, axis: Any, keepdims: bool, name: str
    ) -> None:
        x = mixed(2, 3, 4)
        reduced = getattr(Tensor(x), name)(axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(
            reduced.data, getattr(x, name)(axis=axis, keepdims=keepdims), rtol=1e-12
        )
        assert reduced.shape == getattr(x, name)(axis=axis, keepdims=keepdims).shape
        check_gradients(lambda t: getattr(t, name)(axis=axis, keepdims=keepdims), x)

    def test_a_sum_of_all_has_no_axis(self) -> None:
        total = Tensor(np.ones((2, 3))).sum()
        assert total.shape == ()
        assert isinstance(total.data, np.ndarray)

    def test_the_average_of_a_single_element_is_itself(self) -> None:
        x = Tensor([3.0], requires_grad=True)
        average = x.mean()
        average.backward()
        assert average.shape == ()
        assert average.item() == 3.0
        np.testing.assert_array_equal(x.grad, [1.0])

    def test_an_average_keeps_float32(self) -> None:
        x = Tensor(np.ones((2, 3), np.float32), requires_grad=True)
        average = x.mean()
        average.backward()
        assert average.dtype == np.float32
        assert x.grad is not None
        np.testing.assert_allclose(x.grad, np.full((2, 3), 1 / 6), rtol=1e-6)

    def test_the_average_of_integers_is_floating(self) -> None:
        assert Tensor([1, 2]).mean().item() == 1.5


class TestShapes:
    """Changes of shape, which move values and lose none."""

    @pytest.mark.parametrize("shape", [(6, 4), (24,), (2, -1), (1, 2, 3, 4), (-1,)])
    def test_reshape_takes_a_tuple_or_integers(
        self, check_gradients: Check, shape: tuple[int, ...]
    ) -> None:
        x = mixed(2, 3, 4)
        np.testing.assert_array_equal(Tensor(x).reshape(shape).data, x.reshape(shape))
        np.testing.assert_array_equal(Tensor(x).reshape(*shape).data, x.reshape(shape))
        check_gradients(lambda t: t.reshape(shape) * t.reshape(*shape), x)

    def test_one_element_can_lose_all_its_axes(self) -> None:
        assert Tensor([[5.0]]).reshape(()).shape == ()

    @pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1), (-1, 0, 1)])
    def test_transpose_takes_a_tuple_or_integers(
        self, check_gradients: Check, axes: tuple[int, ...]
    ) -> None:
        x = mixed(2, 3, 4)
        np.testing.assert_array_equal(Tensor(x).transpose(axes).data, x.transpose(axes))
        np.testing.assert_array_equal(Tensor(x).transpose(*axes).data, x.transpose(axes))
        check_gradients(lambda t: t.transpose(axes), x)
        check_gradients(lambda t: t.transpose(list(axes)), x)

    @pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
    def test_by_default_the_axes_are_reversed(
        self, check_gradients: Check, shape: tuple[int, ...]
    ) -> None:
        x = mixed(*shape)
        np.testing.assert_array_equal(Tensor(x).T.data, x.T)
        np.testing.assert_array_equal(Tensor(x).transpose().data, x.T)
        check_gradients(lambda t: t.T, x)

    @pytest.mark.parametrize("axes", [(0, 0), (0, 3), (0,)])
    def test_axes_that_are_no_permutation_are_refused(self, axes: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"axes|axis|out of bounds"):
            Tensor(np.ones((2, 3))).transpose(axes)
