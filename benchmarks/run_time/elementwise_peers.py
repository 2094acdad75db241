# SPDX-License-Identifier: MIT
"""elementwise_peers.py [<program> [<row>...]]: torch's side of the rows of elementwise.cpp.

PEERS names a function for every row, `chain/16KB` and so on: it makes the operands and returns the
call to be measured. Where torch has several forms of one row, the fastest is taken: results into
memory that is there (out=), and kernels without the layers of Python above them.
BOUND names, for every row, the row of the program that reads and writes as much without work.
As a program it measures both sides in turns and prints the table; one thread, on the last core.
"""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
import torch

ROUNDS = 5
SIZES = {"16KB": 16 << 10, "256KB": 256 << 10, "64MB": 64 << 20}
FEATURES = 256
PIXELS = 64  # of an image with 64 channels

F = torch.nn.functional
aten = torch.ops.aten


def seconds(function, least=0.05):
    """Seconds of one call: the mean over a run of about `least`, after a warm-up."""
    function()
    calls, passed = 1, 0.0
    while passed < least / 4:
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        passed = time.perf_counter() - begin
        calls *= 2
    calls = max(1, int(calls / 2 * least / passed))
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def inferring(function):
    def call():
        with torch.inference_mode():
            function()
    return call


def fastest(*candidates):
    return min(map(inferring, candidates), key=seconds)


def uniform(*shape):
    return torch.rand(*shape) * 4 - 2


def chain(n):
    a, b, c, y, z = (uniform(n) for _ in range(5))

    def written():
        torch.addcmul(c, a, b, out=y)
        torch.maximum(a, c, out=z)
        torch.sub(y.mul_(0.5), z, out=y)
    return fastest(lambda: (a * b + c) * 0.5 - torch.maximum(a, c), written)


def unary(plain, out=None):
    def row(n):
        x, y = uniform(n), torch.empty(n)
        forms = [lambda: plain(x)]
        if out is not None:
            forms.append(lambda: out(x, out=y))
        return fastest(*forms)
    return row


def reduction(plain):
    def row(n):
        x = uniform(n // FEATURES, FEATURES)
        return inferring(lambda: plain(x))
    return row


def softmax(n):
    x = uniform(n // FEATURES, FEATURES)
    y = torch.empty_like(x)
    return fastest(lambda: torch.softmax(x, -1), lambda: torch.softmax(x, -1, out=y))


def layer_norm(n):
    x, weight, bias = uniform(n // FEATURES, FEATURES), uniform(FEATURES), uniform(FEATURES)
    y, mean, scale = torch.empty_like(x), torch.empty(0), torch.empty(0)
    return fastest(
        lambda: F.layer_norm(x, (FEATURES,), weight, bias),
        lambda: aten.native_layer_norm.out(x, (FEATURES,), weight, bias, 1e-5, out0=y, out1=mean,
                                           out2=scale))


def group_norm(n):
    images = n // (64 * PIXELS)
    weight, bias = uniform(64), uniform(64)
    forms = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        x = uniform(images, 64, 8, 8).contiguous(memory_format=memory_format)
        forms.append(lambda x=x: F.group_norm(x, 8, weight, bias))
    return fastest(*forms)


def mse(n):
    x, target, one = uniform(n), uniform(n), torch.ones(())

    def call():
        aten.mse_loss(x, target, 1)
        aten.mse_loss_backward(one, x, target, 1)
    return inferring(call)


def cross_entropy(n):
    rows = n // FEATURES
    x, one = uniform(rows, FEATURES), torch.ones(())
    target = torch.arange(rows) * 7 % FEATURES

    def call():
        log_p = aten._log_softmax(x, 1, False)
        _, total = aten.nll_loss_forward(log_p, target, None, 1, -100)
        slope = aten.nll_loss_backward(one, log_p, target, None, 1, -100, total)
        aten._log_softmax_backward_data(slope, log_p, 1, torch.float32)
    return inferring(call)


def adam(n):
    p, g = torch.nn.Parameter(uniform(n)), uniform(n)
    first, second, step = torch.zeros(n), torch.zeros(n), torch.ones(())
    p.grad = g
    optimizer = torch.optim.Adam([p], fused=True)
    data = p.data

    def kernel():
        with torch.no_grad():
            torch._fused_adam_([data], [g], [first], [second], [], [step], lr=1e-3, beta1=0.9,
                               beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False,
                               maximize=False)
    return min((optimizer.step, kernel), key=seconds)


KINDS = {
    "chain": (chain, "three_read_write"),
    "exp": (unary(torch.exp, torch.exp), "read_write"),
    "tanh": (unary(torch.tanh, torch.tanh), "read_write"),
    "sigmoid": (unary(torch.sigmoid, torch.sigmoid), "read_write"),
    "silu": (unary(F.silu, aten.silu.out), "read_write"),
    "gelu": (unary(F.gelu, aten.gelu.out), "read_write"),
    "sum": (reduction(torch.sum), "read"),
    "max": (reduction(torch.max), "read"),
    "sum_rows": (reduction(lambda x: x.sum(0)), "read"),
    "softmax": (softmax, "read_write"),
    "layer_norm": (layer_norm, "read_write"),
    "group_norm": (group_norm, "read_write"),
    "mse": (mse, "two_read_write"),
    "cross_entropy": (cross_entropy, "read_write"),
    "adam": (adam, "step"),
}
PEERS = {f"{kind}/{size}": lambda make=make, n=size_of // 4: make(n)
         for kind, (make, _) in KINDS.items() for size, size_of in SIZES.items()}
BOUND = {f"{kind}/{size}": f"bound/{bound}/{size}"
         for kind, (_, bound) in KINDS.items() for size in SIZES}


def rows_of(program, *names):
    """Seconds of some rows of the program; of those that it has."""
    done = subprocess.run(
        [program, f"--benchmark_filter=^({'|'.join(names)})$", "--benchmark_format=json",
         "--benchmark_min_time=0.05"], capture_output=True, text=True, check=True)
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return {row["name"]: row["cpu_time"] * unit[row["time_unit"]]
            for row in json.loads(done.stdout)["benchmarks"]}


def main(program, *wanted):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    print(f"one thread; torch {torch.__version__}; peers: their time divided by Tessera's")
    print(f"{'row':22} {'Tessera':>11} {'bound':>11} {'x bound':>8} {'torch':>8} {'Eigen':>8}")
    for row, make in PEERS.items():
        if wanted and not any(row.startswith(w) for w in wanted):
            continue
        peer = make()
        times = {}
        for _ in range(ROUNDS):
            here = rows_of(program, row, f"eigen/{row}", BOUND[row])
            for name, value in {**here, "torch": seconds(peer)}.items():
                times.setdefault(name, []).append(value)
        median = {name: statistics.median(t) for name, t in times.items()}
        own, bound = median[row], median[BOUND[row]]
        eigen = median.get(f"eigen/{row}")
        print(f"{row:22} {own * 1e6:9.2f}us {bound * 1e6:9.2f}us {own / bound:8.2f} "
              f"{median['torch'] / own:8.2f} {f'{eigen / own:.2f}' if eigen else '-':>8}",
              flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
