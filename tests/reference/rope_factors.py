# SPDX-License-Identifier: MIT
"""What llama3's scaling divides frequencies by, of transformers: the tensor rope_freqs.weight of GGUF files.

Array "<head width>.<theta>.<factor>": the frequencies of the rule "default" by those of "llama3".
"""
import torch
import transformers
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from golden import Golden

golden = Golden(__file__, 0, torch=torch.__version__, transformers=transformers.__version__)
for width, theta, factor in ((64, 500000, 32), (128, 500000, 8)):
    config = LlamaConfig(hidden_size=4 * width, num_attention_heads=4, max_position_embeddings=131072, rope_parameters={
        "rope_type": "llama3", "rope_theta": float(theta), "factor": float(factor), "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    plain = 1.0 / theta ** (torch.arange(0, width, 2).float() / width)
    golden.tensor(f"{width}.{theta}.{factor}", plain / scaled)
golden.write()
