"""The tensor: what it holds, how it meets numpy, and how gradients flow through a graph."""

import copy
import gc
import operator
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
Binary = Callable[[Any, Any], Any]


def leaf(values: object, dtype: type = np.float64) -> Tensor:
    return Tensor(np.array(values, dtype=dtype), requires_grad=True)


def grad_of(tensor: Tensor) -> NDArray[Any]:
    assert tensor.grad is not None
    return tensor.grad


def test_python_floats_become_float64() -> None:
    assert Tensor(1.5).dtype == np.float64
    assert Tensor([[1.5, 2.0]]).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.bool_])
def test_data_keep_their_own_type(dtype: type) -> None:
    assert Tensor(np.ones(3, dtype)).dtype == dtype


def test_another_type_is_converted_to_when_asked_for() -> None:
    tensor = Tensor([1, 2], requires_grad=True, dtype=np.float32)
    assert tensor.dtype == np.float32
    assert tensor.data.tolist() == [1.0, 2.0]


def test_an_array_is_shared_and_not_copied() -> None:
    array = np.zeros(2)
    assert Tensor(array).data is array


def test_a_tensor_made_of_a_tensor_shares_its_values_and_not_its_history() -> None:
    first = leaf([1.0, 2.0])
    second = Tensor(first)
    assert np.shares_memory(second.data, first.data)
    assert not second.requires_grad


@pytest.mark.parametrize("data", ["text", ["a", "b"], [None], [1j], {}])
def test_data_that_are_no_numbers_are_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="booleans, integers or floats"):
        Tensor(data)


@pytest.mark.parametrize(("data", "name"), [([1, 2], "int64"), ([True], "bool")])
def test_only_floating_data_can_require_a_gradient(data: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"floating-point data, got {name}"):
        Tensor(data, requires_grad=True)


def test_a_tensor_tells_its_shape_axes_size_and_type() -> None:
    tensor = Tensor(np.zeros((2, 3, 4), np.float32))
    assert tensor.shape == (2, 3, 4)
    assert tensor.ndim == 3
    assert tensor.size == 24
    assert tensor.dtype == np.float32
    assert len(tensor) == 2
    assert tensor.grad is None
    assert not tensor.requires_grad


@pytest.mark.parametrize("walk", [len, iter])
def test_a_tensor_without_axes_has_no_length_and_no_rows(walk: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError):
        walk(Tensor(1.0))


