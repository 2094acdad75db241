"""Reference values for tests/layers/conv1d.cpp. Inputs and outputs are stored as (time, batch, features)."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def over_time(pad=0):
    def call(m, x):
        return m(torch.nn.functional.pad(x.permute(1, 2, 0), (pad, 0))).permute(2, 0, 1)
    return call


record(g, "plain.", torch.nn.Conv1d(4, 6, 3), torch.randn(9, 2, 4), over_time())
record(g, "options.", torch.nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2, bias=False),
       torch.randn(11, 2, 4), over_time())
record(g, "causal.", torch.nn.Conv1d(3, 5, 4, dilation=2), torch.randn(10, 2, 3), over_time(6))
g.write()
