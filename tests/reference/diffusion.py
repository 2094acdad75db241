"""Reference values for tests/models/diffusion.cpp: diffusers' squaredcos_cap_v2 and DDPMScheduler.step with
fixed_small variance and clipped samples, written in torch, in double."""
import math

import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
n = 50
left = [math.cos((t / n + 0.008) / 1.008 * math.pi / 2) ** 2 for t in range(n + 1)]
beta = torch.tensor([min(1 - left[t + 1] / left[t], 0.999) for t in range(n)], dtype=torch.float64)
alpha_bar = torch.cumprod(1 - beta, 0)
g.tensor("beta", beta)
g.tensor("alpha_bar", alpha_bar)
x, e, z = (torch.randn(6, dtype=torch.float64) for _ in range(3))
for name, v in (("x", x), ("e", e), ("z", z)):
    g.tensor(name, v)
for t in (0, 1, 17, 49):
    now, before = alpha_bar[t], alpha_bar[t - 1] if t > 0 else torch.tensor(1.0, dtype=torch.float64)
    g.tensor(f"noised.{t}", now.sqrt() * x + (1 - now).sqrt() * e)
    image = ((x - (1 - now).sqrt() * e) / now.sqrt()).clamp(-1, 1)
    mean = before.sqrt() * beta[t] / (1 - now) * image + (1 - beta[t]).sqrt() * (1 - before) / (1 - now) * x
    g.tensor(f"step.{t}", mean + ((1 - before) / (1 - now) * beta[t]).sqrt() * z)
g.write()
