# SPDX-License-Identifier: MIT
"""digits.py <program>: the digits program trained for some epochs, and what it refuses."""
import pathlib
import re
import sys
import tempfile

from program import Program

program = Program(sys.argv[1])
run, check = program.run, program.check

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    output = folder / "output"
    done = run("train", "--epochs", 12, "--output", output)
    print(done.stdout + done.stderr)
    check(done.returncode == 0, "train ends well")
    recognized = float(re.search(r"classifier: ([0-9.]+) %", done.stdout).group(1))
    check(recognized >= 97, f"the classifier recognizes {recognized} % of the held-out digits")
    losses = [float(line.split(",")[1]) for line in (output / "losses.csv").read_text().splitlines()[1:]]
    check(len(losses) == 12 and losses[-1] < losses[0] / 2, f"the loss falls: {losses}")
    done = run("sample", "--output", output, "--count", 64)
    print(done.stdout + done.stderr)
    check(done.returncode == 0, "sample ends well")
    right = float(re.search(r"([0-9.]+) % recognized", done.stdout).group(1))
    check(right >= 50, f"{right} % of the generated digits are recognized, where chance is 10 %")
    for picture in ("samples.png", "losses.png"):
        check((output / picture).read_bytes()[:4] == b"\x89PNG", picture)

    program.refuses(
            (["train", "--epochs", 0], "--epochs"),
            (["train", "--epochs", "many"], "--epochs"),
            (["train", "--data", folder / "none.npy"], "none.npy"),
            (["train", "--data", program.path, "--output", folder / "x"], "is no .npy file"),
            (["sample", "--output", folder / "nothing"], "nothing"),
            (["sample", "--guidance", -1], "--guidance"),
            (["paint"], "subcommand"), ([], "subcommand"))
    check(not (folder / "x" / "denoiser.safetensors").exists(), "nothing is written for a bad file")
    check("train" in run("--help").stdout and "guidance" in run("sample", "--help").stdout, "--help")
sys.exit(1 if program.failures else 0)
