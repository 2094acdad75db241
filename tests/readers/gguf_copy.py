# SPDX-License-Identifier: MIT
"""gguf_copy.py <program>: PyPI's gguf reads what is written here, and reads the same numbers.

A file of GGUFWriter, and SmolLM2 where TESSERA_SMOLLM2 names its file: their copies by <program> have
the metadata, names, shapes and types; the floats have the bits of gguf.quants.dequantize, and what is
stored anew the bytes of gguf.quants.quantize of them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import quants

READ = (Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q8_0)


def make(path, alignment):
    draws = np.random.default_rng(3)
    writer = gguf.GGUFWriter(path, "llama")
    if alignment != 32:
        writer.add_custom_alignment(alignment)
    writer.add_uint8("a.u8", 7)
    writer.add_int16("a.i16", -7)
    writer.add_uint64("a.u64", 2**63)
    writer.add_float64("a.f64", 1e300)
    writer.add_bool("a.bool", True)
    writer.add_string("a.text", "\u4e09 lines\n")
    writer.add_array("a.tokens", [f"token {i}" for i in range(5000)])
    writer.add_array("a.scores", [i / 8 for i in range(5000)])
    for i, shape in enumerate([(32,), (1, 64), (7, 96), (2, 3, 32), (2, 1, 5, 256), (300, 512)]):
        for t in READ:
            numbers = draws.standard_normal(shape).astype(np.float32) * np.float32(10.0 ** (i - 3))
            stored = quants.quantize(numbers, t)
            writer.add_tensor(f"blk.{i}.{t.name}", stored.view(np.uint8) if t == Type.BF16 else stored, raw_dtype=t)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def fields(reader):
    return {key: (field.types, field.contents()) for key, field in reader.fields.items()
            if not key.startswith("GGUF.")}


def compare(program, path, folder):
    copy, numbers = folder / "copy.gguf", folder / "numbers"
    subprocess.run([program, path, copy, numbers], check=True)
    was, now = gguf.GGUFReader(path), gguf.GGUFReader(copy)
    assert fields(was) == fields(now), "metadata"
    assert [t.name for t in was.tensors] == [t.name for t in now.tensors], "names"
    ours, at, same = np.fromfile(numbers, np.uint32), 0, 0
    for before, after in zip(was.tensors, now.tensors):
        assert before.tensor_type == after.tensor_type, before.name
        assert before.shape.tolist() == after.shape.tolist(), before.name
        want = np.ascontiguousarray(quants.dequantize(before.data, before.tensor_type).astype(np.float32))
        n = want.size
        assert np.array_equal(ours[at:at + n], want.view(np.uint32).ravel()), f"numbers of {before.name}"
        anew = quants.quantize(want, before.tensor_type)
        assert anew.tobytes() == after.data.tobytes(), f"bytes of {before.name}"
        at += n
        same += 1
    assert at == ours.size
    print(f"{pathlib.Path(path).name}: {len(fields(was))} pairs, {same} tensors, {at} numbers: the same")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for alignment in (32, 128):
        made = folder / f"made{alignment}.gguf"
        make(made, alignment)
        compare(sys.argv[1], made, folder)
    real = os.environ.get("TESSERA_SMOLLM2")
    if real:
        compare(sys.argv[1], real, folder)
