# SPDX-License-Identifier: MIT
"""forecast.py <program>: the exported models in onnxruntime answer what the program answers."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

failures = 0


def check(holds, what):
    global failures
    failures += not holds
    if not holds:
        print("FAILED:", what)


def run(*arguments):
    return subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True, check=True).stdout


days = list(csv.reader(io.StringIO(run("data"))))
table = numpy.array([row[1:16] for row in days[1:]], dtype=float)
with tempfile.TemporaryDirectory() as name:
    for kind in ("lstm-attention", "lstm-attention-4", "lstm", "gru", "tcn", "ridge"):
        folder = pathlib.Path(name) / kind
        run("train", "--model", kind, "--hidden", 32, "--look-back", 20, "--targets", "range", "--folds", 1, "--max-epochs",
            1, "--output", folder)
        run("export", folder, "--file", folder / "model.onnx")
        model = onnx.load(folder / "model.onnx")
        onnx.checker.check_model(model, full_check=True)
        config = json.loads({p.key: p.value for p in model.metadata_props}["config"])
        shift, scale = numpy.array(config["feature_shift"]), numpy.array(config["feature_scale"])
        session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
        # Any number of windows and days, for ridge those of its look-back; the last row is the program's own forecast.
        for time in (20,) if kind == "ridge" else (20, 7, 120):
            x = numpy.stack([table[i - time:i] for i in range(len(table) - 8, len(table) + 1)])
            y, = session.run(None, {session.get_inputs()[0].name: ((x - shift) / scale).astype(numpy.float32)})
            check(y.shape == (9, 1), f"{kind}: shape {y.shape}")
            if time == 20:
                got = y[-1, 0] * config["target_scale"] + config["target_shift"]
                want = json.loads(run("predict", folder))["forecast"]
                print(f"{kind}: {want:.9g} by the program, {got:.9g} by onnxruntime")
                check(abs(got - want) < 1e-5 * config["target_scale"], f"{kind}: {got}, not {want}")
sys.exit(1 if failures else 0)
