"""Reference values for tests/layers/avg_pool2d.cpp. Images are stored as (batch, height, width, channels)."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def last(m, x):
    return m(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


for name, options, shape in (
        ("plain.", dict(kernel_size=2), (2, 5, 4, 9)),
        ("overlapping.", dict(kernel_size=3, stride=2, padding=1), (2, 6, 5, 4)),
        ("inside.", dict(kernel_size=3, stride=2, padding=1, count_include_pad=False), (2, 6, 5, 4)),
        ("oblong.", dict(kernel_size=(1, 3), stride=(2, 1), padding=(0, 1)), (1, 4, 5, 3))):
    record(g, name, torch.nn.AvgPool2d(**options), torch.randn(*shape), last)
g.write()
