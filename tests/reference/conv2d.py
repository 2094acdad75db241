"""Reference values for tests/layers/conv2d.cpp. Images are stored as (batch, height, width, channels)."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def last(m, x):
    return m(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


for name, (i, o, k), options in (
        ("plain.", (4, 6, 3), {}),
        ("same.", (4, 6, 3), dict(padding=1)),
        ("point.", (4, 6, 1), {}),
        ("down.", (4, 6, 3), dict(stride=2, padding=1)),
        ("five.", (4, 6, 5), dict(padding=2)),
        ("dilated.", (4, 6, 3), dict(padding=2, dilation=2)),
        ("groups.", (4, 6, 3), dict(padding=1, groups=2)),
        ("depthwise.", (4, 4, 3), dict(padding=1, groups=4)),
        ("no_bias.", (4, 6, 3), dict(bias=False)),
        ("wide.", (4, 6, (2, 5)), dict(padding=(0, 2))),
        ("mixed.", (4, 6, 4), dict(stride=(3, 2), padding=(1, 3), dilation=(2, 1)))):
    record(g, name, torch.nn.Conv2d(i, o, k, **options), torch.randn(2, 8, 9, 4), last)
record(g, "gray.", torch.nn.Conv2d(1, 3, 3, padding=1), torch.randn(3, 4, 4, 1), last)
g.write()
