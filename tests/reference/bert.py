"""Reference values for tests/models/bert.cpp: a small BertModel of transformers with random weights; what it makes of
sentences of several lengths, the mean over them as sentence-transformers takes it, normalized, and all gradients."""
import torch
import transformers
from transformers import BertConfig, BertModel

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__, transformers=transformers.__version__)
config = BertConfig(vocab_size=13, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
                    max_position_embeddings=11, hidden_dropout_prob=0, attention_probs_dropout_prob=0,
                    attn_implementation="eager", pad_token_id=None)


def record(name, types, pooled):
    model = BertModel(config, add_pooling_layer=False)
    for n, p in model.named_parameters():
        torch.nn.init.uniform_(p, *((0.5, 1.5) if "LayerNorm.weight" in n else (-0.5, 0.5)))
    tokens = torch.randint(13, (3, 9))  # (batch, time)
    lengths = torch.tensor([9, 1, 6])
    mask = (torch.arange(9)[None] < lengths[:, None]).long()
    kinds = torch.randint(2, (3, 9)) if types else torch.zeros(3, 9).long()
    h = model(tokens, attention_mask=mask, token_type_ids=kinds).last_hidden_state
    weight = mask[..., None].float()
    mean = torch.nn.functional.normalize((h * weight).sum(1) / weight.sum(1), dim=1)
    y = mean if pooled else h.transpose(0, 1)
    dy = torch.rand_like(y) * 2 - 1
    y.backward(dy)
    for n, t in (("x", tokens.T), ("lengths", lengths), ("types", kinds.T), ("y", y), ("dy", dy),
                 ("dx", torch.zeros(9, 3))):
        g.tensor(name + n, t)
    for n, p in model.named_parameters():
        g.tensor(name + n, p)
        g.tensor(name + "d" + n, p.grad)


record("bert.", True, False)
record("sentence.", False, True)
g.write()
