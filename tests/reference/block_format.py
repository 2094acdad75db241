"""Reference values for tests/core/block_format.cpp: numbers in blocks of 32, as the gguf package has them."""
import importlib.metadata

import numpy as np
from gguf import GGMLQuantizationType as kind
from gguf.quants import dequantize, quantize

from golden import Golden

random = np.random.default_rng(1)
g = Golden(__file__, 1, gguf=importlib.metadata.version("gguf"), numpy=np.__version__)
x = (random.standard_normal((24, 32)) * 10.0 ** random.integers(-4, 4, (24, 1))).astype(np.float32)
x[3] = 0
x[4] = 0.7
x[5, 1:] = 0
x[6] = np.arange(32) - 15.5
x[7] = np.arange(32)
x[8] = np.where(np.arange(32) % 2, -1, 1) * 1e-6
x[9] = -np.abs(x[9])
x[10] = np.arange(32) / 64
x[11] *= 1e-9 / np.abs(x[11]).max()
g.add("x", x.ravel())
for name in ("Q4_0", "Q4_1", "Q8_0"):
    blocks = quantize(x, kind[name])
    g.add(f"{name}.blocks", blocks.ravel())
    g.add(f"{name}.values", dequantize(blocks, kind[name]).ravel())
    # Every byte: what a file may have, but for scales that are not finite.
    any_bytes = random.integers(0, 256, blocks.shape, np.uint8)
    for at in (1, 3) if name == "Q4_1" else (1,):
        any_bytes[:, at] &= 0xBF
    g.add(f"{name}.any_blocks", any_bytes.ravel())
    g.add(f"{name}.any_values", dequantize(any_bytes, kind[name]).ravel())
g.write()
