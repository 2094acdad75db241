"""Reference values for tests/layers/gru.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
first = lambda m, x: m(x)[0]
record(g, "plain.", torch.nn.GRU(5, 19), torch.randn(6, 3, 5), first)
record(g, "stack.", torch.nn.GRU(3, 8, num_layers=2), torch.randn(4, 2, 3), first)
record(g, "no_bias.", torch.nn.GRU(3, 8, bias=False), torch.randn(4, 2, 3), first)
record(g, "both.", torch.nn.GRU(3, 8, num_layers=2, bidirectional=True), torch.randn(4, 2, 3), first)
# State in and out: two layers of two directions.
m = torch.nn.GRU(2, 4, num_layers=2, bidirectional=True)
x, h = torch.randn(3, 2, 2), torch.randn(4, 2, 4)
y, h_n = m(x, h)
for n, p in m.named_parameters():
    g.tensor("state.0." + n, p)
for n, t in dict(x=x, h=h, y=y, h_n=h_n).items():
    g.tensor("state." + n, t)
g.write()
