# SPDX-License-Identifier: MIT
"""Reference values for tests/models/lstm_attention.cpp: checksums of initial parameters, 100 steps of
Adam on waves, the forecasts and weights of the attention after them, for one head and for four."""
import zlib

import torch

from golden import Golden

TIME, BATCH, FEATURES, STEPS = 20, 8, 15, 100


class Forecaster(torch.nn.Module):
    def __init__(self, features, hidden, heads):
        super().__init__()
        self.heads = heads
        self.lstm = torch.nn.LSTM(features, hidden, 2)
        self.attention = torch.nn.ModuleDict(
            {name: torch.nn.Linear(hidden, hidden) for name in ("query", "key", "value")})
        self.layer_norm = torch.nn.LayerNorm(hidden)
        self.fc = torch.nn.Linear(hidden, 1)

    def weights(self, h):
        return torch.softmax(self.split("query", h) @ self.split("key", h).transpose(2, 3)
                             / (h.shape[2] // self.heads) ** 0.5, -1)

    def split(self, name, h):  # (time, batch, hidden) -> (batch, heads, time, width)
        time, batch, _ = h.shape
        return self.attention[name](h).reshape(time, batch, self.heads, -1).permute(1, 2, 0, 3)

    def forward(self, x):
        h = self.lstm(x)[0]
        seen = (self.weights(h) @ self.split("value", h)).permute(2, 0, 1, 3).reshape(h.shape)
        return self.fc(self.layer_norm(seen + h)[-1])


def batch(step):
    """Waves at all lags, and what they are one sample later."""
    t = torch.arange(TIME, dtype=torch.double).reshape(TIME, 1, 1)
    lane = torch.arange(BATCH, dtype=torch.double).reshape(1, BATCH, 1) + step * BATCH
    lag = torch.arange(FEATURES, dtype=torch.double)
    return (torch.sin(0.2 * (t - lag) + 0.4 * lane).float(),
            torch.sin(0.2 * TIME + 0.4 * lane[0]).float())


torch.set_num_threads(1)
g = Golden(__file__, 1, torch=torch.__version__)
torch.manual_seed(1)
whole = Forecaster(FEATURES, 64, 1)
assert sum(p.numel() for p in whole.parameters()) == 66689
g.add("initial", [zlib.crc32(p.detach().numpy().tobytes()) for p in whole.parameters()])
for heads in (1, 4):
    torch.manual_seed(1)
    model = Forecaster(FEATURES, 64, heads)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    losses = []
    for step in range(STEPS):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    g.add(f"{heads}.losses", losses)
    x, _ = batch(0)
    g.tensor(f"{heads}.forecasts", model(x))
    g.tensor(f"{heads}.weights", model.weights(model.lstm(x)[0])[:, :, -1])
g.write()
