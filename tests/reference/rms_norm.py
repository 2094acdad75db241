"""Reference values for tests/layers/rms_norm.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
for name, width, epsilon, shape in (("default.", 13, 1e-6, (4, 3, 13)), ("wide.", 70, 1e-2, (5, 70))):
    m = torch.nn.RMSNorm(width, eps=epsilon)
    torch.nn.init.uniform_(m.weight, 0.5, 1.5)
    record(g, name, m, torch.randn(*shape) * 3 + 1)
g.write()
