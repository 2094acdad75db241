"""Reference values for tests/optim/schedule.cpp: rates by torch's schedulers, base 0.1."""
import torch
from torch.optim import lr_scheduler as lr

from golden import Golden

g = Golden(__file__, 0, torch=torch.__version__)


def rates(name, make, n=14, base=0.1):
    opt = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    s = make(opt)
    out = []
    for _ in range(n):
        out.append(opt.param_groups[0]["lr"])
        opt.step()
        s.step()
    g.add(name, out)


rates("step", lambda o: lr.StepLR(o, 3))
rates("exponential", lambda o: lr.ExponentialLR(o, 0.9))
rates("cosine", lambda o: lr.CosineAnnealingLR(o, 4))
rates("cosine_least", lambda o: lr.CosineAnnealingLR(o, 5, eta_min=0.01))
rates("linear", lambda o: lr.LinearLR(o))
rates("one_cycle", lambda o: lr.OneCycleLR(o, 0.1, total_steps=6, cycle_momentum=False), 6)
rates("one_cycle_long", lambda o: lr.OneCycleLR(o, 0.1, total_steps=14, cycle_momentum=False))
rates("sequential", lambda o: lr.SequentialLR(o, [lr.LinearLR(o, 0.1, total_iters=4), lr.CosineAnnealingLR(o, 10)], [4]))
measures = [1.0, 0.9, 0.91, 0.9, 0.89999, 0.95, 0.8, 0.85, 0.85, 0.85, 0.85, 0.85, 0.85, 0.85, 0.7, 0.75, 0.75, 0.75, 0.75]
for name, options in dict(plateau=dict(factor=0.5, patience=2), cooldown=dict(factor=0.1, patience=1, cooldown=2),
                          least=dict(factor=0.1, patience=0, min_lr=0.004)).items():
    opt = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    s = lr.ReduceLROnPlateau(opt, **options)
    out = []
    for m in measures:
        opt.step()
        s.step(m)
        out.append(opt.param_groups[0]["lr"])
    g.add("plateau." + name, out)
g.add("plateau.measures", measures)
g.write()
