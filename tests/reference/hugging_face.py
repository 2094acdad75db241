# SPDX-License-Identifier: MIT
"""What transformers understands of config.json files, of its own and of older ones.

Array "<case>" holds the bytes of a config.json, "<case>.facts" what transformers makes of it.
"""
import json
import pathlib
import tempfile

import transformers
from transformers import AutoConfig, BertConfig, GPT2Config, LlamaConfig, Qwen2Config, Qwen3Config

from golden import Golden

golden = Golden(__file__, 0, transformers=transformers.__version__)
SMALL = {"vocab_size": 96, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 80, "max_position_embeddings": 64}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
OLD = {"model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 500000.0, **SMALL}
WRITTEN = {
    "llama": LlamaConfig(**SMALL),
    "llama.shared": LlamaConfig(**SMALL, num_key_value_heads=2, head_dim=16, tie_word_embeddings=True,
                                rms_norm_eps=1e-5, attention_bias=True, mlp_bias=True, eos_token_id=[2, 5]),
    "llama.llama3": LlamaConfig(**SMALL, rope_parameters={**LLAMA3, "rope_theta": 500000.0}),
    "qwen2": Qwen2Config(**SMALL, num_key_value_heads=2),
    "qwen3": Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=16, tie_word_embeddings=True),
    "gpt2": GPT2Config(vocab_size=96, n_positions=64, n_embd=48, n_layer=2, n_head=4),
    "gpt2.inner": GPT2Config(vocab_size=96, n_positions=64, n_embd=48, n_layer=2, n_head=4, n_inner=100),
    "bert": BertConfig(**SMALL, hidden_act="gelu"),
}
GIVEN = {
    "old.llama": OLD,
    "old.linear": {**OLD, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "old.llama3": {**OLD, "rope_scaling": LLAMA3},
    "old.null": {**OLD, "rope_scaling": None, "num_key_value_heads": 4},
    "old.empty": {**OLD, "rope_parameters": {}, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "silent.qwen2": {**SMALL, "model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 64},
    "null.qwen2": {**SMALL, "model_type": "qwen2", "num_key_value_heads": None},
    "twice.gpt2": {"model_type": "gpt2", "vocab_size": 96, "n_positions": 64, "n_embd": 48, "n_layer": 2,
                   "n_head": 4, "hidden_size": 60, "num_hidden_layers": 3, "num_attention_heads": 6,
                   "max_position_embeddings": 32},
}


def rope(config):
    found = getattr(config, "rope_parameters", None) or {}
    kind = ["default", "linear", "llama3"].index(found.get("rope_type", "default"))
    return [kind, found.get("rope_theta", 10000.0), found.get("factor", 1.0) or 1.0]


def facts(config):
    heads = config.num_attention_heads
    hidden = getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None) or 4 * config.hidden_size
    epsilon = next(getattr(config, name) for name in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon")
                   if hasattr(config, name))
    return [config.vocab_size, config.hidden_size, config.num_hidden_layers, heads,
            getattr(config, "num_key_value_heads", heads),
            getattr(config, "head_dim", None) or config.hidden_size // heads, hidden,
            config.max_position_embeddings, epsilon, config.tie_word_embeddings, *rope(config)]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for case, config in WRITTEN.items():
        config.save_pretrained(folder)
        golden.add(case, (folder / "config.json").read_bytes())
        golden.add(f"{case}.facts", facts(config))
    for case, members in GIVEN.items():
        (folder / "config.json").write_text(json.dumps(members))
        golden.add(case, (folder / "config.json").read_bytes())
        golden.add(f"{case}.facts", facts(AutoConfig.from_pretrained(folder)))
golden.write()
