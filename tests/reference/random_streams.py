"""Reference values for tests/random: the streams of torch and NumPy, exact in binary."""
import numpy
import torch

from golden import Golden

SEEDS = [0, 1, 42, 2**32 - 1, 2**63]
SIZES = [1, 15, 16, 17, 31, 100]
g = Golden(__file__, SEEDS, torch=torch.__version__, numpy=numpy.__version__)
for seed in SEEDS:
    def fresh():
        torch.manual_seed(seed)
    fresh(); g.tensor(f"rand.{seed}", torch.rand(20))
    fresh(); g.tensor(f"rand64.{seed}", torch.rand(20, dtype=torch.float64))
    fresh(); g.tensor(f"uniform.{seed}", torch.empty(50).uniform_(-0.1, 0.3))
    fresh(); g.tensor(f"randint.{seed}", torch.randint(0, 1000, (30,)))
    fresh(); g.tensor(f"randperm.{seed}", torch.randperm(50))
    fresh(); g.tensor(f"bernoulli.{seed}", torch.empty(60).bernoulli_(0.3))
    for n in SIZES:
        fresh(); g.tensor(f"randn.{seed}.{n}", torch.randn(n))
        fresh(); g.tensor(f"randn64.{seed}.{n}", torch.randn(n, dtype=torch.float64))
    # Draws of several kinds share one stream, the kept normal number included.
    fresh()
    g.tensor(f"mixed.{seed}", torch.cat([torch.randn(3), torch.rand(2), torch.randn(2), torch.randint(0, 7, (3,)).float(),
                                         torch.randn(20), torch.randn(1)]))
# From 2^32 / 20 on torch has another way: the lowest bytes of a few places, and a sum of all.
torch.manual_seed(3)
many = (torch.randperm(2**32 // 20) & 255).to(torch.uint8)
g.tensor("randperm.many", torch.cat([many[:20], many[-20:]]))
g.tensor("randperm.many.sum", sum((part.long() * torch.arange(len(part))).sum() for part in many.split(251)[::1000]))
torch.manual_seed(1)
lstm, linear = torch.nn.LSTM(3, 5, num_layers=2), torch.nn.Linear(5, 2)
conv, mha = torch.nn.Conv1d(4, 6, 3, groups=2), torch.nn.MultiheadAttention(8, 2)
norm = torch.nn.LayerNorm(3)
for prefix, module in dict(lstm=lstm, linear=linear, conv=conv, mha=mha, norm=norm).items():
    for name, p in module.named_parameters():
        g.tensor(f"init.{prefix}.{name}", p)
for seed in (0, 1, 2, 12345, 2**32 - 1):
    r = numpy.random.RandomState(seed)
    g.add(f"numpy.random_sample.{seed}", r.random_sample(700))
    g.add(f"numpy.uniform.{seed}", r.uniform(0.8, 1.2, 20))
    g.add(f"numpy.normal.{seed}", numpy.random.RandomState(seed).standard_normal(21))
g.write()
