"""Reference values for tests/layers/upsample.cpp. Images are stored as (batch, height, width, channels)."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def last(m, x):
    return m(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


record(g, "two.", torch.nn.Upsample(scale_factor=2, mode="nearest"), torch.randn(2, 3, 4, 5), last)
record(g, "three.", torch.nn.Upsample(scale_factor=3, mode="nearest"), torch.randn(1, 2, 1, 2), last)
g.write()
