"""Reference values for tests/layers/lstm.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
first = lambda m, x: m(x)[0]
record(g, "plain.", torch.nn.LSTM(5, 19), torch.randn(6, 3, 5), first)
record(g, "stack.", torch.nn.LSTM(3, 8, num_layers=3), torch.randn(4, 2, 3), first)
record(g, "no_bias.", torch.nn.LSTM(3, 8, bias=False), torch.randn(4, 2, 3), first)
record(g, "projection.", torch.nn.LSTM(3, 8, num_layers=2, proj_size=5), torch.randn(4, 2, 3), first)
# State in and out.
m = torch.nn.LSTM(2, 4)
x, h, c = torch.randn(3, 2, 2), torch.randn(1, 2, 4), torch.randn(1, 2, 4)
y, (h_n, c_n) = m(x, (h, c))
for n, p in m.named_parameters():
    g.tensor("state.0." + n, p)
for n, t in dict(x=x, h=h, c=c, y=y, h_n=h_n, c_n=c_n).items():
    g.tensor("state." + n, t)
# Both directions, behind what was drawn before them.
both = dict(num_layers=2, bidirectional=True)
record(g, "both.", torch.nn.LSTM(3, 8, **both), torch.randn(4, 2, 3), first)
record(g, "both_projected.", torch.nn.LSTM(3, 8, proj_size=5, bias=False, **both), torch.randn(4, 2, 3), first)
m = torch.nn.LSTM(2, 4, **both)
x, h, c = torch.randn(3, 2, 2), torch.randn(4, 2, 4), torch.randn(4, 2, 4)
y, (h_n, c_n) = m(x, (h, c))
for n, p in m.named_parameters():
    g.tensor("both_state.0." + n, p)
for n, t in dict(x=x, h=h, c=c, y=y, h_n=h_n, c_n=c_n).items():
    g.tensor("both_state." + n, t)
g.write()
