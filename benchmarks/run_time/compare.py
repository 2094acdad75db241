# SPDX-License-Identifier: MIT
"""compare.py <run_time> [<case>...]: Tessera beside torch and ONNX Runtime, in one run, one thread.

Every case is measured in turns, Tessera, torch and ONNX Runtime, five times over; the medians are
printed as ratios, beside the bound of the machine, measured by the same program:
  peak  floating-point operations by the rate of multiply-adds without memory
  read  bytes by the rate of reads from a block of that size
Needs torch, onnx and onnxruntime from PyPI. An idle machine, please.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "reference"))
from gpt_module import GPT
from unet_module import UNet

ROUNDS = 5
CORE = sorted(os.sched_getaffinity(0))[-1]
os.sched_setaffinity(0, {CORE})
torch.set_num_threads(1)
torch.manual_seed(1)


def measure(function, seconds=0.3):
    """Seconds of one call: the mean over a run of about `seconds`, after a warm-up."""
    function()
    calls, passed = 1, 0.0
    while passed < seconds / 4:
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        passed = time.perf_counter() - begin
        calls *= 2
    calls = max(1, int(calls / 2 * seconds / passed))
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def tessera(program, case):
    done = subprocess.run([program, f"--benchmark_filter=^{case}$", "--benchmark_format=json",
                           "--benchmark_min_time=0.3"], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)["benchmarks"][0]
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[result["time_unit"]]
    return {**result, "seconds": result["cpu_time"] * unit}


class Filter(torch.nn.Module):
    def __init__(self, inputs, hidden, layers):
        super().__init__()
        self.lstm = torch.nn.LSTM(inputs, hidden, layers)
        self.linear = torch.nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        y, state = self.lstm(x, state)
        return self.linear(y), state


def torch_stream(hidden):
    model, x = Filter(1, hidden, 1).eval(), torch.full((1, 1, 1), 0.3)
    state = (torch.zeros(1, 1, hidden), torch.zeros(1, 1, hidden))

    def step():
        nonlocal state
        with torch.inference_mode():
            _, state = model(x, state)
    return step


def onnx_stream(hidden):
    def weight(name, *shape):
        values = (np.random.RandomState(1).uniform(-0.1, 0.1, shape)).astype(np.float32)
        return onnx.numpy_helper.from_array(values, name)
    state = [1, 1, hidden]
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["x", "W", "R", "B", "", "h", "c"], ["y", "hn", "cn"],
                          hidden_size=hidden),
         helper.make_node("Reshape", ["y", "rows"], ["flat"]),
         helper.make_node("Gemm", ["flat", "V", "b"], ["out"], transB=1)],
        "stream",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
         for n, s in (("x", [1, 1, 1]), ("h", state), ("c", state))],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
         for n, s in (("out", [1, 1]), ("hn", state), ("cn", state))],
        [weight("W", 1, 4 * hidden, 1), weight("R", 1, 4 * hidden, hidden),
         weight("B", 1, 8 * hidden), weight("V", 1, hidden), weight("b", 1),
         onnx.numpy_helper.from_array(np.array([1, hidden], np.int64), "rows")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    memory = {n: onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(s, np.float32))
              for n, s in (("x", [1, 1, 1]), ("h", state), ("c", state), ("hn", state),
                           ("cn", state), ("out", [1, 1]))}
    binding = session.io_binding()
    for n in ("x", "h", "c"):
        binding.bind_ortvalue_input(n, memory[n])
    for n in ("out", "hn", "cn"):
        binding.bind_ortvalue_output(n, memory[n])
    return lambda: session.run_with_iobinding(binding)


def torch_train(steps, batch, inputs, hidden, layers):
    model = Filter(inputs, hidden, layers)
    optimizer = torch.optim.Adam(model.parameters())
    loss = torch.nn.MSELoss()
    x, target = torch.rand(steps, batch, inputs), torch.rand(steps, batch, 1)

    def step():
        optimizer.zero_grad()
        loss(model(x)[0], target).backward()
        optimizer.step()
    return step


def torch_expression(n, function):
    a, b, c = (torch.rand(n) * 4 - 2 for _ in range(3))

    def call():
        with torch.inference_mode():
            function(a, b, c)
    return call


def torch_both_ways(model, *shape):
    x = torch.randn(shape).requires_grad_(True)
    dy = torch.randn_like(model(x))

    def call():
        model.zero_grad()
        x.grad = None
        model(x).backward(dy)
    return call


def fastest(*candidates):
    """The candidate that takes the least time: torch in the better of its memory formats."""
    return min(candidates, key=measure)


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.MultiheadAttention(256, 8)

    def forward(self, x):
        return self.heads(x, x, x, need_weights=False)[0]


def torch_convolution(memory_format):
    model = torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.GroupNorm(8, 64),
                                torch.nn.SiLU()).to(memory_format=memory_format)
    x = torch.randn(8, 64, 32, 32).contiguous(memory_format=memory_format).requires_grad_(True)
    dy = torch.randn(8, 64, 32, 32).contiguous(memory_format=memory_format)

    def call():
        model.zero_grad()
        x.grad = None
        model(x).backward(dy)
    return call


def torch_unet_step(memory_format):
    model = UNet(1, 1, (32, 64), 1, 1, 16, 8, 11).to(memory_format=memory_format)
    optimizer = torch.optim.Adam(model.parameters())
    x, y = (torch.randn(64, 1, 8, 8).contiguous(memory_format=memory_format) for _ in range(2))
    c = torch.stack([torch.randint(200, (64,)), torch.randint(11, (64,))], 1).float()

    def step():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x, c), y).backward()
        optimizer.step()
    return step


def torch_gpt_step():
    model = GPT(128, 128, 4, 4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = torch.randint(128, (128, 16)), torch.randint(128, (128 * 16,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x).reshape(-1, 128), y).backward()
        optimizer.step()
    return step


def unet_operations():
    """Three times the multiply-adds of the forward pass of torch's network, counted by torch."""
    from torch.utils.flop_counter import FlopCounterMode
    model = UNet(1, 1, (32, 64), 1, 1, 16, 8, 11)
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(torch.zeros(64, 1, 8, 8), torch.zeros(64, 2))
    return 3 * counted.get_total_flops()


