import numpy as np

from tinyllm.autograd.tensor import Tensor


class Module:
    """Its parameters are its attributes that are tensors, and those of its modules."""

    def named_parameters(self, prefix=""):
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                yield prefix + name, value
            elif isinstance(value, Module):
                yield from value.named_parameters(f"{prefix}{name}.")

    def parameters(self):
        return [tensor for _, tensor in self.named_parameters()]

    def state_dict(self):
        return {name: tensor.data.copy() for name, tensor in self.named_parameters()}

    def load_state_dict(self, state):
        for name, tensor in self.named_parameters():
            tensor.data = np.array(state[name], dtype=tensor.dtype)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)
