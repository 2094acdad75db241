# SPDX-License-Identifier: MIT
"""compare.py <cuda_example> [--device cpu]: a training step of three networks on a GPU, beside torch.

The program of examples/cuda trains for some hundred steps and says how long one took; torch trains the
same network on batches of the same shape, as it is and by torch.compile. Ratios are torch's time
divided by Tessera's. With --device cpu only torch is measured, on the host: it shows that this script
works where there is no GPU. The characters are Debian's package fortunes.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

import torch

torch.backends.cudnn.allow_tf32 = False  # full float32, as torch has it for products

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "reference"))
from gpt_module import GPT
from unet_module import UNet

torch.manual_seed(1)


class Filter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.linear = torch.nn.LSTM(5, 64), torch.nn.Linear(64, 1)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])


def networks(device):
    """Name, arguments of the program, model, optimizer and the loss of a batch."""
    x, y = torch.rand(50, 32, 5, device=device), torch.rand(50, 32, 1, device=device)
    model = Filter().to(device)
    yield ("filter", [], model, torch.optim.Adam(model.parameters()),
           lambda m: torch.nn.functional.mse_loss(m(x), y))
    images = torch.rand(64, 1, 8, 8, device=device)
    condition = torch.stack([torch.randint(200, (64,)), torch.randint(11, (64,))], 1).float().to(device)
    model = UNet(1, 1, (32, 64), 1, 1, 16, 8, 11).to(device)
    yield ("digits", ["--data", ROOT / "examples" / "digits" / "digits.npy"], model,
           torch.optim.Adam(model.parameters()),
           lambda m: torch.nn.functional.mse_loss(m(images, condition), images))
    tokens = torch.randint(128, (128, 16), device=device)
    model = GPT(128, 128, 4, 4, 4).to(device)
    yield ("characters", ["--data", "/usr/share/games/fortunes"], model, torch.optim.AdamW(model.parameters()),
           lambda m: torch.nn.functional.cross_entropy(m(tokens).reshape(-1, 128), tokens.reshape(-1)))


def measure(model, optimizer, loss, device, steps):
    """Milliseconds of a step, after a warm-up."""
    def step():
        optimizer.zero_grad()
        loss(model).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    def run(n):
        begun = time.perf_counter()
        for _ in range(n):
            step()
        if device == "cuda":
            torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - begun) / n
    run(max(2, steps // 10))
    return run(steps)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no GPU; --device cpu measures torch alone")
    print(f"torch {torch.__version__}, {arguments.device}; milliseconds of a training step")
    print(f"{'network':12} {'Tessera':>9} {'torch':>9} {'compiled':>9} {'torch/T':>9} {'compiled/T':>11}")
    for name, options, model, optimizer, loss in networks(arguments.device):
        eager = measure(model, optimizer, loss, arguments.device, arguments.steps)
        compiled = measure(torch.compile(model), optimizer, loss, arguments.device, arguments.steps)
        if arguments.device == "cpu":
            print(f"{name:12} {'-':>9} {eager:9.3f} {compiled:9.3f}", flush=True)
            continue
        done = subprocess.run([arguments.program, name, "--steps", str(arguments.steps), *map(str, options)],
                              capture_output=True, text=True, check=True)
        own = float(re.search(r"([0-9.]+) ms a step", done.stdout).group(1))
        print(f"{name:12} {own:9.3f} {eager:9.3f} {compiled:9.3f} {eager / own:9.2f} {compiled / own:11.2f}",
              flush=True)


main()
