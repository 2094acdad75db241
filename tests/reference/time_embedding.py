"""Reference values for tests/layers/time_embedding.cpp: diffusers' get_timestep_embedding(flip_sin_to_cos=True,
downscale_freq_shift=0) and TimestepEmbedding, written in torch; angles in double."""
import math

import torch

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)


class TimeEmbedding(torch.nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.half = width // 2
        self.linear_1, self.linear_2 = torch.nn.Linear(width, out), torch.nn.Linear(out, out)

    def waves(self, t):
        f = torch.exp(-math.log(10000.0) * torch.arange(self.half, dtype=torch.float64) / self.half)
        angle = t[:, None].double() * f
        return torch.cat([angle.cos(), angle.sin()], -1).to(t.dtype)

    def forward(self, t):
        return self.linear_2(torch.nn.functional.silu(self.linear_1(self.waves(t))))


m = TimeEmbedding(8, 6)
t = torch.tensor([0.0, 1.0, 3.5, 7.0, 9.0])
g.tensor("waves", m.waves(t))
record(g, "", m, t, names=lambda n: n)
g.write()
