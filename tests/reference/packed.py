"""Reference values for tests/tensor/packed.cpp: weights in fewer bits, as torch rounds them."""
import torch
from torch.nn.functional import linear

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
weight, bias, x = torch.randn(5, 7), torch.randn(5), torch.randn(4, 7)
weight[3] = 0
weight[4] *= 100
g.tensor("weight", weight)
g.tensor("bias", bias)
g.tensor("x", x)
rounded = weight.bfloat16().float()
g.tensor("bf16.weight", rounded)
g.tensor("bf16.y", linear(x, rounded, bias))
scales = weight.abs().amax(1) / 127
quantized = torch.quantize_per_channel(
    weight, scales.clamp_min(1e-30).double(), torch.zeros(5), 0, torch.qint8)
g.tensor("int8.weight", quantized.int_repr())
g.tensor("int8.y", linear(x, quantized.int_repr() * scales[:, None], bias))
g.write()
