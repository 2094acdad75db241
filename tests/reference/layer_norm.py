"""Reference values for tests/layers/layer_norm.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
m = torch.nn.LayerNorm(13)
torch.nn.init.uniform_(m.weight, 0.5, 1.5)
torch.nn.init.uniform_(m.bias, -1, 1)
record(g, "affine.", m, torch.randn(4, 3, 13) * 3 + 1)
record(g, "plain.", torch.nn.LayerNorm(13, elementwise_affine=False), torch.randn(4, 3, 13))
g.write()
