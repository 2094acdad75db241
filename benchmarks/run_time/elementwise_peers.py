# SPDX-License-Identifier: MIT
"""torch's side of the rows of elementwise.cpp, as peers.py has those of networks.

A peer is made from the numbers that the row told, and returns what the row returns. Where torch has
several forms of one row, each is a peer of its own: results into memory that is there (out=), and
kernels without the layers of Python above them.
"""
import torch

import peers

SIZES = "16KB", "256KB", "64MB"
FEATURES = 256
CHANNELS, GROUPS, SIDE = 64, 8, 8

F = torch.nn.functional
aten = torch.ops.aten


def tensors(given, *names):
    """Copies, which lie as torch aligns them."""
    return [values.clone() for values in peers.tensors(given, *names)]


def inferring(function):
    def call():
        with torch.inference_mode():
            return function()
    return call


def rows(given, *names):
    """Those tensors, the first of them as rows."""
    x, *others = tensors(given, *names)
    return x.reshape(-1, FEATURES), *others


def chain(given):
    a, b, c = tensors(given, *"abc")
    return inferring(lambda: (a * b + c) * 0.5 - torch.maximum(a, c))


def chain_written(given):
    a, b, c = tensors(given, *"abc")
    y, z = torch.empty_like(a), torch.empty_like(a)

    def call():
        torch.addcmul(c, a, b, out=y)
        torch.maximum(a, c, out=z)
        return torch.sub(y.mul_(0.5), z, out=y)
    return inferring(call)


def unary(plain, out):
    def returned(given):
        x, = tensors(given, "a")
        return inferring(lambda: plain(x))

    def written(given):
        x, = tensors(given, "a")
        y = torch.empty_like(x)
        return inferring(lambda: out(x, out=y))
    return [returned, written]


def reduction(plain):
    def make(given):
        x, = rows(given, "x")
        return inferring(lambda: plain(x))
    return [make]


def softmax(given):
    x, = rows(given, "x")
    return inferring(lambda: torch.softmax(x, -1))


def softmax_written(given):
    x, = rows(given, "x")
    y = torch.empty_like(x)
    return inferring(lambda: torch.softmax(x, -1, out=y))


def layer_norm(given):
    x, weight, bias = rows(given, "x", "weight", "bias")
    return inferring(lambda: F.layer_norm(x, (FEATURES,), weight, bias))


def layer_norm_written(given):
    x, weight, bias = rows(given, "x", "weight", "bias")
    y, mean, scale = torch.empty_like(x), torch.empty(0), torch.empty(0)
    return inferring(lambda: aten.native_layer_norm.out(
        x, (FEATURES,), weight, bias, 1e-5, out0=y, out1=mean, out2=scale)[0])


def group_norm(memory_format):
    def make(given):
        x, weight, bias = tensors(given, "x", "weight", "bias")
        images = x.reshape(-1, SIDE, SIDE, CHANNELS).permute(0, 3, 1, 2)
        images = images.contiguous(memory_format=memory_format)
        call = inferring(lambda: F.group_norm(images, GROUPS, weight, bias))
        return lambda: Pixels(call())
    return make


class Pixels:
    """Images of torch, which are arranged as Tessera's when they are asked for."""

    def __init__(self, images):
        self.images = images

    def numpy(self):
        return self.images.permute(0, 2, 3, 1).numpy()


def mse(given):
    x, target = tensors(given, "x", "target")
    one = torch.ones(())

    def call():
        aten.mse_loss(x, target, 1)
        return aten.mse_loss_backward(one, x, target, 1)
    return inferring(call)


def cross_entropy(given):
    x, target = rows(given, "x", "target")
    target, one = target.long(), torch.ones(())

    def call():
        log_p = aten._log_softmax(x, 1, False)
        _, total = aten.nll_loss_forward(log_p, target, None, 1, -100)
        slope = aten.nll_loss_backward(one, log_p, target, None, 1, -100, total)
        return aten._log_softmax_backward_data(slope, log_p, 1, torch.float32)
    return inferring(call)


def adam(given):
    p, gradient = tensors(given, "p", "gradient")
    p = torch.nn.Parameter(p)
    p.grad = gradient
    optimizer = torch.optim.Adam([p], fused=True)

    def call():
        optimizer.step()
        return p.data
    return call


def adam_kernel(given):
    p, gradient = tensors(given, "p", "gradient")
    first, second, step = torch.zeros_like(p), torch.zeros_like(p), torch.zeros(())

    def call():
        step.add_(1)
        torch._fused_adam_([p], [gradient], [first], [second], [], [step], lr=1e-3, beta1=0.9,
                           beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
        return p
    return inferring(call)


KINDS = {
    "chain": ([chain, chain_written], "three_read_write"),
    "exp": (unary(torch.exp, torch.exp), "read_write"),
    "tanh": (unary(torch.tanh, torch.tanh), "read_write"),
    "sigmoid": (unary(torch.sigmoid, torch.sigmoid), "read_write"),
    "silu": (unary(F.silu, aten.silu.out), "read_write"),
    "gelu": (unary(F.gelu, aten.gelu.out), "read_write"),
    "sum": (reduction(torch.sum), "read"),
    "max": (reduction(torch.max), "read"),
    "sum_rows": (reduction(lambda x: x.sum(0)), "read"),
    "softmax": ([softmax, softmax_written], "read_write"),
    "layer_norm": ([layer_norm, layer_norm_written], "read_write"),
    "group_norm": ([group_norm(torch.contiguous_format), group_norm(torch.channels_last)],
                   "read_write"),
    "mse": ([mse], "two_read_write"),
    "cross_entropy": ([cross_entropy], "read_write"),
    "adam": ([adam, adam_kernel], "step"),
}
# Of every row its peers, and the row of the program that reads and writes as much without work.
ROWS = {f"{kind}/{size}": (makers, f"bound/{bound}/{size}")
        for kind, (makers, bound) in KINDS.items() for size in SIZES}
