# SPDX-License-Identifier: MIT
"""onnx_models.py <program>: onnxruntime gives the answers that the models give here.

<program> <folder> writes <name>.onnx, and <name>.safetensors with inputs x.0, x.1, ... and their
outputs y.0, y.1, ...; where a model carries state, <name>.state.onnx, too, which is run over parts
of each input.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-5
END = re.compile(r"(h|c|past)_0(_l\d+)?$")  # of the name of a state that comes in
TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64}


def read(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def session(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 8 and model.opset_import[0].version == 17, path
    assert model.producer_name == "tessera", path
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def as_input(value, x):
    return x.astype(np.int64) if value.type == "tensor(int64)" else x


def distance(y, want):
    assert y.shape == want.shape, f"shape {y.shape}, expected {want.shape}"
    return float(np.max(np.abs(y - want) / np.maximum(1, np.abs(want)), initial=0))


def zeros_of(run, x):
    """Zeros for what comes in besides x: extents that have a name are those of x."""
    symbols = {s: n for s, n in zip(run.get_inputs()[0].shape, x.shape) if isinstance(s, str)}
    return {i.name: np.zeros([symbols.get(e, e) for e in i.shape], np.float32)
            for i in run.get_inputs()[1:]}


def by_parts(run, x, axis, parts):
    """The last output of calls after each other, and all of them along the axis of x."""
    state = zeros_of(run, x)
    names = [o.name for o in run.get_outputs()]
    results = []
    for part in np.array_split(x, parts, axis):
        if part.shape[axis] == 0:
            continue
        out = dict(zip(names, run.run(None, {"x": part, **state})))
        results.append(out["y"])
        state = {name: out[END.sub(r"\1_n\2", name)] for name in state}
    return results


def check(folder, name):
    tensors, metadata = read(folder / f"{name}.safetensors")
    count = sum(1 for key in tensors if key.startswith("x."))
    run = session(folder / f"{name}.onnx")
    assert run.get_inputs()[0].name == "x" and run.get_outputs()[0].name == "y", name
    worst = 0
    for k in range(count):
        given = {i.name: as_input(i, tensors[f"{i.name}.{k}"]) for i in run.get_inputs()}
        worst = max(worst, distance(run.run(["y"], given)[0], tensors[f"y.{k}"]))
    if metadata["cut_along"]:
        axis = int(metadata["cut_along"])
        run = session(folder / f"{name}.state.onnx")
        assert len(run.get_inputs()) == len(run.get_outputs()) > 1, name
        for k in range(count):
            x, y = tensors[f"x.{k}"], tensors[f"y.{k}"]
            for parts in (1, 2, 5):
                results = by_parts(run, x, axis, parts)
                got = np.concatenate(results, axis) if y.ndim == x.ndim else results[-1]
                worst = max(worst, distance(got, y))
    return worst


def main(program):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run([program, temporary], check=True)
        names = sorted(path.stem for path in folder.glob("*.safetensors"))
        failed = not names
        for name in names:
            worst = check(folder, name)
            failed = failed or not worst <= TOLERANCE
            print(f"{name:28} {worst:.2e}{'' if worst <= TOLERANCE else '  too far'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
