# SPDX-License-Identifier: MIT
"""What the readers of runs share: the numbers of track_run.cpp, and pictures to log."""
import contextlib
import math
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

STEPS = range(1200)
NOTE = 'a "quoted" line\nand another'
SETTINGS = {"rate": 0.001, "layers": 2, "causal": False, "cell": "lstm"}


def loss_at(step):
    odd = {7: math.nan, 8: math.inf, 9: -math.inf}
    return odd.get(step, 1 / (1 + step))


MAE = {step: math.sqrt(step) for step in STEPS if step % 100 == 99}
NUMBERS = np.array([(i * 37 % 101 - 50) / 8 for i in range(1000)], dtype=np.float32)


def long_text():
    text = ""
    while len(text) < 100_000:
        text += f"{len(text)} "
    return text


def png(width=5, height=4):
    """A picture of that size, in three colors."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + b"".join(bytes((x * 40, y * 60, 128)) for x in range(width))
                    for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def check(condition, what):
    """Ends the program with `what` where the condition does not hold."""
    if not condition:
        sys.exit(f"failed: {what}")


def write_everything(program, folder, *url):
    """A run of `track_run all`; gives its picture's bytes."""
    picture = folder / "picture.png"
    picture.write_bytes(png())
    subprocess.run([program, "all", folder, picture, *url], check=True, timeout=120)
    return picture.read_bytes()


def write_until_killed(program, folder, steps=2000):
    """A run of `track_run endless` that is killed at once after it told of `steps`."""
    with subprocess.Popen([program, "endless", folder], stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            if int(line) >= steps:
                run.send_signal(signal.SIGKILL)
                break
    check(run.returncode == -signal.SIGKILL, f"killed, and not ended with {run.returncode}")
    return steps


def check_endless(rows, steps, reader, lag=1500):
    """`rows` of step and value are whole, in order, and reach nearly to the last step."""
    rows = list(rows)
    check(len(rows) > steps - lag, f"{reader}: {len(rows)} rows of {steps} are there after a kill")
    for expected, (step, value) in enumerate(rows):
        check(step == expected and value == expected / 4, f"{reader}: step {step} has {value}")
    print(f"{reader}: {len(rows)} rows whole after kill -9 at step {steps}")


@contextlib.contextmanager
def temporary_folder():
    with tempfile.TemporaryDirectory(prefix="tessera.readers.") as name:
        yield pathlib.Path(name)
