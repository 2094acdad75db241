"""Reference values for tests/models/llama.cpp: small models of transformers with random weights, the scores of
two prompts and all gradients. The norms' weights are drawn as well, which transformers starts at 1."""
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from golden import Golden

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__, transformers=transformers.__version__)
common = dict(vocab_size=13, hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, max_position_embeddings=64, attn_implementation="eager", pad_token_id=None,
              bos_token_id=None, eos_token_id=None)
llama3 = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}


def plain(base):
    return {"rope_type": "default", "rope_theta": base}


def record(name, model):
    for n, p in model.named_parameters():
        torch.nn.init.uniform_(p, *((0.5, 1.5) if "norm" in n else (-0.4, 0.4)))
    tokens = torch.randint(13, (2, 9))  # (batch, time)
    y = model(tokens).logits.transpose(0, 1)
    dy = torch.rand_like(y) * 2 - 1
    y.backward(dy)
    for n, t in (("x", tokens.T), ("y", y), ("dy", dy), ("dx", torch.zeros(9, 2))):
        g.tensor(name + n, t)
    for n, p in model.named_parameters():
        g.tensor(name + n, p)
        g.tensor(name + "d" + n, p.grad)


record("llama.", LlamaForCausalLM(LlamaConfig(**common, rms_norm_eps=1e-5, rope_parameters=plain(10000.0))))
record("llama3.", LlamaForCausalLM(LlamaConfig(**common, rms_norm_eps=1e-5, rope_parameters=llama3,
                                               tie_word_embeddings=True)))
record("qwen2.", Qwen2ForCausalLM(Qwen2Config(**common, rope_parameters=plain(1e6), tie_word_embeddings=True)))
record("qwen3.", Qwen3ForCausalLM(Qwen3Config(**common, head_dim=6, rope_parameters=plain(1e6))))
g.write()
