"""Reference values for tests/layers/loss.cpp."""
import torch

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__)
for name, loss in dict(mse=torch.nn.MSELoss(), l1=torch.nn.L1Loss()).items():
    y, target = torch.randn(5, 3, 7, requires_grad=True), torch.randn(5, 3, 7)
    with torch.no_grad():
        y[0, 0, 0] = target[0, 0, 0]
    value = loss(y, target)
    value.backward()
    for n, t in dict(y=y, target=target, value=value, dy=y.grad).items():
        g.tensor(f"{name}.{n}", t)
for name, options in dict(plain={}, smooth=dict(label_smoothing=0.1), ignore=dict(ignore_index=3)).items():
    y, target = (torch.randn(6, 2, 70) * 4).requires_grad_(), torch.randint(0, 5, (6, 2))
    value = torch.nn.functional.cross_entropy(y.reshape(12, 70), target.reshape(12), **options)
    value.backward()
    for n, t in dict(y=y, target=target, value=value, dy=y.grad).items():
        g.tensor(f"{name}.{n}", t)
for name, loss in dict(huber=torch.nn.HuberLoss(), huber_half=torch.nn.HuberLoss(delta=0.5),
                       bce=torch.nn.BCEWithLogitsLoss()).items():
    y, target = (torch.randn(5, 3, 7) * 3).requires_grad_(), torch.randn(5, 3, 7)
    if name == "bce":
        target = target.sigmoid()
    value = loss(y, target)
    value.backward()
    for n, t in dict(y=y, target=target, value=value, dy=y.grad).items():
        g.tensor(f"{name}.{n}", t)
# Logits that have much in common, far from zero: rows of three, the target is the first.
far = torch.tensor([[1e7, 1e7, 0], [1e8, 1e8, 0], [1e4, 9990, 0], [1000, 1001, 1002], [50, 40, 30],
                    [-3e7, -3e7, -3e7]])
g.tensor("far.y", far)
for name, smoothing in dict(plain=0.0, smooth=0.1).items():
    g.tensor(f"far.{name}", torch.nn.functional.cross_entropy(
        far, torch.zeros(len(far), dtype=torch.long), reduction="none", label_smoothing=smoothing))
g.tensor("far.log_softmax", far.log_softmax(-1))
g.write()
