# SPDX-License-Identifier: MIT
"""characters.py <program>: the character model trained for some steps, what it writes and what it refuses."""
import fcntl
import pathlib
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
    text = folder / "text"
    licence = (pathlib.Path(__file__).parents[2] / "LICENSE").read_text()
    text.write_text(licence * (400_000 // len(licence)))
    done = run("train", "--text", text, "--max-steps", 100, "--output", output)
    print(done.stdout + done.stderr)
    check(done.returncode == 0, "train ends well")
    rows = [line.split(",") for line in (output / "losses.csv").read_text().splitlines()[1:]]
    losses = [float(row[1]) for row in rows]
    check(losses[0] < 4.85 and losses[-1] < 1.5, f"the loss falls from log 128 = 4.85: {losses}")
    check(abs(float(rows[-1][2]) - losses[-1]) < 0.3, f"the held-out loss is measured: {rows[-1]}")
    check((output / "losses.png").read_bytes()[:4] == b"\x89PNG", "losses.png")

    plain, logged = folder / "plain", folder / "logged"
    steps = ["train", "--text", text, "--max-steps", 4]
    run(*steps, "--output", plain)
    done = run(*steps, "--output", logged, "--loggers", "csv,json,tensorboard,wandb,mlflow", "--mlflow-url",
               "http://127.0.0.1:1")
    check(done.returncode == 0 and "127.0.0.1:1" in done.stderr, f"a server that is down is named: {done.stderr}")
    check((logged / "model.safetensors").read_bytes() == (plain / "model.safetensors").read_bytes(),
          "loggers change no bit")
    last = (logged / "logs" / "characters" / "metrics.csv").read_text().splitlines()
    check("train_loss_epoch" in last[0] and last[-1].startswith("4,"), f"losses are logged: {last}")
    check(all(any(logged.glob(name)) for name in ("logs/characters/metrics.jsonl", "logs/tensorboard/characters/*",
                                                  "logs/wandb/*/*.wandb")), "a file for each logger")

    # The steps decide, however few of them an epoch has.
    done = run(*steps, "--limit-train-batches", 2, "--output", folder / "limited")
    epochs = (folder / "limited" / "log.csv").read_text().splitlines()[1:]
    check(done.returncode == 0 and len(epochs) == 2, f"four steps are two epochs of two: {epochs}{done.stderr}")

    # Another training beside the one that is there, killed before it has a step to show.
    files = {path: path.read_bytes() for path in plain.rglob("*") if path.is_file()}
    with subprocess.Popen([program.path, "train", "--text", text, "--output", plain]) as process:
        while process.poll() is None and not (plain / ".run.new" / "checkpoint.safetensors").exists():
            time.sleep(0.001)
        process.kill()
    check(all(path.exists() and path.read_bytes() == old for path, old in files.items()),
          "a training that is killed early leaves the one before it")
    check(run(*steps, "--resume", "--output", plain).returncode == 0, "which goes on")
    with open(plain / ".run.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        program.refuses(([*steps, "--output", plain], "belongs to a run that goes on"))

    # Where an epoch is one batch, an interrupt comes between the last batch and the end of an epoch.
    ones = ["train", "--text", text, "--max-steps", 10, "--limit-train-batches", 1, "--limit-val-batches", 1]
    done = run(*ones, "--check-val-every-n-epoch", 2, "--output", folder / "whole")
    lines = [line for line in done.stdout.splitlines() if line.startswith("step ")]
    check(["held out" in line for line in lines] == [False, True] * 5, f"what is measured is printed: {lines}")
    run(*ones, "--output", folder / "whole")
    with subprocess.Popen([program.path, *map(str, ones), "--output", folder / "cut"], stdout=subprocess.PIPE,
                          text=True) as process:
        next(line for line in process.stdout if line.startswith("step 2 of"))
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    check(process.returncode == 130, f"it is interrupted: {process.returncode}")
    check(run(*ones, "--output", folder / "cut", "--resume").returncode == 0, "it is resumed")
    check((folder / "cut" / "losses.csv").read_bytes() == (folder / "whole" / "losses.csv").read_bytes(),
          f"with the same losses: {(folder / 'cut' / 'losses.csv').read_text()}")

    # A measurement and the end of an epoch at a step that has a row already.
    done = run("train", "--text", text, "--max-steps", 60, "--val-check-interval", 20, "--limit-val-batches", 1,
               "--patience", 1, "--min-delta", 100, "--output", folder / "early")
    rows = [line.split(",") for line in (folder / "early" / "losses.csv").read_text().splitlines()[1:]]
    check([row[0] for row in rows] == ["20", "40"] and all(row[2] for row in rows), f"both are measured: {rows}")
    check("nan" not in done.stdout and "stopped early (--patience) at step 40 of 60" in done.stdout and "step 20 of 60" in done.stdout,
          f"it says what it measured and why it ended: {done.stdout}")

    done = run("train", "--text", text, "--max-steps", 60, "--max-time", 0.001, "--limit-val-batches", 1, "--output",
               folder / "timed")
    check("out of time (--max-time) at step 1 of 60" in done.stdout, f"it says that, too: {done.stdout}")

    accents = folder / "accents"
    accents.write_text(licence * (400_000 // len(licence)) + "\u00e9" * 1000)
    done = subprocess.run([program.path, "train", "--text", accents, "--max-steps", "2", "--limit-val-batches", "1",
                           "--output", folder / "accents-output"], env={"PATH": "/none"}, capture_output=True,
                          text=True, check=False)
    check(f"2000 of {accents.stat().st_size} bytes are no ASCII and left out" in done.stdout, done.stdout)
    check(done.returncode == 0 and "is gnuplot installed?" in done.stderr, f"it ends well without gnuplot: {done}")
    accents.write_text(accents.read_text().replace("Permission", "permission"))
    russian = folder / "russian"
    russian.write_text("\u0434\u0430, \u043d\u0435\u0442 \n" * 40_000)

    def write(*arguments):
        return run("generate", "--output", output, "--prompt", "Permission", *arguments)

    done = write("--length", 300)
    print(done.stdout + done.stderr)
    check(done.returncode == 0 and done.stdout.startswith("Permission"), "generate writes on from the prompt")
    check(len(done.stdout) == len("Permission") + 300 + 1, f"300 characters more, not {len(done.stdout)}")
    check(done.stdout == write("--length", 300).stdout, "the same seed writes the same")
    check(done.stdout != write("--length", 300, "--seed", 2, "--temperature", 2).stdout, "another seed does not")
    likeliest = write("--length", 100, "--temperature", 0).stdout
    for arguments in (["--top-k", 1], ["--top-p", 1e-6, "--top-k", 0]):
        check(write("--length", 100, *arguments).stdout == likeliest, f"{arguments} leaves the likeliest alone")

    short = folder / "short"
    short.write_text("too short")
    program.refuses(
            (["train", "--max-steps", 1], "--max-steps"), (["train", "--max-steps", 0], "--max-steps"),
            (["train", "--accumulate-grad-batches", 1001], "--accumulate-grad-batches"),
            (["train", "--text", accents, "--max-steps", 2, "--limit-val-batches", 1, "--output",
              folder / "accents-output", "--resume"], "text_digest: expected"),
            (["train", "--text", russian, "--output", folder / "x"], "russian: expected ASCII"),
            (["train", "--text", text, "--resume", output / "checkpoint.safetensors", "--output", folder / "none"],
             f"--resume {output / 'checkpoint.safetensors'}: expected a file of the run in"),
            (["train", "--loggers", "csv,tensorbord"], "--loggers: expected one of csv, json, tensorboard"),
            (["train", "--device", "cuda"], "--device: cuda was asked for"),
            (["train", "--text", text, "--resume", "--output", folder / "none"], "none"), (["train", "--text", folder / "none"], "none"),
            (["train", "--text", short, "--output", folder / "x"], "found 9"),
            (["generate", "--output", folder / "nothing"], "nothing"),
            (["generate", "--output", output, "--prompt", "\u00e9"], "ASCII"),
            (["generate", "--output", output, "--prompt", ""], "--prompt"),
            (["generate", "--temperature", -1], "--temperature"), (["generate", "--top-p", 0], "--top-p"),
            (["sing"], "subcommand"), ([], "subcommand"))
    check(not (folder / "x").exists(), "nothing is written for a short text")
    check("as the epochs have" not in run("train", "--help").stdout, "the steps decide, in the help, too")
    check("train" in run("--help").stdout and "top-p" in run("generate", "--help").stdout, "--help")
sys.exit(1 if program.failures else 0)
