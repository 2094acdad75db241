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


class EncoderDecoder(torch.nn.Module):
    """Self-attention that sees the first entries of a lane; causal and cross attention on what it makes."""

    def __init__(self, features, heads):
        super().__init__()
        def attention(): return torch.nn.MultiheadAttention(features, heads)
        self.encoder = torch.nn.ModuleDict({"attention": attention(), "norm": torch.nn.LayerNorm(features)})
        self.decoder = torch.nn.ModuleDict({
            "attention": attention(), "norm_1": torch.nn.LayerNorm(features), "cross": attention(),
            "norm_2": torch.nn.LayerNorm(features), "out": torch.nn.Linear(features, 3)})

    def forward(self, x, source, lengths):
        unseen = torch.arange(source.shape[0])[None, :] >= lengths[:, None]
        e, d = self.encoder, self.decoder
        memory = e["norm"](source + e["attention"](source, source, source, key_padding_mask=unseen)[0])
        mask = torch.triu(torch.ones(x.shape[0], x.shape[0], dtype=torch.bool), 1)
        x = d["norm_1"](x + d["attention"](x, x, x, attn_mask=mask)[0])
        y, self.weights = d["cross"](x, memory, memory, key_padding_mask=unseen, average_attn_weights=False)
        return d["out"](d["norm_2"](x + y))


m = EncoderDecoder(8, 2)
source = torch.randn(6, 3, 8).requires_grad_(True)
lengths = torch.tensor([6, 2, 5])
record(g, "translate.", m, torch.randn(4, 3, 8), lambda m, x: m(x, source, lengths), names=lambda n: n)
g.tensor("translate.source", source)
g.tensor("translate.dsource", source.grad)
g.tensor("translate.lengths", lengths)
g.tensor("translate.weights", m.weights)
g.write()