def train_operations(steps, batch, inputs, hidden, layers):
    """Forward, derivative by the weights, derivative by the input but the first."""
    total = 0
    for layer in range(layers):
        width = inputs if layer == 0 else hidden
        total += 4 * hidden * ((2 if layer == 0 else 3) * width + 3 * hidden)
    return 2 * steps * batch * (total + 3 * hidden)


CASES = {}
for h in (8, 16, 32, 64, 128):
    CASES[f"stream/H{h}"] = dict(
        torch=lambda h=h: torch_stream(h), onnx=lambda h=h: onnx_stream(h),
        operations=2 * (4 * h * (1 + h) + h), bytes=4 * (4 * h * (1 + h) + 9 * h))
for t, b, i, h, l in ((50, 32, 1, 64, 1), (100, 32, 1, 128, 1), (100, 32, 5, 128, 2)):
    CASES[f"train/T{t}_B{b}_I{i}_H{h}" + (f"x{l}" if l > 1 else "")] = dict(
        torch=lambda a=(t, b, i, h, l): torch_train(*a),
        operations=train_operations(t, b, i, h, l), bytes=0)
FORMATS = torch.contiguous_format, torch.channels_last
CASES["attention/B8_T128_D256_H8"] = dict(
    torch=lambda: torch_both_ways(Heads(), 128, 8, 256),
    operations=3 * 2 * (4 * 8 * 128 * 256 * 256 + 2 * 8 * 128 * 128 * 256), bytes=0)
CASES["conv2d/B8_C64_32x32"] = dict(
    torch=lambda: fastest(*map(torch_convolution, FORMATS)),
    operations=3 * 2 * 8 * 32 * 32 * 64 * 64 * 9, bytes=0)
CASES["unet_step/B64_8x8_C32_C64"] = dict(
    torch=lambda: fastest(*map(torch_unet_step, FORMATS)), operations=unet_operations(), bytes=0)
CASES["gpt_step/B16_T128_D128_x4"] = dict(  # half of the scores are never needed
    torch=torch_gpt_step, operations=3 * 2 * 2048 * (4 * (12 * 128 * 128 + 128 * 128) + 128 * 128),
    bytes=0)
for label, n in (("16K", 16384), ("4M", 4194304)):
    CASES[f"chain/{label}"] = dict(
        torch=lambda n=n: torch_expression(n, lambda a, b, c: (a * b + c) * 0.5 -
                                           torch.maximum(a, c)), operations=5 * n, bytes=16 * n)
    CASES[f"sum/{label}"] = dict(
        torch=lambda n=n: torch_expression(n, lambda a, b, c: a.sum()), operations=n, bytes=4 * n)
CASES["tanh/16K"] = dict(torch=lambda: torch_expression(16384, lambda a, b, c: (a * b + c).tanh()),
                         operations=0, bytes=16 * 16384)
CASES["gelu/16K"] = dict(
    torch=lambda: torch_expression(16384, lambda a, b, c: torch.nn.functional.gelu(a * b + c)),
    operations=0, bytes=16 * 16384)
CASES["square_sum/16K"] = dict(
    torch=lambda: torch_expression(16384, lambda a, b, c: (a * a).sum()), operations=0,
    bytes=4 * 16384)


def main(program, *wanted):
    rate = tessera(program, "peak")["items_per_second"]
    print(f"one thread on core {CORE}; torch {torch.__version__}, ONNX Runtime "
          f"{onnxruntime.__version__}; peak {rate / 1e9:.0f} GFLOP/s")
    print(f"{'case':26} {'Tessera':>10} {'bound':>10} {'of':>5} {'x bound':>8} "
          f"{'torch':>8} {'ONNX RT':>8}   (peers: times Tessera's time)")
    for name, case in CASES.items():
        if wanted and not any(name.startswith(w) for w in wanted):
            continue
        peers = {peer: case[peer]() for peer in ("torch", "onnx") if peer in case}
        times = {who: [] for who in ("tessera", *peers)}
        for _ in range(ROUNDS):
            times["tessera"].append(tessera(program, name)["seconds"])
            for peer, function in peers.items():
                times[peer].append(measure(function))
        median = {who: statistics.median(t) for who, t in times.items()}
        block = max(2048, 1 << (max(1, case["bytes"]) - 1).bit_length())
        read = tessera(program, f"read/{min(block, 1 << 26)}")["bytes_per_second"]
        bounds = {"peak": case["operations"] / rate, "read": case["bytes"] / read}
        which = max(bounds, key=bounds.get)
        ratio = {peer: f"{median[peer] / median['tessera']:.2f}" for peer in peers}
        print(f"{name:26} {median['tessera'] * 1e6:8.2f}us {bounds[which] * 1e6:8.2f}us {which:>5} "
              f"{median['tessera'] / bounds[which]:8.2f} {ratio.get('torch', '-'):>8} "
              f"{ratio.get('onnx', '-'):>8}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
