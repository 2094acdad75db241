# SPDX-License-Identifier: MIT
"""The larger networks by torch, as peers.py has the small ones."""
import pathlib
import sys

import torch

from peers import parameters, steps_of, tensors

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "reference"))
from gpt_module import GPT
from unet_module import UNet

F = torch.nn.functional


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.MultiheadAttention(256, 8)

    def forward(self, x):
        return self.heads(x, x, x, need_weights=False)[0]


def both_ways(model, x, dy):
    x.requires_grad_(True)

    def call():
        model.zero_grad()
        x.grad = None
        model(x).backward(dy)
        return x.grad
    return call


def torch_attention(given):
    p, model = parameters(given), Heads()
    model.heads.load_state_dict(
        {f"in_proj_{kind}": torch.cat([p[f"{who}_proj.{kind}"] for who in "qkv"])
         for kind in ("weight", "bias")} |
        {f"out_proj.{kind}": p[f"o_proj.{kind}"] for kind in ("weight", "bias")})
    return both_ways(model, *tensors(given, "x", "dy"))


def torch_attention_decode(by_heads):
    """Keys and values by time, or by heads."""
    def make(given):
        q, k, v = (x.view(-1, 12, 64).transpose(0, 1) for x in tensors(given, "q", "k", "v"))
        if by_heads:
            k, v = k.contiguous(), v.contiguous()

        def call():
            with torch.inference_mode():
                return F.scaled_dot_product_attention(q[None], k[None], v[None])[0].transpose(0, 1)
        return call
    return make


def images(array, memory_format):
    """(batch, height, width, channels) as torch takes them."""
    return torch.from_numpy(array).permute(0, 3, 1, 2).contiguous(memory_format=memory_format)


def torch_convolution(memory_format):
    def make(given):
        model = torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1),
                                    torch.nn.GroupNorm(8, 64), torch.nn.SiLU())
        model.load_state_dict(parameters(given))
        call = both_ways(model.to(memory_format=memory_format), images(given["x"], memory_format),
                         images(given["dy"], memory_format))
        return lambda: call().permute(0, 2, 3, 1)
    return make


def torch_unet_step(memory_format, fused):
    def make(given):
        model = UNet(1, 1, (32, 64), 1, 1, 16, 8, 11)
        model.load_state_dict(parameters(given))
        model = model.to(memory_format=memory_format)
        x, y = (images(given[name], memory_format) for name in "xy")
        c, = tensors(given, "c")
        return steps_of(model, torch.optim.Adam(model.parameters(), fused=fused),
                        lambda m: F.mse_loss(m(x, c), y))
    return make


def torch_gpt_step(fused):
    def make(given):
        model = GPT(128, 128, 4, 4, 4)
        model.load_state_dict(parameters(given))
        x, y = (values.long() for values in tensors(given, "x", "y"))
        return steps_of(model, torch.optim.AdamW(model.parameters(), fused=fused),
                        lambda m: F.cross_entropy(m(x).reshape(-1, 128), y.reshape(-1)))
    return make


def gpt2(given):
    model = GPT(50257, 768, 12, 12, 12)
    model.load_state_dict(parameters(given), assign=True)
    return model.eval(), tensors(given, "x")[0].long()


def torch_prefill(given):
    model, x = gpt2(given)

    def call():
        with torch.inference_mode():
            return model(x)[-1]
    return call


def torch_decode(given):
    """Steps behind the prompt, over keys and values that are kept; from the prompt's end again
    where the memory ends."""
    model, prompt = gpt2(given)
    begin, length = len(prompt), 2 * len(prompt)
    kept = [torch.empty(2, 12, length, 64) for _ in model.blocks]
    half = torch.arange(32, dtype=torch.float64)
    angle = torch.arange(length)[:, None] * (10000.0 ** (-2 * half / 64)).float()
    cos, sin = angle.cos(), angle.sin()
    now = 0

    def turned(x):  # (heads, width)
        a, b = x[:, :32], x[:, 32:]
        return torch.cat([a * cos[now] - b * sin[now], b * cos[now] + a * sin[now]], -1)

    def step(token=1):
        nonlocal now
        if now == length:
            now = begin
        with torch.inference_mode():
            x = model.embedding.weight[token]
            for block, (keys, values) in zip(model.blocks, kept):
                y, of = block.norm_1(x), block.attention
                q = turned(of.q_proj(y).view(12, 64))
                keys[:, now] = turned(of.k_proj(y).view(12, 64))
                values[:, now] = of.v_proj(y).view(12, 64)
                y = F.scaled_dot_product_attention(q[:, None], keys[:, :now + 1],
                                                   values[:, :now + 1])
                x = x + of.o_proj(y.reshape(768))
                x = x + block.linear_2(F.gelu(block.linear_1(block.norm_2(x))))
            now += 1
            return model.head(model.norm(x))

    for token in prompt[:, 0]:
        step(token)
    return step


def unet_operations():
    """Three times the multiply-adds of the forward pass of torch's network, counted by torch."""
    from torch.utils.flop_counter import FlopCounterMode
    model = UNet(1, 1, (32, 64), 1, 1, 16, 8, 11)
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(torch.zeros(64, 1, 8, 8), torch.zeros(64, 2))
    return 3 * counted.get_total_flops()
