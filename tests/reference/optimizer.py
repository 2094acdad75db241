"""Reference values for tests/optim/optimizer.cpp: parameters after each of 3 steps with one gradient, and after 30
steps with gradients of their own."""
import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
start = torch.randn(40, dtype=torch.float64)
gradients = torch.randn(30, 40, dtype=torch.float64)
g.tensor("start", start)
g.tensor("gradients", gradients)
for name, make in dict(
        sgd=lambda p: torch.optim.SGD(p, lr=0.1),
        momentum=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        nesterov=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
        dampening=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3),
        adam=lambda p: torch.optim.Adam(p),
        adam_decay=lambda p: torch.optim.Adam(p, lr=0.02, weight_decay=0.1, betas=(0.8, 0.99), eps=1e-6),
        adamw=lambda p: torch.optim.AdamW(p, lr=0.02),
        adam_quick=lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.3, 0.9))).items():
    small = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    opt = make([small])
    for _ in range(3):
        small.grad = torch.tensor([0.1, -0.2], dtype=torch.float64)
        opt.step()
    g.tensor(name + ".three", small)
    for kind in (torch.float64, torch.float32):
        p = start.to(kind).clone().requires_grad_()
        opt = make([p])
        for d in gradients:
            p.grad = d.to(kind)
            opt.step()
        g.tensor(f"{name}.{str(kind)[6:]}", p)
p = torch.zeros(1, requires_grad=True)
opt = torch.optim.Adam([p], lr=0.1, betas=(0.0, 0.0))
after = []
for d in (1e9, 1.0, -2.0):  # a mean that keeps nothing of what it was
    p.grad = torch.tensor([d])
    opt.step()
    after.append(p.item())
g.add("adam_forgets", after)
p = [torch.randn(n, dtype=torch.float64, requires_grad=True) for n in (5, 40, 3)]
for t in p:
    t.grad = torch.randn_like(t) * 2
g.add("clip.before", torch.cat([t.grad for t in p]).tolist())
g.add("clip.norm", [torch.nn.utils.clip_grad_norm_(p, 1.0)])
g.add("clip.after", torch.cat([t.grad for t in p]).tolist())
g.write()
