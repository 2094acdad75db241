# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast_model.py: the names, shapes and forecasts of the model
of examples/03_forecast_model.cpp. Number k of tensor i is weight(i, k), which the test knows, too."""
import torch

from golden import Golden


def weight(i, k):
    return ((7919 * k + 104729 * i) % 257 - 128) / 1024


class Attention(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.query = torch.nn.Linear(hidden, hidden)
        self.key = torch.nn.Linear(hidden, hidden)
        self.value = torch.nn.Linear(hidden, hidden)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        return torch.softmax(scores, -1) @ self.value(x)


class Forecaster(torch.nn.Module):
    def __init__(self, features=15, hidden=64):
        super().__init__()
        self.lstm = torch.nn.LSTM(features, hidden, 2, dropout=0.2, batch_first=True)
        self.attention = Attention(hidden)
        self.layer_norm = torch.nn.LayerNorm(hidden)
        self.fc = torch.nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.lstm(x)[0]
        return self.fc(self.layer_norm(self.attention(h) + h)[:, -1])


g = Golden(__file__, "none", torch=torch.__version__)
model = Forecaster().eval()
state = {}
for i, (name, p) in enumerate(model.state_dict().items()):
    state[name] = torch.tensor([weight(i, k) for k in range(p.numel())]).reshape(p.shape)
    g.add("shape." + name, p.shape)
model.load_state_dict(state)
assert sum(p.numel() for p in model.parameters()) == 66689

lane, t = torch.arange(32).reshape(32, 1, 1), torch.arange(60).reshape(1, 60, 1)
x = torch.sin(torch.tensor(0.2) * (t - torch.arange(15) + 15) + torch.tensor(0.4) * lane)
g.tensor("forecasts", model.double()(x.double()))
g.write()
