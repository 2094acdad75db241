# SPDX-License-Identifier: MIT
"""The order of rows in GGUF's llama files, by the code of transformers that turns it back.

"rows.<heads>.<rows>": which row of the file each row of the parameter is.
"""
import numpy as np
import transformers
from transformers.modeling_gguf_pytorch_utils import LlamaTensorProcessor

from golden import Golden

golden = Golden(__file__, 0, transformers=transformers.__version__)
turn = LlamaTensorProcessor()._reverse_permute_weights
for heads, rows in ((1, 8), (2, 8), (3, 24), (4, 32), (9, 576)):
    golden.add(f"rows.{heads}.{rows}", turn(np.arange(rows)[:, None], heads, heads).ravel())
golden.write()
