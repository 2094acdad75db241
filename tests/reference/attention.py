"""Reference values for tests/layers/attention.cpp."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def attend(causal):
    def call(m, x):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[0]) if causal else None
        return m(x, x, x, attn_mask=mask, need_weights=False)[0]
    return call


for name, features, heads, causal, bias, time in (
        ("one.", 8, 1, False, True, 5), ("causal.", 8, 1, True, True, 9), ("heads.", 12, 3, False, True, 7),
        ("causal_heads.", 16, 4, True, True, 30), ("no_bias.", 8, 2, False, False, 4)):
    m = torch.nn.MultiheadAttention(features, heads, bias=bias)
    if bias:
        torch.nn.init.uniform_(m.in_proj_bias, -0.5, 0.5)
    record(g, name, m, torch.randn(time, 2, features), attend(causal))
g.write()