def test_iteration_yields_the_rows() -> None:
    rows = list(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert [row.data.tolist() for row in rows] == [[1.0, 2.0], [3.0, 4.0]]


def test_repr_shows_values_type_and_whether_a_gradient_is_required() -> None:
    assert repr(Tensor([1.0, 2.5])) == "Tensor([1. , 2.5], dtype=float64)"
    assert repr(leaf([1.0])) == "Tensor([1.], dtype=float64, requires_grad=True)"


def test_the_only_element_can_be_taken_out() -> None:
    assert Tensor([[2.5]]).item() == 2.5
    assert type(Tensor(np.float32(2.5)).item()) is float
    assert float(Tensor([2.5])) == 2.5
    assert bool(Tensor([1.0]))
    assert not bool(Tensor([[0]]))


@pytest.mark.parametrize("convert", [Tensor.item, float, bool])
def test_of_several_elements_none_is_the_only_one(convert: Callable[[Tensor], object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is numpy's
        convert(Tensor([1.0, 2.0]))


class TestNumpy:
    """How tensors and arrays mix."""

    def test_numpy_takes_a_tensor_for_its_array(self) -> None:
        tensor = leaf([1.0, 4.0])
        assert np.asarray(tensor) is tensor.data
        assert tensor.numpy() is tensor.data
        assert np.asarray(tensor, dtype=np.float32).dtype == np.float32
        np.testing.assert_array_equal(np.sqrt(tensor), [1.0, 2.0])
        np.testing.assert_allclose(tensor, [1.0, 4.0])
        assert np.array_equal(tensor, np.array([1.0, 4.0]))

    def test_a_copy_is_made_when_numpy_asks_for_one(self) -> None:
        tensor = Tensor([1.0])
        assert not np.shares_memory(np.array(tensor), tensor.data)

    @pytest.mark.parametrize("operation", BINARY)
    @pytest.mark.parametrize("left", [np.array([2.0, 3.0]), np.float64(2.0), [2.0, 3.0], 2, 2.0])
    def test_whatever_stands_on_the_left_the_result_is_a_tensor(
        self, operation: Binary, left: Any
    ) -> None:
        right = leaf([3.0, 0.5])
        result = operation(left, right)
        assert isinstance(result, Tensor)
        np.testing.assert_array_equal(result.data, operation(np.asarray(left), right.data))
        result.backward(np.ones(2))
        assert right.grad is not None

    def test_an_array_times_a_matrix_of_tensors_is_a_tensor(self) -> None:
        result = np.ones((2, 3)) @ leaf(np.ones((3, 4)))
        assert isinstance(result, Tensor)
        assert result.shape == (2, 4)

    @pytest.mark.parametrize("operation", BINARY)
    @pytest.mark.parametrize("number", [2, 2.0, True])
    def test_a_python_number_never_widens_a_tensor(self, operation: Binary, number: float) -> None:
        tensor = Tensor(np.array([1.0, 2.0], np.float32))
        assert operation(tensor, number).dtype == np.float32
        assert operation(number, tensor).dtype == np.float32

    def test_a_float_makes_integers_floating(self) -> None:
        assert (Tensor([1, 2]) * 0.5).data.tolist() == [0.5, 1.0]
        assert (Tensor([1, 2]) * 2).dtype == np.int64

    def test_mixed_types_are_promoted_and_each_gradient_has_its_own_type(self) -> None:
        single, double = leaf([1.0, 2.0], np.float32), leaf([3.0, 4.0])
        product = single * double
        assert product.dtype == np.float64
        product.sum().backward()
        assert single.grad is not None
        assert double.grad is not None
        assert single.grad.dtype == np.float32
        assert double.grad.dtype == np.float64

    def test_comparisons_are_elementwise_on_both_sides(self) -> None:
        tensor, array = Tensor([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 4.0])
        assert (tensor == array).tolist() == [True, False, False]
        assert (array == tensor).tolist() == [True, False, False]
        assert (tensor != Tensor(array)).tolist() == [False, True, True]
        assert (tensor < array).tolist() == [False, False, True]
        assert (array < tensor).tolist() == [False, True, False]
        assert (tensor <= 2).tolist() == [True, True, False]
        assert (tensor > 2).tolist() == [False, False, True]
        assert (tensor >= 2).tolist() == [False, True, True]

    def test_tensors_are_hashed_by_identity(self) -> None:
        first, second = Tensor([1.0]), Tensor([1.0])
        assert len({first, second, first}) == 2


class TestBackward:
    """How a gradient flows from a result to the leaves."""

    def test_a_single_element_needs_no_gradient_to_start_from(self) -> None:
        x = leaf([[3.0]])
        (x * x).backward()
        np.testing.assert_array_equal(x.grad, [[6.0]])

    def test_several_elements_need_one(self) -> None:
        x = leaf([1.0, 2.0])
        with pytest.raises(ValueError, match=r"grad .* shape \(2,\)"):
            (x * 2).backward()

    @pytest.mark.parametrize("grad", [[1.0], [[1.0, 2.0]], 1.0, np.ones((2, 1))])
    def test_the_gradient_must_have_the_shape_of_the_tensor(self, grad: Any) -> None:
        x = leaf([1.0, 2.0])
        with pytest.raises(ValueError, match=r"shape \(2,\), got"):
            (x * 2).backward(grad)
        assert x.grad is None

    @pytest.mark.parametrize("grad", [[1.0, 2.0], np.array([1.0, 2.0]), Tensor([1.0, 2.0])])
    def test_the_gradient_may_be_a_list_an_array_or_a_tensor(self, grad: Any) -> None:
        x = leaf([1.0, 1.0])
        (x * 3).backward(grad)
        np.testing.assert_array_equal(x.grad, [3.0, 6.0])

    def test_a_tensor_that_requires_no_gradient_has_none_to_send(self) -> None:
        with pytest.raises(ValueError, match="requires a gradient"):
            Tensor(1.0).backward()
        with pytest.raises(ValueError, match="requires a gradient"):
            (Tensor(1.0) + Tensor(2.0)).backward()

    def test_gradients_add_up_over_calls_until_they_are_forgotten(self) -> None:
        x = leaf(2.0)
        for times in (1, 2, 3):
            (x * 5).backward()
            np.testing.assert_array_equal(x.grad, 5.0 * times)
            assert isinstance(x.grad, np.ndarray)
        x.zero_grad()
        assert x.grad is None

    def test_the_same_graph_can_be_walked_twice(self) -> None:
        x = leaf([1.0, 2.0])
        y = (x * x).sum()
        y.backward()
        y.backward()
        np.testing.assert_array_equal(x.grad, [4.0, 8.0])

    def test_an_operand_that_is_used_twice_gets_both_gradients(self) -> None:
        x = leaf([3.0])
        (x * x + x).backward()
        np.testing.assert_array_equal(x.grad, [7.0])

    def test_paths_of_different_length_meet_before_they_go_on(self) -> None:
        x = leaf(2.0)
        y = x * 3
        z = y * y
        (z * y + z + y).backward()
        assert x.grad == 3 * (3 * 6.0**2 + 2 * 6.0 + 1)

    def test_a_leaf_can_be_the_root(self) -> None:
        x = leaf([1.0, 2.0])
        x.backward([3.0, 4.0])
        np.testing.assert_array_equal(x.grad, [3.0, 4.0])

    def test_what_requires_no_gradient_gets_none(self) -> None:
        x, constant = leaf([2.0]), Tensor([5.0])
        (x * constant).backward()
        np.testing.assert_array_equal(x.grad, [5.0])
        assert constant.grad is None

    def test_nothing_flows_through_a_detached_tensor(self) -> None:
        x = leaf([2.0])
        y = x * 3
        (y.detach() * x).backward()
        np.testing.assert_array_equal(x.grad, [6.0])
        assert np.shares_memory(y.detach().data, y.data)

    def test_two_leaves_never_share_the_memory_of_a_gradient(self) -> None:
        x, y, upstream = leaf([1.0, 2.0]), leaf([3.0, 4.0]), np.ones(2)
        (x + y).backward(upstream)
        assert x.grad is not None
        x.grad *= 10
        np.testing.assert_array_equal(y.grad, [1.0, 1.0])
        np.testing.assert_array_equal(upstream, [1.0, 1.0])

    def test_a_graph_may_be_longer_than_the_recursion_limit(self) -> None:
        x = leaf(1.0)
        y = x
        for _ in range(20_000):
            y = y + 1
        y.backward()
        assert x.grad == 1.0
        del y

    def test_a_graph_of_many_paths_is_walked_node_by_node(self) -> None:
        x = leaf(1.0)
        y = x
        for _ in range(60):
            y = y + y
        y.backward()
        assert x.grad == 2.0**60

    def test_what_requires_no_gradient_keeps_no_history(self) -> None:
        operand = Tensor([1.0, 2.0])
        gone = weakref.ref(operand)
        result = operand * 2
        del operand
        assert gone() is None
        assert result.data.tolist() == [2.0, 4.0]

    def test_a_graph_is_freed_with_its_result(self) -> None:
        gc.collect()
        gc.disable()
        try:
            x = leaf([1.0, 2.0])
            middle = x * 2
            gone = weakref.ref(middle)
            result = (middle * middle).sum()
            result.backward()
            del middle, result
            assert gone() is None
        finally:
            gc.enable()

    def test_a_leaf_can_be_copied_deeply(self) -> None:
        x = leaf([1.0, 2.0])
        twin = copy.deepcopy(x)
        twin.data[0] = 9.0
        assert twin.requires_grad
        np.testing.assert_array_equal(x.data, [1.0, 2.0])


class TestFusedOperations:
    """How an operation of several steps becomes one node."""

    @staticmethod
    def hypotenuse(a: Tensor, b: Tensor) -> Tensor:
        length = np.hypot(a.data, b.data)

        def backward(grad: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
            return grad * a.data / length, grad * b.data / length

        return Tensor.from_op(length, (a, b), backward)

    def test_its_gradients_are_those_it_returns(self) -> None:
        a, b = leaf([3.0, 6.0]), leaf([4.0, 8.0])
        (self.hypotenuse(a, b) * 10).sum().backward()
        np.testing.assert_allclose(grad_of(a), [6.0, 6.0])
        np.testing.assert_allclose(grad_of(b), [8.0, 8.0])

    def test_it_requires_a_gradient_if_any_parent_does(self) -> None:
        assert self.hypotenuse(leaf([3.0]), Tensor([4.0])).requires_grad
        assert not self.hypotenuse(Tensor([3.0]), Tensor([4.0])).requires_grad

    def test_none_stands_for_no_gradient(self) -> None:
        a, b = leaf([1.0]), leaf([2.0])
        Tensor.from_op(a.data + b.data, (a, b), lambda grad: (grad, None)).backward()
        np.testing.assert_array_equal(a.grad, [1.0])
        assert b.grad is None

    def test_a_parent_that_got_no_gradient_sends_none_on(self) -> None:
        a = leaf([1.0])
        Tensor.from_op(np.ones(1), (a * 2,), lambda _: (None,)).backward()
        assert a.grad is None

    def test_a_gradient_of_another_shape_is_an_error(self) -> None:
        a = leaf([1.0, 2.0])
        broken = Tensor.from_op(a.data, (a,), lambda _: (np.ones(3),))
        with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
            broken.backward(np.ones(2))

    def test_a_gradient_too_few_is_an_error(self) -> None:
        a, b = leaf([1.0]), leaf([2.0])
        broken = Tensor.from_op(a.data, (a, b), lambda grad: (grad,))
        with pytest.raises(ValueError, match="shorter"):
            broken.backward()
