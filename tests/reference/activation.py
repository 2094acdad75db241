"""Reference values for tests/layers/activation.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
x = torch.cat([torch.linspace(-6, 6, 29), torch.tensor([0.0, 25.0, -25.0])]).reshape(4, 8)
for name, m in dict(tanh=torch.nn.Tanh(), sigmoid=torch.nn.Sigmoid(), relu=torch.nn.ReLU(), silu=torch.nn.SiLU(),
                    gelu=torch.nn.GELU(), gelu_tanh=torch.nn.GELU(approximate="tanh"),
                    softplus=torch.nn.Softplus()).items():
    record(g, name + ".", m, x)
g.write()
