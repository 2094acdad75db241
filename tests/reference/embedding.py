"""Reference values for tests/layers/embedding.cpp; whole numbers are stored as floats."""
import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
m = torch.nn.Embedding(7, 4)
x = torch.tensor([[3, 0, 6], [3, 3, 1]])
y = m(x)
dy = torch.rand_like(y) * 2 - 1
y.backward(dy)
for name, t in (("x", x), ("0.weight", m.weight), ("y", y), ("dy", dy), ("dx", torch.zeros(2, 3)), ("d0.weight", m.weight.grad)):
    g.tensor(name, t)
g.write()
