"""L0.4: the base of every layer, which finds, saves and loads its parameters by name.

Left open
- The wording of error messages, as long as they name the key.
- Private names, and how parameters are found.
"""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike, NDArray
from tinyllm.autograd.tensor import Tensor

class Module:
    """A function with parameters.

    A subclass assigns its parameters, tensors that require a gradient, and its inner modules as
    attributes, and defines forward. A parameter's name is its path of attributes joined by dots;
    what several paths reach is listed once, under the first.
    """

    # Each subclass has its own signature, which only Any leaves it free to choose.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - see above
        """Call forward."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - see above
        """Compute the output. Raises NotImplementedError unless a subclass defines it."""

    def named_parameters(self) -> list[tuple[str, Tensor]]:
        """List names and parameters in order of assignment, those of inner modules included."""

    def parameters(self) -> list[Tensor]:
        """List the parameters in the same order."""

    def zero_grad(self) -> None:
        """Set the grad of every parameter to None."""

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return copies of the parameters' values by name."""

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Write the values into the parameters' own arrays, which keep their types.

        state: one array or Tensor for each parameter's name, of the parameter's shape.
        Raises ValueError that names the key when one is missing, unexpected or of another shape;
        then nothing was written.
        """
