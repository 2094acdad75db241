"""Reference values for tests/compose/tied.cpp: an embedding whose weight projects what a body made."""
import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
embedding = torch.nn.Embedding(11, 6)
body = torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(), torch.nn.Linear(9, 6))
x = torch.randint(0, 11, (5, 3))
y = torch.nn.functional.linear(body(embedding(x)), embedding.weight)
dy = torch.rand_like(y) * 2 - 1
y.backward(dy)
g.tensor("x", x)
g.tensor("y", y)
g.tensor("dy", dy)
g.tensor("weight", embedding.weight)
g.tensor("dweight", embedding.weight.grad)
for name, p in body.named_parameters():
    g.tensor("0." + name, p)
    g.tensor("d0." + name, p.grad)
g.write()
