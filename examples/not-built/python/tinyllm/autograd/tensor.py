import numpy as np


class Tensor:
    """An array that remembers how it was made."""

    __array_priority__ = 100

    def __init__(self, data, requires_grad=False, dtype=None):
        self.data = np.asarray(data.data if isinstance(data, Tensor) else data, dtype=dtype)
        self.requires_grad = requires_grad
        self.grad = None
        self._inputs = ()  # pairs of a tensor and the function that carries a gradient to it

    @staticmethod
    def made(data, *inputs):
        out = Tensor(data)
        out._inputs = [(t, carry) for t, carry in inputs if t.requires_grad]
        out.requires_grad = bool(out._inputs)
        return out

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)

    def numpy(self):
        return self.data

    def detach(self):
        return Tensor(self.data)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype=dtype) if copy else np.asarray(self.data, dtype=dtype)

    def __len__(self):
        return len(self.data)

    def __add__(self, other):
        other = lift(other)
        return Tensor.made(
            self.data + other.data,
            (self, lambda g: fit(g, self.shape)),
            (other, lambda g: fit(g, other.shape)),
        )

    def __mul__(self, other):
        other = lift(other)
        return Tensor.made(
            self.data * other.data,
            (self, lambda g: fit(g * other.data, self.shape)),
            (other, lambda g: fit(g * self.data, other.shape)),
        )

    def __matmul__(self, other):
        return Tensor.made(
            self.data @ other.data,
            (self, lambda g: g @ other.data.T),
            (other, lambda g: self.data.T @ g),
        )

    def __getitem__(self, index):
        def back(g):
            whole = np.zeros_like(self.data)
            np.add.at(whole, index, g)
            return whole

        return Tensor.made(self.data[index], (self, back))

    @property
    def T(self):
        return Tensor.made(self.data.T, (self, lambda g: g.T))

    def sum(self):
        return Tensor.made(self.data.sum(), (self, lambda g: np.broadcast_to(g, self.shape)))

    def backward(self, grad=None):
        grads = {id(self): np.ones_like(self.data) if grad is None else np.asarray(grad)}
        for tensor in reversed(self._order()):
            g = grads.pop(id(tensor))
            if not tensor._inputs:
                tensor.grad = g if tensor.grad is None else tensor.grad + g
            for source, carry in tensor._inputs:
                grads[id(source)] = grads.get(id(source), 0) + carry(g)

    def _order(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            tensor, done = stack.pop()
            if done:
                order.append(tensor)
            elif id(tensor) not in seen:
                seen.add(id(tensor))
                stack.append((tensor, True))
                stack.extend((source, False) for source, _ in tensor._inputs)
        return order


def lift(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def fit(grad, shape):
    """Sum a gradient over the axes that were broadcast."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    return grad.sum(axis=axes, keepdims=True)
