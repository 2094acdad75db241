# SPDX-License-Identifier: MIT
"""The rows of compare.py: what each must do at least, and who else does it."""
import dataclasses
import functools
import re

import torch

import elementwise_peers
import network_peers
import peers

SIZES = 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024
HIDDEN = 8, 16, 32, 64, 128
FORMATS = torch.contiguous_format, torch.channels_last


@dataclasses.dataclass
class Row:
    """The bound is the longest of operations at the peak rate and bytes at the rate of reads, or
    the time of a row of the same program. Peers are lists: the fastest of each is measured."""
    operations: float = 0
    bytes: float = 0
    scalar: str = "f32"
    bound: str = ""
    cores: int = 1
    peers: dict = dataclasses.field(default_factory=dict)
    reference: object = None  # compared with, and not measured


def product_row(scalar, transposed, extents):
    rows, depth, columns = (extents if len(extents) == 3 else extents * 3)
    return Row(operations=2 * rows * depth * columns, scalar=scalar,
               peers={"torch": [peers.torch_product(transposed)],
                      "onnx": [peers.onnx_product(transposed)]},
               reference=peers.numpy_product(transposed))


def train_operations(gates, steps, batch, inputs, hidden, layers):
    """Forward, derivative by the weights, derivative by the input but the first."""
    total = 0
    for layer in range(layers):
        width = inputs if layer == 0 else hidden
        total += gates * hidden * ((2 if layer == 0 else 3) * width + 3 * hidden)
    return 2 * steps * batch * (total + 3 * hidden)


def products():
    for scalar in ("f32", "f64"):
        for n in SIZES:
            yield f"product/{scalar}/NN/{n}", product_row(scalar, "NN", [n])
        for transposed in ("NT", "TN", "TT"):
            yield f"product/{scalar}/{transposed}/256", product_row(scalar, transposed, [256])
        for extents in ([1, 768, 768], [8, 768, 768], [32, 512, 128]):
            name = "x".join(map(str, extents))
            yield f"product/{scalar}/NN/{name}", product_row(scalar, "NN", extents)


def recurrent():
    for kind, gates, prefix in ((torch.nn.LSTM, 4, ""), (torch.nn.GRU, 3, "gru_")):
        for h in HIDDEN:
            others = {"torch": [peers.torch_stream(kind, h)]}
            if gates == 4:
                others["onnx"] = [peers.onnx_stream(h)]
            for order in "", "relaxed_":
                yield f"stream/{order}{prefix}H{h}", Row(
                    operations=2 * (gates * h * (1 + h) + h),
                    bytes=4 * (gates * h * (1 + h) + (9 if gates == 4 else 7) * h), peers=others)
        shapes = ((50, 32, 1, 64, 1), (100, 32, 1, 128, 1), (100, 32, 5, 128, 2))
        for t, b, i, h, layers in shapes if gates == 4 else shapes[:1]:
            name = f"train/{prefix}T{t}_B{b}_I{i}_H{h}" + (f"x{layers}" if layers > 1 else "")
            row = Row(operations=train_operations(gates, t, b, i, h, layers),
                      peers={"torch": [peers.torch_train(kind, i, h, layers, fused)
                                       for fused in peers.FUSED]})
            yield name, row
            yield f"threads/{name}", Row(cores=2)


def networks():
    """Each way of training takes the operations of a forward; half of the causal scores are never
    needed."""
    yield "attention/B8_T128_D256_H8", Row(
        operations=3 * 2 * (4 * 8 * 128 * 256 * 256 + 2 * 8 * 128 * 128 * 256),
        peers={"torch": [network_peers.torch_attention]})
    yield "attention/decode_K1024_D768_H12", Row(
        operations=2 * 2 * 1024 * 768, bytes=4 * 2 * 1024 * 768,
        peers={"torch": [network_peers.torch_attention_decode(c) for c in (False, True)]})
    yield "conv2d/B8_C64_32x32", Row(
        operations=3 * 2 * 8 * 32 * 32 * 64 * 64 * 9,
        peers={"torch": [network_peers.torch_convolution(f) for f in FORMATS]})
    yield "unet_step/B64_8x8_C32_C64", Row(
        operations=network_peers.unet_operations(),
        peers={"torch": [network_peers.torch_unet_step(f, fused) for f in FORMATS
                         for fused in peers.FUSED]})
    yield "gpt_step/B16_T128_D128_x4", Row(
        operations=3 * 2 * 2048 * (4 * (12 * 128 * 128 + 128 * 128) + 128 * 128),
        peers={"torch": [network_peers.torch_gpt_step(fused) for fused in peers.FUSED]})
    block, head = 12 * 768 * 768, 768 * 50257
    keys_and_values = 2 * 12 * 768 * 192  # of 128 to 255 tokens
    yield "gpt2/decode", Row(operations=2 * (12 * block + head),
                             bytes=4 * (12 * block + head + keys_and_values),
                             peers={"torch": [network_peers.torch_decode]})
    yield "gpt2/prefill128", Row(
        operations=2 * 128 * (12 * (block + 128 * 768) + head),
        peers={"torch": [network_peers.torch_prefill]})
    yield "threads/gpt2/decode", Row(cores=2)
    yield "threads/gpt2/prefill128", Row(cores=2)


def elementwise():
    for name, (makers, bound) in elementwise_peers.ROWS.items():
        yield name, Row(bound=bound, peers={"torch": makers})


@functools.cache
def all_rows():
    return dict([*products(), *recurrent(), *networks(), *elementwise()])


def wanted_rows(patterns):
    """Those whose names one of the patterns begins, or matches as a regular expression."""
    return {name: row for name, row in all_rows().items()
            if not patterns or any(re.match(pattern, name) for pattern in patterns)}
