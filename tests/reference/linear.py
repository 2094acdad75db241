"""Reference values for tests/layers/linear.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
record(g, "with_bias.", torch.nn.Linear(7, 5), torch.randn(3, 2, 7))
record(g, "no_bias.", torch.nn.Linear(20, 33, bias=False), torch.randn(4, 20))
g.write()
