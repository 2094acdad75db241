# SPDX-License-Identifier: MIT
"""Reference values for tests/train/trainer_parity.cpp: 50 steps of Adam in torch, on windows of the
frequency signal, and the checksums of initial parameters."""
import zlib

import numpy
import torch

from golden import Golden

LENGTH, BATCH, STEPS = 10, 16, 50


class Filter(torch.nn.Module):
    def __init__(self, hidden, layers):
        super().__init__()
        self.lstm = torch.nn.LSTM(5, hidden, layers)
        self.linear = torch.nn.Linear(hidden, 1)

    def forward(self, x):
        return self.linear(self.lstm(x)[0])


def signal(seed):
    generator, n = numpy.random.RandomState(seed), numpy.arange(10000)
    mixture, targets = numpy.zeros(10000), []
    for hertz in (1, 3, 5, 7):
        amplitude = generator.uniform(0.8, 1.2, 10000)
        phase = 0.01 * generator.uniform(0, 2 * numpy.pi, 10000)
        mixture += amplitude * numpy.sin(2 * numpy.pi * hertz * n / 1000 + phase)
        targets.append(numpy.sin(2 * numpy.pi * hertz * n / 1000))
    return mixture / 4, targets


def batch(step, mixture, targets):
    x, y = torch.zeros(LENGTH, BATCH, 5), torch.zeros(LENGTH, BATCH, 1)
    for lane in range(BATCH):
        begin, which = (step * BATCH + lane) * 97 % 9990, (step + lane) % 4
        x[:, lane, 0] = torch.from_numpy(mixture[begin:begin + LENGTH]).float()
        x[:, lane, 1 + which] = 1
        y[:, lane, 0] = torch.from_numpy(targets[which][begin:begin + LENGTH]).float()
    return x, y


torch.set_num_threads(1)
g = Golden(__file__, 1, torch=torch.__version__, numpy=numpy.__version__)
for hidden, layers in ((64, 1), (64, 2), (128, 2)):
    torch.manual_seed(1)
    g.add(f"initial.{hidden}x{layers}",
          [zlib.crc32(p.detach().numpy().tobytes()) for p in Filter(hidden, layers).parameters()])
torch.manual_seed(1)
model = Filter(16, 2)
optimizer = torch.optim.Adam(model.parameters(), 3e-3, weight_decay=1e-5)
mixture, targets = signal(1)
losses = []
for step in range(STEPS):
    x, y = batch(step, mixture, targets)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    losses.append(loss.item())
g.add("losses", losses)
x, y = batch(0, mixture, targets)
g.tensor("output", model(x))
for name, p in model.named_parameters():
    g.tensor(name.replace("lstm.", "0.").replace("linear.", "1."), p)
g.write()
