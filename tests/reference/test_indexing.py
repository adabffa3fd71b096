"""Picking elements: any index numpy knows, and gradients that go back to where values came from."""

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
SHAPE = (3, 4, 5)
MASK = np.arange(12).reshape(3, 4) % 3 == 0

INDICES = {
    "integer": 1,
    "negative integer": -1,
    "numpy integer": np.int64(2),
    "integers": (1, 2, 3),
    "slice": slice(1, None),
    "reversed": slice(None, None, -1),
    "slices": (slice(None, None, 2), slice(1, 3)),
    "ellipsis": (..., 0),
    "new axis": (None, 1, ..., None),
    "empty tuple": (),
    "empty slice": slice(2, 2),
    "array": np.array([2, 0]),
    "repeats": np.array([1, 1, 0, 1]),
    "one row under two names": np.array([0, -3]),
    "small integers": np.array([2, 2], np.uint8),
    "list": [0, 2, 2],
    "no rows": np.array([], np.int64),
    "table of rows": np.array([[0, 1], [1, 2]]),
    "pairs": (np.array([0, 1, 2]), np.array([3, 3, 0])),
    "repeated pairs": (np.array([0, 0, -3]), np.array([1, 1, 1])),
    "triples": (np.array([0, 0]), np.array([1, 1]), np.array([4, 4])),
    "array and integer": (np.array([0, 0, 1]), 2),
    "array and slice": (slice(None), np.array([3, 1, 3])),
    "arrays around a slice": (np.array([0, 0]), slice(None), np.array([4, 4])),
    "array and ellipsis": (..., np.array([1, 1, 2])),
    "array and new axis": (np.array([0, 0]), None),
    "broadcast arrays": (np.array([[0], [2]]), np.array([1, 3])),
    "mask": MASK,
    "full mask": np.random.default_rng(3).random(SHAPE) < 0.5,
    "mask of one axis": np.array([True, False, True]),
    "mask after slice": (slice(None), np.array([True, False, True, True])),
    "mask and array": (np.array([True, False, True]), np.array([2, 2])),
    "mask of nothing": np.zeros((3, 4), bool),
    "true": True,
}


def grad_of(tensor: Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad


@pytest.fixture(params=list(INDICES.values()), ids=list(INDICES))
def index(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_values_are_numpys(index: Any) -> None:
    x = np.random.default_rng(0).normal(size=SHAPE)
    picked = Tensor(x)[index]
    np.testing.assert_array_equal(picked.data, x[index])
    assert isinstance(picked.data, np.ndarray)


def test_each_element_gets_the_sum_of_the_gradients_of_its_picks(index: Any) -> None:
    x = Tensor(np.random.default_rng(0).normal(size=SHAPE), requires_grad=True)
    picked = x[index]
    upstream = np.random.default_rng(1).normal(size=picked.shape)
    picked.backward(upstream)
    expected = np.zeros(SHAPE)
    np.add.at(expected, index, upstream)
    np.testing.assert_allclose(grad_of(x), expected, rtol=1e-12)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), shape=hnp.array_shapes(max_dims=4, max_side=5))
def test_integer_arrays_of_any_shape_pick_and_give_back(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    index = data.draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=3)))
    x = Tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)
    picked = x[index]
    np.testing.assert_array_equal(picked.data, x.data[index])
    upstream = np.arange(1.0, picked.size + 1).reshape(picked.shape)
    picked.backward(upstream)
    expected = np.zeros(shape)
    np.add.at(expected, index, upstream)
    np.testing.assert_allclose(grad_of(x), expected, rtol=1e-12)


@settings(deadline=None, max_examples=100)
@given(data=st.data(), shape=hnp.array_shapes(max_dims=4, max_side=5))
def test_slices_and_new_axes_pick_and_give_back(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    x = Tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)
    picked = x[index]
    np.testing.assert_array_equal(picked.data, x.data[index])
    picked.backward(np.ones(picked.shape))
    expected = np.zeros(shape)
    expected[index] = 1
    np.testing.assert_array_equal(x.grad, expected)


@settings(deadline=None, max_examples=60)
@given(steps=st.integers(1, 6), batch=st.integers(1, 5), data=st.data())
def test_a_gather_along_time_gives_each_gradient_back_to_its_step(
    steps: int, batch: int, data: st.DataObject
) -> None:
    permutations = [data.draw(st.permutations(range(steps))) for _ in range(batch)]
    index = np.array(permutations).T
    x = Tensor(np.random.default_rng(0).normal(size=(steps, batch, 2)), requires_grad=True)
    gathered = x[index, np.arange(batch)]
    upstream = np.random.default_rng(1).normal(size=gathered.shape)
    gathered.backward(upstream)
    assert x.grad is not None
    for b in range(batch):
        np.testing.assert_array_equal(gathered.data[:, b], x.data[index[:, b], b])
        np.testing.assert_array_equal(x.grad[index[:, b], b], upstream[:, b])


def test_a_gather_that_repeats_a_step_adds_its_gradients() -> None:
    x = Tensor(np.zeros((3, 2)), requires_grad=True)
    x[np.array([[0, 1], [0, 1], [2, 1]]), np.arange(2)].backward(
        [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]]
    )
    np.testing.assert_array_equal(x.grad, [[3.0, 0.0], [0.0, 70.0], [4.0, 0.0]])


def test_tensors_inside_an_index_stand_for_their_arrays() -> None:
    x = Tensor(np.arange(12.0).reshape(3, 4), requires_grad=True)
    rows, columns = Tensor([0, 2, 0]), Tensor([1, 1, 1])
    np.testing.assert_array_equal(x[rows].data, x.data[[0, 2, 0]])
    np.testing.assert_array_equal(x[Tensor(x.data > 5)].data, x.data[x.data > 5])
    x[rows, columns].sum().backward()
    expected = np.zeros((3, 4))
    expected[0, 1], expected[2, 1] = 2, 1
    np.testing.assert_array_equal(x.grad, expected)


def test_the_gradient_keeps_float32() -> None:
    x = Tensor(np.ones(3, np.float32), requires_grad=True)
    x[np.array([0, 0])].sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32


def test_an_index_of_an_index_leads_back_to_the_source(check_gradients: Check) -> None:
    check_gradients(lambda x: x[::-1][np.array([0, 0, 2])][:, 1:], np.ones((3, 4)))


@pytest.mark.parametrize("index", [3, -4, (0, 4), (0, 0, 0), np.array([3]), np.ones(2, bool)])
def test_an_index_out_of_bounds_is_an_index_error(index: Any) -> None:
    with pytest.raises(IndexError):
        Tensor(np.zeros((3, 4)))[index]


def test_a_fractional_index_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Tensor(np.zeros(3))[Tensor([0.0, 1.0])]
