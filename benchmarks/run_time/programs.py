# SPDX-License-Identifier: MIT
"""The programs of this folder: the rows that they have, their times and their results."""
import json
import pathlib
import subprocess
import sys
import tempfile

import safetensors.numpy

PROGRAMS = "run_time", "products", "elementwise"
COLUMNS = {"torch": "torch", "onnx": "ONNX RT", "openblas": "OpenBLAS", "onednn": "oneDNN",
           "eigen": "Eigen", "floor": "by hand", "one_thread": "1 thread",
           "two_chunks": "1, halves"}


class Programs:
    def __init__(self, build):
        found = {name: build / "benchmarks" / "run_time" / name for name in PROGRAMS}
        self.of = {}
        for path in found.values():
            if path.exists():
                listed = subprocess.run([path, "--benchmark_list_tests"], capture_output=True,
                                        text=True, check=True).stdout
                for row in listed.split():
                    self.of[row.removesuffix("/real_time")] = path
        self.missing = [name for name, path in found.items() if not path.exists()]
        if not self.of:
            sys.exit(f"{build} has no programs")

    def peers(self, row):
        """Rows of other libraries in the same program, by who they are."""
        return {who: f"{who}/{row}" for who in COLUMNS if f"{who}/{row}" in self.of}

    def run(self, rows, seconds):
        """Seconds of an iteration, and rates, by row; what cannot be measured is left out."""
        names = "|".join(rows)
        done = subprocess.run(
            [self.of[rows[0]], f"--benchmark_filter=^({names})(/real_time)?$",
             "--benchmark_format=json", f"--benchmark_min_time={seconds}",
             *(f"--{row.replace('/', '=')}" for row in rows if row.startswith("read/"))],
            capture_output=True, text=True, check=True)
        result = {}
        for found in json.loads(done.stdout)["benchmarks"]:
            name = found["name"].removesuffix("/real_time")
            if found.get("error_occurred"):
                sys.exit(f"{name}: {found['error_message']}")
            unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[found["time_unit"]]
            clock = "cpu_time" if name == found["name"] else "real_time"
            result[name] = found | {"seconds": found[clock] * unit}
        return result

    def results(self, row):
        """What the row starts from and what comes out of it, or None."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.safetensors"
            subprocess.run([self.of[row], "--results", str(file), row], capture_output=True)
            return safetensors.numpy.load_file(file) if file.exists() else None
