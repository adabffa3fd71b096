"""Everything that torch can compute as well, compared with torch."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from tinyllm.autograd import functional as F  # noqa: N812 - the course's name for it
from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.gru import GRU
from tinyllm.rnn.lstm import LSTM
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

pytestmark = pytest.mark.torch

Array = NDArray[Any]
TOLERANCES: dict[Any, dict[str, Any]] = {
    np.float32: {"rtol": 1e-4, "atol": 1e-5},
    np.float64: {"rtol": 1e-10, "atol": 1e-12},
}
CELLS: dict[Any, Any] = {LSTM: torch.nn.LSTM, GRU: torch.nn.GRU}
OPERATIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
}


def positive(seed: int, shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(seed).uniform(0.5, 2.0, size=shape)


def grad_of(tensor: Any) -> Array:
    """Return the gradient of one of our tensors or of torch's."""
    assert tensor.grad is not None
    return np.asarray(tensor.grad)


@settings(deadline=None, max_examples=80)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3),
    operation=st.sampled_from(sorted(OPERATIONS)),
)
def test_broadcasting_operations_have_torchs_values_and_gradients(
    shapes: hnp.BroadcastableShapes, operation: str
) -> None:
    arrays = [positive(seed, shape) for seed, shape in enumerate(shapes.input_shapes)]
    ours = [Tensor(array, requires_grad=True) for array in arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    result, expected = OPERATIONS[operation](*ours), OPERATIONS[operation](*theirs)
    np.testing.assert_allclose(result.data, expected.detach().numpy(), rtol=1e-12)
    upstream = positive(9, result.shape)
    result.backward(upstream)
    expected.backward(torch.tensor(upstream))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(grad_of(mine), grad_of(other), rtol=1e-10)


@settings(deadline=None, max_examples=80)
@given(data=st.data(), shape=hnp.array_shapes(min_dims=2, max_dims=3, max_side=4))
def test_index_arrays_have_torchs_gradients(data: st.DataObject, shape: tuple[int, ...]) -> None:
    index = data.draw(hnp.integer_array_indices(shape))
    values = positive(0, shape)
    mine, theirs = Tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    picked, expected = mine[index], theirs[tuple(torch.tensor(part) for part in index)]
    np.testing.assert_array_equal(picked.data, expected.detach().numpy())
    upstream = positive(1, picked.shape)
    picked.backward(upstream)
    expected.backward(torch.tensor(upstream))  # type: ignore[no-untyped-call]  # torch's own
    np.testing.assert_allclose(grad_of(mine), grad_of(theirs), rtol=1e-12)


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sigmoid", "relu"])
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_functions_have_torchs_values_and_gradients(name: str, dtype: type) -> None:
    values: Array = positive(0, (3, 4)).astype(dtype)
    x, t = Tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    y, expected = getattr(F, name)(x), getattr(torch, name)(t)
    np.testing.assert_allclose(y.data, expected.detach().numpy(), **TOLERANCES[dtype])
    y.sum().backward()
    expected.sum().backward()
    np.testing.assert_allclose(grad_of(x), grad_of(t), **TOLERANCES[dtype])


class Pair:
    """One of our layers and torch's with the same parameters, run on the same batch."""

    def __init__(self, cell: Any, sizes: tuple[int, int], dtype: type, seed: int) -> None:
        self.mine = cell(*sizes, rng=seed, dtype=dtype)
        self.theirs = CELLS[cell](*sizes, dtype=torch.from_numpy(np.empty(0, dtype)).dtype)
        self.theirs.load_state_dict(
            {name: torch.tensor(values) for name, values in self.mine.state_dict().items()}
        )
        self.rng = np.random.default_rng(seed)
        self.cell, self.sizes, self.dtype = cell, sizes, dtype

    def normal(self, *shape: int) -> Array:
        return self.rng.normal(size=shape).astype(self.dtype)

    def compare(
        self, steps: int, batch: int, lengths: list[int] | None = None, start: bool = True
    ) -> None:
        """Compare outputs, final states and every gradient."""
        features, hidden = self.sizes
        arrays = [self.normal(steps, batch, features)]
        arrays += [self.normal(batch, hidden) for _ in range(2 if self.cell is LSTM else 1)]
        ours = [Tensor(array, requires_grad=True) for array in arrays]
        others = [torch.tensor(array, requires_grad=True) for array in arrays]
        if not start:
            ours, others = ours[:1], others[:1]
        results = self._run_mine(*ours, lengths=lengths)
        expected = self._run_theirs(*others, lengths=lengths)
        upstream = [self.normal(*result.shape) for result in results]
        loss, other_loss = Tensor(0.0), torch.tensor(0.0)
        for result, other, up in zip(results, expected, upstream, strict=True):
            loss = loss + (result * Tensor(up)).sum()
            other_loss = other_loss + (other * torch.tensor(up)).sum()
        loss.backward()
        other_loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        for result, other in zip(results, expected, strict=True):
            self._agree(result.data, other.detach().numpy())
        for tensor, other in zip(ours, others, strict=True):
            self._agree(grad_of(tensor), grad_of(other))
        for name, parameter in self.mine.named_parameters():
            self._agree(grad_of(parameter), grad_of(getattr(self.theirs, name)))

    def _agree(self, mine: Array, theirs: Array) -> None:
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, **TOLERANCES[self.dtype])

    def _run_mine(self, x: Tensor, *state: Tensor, lengths: list[int] | None) -> tuple[Tensor, ...]:
        given_state = None if not state else state if self.cell is LSTM else state[0]
        out, final = self.mine(x, lengths=lengths, state=given_state)
        return (out, *final) if self.cell is LSTM else (out, final)

    def _run_theirs(self, x: Any, *state: Any, lengths: list[int] | None) -> tuple[Any, ...]:
        layered = tuple(part[None] for part in state)
        given_state = None if not state else layered if self.cell is LSTM else layered[0]
        if lengths is None:
            out, final = self.theirs(x, given_state)
        else:
            packed = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=False)
            packed_out, final = self.theirs(packed, given_state)
            out, _ = pad_packed_sequence(packed_out, total_length=len(x))
        parts = final if self.cell is LSTM else (final,)
        return out, *(part[0] for part in parts)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("lengths", [None, [7] * 5, [7, 1, 3, 6, 2], [2, 3, 2, 2, 1], [1] * 5])
