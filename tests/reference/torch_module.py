"""How a torch module becomes reference values: its parameters, one input, output and derivatives."""
import torch


def record(golden, prefix, module, x, call=None, names=None):
    """call(module, x) -> y; names maps torch's parameter names to ours (default: "0." in front)."""
    names = names or (lambda n: "0." + n)
    call = call or (lambda m, v: m(v))
    x = x.clone().requires_grad_(True)
    y = call(module, x)
    dy = torch.rand_like(y) * 2 - 1
    y.backward(dy)
    golden.tensor(prefix + "x", x)
    golden.tensor(prefix + "y", y)
    golden.tensor(prefix + "dy", dy)
    golden.tensor(prefix + "dx", x.grad)
    for name, p in module.named_parameters():
        golden.tensor(prefix + names(name), p)
        golden.tensor(prefix + "d" + names(name), p.grad)
