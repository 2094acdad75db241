"""Reference values for tests/layers/self_attention.cpp: projections by torch.nn.Linear, attention by
torch.nn.functional.scaled_dot_product_attention, rotary positions by complex multiplication."""
import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


class Attention(torch.nn.Module):
    def __init__(self, features, heads, kv_heads, width, causal, base, bias, out_bias, batch_first, out=True,
                 neighbours=False, epsilon=0, factor=1):
        super().__init__()
        self.neighbours, self.factor = neighbours, factor
        self.h, self.k, self.w, self.causal, self.base, self.first = heads, kv_heads, width, causal, base, batch_first
        self.q_proj = torch.nn.Linear(features, heads * width, bias)
        self.k_proj = torch.nn.Linear(features, kv_heads * width, bias)
        self.v_proj = torch.nn.Linear(features, kv_heads * width, bias)
        self.o_proj = torch.nn.Linear(heads * width, features, out_bias) if out else torch.nn.Identity()
        if epsilon:
            self.q_norm, self.k_norm = torch.nn.RMSNorm(width, eps=epsilon), torch.nn.RMSNorm(width, eps=epsilon)
            for norm in (self.q_norm, self.k_norm):
                torch.nn.init.uniform_(norm.weight, 0.5, 1.5)

    def turn(self, x):  # (batch, heads, time, width), pairs (i, i + width / 2) or (2 i, 2 i + 1)
        half = self.w // 2
        f = self.base ** (-2 * torch.arange(half, dtype=torch.float64) / self.w) / self.factor
        angle = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * f
        if self.neighbours:
            z = torch.view_as_complex(x.double().unflatten(-1, (half, 2))) * torch.polar(torch.ones_like(angle), angle)
            return torch.view_as_real(z).flatten(-2).to(x.dtype)
        z = torch.complex(x[..., :half].double(), x[..., half:].double()) * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([z.real, z.imag], -1).to(x.dtype)

    def forward(self, x):
        shape = x.shape
        x = x.flatten(1, -2) if self.first else x.transpose(0, 1)  # (batch, time, features)
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.h, self.w).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.k, self.w).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.k, self.w).transpose(1, 2)
        if hasattr(self, "q_norm"):
            q, k = self.q_norm(q), self.k_norm(k)
        if self.base:
            q, k = self.turn(q), self.turn(k)
        k, v = (z.repeat_interleave(self.h // self.k, 1) for z in (k, v))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        y = self.o_proj(y.transpose(1, 2).reshape(b, t, -1))
        return y.view(shape) if self.first else y.transpose(0, 1)


for name, arguments, shape in (
        ("one.", (8, 1, 1, 8, False, 0, True, True, False), (5, 2, 8)),
        ("causal.", (8, 2, 2, 4, True, 0, True, True, False), (9, 2, 8)),
        ("grouped.", (12, 4, 2, 3, False, 0, True, True, False), (6, 3, 12)),
        ("single.", (12, 6, 1, 2, True, 0, True, True, False), (30, 1, 12)),
        ("rotary.", (16, 2, 2, 8, True, 10000.0, True, True, False), (12, 2, 16)),
        ("llama.", (16, 4, 2, 6, True, 500.0, False, False, False), (18, 2, 16)),
        ("wide.", (6, 3, 3, 4, False, 0, True, False, False), (7, 2, 6)),
        ("image.", (8, 2, 2, 4, False, 0, True, True, True), (2, 3, 4, 8))):
    record(g, name, Attention(*arguments), torch.randn(*shape), names=lambda n: "0." + n)
record(g, "heads.", Attention(8, 2, 1, 6, True, 100.0, True, True, False, False), torch.randn(9, 2, 8),
       names=lambda n: "0." + n.replace("q_proj", "query").replace("k_proj", "key").replace("v_proj", "value"))
for name, arguments, more, shape in (
        ("neighbours.", (8, 4, 2, 4, True, 500.0, True, False, False), {"neighbours": True}, (9, 1, 8)),
        ("norms.", (8, 4, 2, 4, True, 1e6, False, False, False), {"epsilon": 1e-3}, (9, 2, 8)),
        ("linear.", (8, 2, 1, 6, True, 100.0, False, False, False),
         {"neighbours": True, "epsilon": 1e-6, "factor": 4.0}, (9, 1, 8))):
    record(g, name, Attention(*arguments, **more), torch.randn(*shape), names=lambda n: "0." + n)
g.write()
