"""The language model of tessera/models/gpt.hpp written in torch; tokens are (time, batch)."""
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.h, self.k, self.w = heads, kv_heads, width // heads
        self.q_proj, self.k_proj = nn.Linear(width, width), nn.Linear(width, kv_heads * self.w)
        self.v_proj, self.o_proj = nn.Linear(width, kv_heads * self.w), nn.Linear(width, width)

    def turn(self, x):  # (batch, heads, time, width), pairs (i, i + width / 2)
        half = self.w // 2
        f = (10000.0 ** (-2 * torch.arange(half, dtype=torch.float64, device=x.device) / self.w)).to(x.dtype)
        angle = torch.arange(x.shape[2], dtype=x.dtype, device=x.device)[:, None] * f
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def forward(self, x):  # (batch, time, width)
        b, t, c = x.shape
        q, k, v = (p(x).view(b, t, -1, self.w).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = self.turn(q), self.turn(k)
        k, v = (z.repeat_interleave(self.h // self.k, 1) for z in (k, v))
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(width), Attention(width, heads, kv_heads)
        self.norm_2 = nn.LayerNorm(width)
        self.linear_1, self.linear_2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.linear_2(F.gelu(self.linear_1(self.norm_2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, width, blocks, heads, kv_heads):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([Block(width, heads, kv_heads) for _ in range(blocks)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):  # (time, batch)
        x = self.embedding(tokens.T)
        for b in self.blocks:
            x = b(x)
        return self.head(self.norm(x)).transpose(0, 1)
