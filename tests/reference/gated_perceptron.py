"""Reference values for tests/layers/gated_perceptron.cpp: the perceptron of transformers' Llama."""
import torch
import transformers
from transformers.models.llama.modeling_llama import LlamaMLP

from golden import Golden
from torch_module import record

torch.manual_seed(1)
g = Golden(__file__, 1, torch=torch.__version__, transformers=transformers.__version__)
for name, bias, shape in (("plain.", False, (4, 3, 6)), ("bias.", True, (5, 6))):
    config = transformers.LlamaConfig(hidden_size=6, intermediate_size=10, num_attention_heads=2, mlp_bias=bias)
    record(g, name, LlamaMLP(config), torch.randn(*shape) * 2)
g.write()
