"""Reference values for tests/models/gpt.cpp: the model of gpt_module.py, one pass with all gradients, and
200 steps of training on the licence text of the project."""
import pathlib

import torch
from torch.nn import functional as F

from golden import Golden
from gpt_module import GPT

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


m = GPT(11, 8, 2, 4, 2)
x = torch.randint(11, (9, 2))
y = m(x)
dy = torch.rand_like(y) * 2 - 1
y.backward(dy)
for name, t in (("x", x), ("y", y), ("dy", dy), ("dx", torch.zeros(9, 2))):
    g.tensor(name, t)
for name, p in m.named_parameters():
    g.tensor(name, p)
    g.tensor("d" + name, p.grad)

# 200 steps of a model of 4 blocks, 128 wide, on 128 bytes at a time
text = torch.tensor(list((pathlib.Path(__file__).parents[2] / "LICENSE").read_bytes()))
torch.manual_seed(7)
m = GPT(128, 128, 4, 4, 4)
optimizer = torch.optim.AdamW(m.parameters(), lr=1e-3)
losses = []
for step in range(200):
    starts = torch.tensor([(step * 8 + b) * 37 % (len(text) - 129) for b in range(8)])
    window = text[starts[None, :] + torch.arange(129)[:, None]]
    loss = F.cross_entropy(m(window[:-1]).reshape(-1, 128), window[1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
g.add("losses", losses)
g.write()
print(losses[0], losses[99], losses[-1])
