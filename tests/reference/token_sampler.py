"""Reference values for tests/random/token_sampler.cpp: temperature, top-k and top-p as the logits processors of
transformers apply them, written in torch."""
import torch

from golden import Golden

g = Golden(__file__, 3, torch=torch.__version__)
torch.manual_seed(3)


def probabilities(scores, temperature, top_k, top_p):
    scores = scores / temperature
    if top_k:
        scores = scores.masked_fill(scores < torch.topk(scores, min(top_k, len(scores)))[0][-1], -torch.inf)
    if top_p < 1:
        ascending, index = torch.sort(scores, stable=True)
        remove = ascending.softmax(-1).cumsum(-1) <= 1 - top_p
        remove[-1] = False
        scores = scores.masked_fill(remove.scatter(0, index, remove), -torch.inf)
    return scores.softmax(-1)


scores = torch.randn(12, dtype=torch.float64) * 2
g.tensor("scores", scores)
for i, (temperature, top_k, top_p) in enumerate(
        [(1, 0, 1), (0.5, 0, 1), (2, 5, 1), (1, 1, 1), (1, 50, 1), (1, 0, 0.9), (0.7, 0, 0.3), (1.3, 6, 0.8), (1, 0, 0.01)]):
    g.tensor(f"probabilities.{i}", probabilities(scores, temperature, top_k, top_p))
g.write()
