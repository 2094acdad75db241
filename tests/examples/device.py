# SPDX-License-Identifier: MIT
"""device.py <characters>: --device of a program that is built with CUDA, where a GPU answers and where none does."""
import pathlib
import sys
import tempfile

from program import Program

program = Program(sys.argv[1])
check = program.check


def losses(folder):
    rows = (folder / "losses.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [float(number) for row in rows for number in row.split(",")[1:] if number]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    text = folder / "text"
    licence = (pathlib.Path(__file__).parents[2] / "LICENSE").read_text(encoding="utf-8")
    text.write_text(licence * (400_000 // len(licence)), encoding="utf-8")

    def train(device, *more):
        return program.run("train", "--text", text, "--max-steps", 3, "--device", device, "--output", folder / device,
                           *more)

    cuda = train("cuda")
    auto = train("auto")
    check(auto.returncode == 0, f"auto trains on what is there: {auto.stderr}")
    if "no CUDA device answers" in cuda.stderr:
        check(cuda.returncode == 2 and not (folder / "cuda").exists(), f"refused before anything: {cuda}")
        check(auto.stdout.startswith("device: cpu, as no CUDA device answers\n"), auto.stdout)
        print("no device: cuda was refused, auto trained on the cpu")
    else:
        cpu = train("cpu")
        check(cuda.returncode == 0 and cuda.stdout.startswith("device: cuda\n"), f"{cuda}")
        check(cpu.stdout.startswith("device: cpu\n"), cpu.stdout)
        check(auto.stdout.startswith("device: cuda\n"), auto.stdout)
        far = [abs(a - b) for a, b in zip(losses(folder / "cuda"), losses(folder / "cpu"), strict=True)]
        check(max(far) < 1e-4, f"the losses of the cpu within rounding: {far}")
        check(train("cuda", "--resume").returncode == 0, "a GPU's checkpoint is read")
sys.exit(1 if program.failures else 0)
