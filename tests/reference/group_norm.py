"""Reference values for tests/layers/group_norm.cpp. Images are stored as (batch, height, width, channels)."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def last(m, x):
    return m(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


for name, groups, channels, options, shape in (
        ("plain.", 3, 12, {}, (2, 5, 4)), ("one.", 1, 6, {}, (3, 4, 4)), ("each.", 6, 6, {}, (2, 4, 3)),
        ("bare.", 2, 8, dict(affine=False), (2, 3, 3)), ("epsilon.", 4, 8, dict(eps=0.1), (1, 2, 2))):
    m = torch.nn.GroupNorm(groups, channels, **options)
    if m.affine:
        torch.nn.init.uniform_(m.weight, 0.5, 1.5)
        torch.nn.init.uniform_(m.bias, -0.5, 0.5)
    record(g, name, m, torch.randn(*shape, channels) * 2 + 0.5, last)
g.write()
