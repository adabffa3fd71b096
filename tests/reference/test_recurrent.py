"""LSTM and GRU: their equations, padded batches, states, gradients and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module
from tinyllm.rnn.gru import GRU
from tinyllm.rnn.lstm import LSTM

Array = NDArray[Any]
Check = Callable[..., None]
Cell = type[LSTM] | type[GRU]

T, B, D, H = 5, 4, 2, 3
LENGTHS = [3, 1, 5, 4]
PADDING = np.arange(T)[:, np.newaxis] >= np.array(LENGTHS)


@pytest.fixture(params=[LSTM, GRU])
def cell(request: pytest.FixtureRequest) -> Cell:
    chosen: Cell = request.param
    return chosen


def batch(seed: int = 0, shape: tuple[int, ...] = (T, B, D)) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def states(cell: Cell, sequences: int = B) -> tuple[Array, ...]:
    """Return random values for the parts of an initial state."""
    parts = 2 if cell is LSTM else 1
    return tuple(batch(10 + part, (sequences, H)) for part in range(parts))


def as_state(cell: Cell, parts: Any) -> Any:
    """Give the parts of a state to a cell as it wants them."""
    return tuple(parts) if cell is LSTM else next(iter(parts))


def parts_of(state: Any) -> tuple[Tensor, ...]:
    return state if isinstance(state, tuple) else (state,)


def grad_of(tensor: Tensor) -> Array:
    assert tensor.grad is not None
    return tensor.grad


def sigmoid(a: Array) -> Array:
    return 1 / (1 + np.exp(-a))


def by_definition(module: Module, sequence: Array, state: tuple[Array, ...]) -> Any:
    """Run one sequence [T, D] by the equations; return its outputs and the parts of its state."""
    w_ih, w_hh, b_ih, b_hh = (parameter.data for parameter in module.parameters())
    h, c = state[0], state[-1]
    out = []
    for step in sequence:
        by_x, by_h = w_ih @ step + b_ih, w_hh @ h + b_hh
        if isinstance(module, LSTM):
            i, f, g, o = np.split(by_x + by_h, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        else:
            (r, z), (s, u) = np.split(by_x, 3)[:2], np.split(by_h, 3)[:2]
            r, z = sigmoid(r + s), sigmoid(z + u)
            n = np.tanh(by_x[2 * H :] + r * by_h[2 * H :])
            h = (1 - z) * n + z * h
        out.append(h)
    return np.array(out), (h, c)[: len(state)]


class TestValues:
    """What the outputs and the final state are."""

    @pytest.mark.parametrize("lengths", [None, LENGTHS])
    @pytest.mark.parametrize("start", [False, True])
    def test_each_sequence_follows_the_equations_up_to_its_length(
        self, cell: Cell, lengths: list[int] | None, start: bool
    ) -> None:
        module, x = cell(D, H, rng=0, dtype=np.float64), batch()
        given_parts = states(cell) if start else tuple(np.zeros((B, H)) for _ in states(cell))
        out, state = module(x, lengths, as_state(cell, given_parts) if start else None)
        assert out.shape == (T, B, H)
        for b, length in enumerate(lengths or [T] * B):
            expected, final = by_definition(
                module, x[:length, b], tuple(part[b] for part in given_parts)
            )
            np.testing.assert_allclose(out.data[:length, b], expected, rtol=1e-10, atol=1e-12)
            for part, value in zip(parts_of(state), final, strict=True):
                np.testing.assert_allclose(part.data[b], value, rtol=1e-10, atol=1e-12)

    def test_out_is_exactly_zero_past_each_length(self, cell: Cell) -> None:
        out, _ = cell(D, H, rng=0)(batch(), lengths=LENGTHS, state=as_state(cell, states(cell)))
        assert (out.data[PADDING] == 0).all()
        assert (out.data[~PADDING] != 0).all()

    def test_the_final_h_is_the_output_of_the_last_real_step(self, cell: Cell) -> None:
        out, state = cell(D, H, rng=0)(batch(), lengths=LENGTHS)
        last = out.data[np.array(LENGTHS) - 1, np.arange(B)]
        np.testing.assert_array_equal(parts_of(state)[0].data, last)

    def test_full_lengths_are_as_good_as_none(self, cell: Cell) -> None:
        module, x = cell(D, H, rng=0), batch()
        out, state = module(x)
        full, full_state = module(x, lengths=[T] * B)
        np.testing.assert_array_equal(out.data, full.data)
        for part, full_part in zip(parts_of(state), parts_of(full_state), strict=True):
            np.testing.assert_array_equal(part.data, full_part.data)

    def test_a_batch_can_be_read_in_two_pieces(self, cell: Cell) -> None:
        module, x = cell(D, H, rng=0, dtype=np.float64), batch()
        whole, end = module(x)
        first, middle = module(x[:2])
        second, last = module(x[2:], state=middle)
        np.testing.assert_allclose(whole.data[:2], first.data, rtol=1e-10)
        np.testing.assert_allclose(whole.data[2:], second.data, rtol=1e-10)
        for part, same in zip(parts_of(end), parts_of(last), strict=True):
            np.testing.assert_allclose(part.data, same.data, rtol=1e-10)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_large_inputs_saturate_without_a_warning(self, cell: Cell, dtype: type) -> None:
        module = cell(D, H, rng=0, dtype=dtype)
        x = Tensor(batch() * 1e6, requires_grad=True, dtype=dtype)
        out, _ = module(x)
        out.backward(np.ones(out.shape))
        assert np.abs(out.data).max() <= 1 + 1e-6
        assert np.isfinite(grad_of(x)).all()

    @settings(deadline=None, max_examples=40)
    @given(data=st.data())
    def test_a_sequence_in_a_batch_is_as_good_as_alone(self, data: st.DataObject) -> None:
        steps, sequences = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 5))
        lengths = data.draw(st.lists(st.integers(1, steps), min_size=sequences, max_size=sequences))
        x = batch(data.draw(st.integers(0, 99)), (steps, sequences, D))
        for cell in (LSTM, GRU):
            module = cell(D, H, rng=1, dtype=np.float64)
            out, state = module(x, lengths=lengths)
            for b, length in enumerate(lengths):
                alone, alone_state = module(x[:length, b : b + 1])
                np.testing.assert_allclose(
                    out.data[:length, b], alone.data[:, 0], rtol=1e-10, atol=1e-12
                )
                for part, alone_part in zip(parts_of(state), parts_of(alone_state), strict=True):
                    np.testing.assert_allclose(part.data[b], alone_part.data[0], rtol=1e-10)


class TestTypes:
    """Which floating-point type comes out, and in what x and the lengths may come."""

    def test_parameters_are_float32_by_default(self, cell: Cell) -> None:
        assert {parameter.dtype for parameter in cell(D, H).parameters()} == {np.dtype(np.float32)}

    @pytest.mark.parametrize(
        ("of_x", "of_parameters", "of_out"),
        [
            (np.float32, np.float32, np.float32),
            (np.float64, np.float32, np.float64),
            (np.float32, np.float64, np.float64),
            (np.float64, np.float64, np.float64),
            (np.int64, np.float32, np.float64),
        ],
    )
    def test_the_result_has_the_promoted_type_and_each_gradient_its_own(
        self, cell: Cell, of_x: type, of_parameters: type, of_out: type
    ) -> None:
        module = cell(D, H, rng=0, dtype=of_parameters)
        x = Tensor(batch().astype(of_x), requires_grad=of_x is not np.int64)
        out, state = module(x, lengths=LENGTHS)
        assert out.dtype == of_out
        assert all(part.dtype == of_out for part in parts_of(state))
        out.sum().backward()
        assert all(grad_of(parameter).dtype == of_parameters for parameter in module.parameters())
        assert x.grad is None or x.grad.dtype == of_x

    def test_x_may_be_an_array_a_list_or_a_tensor(self, cell: Cell) -> None:
        module, x = cell(D, H, rng=0), batch()
        expected = module(Tensor(x))[0].data
        np.testing.assert_array_equal(module(x)[0].data, expected)
        np.testing.assert_array_equal(module(x.tolist())[0].data, expected)
        np.testing.assert_array_equal(module(np.asfortranarray(x))[0].data, expected)

    def test_a_reversed_view_is_read_as_what_it_shows(self, cell: Cell) -> None:
        module, x = cell(D, H, rng=0), batch()
        np.testing.assert_array_equal(module(x[::-1])[0].data, module(x[::-1].copy())[0].data)

    @pytest.mark.parametrize("kind", [tuple, np.array, np.uint8, np.int32, Tensor])
    def test_lengths_may_be_any_kind_of_integers(self, cell: Cell, kind: Any) -> None:
        module, x = cell(D, H, rng=0), batch()
        expected = module(x, lengths=LENGTHS)[0].data
        np.testing.assert_array_equal(module(x, lengths=kind(LENGTHS))[0].data, expected)

    def test_the_arguments_are_left_as_they_were(self, cell: Cell) -> None:
        x, lengths, parts = batch(), np.array(LENGTHS), states(cell)
        x[PADDING] = np.nan
        kept = x.copy(), lengths.copy(), tuple(part.copy() for part in parts)
        out, _ = cell(D, H, rng=0)(x, lengths, as_state(cell, parts))
        out.backward(np.ones(out.shape))
        np.testing.assert_array_equal(x, kept[0])
        np.testing.assert_array_equal(lengths, kept[1])
        np.testing.assert_array_equal(np.array(parts), np.array(kept[2]))


class TestGradients:
    """How gradients flow through time, out of both results and into all that went in."""

    @pytest.mark.parametrize("lengths", [None, LENGTHS])
    def test_all_gradients_agree_with_differences(
        self, cell: Cell, lengths: list[int] | None, check_gradients: Check
    ) -> None:
        module = cell(D, H, rng=0, dtype=np.float64)
        names = [name for name, _ in module.named_parameters()]

        def everything(x: Tensor, *rest: Tensor) -> Tensor:
            for name, parameter in zip(names, rest, strict=False):
                setattr(module, name, parameter)
            out, state = module(x, lengths, as_state(cell, rest[len(names) :]))
            total: Tensor = (out * Tensor(batch(1, out.shape))).sum()
            for seed, part in enumerate(parts_of(state)):
                total = total + (part * Tensor(batch(2 + seed, part.shape))).sum()
            return total

        parameters = [parameter.data for parameter in module.parameters()]
        check_gradients(everything, batch(), *parameters, *states(cell))

    @pytest.mark.parametrize("part", [0, -1])
    def test_each_part_of_the_final_state_sends_its_gradient_alone(
        self, cell: Cell, part: int, check_gradients: Check
    ) -> None:
        module = cell(D, H, rng=0, dtype=np.float64)
        for lengths in (None, LENGTHS):
            check_gradients(lambda x, n=lengths: parts_of(module(x, n)[1])[part], batch())

    @pytest.mark.parametrize("step", [0, 2, T - 1])
    def test_a_single_step_sends_its_gradient_alone(
        self, cell: Cell, step: int, check_gradients: Check
    ) -> None:
        module = cell(D, H, rng=0, dtype=np.float64)
        check_gradients(lambda x: module(x, LENGTHS)[0][step], batch())

    def test_later_steps_have_no_influence_on_earlier_outputs(self, cell: Cell) -> None:
        x = Tensor(batch(), requires_grad=True)
        out, _ = cell(D, H, rng=0)(x)
        out[1].sum().backward()
        assert x.grad is not None
        assert (x.grad[2:] == 0).all()
        assert (x.grad[:2] != 0).all()

    def test_a_batch_read_in_two_pieces_has_the_gradients_of_the_whole(self, cell: Cell) -> None:
        module, x = cell(D, H, rng=0, dtype=np.float64), Tensor(batch(), requires_grad=True)
        _, end = module(x)
        parts_of(end)[-1].sum().backward()
        whole = [grad_of(tensor) for tensor in (x, *module.parameters())]
        module.zero_grad()
        x.zero_grad()
        _, middle = module(x[:2])
        _, last = module(x[2:], state=middle)
        parts_of(last)[-1].sum().backward()
        for tensor, expected in zip((x, *module.parameters()), whole, strict=True):
            np.testing.assert_allclose(grad_of(tensor), expected, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize("lengths", [None, LENGTHS])
    def test_a_second_walk_back_doubles_every_gradient(
        self, cell: Cell, lengths: list[int] | None
    ) -> None:
        module, x = cell(D, H, rng=0, dtype=np.float64), Tensor(batch(), requires_grad=True)
        out, state = module(x, lengths)
        loss = out.sum() + parts_of(state)[-1].sum()
        loss.backward()
        once = [np.array(tensor.grad) for tensor in (x, *module.parameters())]
        loss.backward()
        for tensor, grad in zip((x, *module.parameters()), once, strict=True):
            np.testing.assert_allclose(grad_of(tensor), 2 * grad, rtol=1e-12)

    def test_two_calls_of_one_module_do_not_disturb_each_other(self, cell: Cell) -> None:
        module = cell(D, H, rng=0, dtype=np.float64)
        x, y = Tensor(batch(0), requires_grad=True), Tensor(batch(1), requires_grad=True)
        first, _ = module(x)
        second, _ = module(y, LENGTHS)
        second.sum().backward()
        first.sum().backward()
        again = Tensor(batch(0), requires_grad=True)
        module(again)[0].sum().backward()
        np.testing.assert_array_equal(x.grad, again.grad)

    def test_changing_a_result_in_place_changes_no_gradient(self, cell: Cell) -> None:
        module = cell(D, H, rng=0, dtype=np.float64)
        x, same = (Tensor(batch(), requires_grad=True) for _ in range(2))
        out, _ = module(x)
        out.data[...] = 7.0
        out.sum().backward()
        module(same)[0].sum().backward()
        np.testing.assert_array_equal(x.grad, same.grad)

    @pytest.mark.parametrize("lengths", [None, LENGTHS])
    def test_the_graph_of_a_call_does_not_grow_with_the_steps(
        self, cell: Cell, lengths: list[int] | None
    ) -> None:
        def nodes(steps: int) -> int:
            out, _ = cell(D, H, rng=0)(batch(0, (steps, B, D)), lengths)
            found, waiting = set(), [out]
            while waiting:
                tensor = waiting.pop()
                found.add(tensor)
                waiting.extend(tensor._parents)
            return len(found)

        assert nodes(T) == nodes(10 * T) <= 9

    def test_an_input_that_requires_no_gradient_gets_none(self, cell: Cell) -> None:
        x, module = Tensor(batch()), cell(D, H, rng=0)
        module(x)[0].sum().backward()
        assert x.grad is None
        assert all(parameter.grad is not None for parameter in module.parameters())


class TestPadding:
    """What stands past a sequence's length is never seen."""

    @pytest.mark.parametrize("garbage", [0.0, 1e30, np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_it_reaches_no_output_and_no_gradient(
        self, cell: Cell, garbage: float, dtype: type
    ) -> None:
        module = cell(D, H, rng=0, dtype=dtype)
        upstream: Array = batch(1, (T, B, H)).astype(dtype)
        results = []
        for padding in (3.0, garbage):
            values: Array = batch().astype(dtype)
            values[PADDING] = padding
            x = Tensor(values, requires_grad=True)
            initial = [Tensor(part, requires_grad=True, dtype=dtype) for part in states(cell)]
            module.zero_grad()
            out, state = module(x, LENGTHS, as_state(cell, initial))
            loss = (out * Tensor(upstream)).sum() + sum(part.sum() for part in parts_of(state))
            loss.backward()
            assert x.grad is not None
            assert (x.grad[PADDING] == 0).all()
            assert (x.grad[~PADDING] != 0).all()
            gradients = [tensor.grad for tensor in (x, *module.parameters(), *initial)]
            results.append([out.data, *(part.data for part in parts_of(state)), *gradients])
        for clean, dirty in zip(*results, strict=True):
            np.testing.assert_array_equal(clean, dirty)

    @pytest.mark.parametrize("garbage", [1.0, np.nan, np.inf])
    def test_a_gradient_that_arrives_there_goes_nowhere(self, cell: Cell, garbage: float) -> None:
        module, gradients = cell(D, H, rng=0), []
        for padding in (0.0, garbage):
            x = Tensor(batch(), requires_grad=True)
            module.zero_grad()
            upstream = batch(1, (T, B, H))
            upstream[PADDING] = padding
            module(x, LENGTHS)[0].backward(upstream)
            gradients.append([tensor.grad for tensor in (x, *module.parameters())])
        for clean, dirty in zip(*gradients, strict=True):
            np.testing.assert_array_equal(clean, dirty)

    def test_a_sequence_that_is_nan_keeps_it_to_itself(self, cell: Cell) -> None:
        values = batch()
        values[0, 1] = np.nan
        x = Tensor(values, requires_grad=True)
        with np.errstate(invalid="ignore"):
            out, _ = cell(D, H, rng=0)(x, LENGTHS)
            out[:, [0, 2, 3]].sum().backward()
        assert np.isfinite(out.data[:, [0, 2, 3]]).all()
        assert (out.data[1:, 1] == 0).all()
        assert (grad_of(x)[PADDING] == 0).all()


class TestInitialisation:
    """Where the parameters come from."""

    def test_names_and_shapes_are_torchs(self, cell: Cell) -> None:
        gates = 4 if cell is LSTM else 3
        shapes = {name: values.shape for name, values in cell(D, H).state_dict().items()}
        assert shapes == {
            "weight_ih_l0": (gates * H, D),
            "weight_hh_l0": (gates * H, H),
            "bias_ih_l0": (gates * H,),
            "bias_hh_l0": (gates * H,),
        }

    def test_values_fill_the_interval_of_one_over_the_root_of_the_size(self, cell: Cell) -> None:
        for parameter in cell(50, 100, rng=0).parameters():
            assert np.abs(parameter.data).max() <= 0.1
            assert parameter.data.max() > 0.09
            assert parameter.data.min() < -0.09
            assert abs(parameter.data.mean()) < 0.02

    def test_the_same_seed_gives_the_same_values(self, cell: Cell) -> None:
        for same in (cell(D, H, rng=5), cell(D, H, rng=np.random.default_rng(5))):
            np.testing.assert_array_equal(
                same.weight_hh_l0.data, cell(D, H, rng=5).weight_hh_l0.data
            )
        assert (cell(D, H, rng=6).weight_hh_l0 != cell(D, H, rng=5).weight_hh_l0).any()

    def test_a_generator_goes_on_from_layer_to_layer(self, cell: Cell) -> None:
        rng = np.random.default_rng(5)
        assert (cell(D, H, rng=rng).bias_hh_l0 != cell(D, H, rng=rng).bias_hh_l0).all()

    def test_without_one_layers_differ_and_numpys_seed_repeats_them(self, cell: Cell) -> None:
        np.random.seed(3)
        first, second = cell(D, H), cell(D, H)
        np.random.seed(3)
        again = cell(D, H)
        assert (first.weight_ih_l0 != second.weight_ih_l0).any()
        np.testing.assert_array_equal(first.weight_ih_l0.data, again.weight_ih_l0.data)

    def test_a_state_moves_from_one_layer_to_another(self, cell: Cell) -> None:
        one, other, x = cell(D, H, rng=0), cell(D, H, rng=1), batch()
        other.load_state_dict(one.state_dict())
        np.testing.assert_array_equal(one(x)[0].data, other(x)[0].data)

    def test_values_that_are_written_later_are_used(self, cell: Cell) -> None:
        module, x = cell(D, H, rng=0), batch()
        before = module(x)[0].data
        module.bias_hh_l0.data += 1
        assert (module(x)[0].data != before).any()

    @pytest.mark.parametrize("sizes", [(0, H), (D, 0), (-1, H)])
    def test_a_size_below_one_is_refused(self, cell: Cell, sizes: tuple[int, int]) -> None:
        with pytest.raises(ValueError, match=r"_size must be at least 1, got (0|-1)"):
            cell(*sizes)

    def test_a_type_that_is_not_floating_is_refused(self, cell: Cell) -> None:
        with pytest.raises(ValueError, match="int32"):
            cell(D, H, dtype=np.int32)


class TestErrors:
    """Bad arguments are named, with their value and what was expected."""

    @pytest.mark.parametrize(
        "lengths",
        [
            [3, 0, 5, 4],
            [3, 1, 6, 4],
            [3, -1, 5, 4],
            [3, 1, 5],
            [3, 1, 5, 4, 2],
            [],
            [3.0, 1.0, 5.0, 4.0],
            [3, 1, 5, 4.5],
            [True] * B,
            [True, 1, 5, 4],
            np.ones(B, bool),
            np.array(LENGTHS, np.float32),
            [LENGTHS],
            np.array([LENGTHS]).T,
            [[3], [1, 2], [5], [4]],
            ["3", "1", "5", "4"],
            [None] * B,
            5,
            np.array(2**64 - 1, np.uint64).repeat(B),
        ],
        ids=repr,
    )
    def test_bad_lengths(self, cell: Cell, lengths: Any) -> None:
        with pytest.raises(ValueError, match=r"lengths must be integers in 1\.\.5, 4.*got") as info:
            cell(D, H)(batch(), lengths=lengths)
        assert repr(lengths) in str(info.value)

    @pytest.mark.parametrize(
        "shape", [(), (D,), (T, D), (T, B, D, 1), (T, B, D + 1), (T, B, 1), (0, B, D), (T, 0, D)]
    )
    def test_bad_shapes_of_x(self, cell: Cell, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"x must have shape \[T, B, 2\]") as info:
            cell(D, H)(np.zeros(shape))
        assert str(list(shape)) in str(info.value)

    @pytest.mark.parametrize("shape", [(H,), (B, H + 1), (B + 1, H), (1, B, H), ()])
    def test_bad_shapes_of_the_state(self, cell: Cell, shape: tuple[int, ...]) -> None:
        good, bad = np.zeros((B, H)), np.zeros(shape)
        choices = [(bad, good), (good, bad)] if cell is LSTM else [(bad,)]
        for parts in choices:
            with pytest.raises(ValueError, match=r"state.* must have shape \[4, 3\]") as info:
                cell(D, H)(batch(), state=as_state(cell, parts))
            assert str(list(shape)) in str(info.value)

    @pytest.mark.parametrize("state", [np.zeros((2, B, H)), (), (np.zeros((B, H)),), 3])
    def test_the_state_of_an_lstm_is_a_pair(self, state: Any) -> None:
        with pytest.raises(ValueError, match=r"state must be a pair \(h, c\), got"):
            LSTM(D, H)(batch(), state=state)
