"""The module: parameters are found, saved, loaded and cleared by name."""

from typing import Any

import numpy as np
import pytest
from tinyllm.autograd.tensor import Tensor
from tinyllm.nn.module import Module


class Linear(Module):
    """A layer with two parameters, and attributes that are none."""

    def __init__(self, inputs: int, outputs: int, dtype: type = np.float64) -> None:
        rng = np.random.default_rng(0)
        self.name = "linear"
        self.weight = Tensor(rng.normal(size=(outputs, inputs)), requires_grad=True, dtype=dtype)
        self.constant = Tensor(np.ones(outputs))
        self.bias = Tensor(np.zeros(outputs), requires_grad=True, dtype=dtype)

    def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:
        return x @ self.weight.T * scale + self.bias


class Network(Module):
    """Layers inside layers."""

    def __init__(self) -> None:
        self.first = Linear(2, 3)
        self.gain = Tensor([1.0], requires_grad=True)
        self.second = Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.second(self.first(x) * self.gain)
        return out


NAMES = ["first.weight", "first.bias", "gain", "second.weight", "second.bias"]


def test_calling_a_module_calls_forward_with_all_arguments() -> None:
    layer = Linear(2, 3)
    np.testing.assert_array_equal(layer(Tensor(np.ones((1, 2))), scale=0.0).data, np.zeros((1, 3)))


def test_a_module_without_forward_says_so() -> None:
    class Unfinished(Module):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished"):
        Unfinished()()


def test_parameters_are_the_attributes_that_require_a_gradient() -> None:
    layer = Linear(2, 3)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    assert layer.parameters()[0] is layer.weight
    assert layer.parameters()[1] is layer.bias


def test_inner_modules_give_dotted_names_in_order_of_assignment() -> None:
    network = Network()
    assert [name for name, _ in network.named_parameters()] == NAMES
    assert len(network.parameters()) == 5
    assert network.parameters()[3] is network.second.weight


def test_a_shared_parameter_is_listed_once() -> None:
    network = Network()
    network.second = network.first
    assert [name for name, _ in network.named_parameters()] == NAMES[:3]


def test_two_names_of_one_tensor_are_one_parameter() -> None:
    layer = Linear(2, 3)
    layer.tied = layer.weight  # type: ignore[attr-defined]  # a name of its own
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]


def test_a_module_may_know_the_module_around_it() -> None:
    network = Network()
    network.first.around = network  # type: ignore[attr-defined]  # a name of its own
    assert [name for name, _ in network.named_parameters()] == NAMES


def test_two_inner_modules_may_know_each_other() -> None:
    network = Network()
    network.first.next = network.second  # type: ignore[attr-defined]  # a name of its own
    network.second.previous = network.first  # type: ignore[attr-defined]  # a name of its own
    names = [name for name, _ in network.named_parameters()]
    assert names == [*NAMES[:2], "first.next.weight", "first.next.bias", "gain"]


def test_a_module_without_parameters_has_an_empty_state() -> None:
    assert Module().parameters() == []
    assert Module().state_dict() == {}
    Module().load_state_dict({})


def test_gradients_reach_all_parameters_and_are_forgotten_together() -> None:
    network = Network()
    network(Tensor(np.ones((4, 2)))).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    network.zero_grad()
    assert all(parameter.grad is None for parameter in network.parameters())


class TestState:
    """Saving and loading."""

    def test_the_state_is_a_copy_by_name(self) -> None:
        network = Network()
        state = network.state_dict()
        assert list(state) == NAMES
        state["gain"][0] = 5.0
        assert network.gain.data.tolist() == [1.0]

    def test_what_was_saved_can_be_loaded(self) -> None:
        network, other = Network(), Network()
        for parameter in network.parameters():
            parameter.data += 1.0
        other.load_state_dict(network.state_dict())
        for mine, theirs in zip(network.parameters(), other.parameters(), strict=True):
            np.testing.assert_array_equal(mine.data, theirs.data)

    def test_loading_writes_into_the_parameters_own_arrays(self) -> None:
        layer = Linear(2, 1)
        before, weight = layer.weight.data, layer.weight
        layer.load_state_dict({"weight": [[3.0, 4.0]], "bias": Tensor([5.0])})
        assert layer.weight is weight
        assert layer.weight.data is before
        assert before.tolist() == [[3.0, 4.0]]
        assert layer.bias.data.tolist() == [5.0]

    def test_a_parameter_keeps_its_type_and_shares_no_memory(self) -> None:
        layer = Linear(2, 1, dtype=np.float32)
        weight = np.array([[0.1, 0.2]])
        layer.load_state_dict({"weight": weight, "bias": np.array([1])})
        assert layer.weight.dtype == np.float32
        weight[0, 0] = 9.0
        np.testing.assert_allclose(layer.weight.data, [[0.1, 0.2]], rtol=1e-6)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"gain": None}, "missing.*gain"),
            ({"second.weight": None}, "missing.*second.weight"),
            ({"extra": np.ones(1)}, "unexpected.*extra"),
            ({"first.constant": np.ones(3)}, "unexpected.*first.constant"),
            ({"gain": np.ones(2)}, r"gain.*\(1,\).*\(2,\)"),
            ({"gain": np.ones(())}, r"gain.*\(1,\).*\(\)"),
            ({"second.bias": np.ones((1, 1))}, r"second.bias.*\(1,\).*\(1, 1\)"),
        ],
    )
    def test_a_state_that_does_not_fit_names_the_key_and_changes_nothing(
        self, change: dict[str, Any], message: str
    ) -> None:
        network = Network()
        before = network.state_dict()
        state = {name: values + 1 for name, values in before.items()} | change
        state = {name: values for name, values in state.items() if values is not None}
        with pytest.raises(ValueError, match=message):
            network.load_state_dict(state)
        for name, values in network.state_dict().items():
            np.testing.assert_array_equal(values, before[name])
