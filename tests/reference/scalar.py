"""Reference values for tests/core/scalar.cpp: what torch stores of some floats in 16 bits."""
import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
x = torch.cat([torch.randn(200) * 10.0 ** torch.randint(-10, 8, (200,)),
               torch.tensor([0.0, -0.0, 1.0, 65504.0, 65519.9, 65520.0, 1e38, 3.4e38, float("inf"), 6e-8, 2.98e-8,
                             2.99e-8, 6.1e-5, 1.0009765625, 1.00048828125, 1.00390625, 1.001953125])])
g.tensor("x", x)
g.add("bf16", [b & 0xFFFF for b in x.bfloat16().view(torch.int16).tolist()])
g.add("f16", [b & 0xFFFF for b in x.half().view(torch.int16).tolist()])
g.write()
