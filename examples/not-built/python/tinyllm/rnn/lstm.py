import numpy as np

from tinyllm.autograd.functional import sigmoid, stack, tanh
from tinyllm.autograd.tensor import Tensor, lift
from tinyllm.nn.module import Module


class LSTM(Module):
    """One layer; gates in torch's order i, f, g, o."""

    def __init__(self, input_size, hidden_size, *, rng=None, dtype=np.float32):
        self.hidden_size = hidden_size
        rng = np.random if rng is None else np.random.default_rng(rng)
        bound = hidden_size**-0.5

        def parameter(*shape):
            return Tensor(rng.uniform(-bound, bound, shape), requires_grad=True, dtype=dtype)

        self.weight_ih_l0 = parameter(4 * hidden_size, input_size)
        self.weight_hh_l0 = parameter(4 * hidden_size, hidden_size)
        self.bias_ih_l0 = parameter(4 * hidden_size)
        self.bias_hh_l0 = parameter(4 * hidden_size)

    def forward(self, x, lengths=None):
        x, H = lift(x), self.hidden_size
        T, B = x.shape[:2]
        real = np.arange(T)[:, None] < (np.full(B, T) if lengths is None else np.asarray(lengths))
        h = c = Tensor(np.zeros((B, H), self.weight_hh_l0.dtype))
        outputs = []
        for t in range(T):
            gates = x[t] @ self.weight_ih_l0.T + self.bias_ih_l0
            gates = gates + h @ self.weight_hh_l0.T + self.bias_hh_l0
            i, f, o = (sigmoid(gates[:, k * H : (k + 1) * H]) for k in (0, 1, 3))
            new_c = f * c + i * tanh(gates[:, 2 * H : 3 * H])
            new_h = o * tanh(new_c)
            on = real[t][:, None].astype(h.dtype)
            h, c = new_h * on + h * (1 - on), new_c * on + c * (1 - on)
            outputs.append(h * on)
        return stack(outputs), (h, c)
