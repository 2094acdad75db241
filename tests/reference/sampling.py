"""Reference values for tests/generate/sampling.cpp: the logits processors of Hugging Face transformers, in the order in
which generate() applies them, and OpenAI's presence and frequency penalty, written in torch."""
import torch
import transformers
from transformers.generation import logits_process as p

from golden import Golden

seed = 5
g = Golden(__file__, seed, torch=torch.__version__, transformers=transformers.__version__)
torch.manual_seed(seed)

vocabulary = 600  # more than a block of weights, and no multiple of a vector
scores = torch.randn(vocabulary) * 2
scores[[3, 17, 40, 41, 599]] = scores.topk(40).values[-1].item()  # ties at the end of the top 40
prompt = [3, 5, 17, 5]
generated = [8, 9, 8, 8, 3, 599]
g.tensor("scores", scores)
g.add("prompt", prompt)
g.add("generated", generated)
g.tensor("log_probabilities", scores.double().log_softmax(-1).float())

# temperature, top_k, top_p, min_p, repetition, presence, frequency, bias of token 8
cases = [
    (1, 0, 1, 0, 1, 0, 0, 0),
    (0.6, 0, 1, 0, 1, 0, 0, 0),
    (1.7, 40, 1, 0, 1, 0, 0, 0),
    (1, 1, 1, 0, 1, 0, 0, 0),
    (1, 5000, 1, 0, 1, 0, 0, 0),
    (1, 0, 0.9, 0, 1, 0, 0, 0),
    (1, 0, 0.999, 0, 1, 0, 0, 0),
    (0.7, 0, 0.05, 0, 1, 0, 0, 0),
    (3, 0, 0.8, 0, 1, 0, 0, 0),
    (1, 0, 1, 0.05, 1, 0, 0, 0),
    (1.3, 0, 1, 0.5, 1, 0, 0, 0),
    (0.8, 50, 0.75, 0.02, 1, 0, 0, 0),
    (1, 0, 0.97, 0.1, 1, 0, 0, 0),
    (1, 0, 1, 0, 1.3, 0, 0, 0),
    (0.9, 20, 0.9, 0, 0.8, 0, 0, 0),
    (1, 0, 1, 0, 1, 0.6, 0, 0),
    (1, 0, 1, 0, 1, 0, 0.4, 0),
    (1, 30, 1, 0, 1, -1.5, 1, 0),
    (1, 10, 1, 0, 1, 0, 0, 6),
    (0.8, 40, 0.9, 0.01, 1.2, 0.5, 0.25, 3),
]
for i, (temperature, top_k, top_p, min_p, repetition, presence, frequency, bias) in enumerate(cases):
    x = scores.clone()[None]
    ids = torch.tensor([prompt + generated])
    if bias:
        x = p.SequenceBiasLogitsProcessor({(8,): float(bias)})(ids, x)
    if repetition != 1:
        x = p.RepetitionPenaltyLogitsProcessor(float(repetition))(ids, x)
    count = torch.bincount(torch.tensor(generated), minlength=vocabulary)
    x = x - frequency * count - presence * (count > 0)
    x = p.TemperatureLogitsWarper(float(temperature))(ids, x)
    if top_k:
        x = p.TopKLogitsWarper(top_k)(ids, x)
    if top_p < 1:
        x = p.TopPLogitsWarper(top_p)(ids, x)
    if min_p:
        x = p.MinPLogitsWarper(min_p)(ids, x)
    g.add(f"settings.{i}", cases[i])
    g.tensor(f"probabilities.{i}", x[0].double().softmax(-1).float())
g.write()
