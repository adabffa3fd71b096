import numpy as np

from tinyllm.autograd.tensor import Tensor
from tinyllm.rnn.bi import bidirectional
from tinyllm.rnn.gru import GRU


def test_forward_first():
    fwd, bwd = GRU(2, 3, rng=0), GRU(2, 3, rng=1)
    x = Tensor(np.ones((4, 1, 2)))
    out = bidirectional(fwd, bwd, x, [4])
    assert np.allclose(out.numpy()[..., :3], fwd(x)[0].numpy()


def test_padding_is_zero():
    fwd, bwd = GRU(2, 3, rng=0), GRU(2, 3, rng=1)
    out = bidirectional(fwd, bwd, Tensor(np.ones((4, 1, 2))), [2])
    assert (out.numpy()[2:] == 0).all()
