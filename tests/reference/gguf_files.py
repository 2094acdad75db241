# SPDX-License-Identifier: MIT
"""Blocks and a file of PyPI's gguf: what its own code stores, and reads back.

"numbers" are rows of 32; "<type>.bytes" what gguf.quants stores for them, "<type>.numbers" what it
reads back. "types" holds number, numbers and bytes of a block for each type. "file" is a file of
GGUFWriter with metadata of every type and tensors of every type that is read.
"""
import pathlib
import tempfile

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import quants

from golden import Golden

READ = (Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q8_0)
golden = Golden(__file__, 7, gguf="0.19.0", numpy=np.__version__)

golden.add("types", [n for t in Type if t in gguf.GGML_QUANT_SIZES
                     for n in (t.value, *gguf.GGML_QUANT_SIZES[t])])
draws = np.random.default_rng(7)
rows = draws.standard_normal((24, 32)).astype(np.float32)
rows[1] *= 1e-3
rows[2] *= 1e3
rows[3] = np.abs(rows[3])
rows[4] = -np.abs(rows[4])
rows[5] = 0
rows[6] = 1.5
rows[7] = np.arange(32) - 16
rows[8] = (np.arange(32) - 15.5) / 8  # halves
rows[9, 3] = rows[9, 17] = np.abs(rows[9]).max() * np.float32(2)  # a tie of the largest
rows[10] = 0
rows[10, 31] = -3
rows[11] = np.round(draws.uniform(-127, 127, 32) * 2) / 2  # halves of eight bits
rows[11, 0] = 127
golden.add("numbers", rows.ravel())
for t in READ:
    stored = quants.quantize(rows, t)
    golden.add(f"{t.name}.bytes", np.frombuffer(stored.tobytes(), np.uint8))
    golden.add(f"{t.name}.numbers", quants.dequantize(stored, t).astype(np.float32).ravel())
# Blocks of any bytes, but for scales that are not finite.
for t, size, halves in ((Type.Q4_0, 18, 1), (Type.Q4_1, 20, 2), (Type.Q8_0, 34, 1)):
    blocks = draws.integers(0, 256, (8, size)).astype(np.uint8)
    for half in range(halves):
        high = blocks[:, 2 * half + 1]
        high[(high & 0x7C) == 0x7C] &= 0x83
    golden.add(f"{t.name}.any", blocks.ravel())
    golden.add(f"{t.name}.any_numbers", quants.dequantize(blocks, t).ravel())

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "file.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint8("a.u8", 255)
    writer.add_int8("a.i8", -128)
    writer.add_uint16("a.u16", 65535)
    writer.add_int16("a.i16", -32768)
    writer.add_uint32("a.u32", 2**32 - 1)
    writer.add_int32("a.i32", -2**31)
    writer.add_uint64("a.u64", 2**64 - 1)
    writer.add_int64("a.i64", -2**63)
    writer.add_float32("a.f32", 0.1)
    writer.add_float64("a.f64", 0.1)
    writer.add_bool("a.true", True)
    writer.add_bool("a.false", False)
    writer.add_string("a.text", "gr\u00fc\u00df \U0001f600")
    writer.add_array("a.texts", ["one", "zwei", "\u4e09"])
    writer.add_array("a.numbers", [1, -2, 3])
    writer.add_array("a.floats", [0.5, -0.25])
    writer.add_array("a.bools", [True, False, True])
    for t in READ:
        stored = quants.quantize(draws.standard_normal((3, 2, 32)).astype(np.float32), t)
        if t == Type.BF16:
            stored = stored.view(np.uint8)
        writer.add_tensor(f"blk.0.{t.name}", stored, raw_dtype=t)
    writer.add_tensor("vector", np.array([1, 2, 3], np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    golden.add("file", np.frombuffer(path.read_bytes(), np.uint8))
    for tensor in gguf.GGUFReader(path).tensors:
        golden.add(f"file.{tensor.name}.shape", tensor.shape[::-1])
        golden.add(f"file.{tensor.name}.numbers", quants.dequantize(tensor.data, tensor.tensor_type).ravel())
golden.write()
