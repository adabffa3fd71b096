"""The module: a function that owns parameters, and other modules that do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tinyllm.autograd.tensor import Tensor


class Module:
    """The base of every layer: its parameters are found, saved, loaded and cleared by name.

    A subclass assigns parameters (tensors that require a gradient) and other modules as
    attributes and defines `forward`; calling the module calls that.

    Notes
    -----
    A parameter's name is its path of attributes, joined by dots, in order of assignment. What is
    reached by several paths is listed once, under the first.
    """

    # Each subclass has its own signature, which only Any leaves it free to choose.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - see above
        """Compute the module's output."""
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - see above
        """Compute the module's output; each subclass defines its own."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def named_parameters(self) -> list[tuple[str, Tensor]]:
        """List all parameters with their dotted names, those of inner modules included."""
        return list(_walk(self, "", {id(self)}))

    def parameters(self) -> list[Tensor]:
        """List all parameters, those of inner modules included."""
        return [parameter for _, parameter in self.named_parameters()]

    def zero_grad(self) -> None:
        """Forget the gradient of every parameter."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return a copy of every parameter's values under its dotted name."""
        return {name: parameter.data.copy() for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Write values into the parameters, in place, each keeping its own type.

        Parameters
        ----------
        state : mapping of str to array_like
            One entry for every parameter, of the parameter's shape.

        Raises
        ------
        ValueError
            A parameter is missing, a key is unexpected, or a shape differs; the message names the
            key. Nothing has been written then.
        """
        parameters = dict(self.named_parameters())
        missing = [name for name in parameters if name not in state]
        unexpected = [name for name in state if name not in parameters]
        if missing or unexpected:
            raise ValueError(f"state dict: missing {missing}, unexpected {unexpected}")
        values = {name: np.asarray(value) for name, value in state.items()}
        for name, parameter in parameters.items():
            if values[name].shape != parameter.shape:
                raise ValueError(
                    f"{name} must have shape {parameter.shape}, got {values[name].shape}"
                )
        for name, parameter in parameters.items():
            parameter.data[...] = values[name]


def _walk(module: Module, prefix: str, seen: set[int]) -> Iterator[tuple[str, Tensor]]:
    for name, value in vars(module).items():
        if id(value) in seen:
            continue
        if isinstance(value, Module):
            seen.add(id(value))
            yield from _walk(value, f"{prefix}{name}.", seen)
        elif isinstance(value, Tensor) and value.requires_grad:
            seen.add(id(value))
            yield prefix + name, value