def test_recurrent_layers_have_torchs_values_and_gradients(
    cell: Any, dtype: type, start: bool, lengths: list[int] | None
) -> None:
    Pair(cell, (4, 3), dtype, seed=0).compare(7, 5, lengths, start)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(
    ("steps", "batch", "sizes"),
    [(1, 1, (1, 1)), (1, 4, (2, 3)), (6, 1, (2, 3)), (30, 16, (24, 32)), (3, 2, (40, 5))],
)
def test_recurrent_layers_of_any_size_do(
    cell: Any, dtype: type, steps: int, batch: int, sizes: tuple[int, int]
) -> None:
    lengths = [1 + (3 * b) % steps for b in range(batch)]
    Pair(cell, sizes, dtype, seed=1).compare(steps, batch)
    Pair(cell, sizes, dtype, seed=2).compare(steps, batch, lengths)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_random_packed_batches_do(data: st.DataObject) -> None:
    steps, batch = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 6))
    sizes = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    lengths = data.draw(st.none() | st.lists(st.integers(1, steps), min_size=batch, max_size=batch))
    cell, dtype = data.draw(st.sampled_from(list(CELLS))), data.draw(st.sampled_from([*TOLERANCES]))
    pair = Pair(cell, sizes, dtype, seed=data.draw(st.integers(0, 1000)))
    pair.compare(steps, batch, lengths, start=data.draw(st.booleans()))


@pytest.mark.parametrize("cell", CELLS)
def test_torchs_own_state_loads(cell: Any) -> None:
    theirs, mine = CELLS[cell](4, 3), cell(4, 3)
    mine.load_state_dict(theirs.state_dict())
    x = positive(0, (5, 2, 4)).astype(np.float32)
    expected, _ = theirs(torch.tensor(x))
    np.testing.assert_allclose(mine(x)[0].data, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
