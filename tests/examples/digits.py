# SPDX-License-Identifier: MIT
"""digits.py <program>: the digits program trained for some epochs, and what it refuses."""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from program import Program

program = Program(sys.argv[1])
run, check = program.run, program.check

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    output = folder / "output"
    done = run("train", "--max-epochs", 12, "--output", output)
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

    def short(to, *more):
        return [program.path, "train", "--classifier-epochs", "1", "--max-epochs", "4",
                "--limit-train-batches", "5", "--accumulate-grad-batches", "2", "--save-top-k", "1",
                "--output", folder / to, *more]

    check(subprocess.run(short("whole"), check=False).returncode == 0, "a short training ends well")
    killed = folder / "killed" / "training" / "log.csv"
    kills = 0
    for rows in (2, 4):  # with the header
        again = ["--resume"] if killed.exists() else []
        with subprocess.Popen(short("killed", "--loggers", "csv,json,tensorboard", *again)) as process:
            while process.poll() is None and not (killed.exists()
                                                  and killed.read_text().count("\n") >= rows):
                time.sleep(0.001)
            kills += process.poll() is None
            process.kill()
    check(kills == 2, f"it is killed in mid-training: {kills} times")
    check(subprocess.run(short("killed", "--resume"), check=False).returncode == 0, "it is resumed")
    for file in ("denoiser.safetensors", "losses.csv", "training/checkpoint.safetensors"):
        check((folder / "killed" / file).read_bytes() == (folder / "whole" / file).read_bytes(),
              f"killed, resumed and logged, {file} has the same bytes")
    logs = folder / "killed" / "logs"
    check([(logs / one / "metrics.csv").exists() for one in ("denoiser", "denoiser.2")] == [True, True],
          f"each of two parts has logs of its own: {list(logs.iterdir())}")
    check(len(list(logs.glob("tensorboard/*/events*"))) == 2, "TensorBoard's, too")
    done = run("train", "--fast-dev-run", 1, "--output", folder / "trial")
    check(done.returncode == 0 and list((folder / "trial").iterdir()) == [], "a trial keeps nothing")

    table = pathlib.Path(__file__).parents[2].joinpath("examples", "digits", "digits.npy").read_bytes()
    header = 10 + int.from_bytes(table[8:10], "little")

    def changed(name, at, value):
        (folder / name).write_bytes(table[:header + at] + bytes([value]) + table[header + at + 1:])
        return folder / name

    few = table[:header].replace(b"(1797, 65), }", b"(63, 65), }  ") + table[header:header + 63 * 65]
    (folder / "few.npy").write_bytes(few)

    program.refuses(
            (["train", "--device", "cuda"], "--device: cuda was asked for"),
            (["train", "--limit-train-batches", "2.5"], "--limit-train-batches"),
            (["train", "--resume", "--output", folder / "nothing"], "nothing"),
            (["train", "--max-epochs", 0], "--max-epochs"),
            (["train", "--max-epochs", "many"], "--max-epochs"),
            (["train", "--data", folder / "none.npy"], "none.npy"),
            (["train", "--data", changed("class.npy", 65 * 5 + 64, 10)],
             "class.npy: row 5: expected a class from 0 to 9, found 10"),
            (["train", "--data", changed("pixel.npy", 65 * 7 + 3, 17)],
             "pixel.npy: row 7: expected a pixel from 0 to 16, found 17"),
            (["train", "--data", folder / "few.npy"], "few.npy: expected at least 64 rows, found 63"),
            (["train", "--data", program.path, "--output", folder / "x"], "is no .npy file"),
            (["sample", "--output", folder / "nothing"], "nothing"),
            (["sample", "--guidance", -1], "--guidance"),
            (["paint"], "subcommand"), ([], "subcommand"))
    check(not (folder / "x" / "denoiser.safetensors").exists(), "nothing is written for a bad file")
    check("train" in run("--help").stdout and "guidance" in run("sample", "--help").stdout, "--help")
sys.exit(1 if program.failures else 0)
