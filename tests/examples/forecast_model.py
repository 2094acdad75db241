# SPDX-License-Identifier: MIT
"""forecast_model.py <program> <reference values>: a file with the names and shapes of torch's state_dict
loads, and no other; the untrained forecasts are torch's. The numbers of the file are known to both."""
import json
import pathlib
import struct
import sys
import tempfile

from program import Program


def weight(i, k):
    return ((7919 * k + 104729 * i) % 257 - 128) / 1024


def safetensors(shapes):
    header, data = {}, b""
    for i, (name, shape) in enumerate(shapes.items()):
        n = 1
        for extent in shape:
            n *= extent
        begin, data = len(data), data + struct.pack(f"<{n}f", *(weight(i, k) for k in range(n)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


program = Program(sys.argv[1])
shapes, wanted = {}, []
for line in pathlib.Path(sys.argv[2]).read_text().splitlines()[1:]:
    name, _, *values = line.split()
    values = [float.fromhex(v) for v in values]
    if name == "forecasts":
        wanted = values
    else:
        shapes[name.removeprefix("shape.")] = [int(v) for v in values]

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "torch.safetensors")
    file.write_bytes(safetensors(shapes))
    done = program.run(file)
    program.check(done.returncode == 0, f"it trains on from torch's file: {done.stdout}{done.stderr}")
    first = done.stdout.split("untrained:")[1].split("\n")[0]
    got = [float(v) for v in first.split()][:len(wanted)]
    worst = max(abs(a - b) for a, b in zip(got, wanted, strict=True))
    print(f"{len(got)} forecasts, {worst:.1e} from torch's")
    program.check(worst <= 1e-6, f"forecasts are torch's: {got} for {wanted}")

    for name in shapes:
        other = {name + "_" if key == name else key: shape for key, shape in shapes.items()}
        file.write_bytes(safetensors(other))
        program.refuses(([file], f'"{name}'))
    file.write_bytes(safetensors({**shapes, "fc.scale": [1]}))
    program.refuses(([file], "fc.scale"))
    program.refuses(([pathlib.Path(folder, "none")], "none"))
sys.exit(1 if program.failures else 0)
