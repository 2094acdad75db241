# SPDX-License-Identifier: MIT
"""characters.py <program>: the character model trained for some steps, what it writes and what it refuses."""
import pathlib
import sys
import tempfile

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
    epochs = (folder / "limited" / "training" / "log.csv").read_text().splitlines()[1:]
    check(done.returncode == 0 and len(epochs) == 2, f"four steps are two epochs of two: {epochs}{done.stderr}")

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
            (["train", "--max-steps", 1], "--max-steps"),
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
    check("train" in run("--help").stdout and "top-p" in run("generate", "--help").stdout, "--help")
sys.exit(1 if program.failures else 0)
