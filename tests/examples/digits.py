# SPDX-License-Identifier: MIT
"""digits.py <program>: the digits program trained for some epochs, and what it refuses."""
import fcntl
import pathlib
import re
import shutil
import signal
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
    sixty_four = (output / "samples.txt").read_text().splitlines()
    check(run("sample", "--output", output, "--count", 12).returncode == 0, "sample of few ends well")
    twelve = (output / "samples.txt").read_text().splitlines()
    check(len(sixty_four) == 63 and len(twelve) == 18, f"12 digits are two rows: {len(twelve)} lines")
    done = subprocess.run([program.path, "sample", "--output", output, "--count", "1"], env={"PATH": "/none"},
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0 and "1 digits generated" in done.stdout and "is gnuplot installed?" in done.stderr,
          f"without gnuplot the figures are there: {done}")

    def short(to, *more):
        return [program.path, "train", "--classifier-epochs", "1", "--max-epochs", "4",
                "--limit-train-batches", "5", "--accumulate-grad-batches", "2", "--save-top-k", "1",
                "--output", folder / to, *more]

    check(subprocess.run(short("whole"), check=False).returncode == 0, "a short training ends well")
    killed = folder / "killed" / "log.csv"
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
    for file in ("denoiser.safetensors", "losses.csv", "checkpoint.safetensors"):
        check((folder / "killed" / file).read_bytes() == (folder / "whole" / file).read_bytes(),
              f"killed, resumed and logged, {file} has the same bytes")
    logs = folder / "killed" / "logs"
    check([(logs / one / "metrics.csv").exists() for one in ("denoiser", "denoiser.2")] == [True, True],
          f"each of two parts has logs of its own: {list(logs.iterdir())}")
    check(len(list(logs.glob("tensorboard/*/events*"))) == 2, "TensorBoard's, too")
    done = run("train", "--fast-dev-run", 1, "--output", folder / "trial")
    check(done.returncode == 0 and not (folder / "trial").exists(), "a trial keeps nothing")

    # Another training beside the one that is there, killed before it has a step to show.
    whole = folder / "whole"
    files = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    with subprocess.Popen([program.path, "train", "--classifier-epochs", "1", "--output", whole]) as process:
        while process.poll() is None and not (whole / ".run.new" / "checkpoint.safetensors").exists():
            time.sleep(0.001)
        process.kill()
    check(all(path.exists() and path.read_bytes() == old for path, old in files.items()),
          "a training that is killed early leaves the one before it")
    others = (whole / ".run.new" / "classifier.safetensors").read_bytes()
    check(subprocess.run(short("whole", "--resume"), check=False).returncode == 0, "which goes on")
    check((whole / "classifier.safetensors").read_bytes() == files[whole / "classifier.safetensors"],
          "with its own classifier")
    with open(whole / ".run.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        program.refuses((short("whole")[1:], "belongs to a run that goes on"))

    # The classifier of one training is never used with the denoiser of another.
    shutil.copytree(whole, folder / "mixed")
    (folder / "mixed" / "classifier.safetensors").write_bytes(others)
    different = "classifier.safetensors: is of another training: accumulate_grad_batches: expected 2, got 1"
    program.refuses((["sample", "--output", folder / "mixed"], different),
                    (short("mixed", "--resume")[1:], different))

    with subprocess.Popen([program.path, "train", "--output", folder / "early"], stdout=subprocess.PIPE,
                          text=True) as process:
        next(line for line in process.stdout if "to learn from" in line)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    check(process.returncode == 130 and "interrupted in the classifier" in rest and not (folder / "early").exists(),
          f"Ctrl-C ends the classifier's training, too: {process.returncode} {rest}")
    done = run(*short("patient", "--patience", "1", "--min-delta", "1000", "--max-time", "1000")[1:])
    check("stopped early (--patience)" in done.stdout, f"it says why it ended: {done}")
    done = run("train", "--classifier-epochs", 1, "--max-epochs", 1, "--max-time", 0.001, "--output", folder / "timed")
    check("out of time (--max-time) in the last epoch" in done.stdout, f"in the last epoch, too: {done}")

    table = pathlib.Path(__file__).parents[2].joinpath("examples", "digits", "digits.npy").read_bytes()
    header = 10 + int.from_bytes(table[8:10], "little")

    def changed(name, at, value):
        (folder / name).write_bytes(table[:header + at] + bytes([value]) + table[header + at + 1:])
        return folder / name

    few = table[:header].replace(b"(1797, 65), }", b"(63, 65), }  ") + table[header:header + 63 * 65]
    (folder / "few.npy").write_bytes(few)
    (folder / "digits.npy").write_bytes(table)
    run(*short("data", "--data", folder / "digits.npy")[1:])
    changed("digits.npy", 65 * 3 + 20, 16 - table[header + 65 * 3 + 20])

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
            (short("data", "--data", folder / "digits.npy", "--resume")[1:], "data_digest: expected"),
            (["train", "--resume", whole / "checkpoint.safetensors", "--output", folder / "nothing"],
             f"--resume {whole / 'checkpoint.safetensors'}: expected a file of the run in"),
            (["train", "--val-check-interval", 1], "--val-check-interval"),
            (["train", "--data", program.path, "--output", folder / "x"], "is no .npy file"),
            (["sample", "--output", folder / "nothing"], "nothing"),
            (["sample", "--guidance", -1], "--guidance"),
            (["paint"], "subcommand"), ([], "subcommand"))
    check(not (folder / "x" / "denoiser.safetensors").exists(), "nothing is written for a bad file")
    check(not (folder / "nothing").exists(), "a mistyped folder is not made")
    check("train" in run("--help").stdout and "guidance" in run("sample", "--help").stdout, "--help")
sys.exit(1 if program.failures else 0)
