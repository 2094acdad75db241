"""Reference values for tests/models/unet.cpp: the network of unet_module.py. Images are stored as (batch, height, width, channels)."""
import torch
from torch import nn

from golden import Golden
from unet_module import UNet

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def record(prefix, m, x, condition):
    for n, p in m.named_parameters():
        if "norm" in n:
            nn.init.uniform_(p, 0.5, 1.5) if n.endswith("weight") else nn.init.uniform_(p, -0.5, 0.5)
    x = x.clone().requires_grad_(True)
    y = m(x.permute(0, 3, 1, 2), condition).permute(0, 2, 3, 1)
    dy = torch.rand_like(y) * 2 - 1
    y.backward(dy)
    for name, t in (("x", x), ("c", condition), ("y", y), ("dy", dy), ("dx", x.grad)):
        g.tensor(prefix + name, t)
    for name, p in m.named_parameters():
        g.tensor(prefix + name, p)
        g.tensor(prefix + "d" + name, p.grad)


record("two.", UNet(2, 3, (4, 8), 1, 1, 4, 2, 3), torch.randn(2, 6, 4, 2), torch.tensor([[3.0, 1.0], [7.0, 2.0]]))
record("plain.", UNet(1, 1, (2, 4), 2, 2, 4, 2, 0), torch.randn(1, 4, 4, 1), torch.tensor([[11.0]]))
g.write()
