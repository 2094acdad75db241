"""Reference values for tests/layers/batch_norm.cpp. Features are stored last.

Every case is three training passes, each with the gradient of its own, and then one in evaluation.
"""
import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


def first(x):
    return x.movedim(-1, 1) if x.dim() > 2 else x


def last(y):
    return y.movedim(1, -1) if y.dim() > 2 else y


for name, module, shape in (
        ("rows.", torch.nn.BatchNorm1d(6), (8, 6)),
        ("sequence.", torch.nn.BatchNorm1d(5, eps=0.1, momentum=0.3), (2, 7, 5)),
        ("images.", torch.nn.BatchNorm2d(12), (2, 4, 3, 12)),
        ("bare.", torch.nn.BatchNorm2d(3, affine=False), (2, 4, 4, 3))):
    if module.affine:
        torch.nn.init.uniform_(module.weight, 0.5, 1.5)
        torch.nn.init.uniform_(module.bias, -0.5, 0.5)
        g.tensor(name + "0.weight", module.weight)
        g.tensor(name + "0.bias", module.bias)
    for step in "0123":
        module.train(step != "3")
        x = (torch.randn(*shape) * 2 + 0.5).requires_grad_(True)
        y = last(module(first(x)))
        dy = torch.rand_like(y) * 2 - 1
        module.zero_grad()
        y.backward(dy)
        for what, value in (("x", x), ("y", y), ("dy", dy), ("dx", x.grad)):
            g.tensor(name + step + what, value)
        for path, p in module.named_parameters():
            g.tensor(name + step + "d0." + path, p.grad)
        for path, b in module.named_buffers():
            g.tensor(name + step + "0." + path, b)
g.write()
