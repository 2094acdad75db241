"""Reference values for tests/models/gpt2.cpp: a small GPT2LMHeadModel of transformers with random weights. Its Conv1D
layers have their matrices turned: here they are (Out, In)."""
import torch
import transformers
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.pytorch_utils import Conv1D

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__, transformers=transformers.__version__)
model = GPT2LMHeadModel(GPT2Config(vocab_size=13, n_positions=20, n_embd=8, n_layer=2, n_head=2, n_inner=12, resid_pdrop=0,
                                   embd_pdrop=0, attn_pdrop=0, attn_implementation="eager"))
turned = {n + ".weight" for n, m in model.named_modules() if isinstance(m, Conv1D)}
for n, p in model.named_parameters():
    torch.nn.init.uniform_(p, *((0.5, 1.5) if ".ln_" in n and n.endswith("weight") else (-0.4, 0.4)))
tokens = torch.randint(13, (2, 9))  # (batch, time)
y = model(tokens).logits.transpose(0, 1)
dy = torch.rand_like(y) * 2 - 1
y.backward(dy)
for n, t in (("x", tokens.T), ("y", y), ("dy", dy), ("dx", torch.zeros(9, 2))):
    g.tensor(n, t)
for n, p in model.named_parameters():
    g.tensor(n, p.T if n in turned else p)
    g.tensor("d" + n, p.grad.T if n in turned else p.grad)
g.write()
