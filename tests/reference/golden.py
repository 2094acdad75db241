"""What the scripts beside this one share: reference values as text, with versions and seed.

A file is a comment line and then a line for each array: its name, the number of its values, and the
values as hexadecimal floats, exact in binary.
"""
import pathlib
import re
import sys


def text(v):
    return re.sub(r"\.?0*p", "p", v.hex()) if v == v else "nan"


class Golden:
    def __init__(self, script, seed, **versions):
        self.path = pathlib.Path(script).with_suffix(".txt")
        told = ", ".join(f"{k} {v}" for k, v in versions.items())
        self.lines = [f"# {pathlib.Path(script).name}: Python {sys.version.split()[0]}, {told}, seed {seed}"]

    def add(self, name, values):
        flat = [float(v) for v in values]
        self.lines.append(f"{name} {len(flat)} " + " ".join(text(v) for v in flat))

    def tensor(self, name, t):
        self.add(name, t.detach().double().flatten().tolist())

    def write(self):
        self.path.write_text("\n".join(self.lines) + "\n")
        print(f"{self.path.name}: {len(self.lines) - 1} arrays")
