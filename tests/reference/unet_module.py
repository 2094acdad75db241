"""diffusers' UNet2DModel written in torch, with its keys; images are (batch, channels, height, width)."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Resnet(nn.Module):
    def __init__(self, i, o, e, groups):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, i), nn.Conv2d(i, o, 3, padding=1)
        self.time_emb_proj = nn.Linear(e, o)
        self.norm2, self.conv2 = nn.GroupNorm(groups, o), nn.Conv2d(o, o, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(i, o, 1) if i != o else None

    def forward(self, x, e):
        h = self.conv1(F.silu(self.norm1(x))) + self.time_emb_proj(F.silu(e))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + (self.conv_shortcut(x) if self.conv_shortcut else x)


class Attention(nn.Module):
    def __init__(self, c, width, groups):
        super().__init__()
        self.heads, self.group_norm = c // width, nn.GroupNorm(groups, c)
        self.to_q, self.to_k, self.to_v = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c)
        self.to_out = nn.ModuleList([nn.Linear(c, c)])

    def forward(self, x):
        b, c, h, w = x.shape
        s = self.group_norm(x).flatten(2).transpose(1, 2)
        q, k, v = (f(s).view(b, h * w, self.heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        s = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, h * w, c)
        return x + self.to_out[0](s).transpose(1, 2).view(b, c, h, w)


class Sampler(nn.Module):
    def __init__(self, c, stride):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, stride=stride, padding=1)

    def forward(self, x):
        return self.conv(x if self.conv.stride[0] == 2 else F.interpolate(x, scale_factor=2, mode="nearest"))


class Block(nn.Module):
    def __init__(self, widths, o, e, groups, attends, head, sampler):
        super().__init__()
        self.resnets = nn.ModuleList([Resnet(i, o, e, groups) for i in widths])
        if attends:
            self.attentions = nn.ModuleList([Attention(o, head, groups) for _ in widths])
        if sampler == "down":
            self.downsamplers = nn.ModuleList([Sampler(o, 2)])
        if sampler == "up":
            self.upsamplers = nn.ModuleList([Sampler(o, 1)])

    def one(self, j, x, e):
        x = self.resnets[j](x, e)
        return self.attentions[j](x) if hasattr(self, "attentions") else x


class TimeEmbedding(nn.Module):
    def __init__(self, c, e):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(c, e), nn.Linear(e, e)

    def forward(self, x):
        return self.linear_2(F.silu(self.linear_1(x)))


class UNet(nn.Module):
    def __init__(self, i, o, channels, blocks, attention_from, head, groups, classes):
        super().__init__()
        self.c0, e, n = channels[0], 4 * channels[0], len(channels)
        self.conv_in = nn.Conv2d(i, channels[0], 3, padding=1)
        self.time_embedding = TimeEmbedding(channels[0], e)
        if classes:
            self.class_embedding = nn.Embedding(classes, e)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        skips = [channels[0]]
        before = channels[0]
        for k, c in enumerate(channels):
            self.down_blocks.append(Block([before if j == 0 else c for j in range(blocks)], c, e, groups,
                                          k >= attention_from, head, "down" if k + 1 < n else None))
            skips += [c] * (blocks + (k + 1 < n))
            before = c
        self.mid_block = Block([before, before], before, e, groups, False, head, None)
        self.mid_block.attentions_ = None
        self.mid_block.attentions = nn.ModuleList([Attention(before, head, groups)])
        for k, c in reversed(list(enumerate(channels))):
            widths = []
            for j in range(blocks + 1):
                widths.append((before if j == 0 else c) + skips.pop())
            self.up_blocks.append(Block(widths, c, e, groups, k >= attention_from, head, "up" if k > 0 else None))
            before = c
        self.conv_norm_out = nn.GroupNorm(groups, channels[0])
        self.conv_out = nn.Conv2d(channels[0], o, 3, padding=1)

    def forward(self, x, condition):
        half = self.c0 // 2
        steps = torch.arange(half, dtype=torch.float64, device=condition.device)
        f = torch.exp(-math.log(10000.0) * steps / half)
        angle = condition[:, :1].double() * f
        e = self.time_embedding(torch.cat([angle.cos(), angle.sin()], -1).to(x.dtype))
        if hasattr(self, "class_embedding"):
            e = e + self.class_embedding(condition[:, 1].long())
        x = self.conv_in(x)
        stack = [x]
        for b in self.down_blocks:
            for j in range(len(b.resnets)):
                x = b.one(j, x, e)
                stack.append(x)
            if hasattr(b, "downsamplers"):
                x = b.downsamplers[0](x)
                stack.append(x)
        m = self.mid_block
        x = m.resnets[1](m.attentions[0](m.resnets[0](x, e)), e)
        for b in self.up_blocks:
            for j in range(len(b.resnets)):
                x = b.one(j, torch.cat([x, stack.pop()], 1), e)
            if hasattr(b, "upsamplers"):
                x = b.upsamplers[0](x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))
