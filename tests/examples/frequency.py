# SPDX-License-Identifier: MIT
"""frequency.py <program>: examples/frequency as its users run it.

Losses are compared with recorded ones: the same bits by every compiler and every instruction set
that has fused multiply-adds, so that they may differ by no more than the digits that are printed.
"""
import csv
import json
import math
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False, **options)


def small_disk(size):
    """What Popen calls in the child: no file becomes larger than `size` bytes."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def losses(folder):
    with open(folder / "log.csv", encoding="utf-8") as log:
        return [float(row["monitored_loss"]) for row in csv.DictReader(log)]


SHORT = {
    "stateful": ["--mode", "stateful", "--max-epochs", 4, "--threads", 1],
    "windowed": ["--mode", "windowed", "--length", 10, "--layers", 2, "--max-epochs", 1,
                 "--dropout", 0.2, "--threads", 2],
    "attention": ["--mode", "windowed", "--length", 8, "--variant", "attention", "--max-epochs", 1,
                  "--batch", 64],
    "film": ["--mode", "stateful", "--variant", "film", "--max-epochs", 2],
}
RECORDED = json.loads((pathlib.Path(__file__).parent / "frequency.json").read_text("utf-8"))


class Frequency(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fails(self, words, *arguments):
        before = sorted(self.folder.rglob("*"))
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    # -- data
    def test_signals_are_the_specified_ones(self):
        def mixture(*arguments):
            return [line.split()[0] for line in run("data", *arguments).stdout.splitlines()]
        self.assertEqual(mixture("--seed", 1, "--print", 5),
                         ["0.030606728", "0.050370697", "0.087779336", "0.107148750", "0.123629634"])
        self.assertEqual(mixture("--seed", 2, "--print", 4),
                         ["0.038167288", "0.062614102", "0.095434276", "0.109996717"])
        self.assertEqual(mixture("--seed", 1, "--phase-scale", 1, "--print", 3),
                         ["0.280965946", "0.485458752", "-0.433055755"])
        whole = [float(value) for value in mixture("--seed", 1)]
        self.assertEqual(len(whole), 10000)
        mean = sum(whole) / len(whole)
        self.assertAlmostEqual(mean, -0.00032310, places=8)
        self.assertAlmostEqual(math.sqrt(sum((v - mean)**2 for v in whole) / len(whole)),
                               0.35601872, places=8)

    # -- training
    def test_short_trainings_have_the_recorded_losses(self):
        for name, arguments in SHORT.items():
            with self.subTest(name):
                output = self.folder / name
                done = run("train", *arguments, "--output", output)
                self.assertEqual(done.returncode, 0, done.stderr)
                got = losses(output)
                print(name, got)
                self.assertEqual(len(got), len(RECORDED[name]))
                for a, b in zip(got, RECORDED[name]):
                    self.assertAlmostEqual(a, b, delta=1e-6 * b)

    def test_evaluation_is_json_whose_parts_add_up(self):
        output = self.folder / "out"
        run("train", *SHORT["stateful"], "--output", output)
        done = run("evaluate", output, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["parameters"], 18241)
        for part in (report["test"], report["train"]):
            each = part["per_frequency"]
            self.assertEqual([row["frequency"] for row in each], [1, 3, 5, 7])
            self.assertAlmostEqual(sum(row["mse"] for row in each) / 4, part["mse"], places=12)
            self.assertAlmostEqual(sum(row["mae"] for row in each) / 4, part["mae"], places=12)
        self.assertAlmostEqual(report["ratio"], report["test"]["mse"] / report["train"]["mse"])
        self.assertAlmostEqual(report["train"]["mse"], min(losses(output)), places=6)
        self.assertEqual(json.loads((output / "metrics.json").read_text("utf-8")), report)

    def test_plots_are_pictures(self):
        output = self.folder / "out"
        run("train", *SHORT["stateful"], "--output", output)
        done = run("plot", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = [pathlib.Path(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(files), 10)
        for file in files:
            content = file.read_bytes()
            self.assertGreater(len(content), 5000)
            self.assertTrue(content.startswith(b"\x89PNG" if file.suffix == ".png" else b"<?xml"))

    def test_every_sample_has_one_answer_however_they_are_cut(self):
        for name, arguments in {"windows": ["--mode", "windowed", "--length", 5, "--layers", 1, "--batch", 16],
                                "pieces": ["--mode", "stateful", "--truncation", 70]}.items():
            output = self.folder / name
            done = run("train", *arguments, "--max-epochs", 1, "--limit-train-batches", 2, "--output", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run("plot", output).returncode, 0)
            rows = (output / "plots" / "series.dat").read_text().splitlines()
            self.assertEqual(len(rows), 10000)
            self.assertEqual({len(row.split()) for row in rows}, {10})

    def test_threads_change_no_byte(self):
        checkpoints = []
        for threads in (1, 2, 4):
            output = self.folder / str(threads)
            done = run("train", "--mode", "windowed", "--length", 5, "--layers", 1, "--max-epochs", 1,
                       "--validation", 0.45, "--threads", threads, "--output", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            checkpoints.append((output / "checkpoint.safetensors").read_bytes())
        self.assertEqual(checkpoints[0], checkpoints[1])
        self.assertEqual(checkpoints[0], checkpoints[2])

    def test_killed_at_any_moment_and_resumed_it_ends_with_the_same_bytes(self):
        arguments = ["train", "--mode", "stateful", "--max-epochs", 25, "--checkpoint-seconds", 0,
                     "--accumulate-grad-batches", 3, "--save-top-k", 2, "--output"]
        whole = self.folder / "whole"
        begun = time.monotonic()
        self.assertEqual(run(*arguments, whole).returncode, 0)
        seconds = time.monotonic() - begun
        dice = random.Random(1)
        kills = 0
        # A machine that was busier for the whole one is done before it is killed often enough.
        for part in (0.03, 0.01, 0.003):
            killed = self.folder / f"killed after {part}"
            logged = [*arguments, killed, "--loggers", "csv,tensorboard"]
            kills = self.killed_again_and_again(logged, killed,
                                                lambda: dice.uniform(0.3, 1.7) * part * seconds)
            for file in ("checkpoint.safetensors", "model.safetensors", "metrics.json"):
                self.assertEqual((killed / file).read_bytes(), (whole / file).read_bytes(), file)
            self.assertEqual(losses(killed), losses(whole))
            self.assertTrue((killed / "logs" / "training" / "metrics.csv").exists())
            if kills >= 15:
                break
        self.assertGreaterEqual(kills, 15)
        print(kills, "kills")

    def killed_again_and_again(self, arguments, folder, wait):
        """Twenty times, or until it ends before; says how often."""
        kills = 0
        while True:
            resume = ["--resume"] if (folder / "checkpoint.safetensors").exists() else []
            process = subprocess.Popen([PROGRAM, *map(str, arguments), *resume],
                                       stdout=subprocess.DEVNULL)
            try:
                process.wait(wait() if kills < 20 else None)
                break
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
        self.assertEqual(process.returncode, 0)
        return kills

    def test_an_interrupt_saves_and_says_how_to_go_on(self):
        output = self.folder / "out"
        process = subprocess.Popen([PROGRAM, "train", "--max-epochs", "1000", "--output", output],
                                   stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("epoch"):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(), 130)
        self.assertIn("--resume", rest)
        self.assertTrue((output / "checkpoint.safetensors").exists())

    # -- settings
    def test_the_command_line_is_over_the_file_and_the_file_over_defaults(self):
        config = self.folder / "c.yaml"
        config.write_text("mode: windowed\nlength: 20\nhidden: 128\ndropout: 0.1\n")
        done = run("train", "--config", config, "--length", 30, "--print-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = dict(line.split(": ") for line in done.stdout.splitlines())
        self.assertEqual(printed["mode"], "windowed")
        self.assertEqual(printed["length"], "30")
        self.assertEqual(printed["hidden"], "128")
        self.assertEqual(printed["dropout"], "0.1")
        self.assertEqual(printed["max_epochs"], "10")
        again = self.folder / "again.yaml"
        again.write_text(done.stdout)
        self.assertEqual(run("train", "--config", again, "--print-config").stdout, done.stdout)

    def test_every_key_of_the_config_works(self):
        values = {"mode": "windowed", "variant": "film", "length": 7, "hidden": 128, "layers": 1,
                  "dropout": 0.25, "batch": 5, "truncation": 9, "learning_rate": 0.125,
                  "weight_decay": 0.5, "schedule": "plateau", "validation": 0.25, "seed": 6,
                  "train_seed": 7, "test_seed": 8, "phase_scale": 0.75, "max_epochs": 3,
                  "max_steps": 9, "max_time": 5.5, "gradient_clip_val": 2,
                  "gradient_clip_algorithm": "value", "accumulate_grad_batches": 2,
                  "limit_train_batches": 0.5, "limit_val_batches": 3, "overfit_batches": 1,
                  "fast_dev_run": 4, "val_check_interval": 0.25, "check_val_every_n_epoch": 2,
                  "num_sanity_val_steps": 1, "precision": "bf16", "patience": 4, "min_delta": 0.5,
                  "save_top_k": 2, "threads": 3, "checkpoint_seconds": 11, "device": "cpu",
                  "loggers": "csv,wandb", "mlflow_url": "http://127.0.0.1:1"}
        config = self.folder / "c.yaml"
        config.write_text("".join(f"{key}: {value}\n" for key, value in values.items()))
        done = run("train", "--config", config, "--print-config")
        self.assertEqual(done.stdout, config.read_text())
        arguments = [f"--{key.replace('_', '-')}={value}" for key, value in values.items()]
        self.assertEqual(run("train", *arguments, "--print-config").stdout, config.read_text())

    def test_bad_settings_are_refused_by_name(self):
        output = self.folder / "out"

        def config(text):
            path = self.folder / "c.yaml"
            path.write_text(text)
            return ["train", "--output", output, "--config", path]

        train = ["train", "--output", output]
        config("")
        self.fails(["unknown key lenght"], *config("lenght: 3\n"))
        self.fails(["max_epochs: expected a whole number", "many"], *config("max_epochs: many\n"))
        self.fails(["max_epochs: expected a whole number", "-1"], *config("max_epochs: -1\n"))
        self.fails(["dropout: expected a finite number"], *config("dropout: [1]\n"))
        self.fails(["is not YAML"], *config("a: [\n"))
        self.fails(["expected keys and values"], *config("- 1\n"))
        self.fails(["none.yaml: cannot be read"], *train, "--config", self.folder / "none.yaml")
        self.fails(["--length: expected a number from 1 to 100, got 0"], *train, "--mode",
                   "windowed", "--length", 0)
        self.fails(["--dropout: expected a number from 0 to 0.9, got 1.5"], *train, "--dropout", 1.5)
        self.fails(["--mode: expected one of stateful, windowed, got both"], *train, "--mode", "both")
        self.fails(["--hidden: expected 64, 128 or 256, got 65"], *train, "--hidden", 65)
        self.fails(["--length: expected 1, as the mode is stateful"], *train, "--length", 50)
        self.fails(["--variant"], *train, "--variant", "attention")
        self.fails(["--max-epochs"], *train, "--max-epochs", "many")
        self.fails(["--learning-rate"], *train, "--learning-rate", "nan")
        self.fails(["--wide"], *train, "--wide", 3)
        self.fails(["--print"], "data", "--print", 0)
        self.fails(["--seed: expected a whole number", "got -1"], "data", "--seed", -1)
        self.fails(["--phase-scale: expected a finite number, got nan"], "data", "--phase-scale",
                   "nan")

    def test_numbers_that_only_look_like_some_are_refused(self):
        train = ["train", "--output", self.folder / "out"]
        config = self.folder / "c.yaml"
        for name, value in [("--hidden", "-18446744073709551552"), ("--hidden", "0100"),
                            ("--seed", "-1"), ("--seed", "18446744073709551616"),
                            ("--max-epochs", "1e2"), ("--max-epochs", "0x10"), ("--dropout", "1e-400"),
                            ("--learning-rate", "inf")]:
            key = name[2:].replace("-", "_")
            with self.subTest(name=name, value=value):
                self.fails([name + ": expected a ", "got " + value], *train, f"{name}={value}")
                config.write_text(f"{key}: '{value}'\n")
                self.fails(["c.yaml: " + key + ": expected a ", "got " + value], *train,
                           "--config", config)
        self.fails(["--seed: expected a number from 0 to 4294967295, got 4294967296"], *train,
                   "--seed", 4294967296)

    def test_every_digit_of_a_setting_is_kept(self):
        for value in ("0.0012345678901234567", "1e-05", "0.1", "0.30000000000000004"):
            printed = run("train", "--learning-rate", value, "--print-config").stdout
            kept = [line for line in printed.splitlines() if line.startswith("learning_rate")][0]
            self.assertEqual(float(kept.split(": ")[1]), float(value))

    def test_the_settings_of_a_folder_train_the_same_bytes_again(self):
        first, again = self.folder / "first", self.folder / "again"
        self.assertEqual(run("train", "--max-epochs", 2, "--phase-scale", "0.8123456785432109",
                             "--output", first).returncode, 0)
        self.assertEqual(run("train", "--config", first / "settings.yaml", "--output",
                             again).returncode, 0)
        for file in ("checkpoint.safetensors", "model.safetensors", "settings.yaml"):
            self.assertEqual((first / file).read_bytes(), (again / file).read_bytes())

    def test_a_config_that_is_none_gets_one_short_message(self):
        train = ["train", "--output", self.folder / "out", "--config"]
        config = self.folder / "c.yaml"
        os.mkfifo(self.folder / "pipe")
        self.fails(["is a folder, not a file"], *train, self.folder)
        self.fails(["is a pipe or a device"], *train, self.folder / "pipe")
        self.fails(["is a pipe or a device"], *train, "/dev/zero")
        for text, words in [("seed: 1\nmax_epochs: 2\nseed: 3\n", "the key seed comes twice"),
                            ("seed: 1\n---\nseed: 3\n", "more than one document"),
                            ("[a]: 1\n", "a key is no name"), ("max_epochs:\n", "got a list, a map"),
                            ("[" * 5_000_000, "settings take at most"),
                            ("[" * 60_000, "is not YAML"),
                            ("mode: " + "x" * 60_000, "--mode: expected one of"),
                            ("x" * 900 + ": 1", "unknown key xxx")]:
            config.write_text(text)
            begun = time.monotonic()
            done = run(*train, config)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
            self.assertLess(len(done.stderr), 600)
            self.assertLess(time.monotonic() - begun, 20)
        self.fails(["expected"], "train", "--output", self.folder / "out", "--mode", "y" * 100_000)
        self.assertLess(len(run("train", "--mode", "y" * 100_000).stderr), 600)
        self.assertLess(len(run("train", "--" + "y" * 100_000).stderr), 600)

    def test_bad_files_are_refused_and_nothing_is_written(self):
        output = self.folder / "out"
        run("train", *SHORT["stateful"], "--output", output)
        self.fails(["it is no output of `train`"], "evaluate", self.folder)
        self.fails(["other settings: max_epochs: expected 9, got 4"], "train", "--resume", "--output",
                   output, "--max-epochs", 9)
        self.fails(["layers: expected 2, got 1"], "train", *SHORT["stateful"], "--resume",
                   "--output", output, "--layers", 2)
        self.fails(["has no checkpoint"], "train", "--resume", "--output", self.folder / "none")
        checkpoint = output / "checkpoint.safetensors"
        checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
        self.fails(["checkpoint.safetensors"], "train", *SHORT["stateful"], "--resume",
                   "--output", output)
        model = output / "model.safetensors"
        whole = model.read_bytes()
        model.write_bytes(b"\xff" * 64)
        self.fails(["model.safetensors", "header"], "evaluate", output)
        model.write_bytes(whole[:50])
        self.fails(["model.safetensors"], "evaluate", output)
        with open(model, "wb") as sparse:
            sparse.truncate(50 << 30)
        self.fails(["model.safetensors", "header"], "evaluate", output)
        model.unlink()
        os.mkfifo(model)
        self.fails(["is a pipe"], "evaluate", output)
        model.unlink()
        model.write_bytes(whole[:-4] + b"\x00\x00\xc0\x7f")
        self.fails(["model.safetensors: the parameter", "is not finite"], "evaluate", output)
        model.write_bytes(b"PK\x03\x04" + whole)
        self.fails(["zip archive", "save_file"], "evaluate", output)

    def test_files_of_two_trainings_are_never_used_together(self):
        one, two = self.folder / "one", self.folder / "two"
        for output, rate in ((one, 0.003), (two, 0.004)):
            self.assertEqual(run("train", *SHORT["stateful"], "--learning-rate", rate, "--output",
                                 output).returncode, 0)
        arguments = ["train", *SHORT["stateful"], "--learning-rate", 0.003, "--output", one]

        def swapped(name):
            keep = (one / name).read_bytes()
            (one / name).write_bytes((two / name).read_bytes())
            return keep

        keep = swapped("model.safetensors")
        self.fails(["learning_rate: expected 0.003, got 0.004"], "evaluate", one)
        (one / "model.safetensors").write_bytes(keep)
        keep = swapped("checkpoint.safetensors")
        self.fails(["learning_rate: expected 0.003, got 0.004"], *arguments, "--resume")
        (one / "checkpoint.safetensors").write_bytes(keep)
        keep = swapped("log.csv")
        self.fails(["log.csv: expected the rows of epochs 1 to 4"], *arguments, "--resume")
        (one / "log.csv").write_bytes(keep)
        keep = (one / "log.jsonl").read_bytes()
        (one / "log.jsonl").unlink()
        self.assertEqual(run(*arguments, "--resume").returncode, 0)
        self.assertEqual((one / "log.jsonl").read_bytes(), keep)

    def test_a_checkpoint_whose_progress_cannot_be_is_refused(self):
        output = self.folder / "out"
        run("train", *SHORT["stateful"], "--output", output)
        checkpoint = output / "checkpoint.safetensors"
        whole = checkpoint.read_bytes()
        start = 8 + int.from_bytes(whole[:8], "little")
        places = json.loads(whole[8:start])
        for name, value in [("best", b"\x00" * 6 + b"\xf8\x7f"), ("best_epoch", b"\xff" * 8),
                            ("epoch", b"\x09" + b"\x00" * 7), ("step", b"\x07" + b"\x00" * 7),
                            ("validations", b"\x00" * 8), ("log", b"\x01" * 8),
                            ("loss_sum", b"\x00" * 6 + b"\xf0\x3f")]:
            with self.subTest(name):
                begin = start + places["progress." + name]["data_offsets"][0]
                checkpoint.write_bytes(whole[:begin] + value + whole[begin + 8:])
                self.fails(["checkpoint"], "train", *SHORT["stateful"], "--resume", "--output",
                           output)
        begin = start + places["best.1.weight"]["data_offsets"][0]
        checkpoint.write_bytes(whole[:begin] + b"\x00\x00\xc0\x7f" + whole[begin + 4:])
        self.fails(["the parameter 1.weight is not finite"], "train", *SHORT["stateful"],
                   "--resume", "--output", output)

    def test_folders_that_cannot_be_written_are_refused(self):
        file = self.folder / "file"
        file.write_text("")
        self.fails(["file"], "train", "--output", file / "out")
        self.fails(["out"], "train", "--output", "/dev/null/out")
        done = run("train", "--max-epochs", 1, "--output", self.folder / "full",
                   preexec_fn=small_disk(100))
        self.assertEqual(done.returncode, 2)
        self.assertIn("File too large", done.stderr)
        self.assertFalse((self.folder / "full").exists())

    def test_a_trial_run_keeps_nothing(self):
        output = self.folder / "out"
        done = run("train", "--fast-dev-run", 3, "--output", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fast_dev_run: 3 batches trained; nothing is kept", done.stdout)
        self.assertFalse(output.exists())
        self.fails(["--resume"], "train", "--fast-dev-run", 3, "--resume", "--output", output)

    def test_the_device_is_said_and_one_that_is_not_there_refused(self):
        done = run("train", "--fast-dev-run", 1, "--output", self.folder / "out")
        self.assertTrue(done.stdout.startswith("device: cpu"), done.stdout)
        self.fails(["--device: cuda was asked for"], "train", "--device", "cuda", "--output",
                   self.folder / "out")

    def test_the_best_checkpoints_are_kept_and_resumed(self):
        output = self.folder / "out"
        arguments = ["train", "--max-epochs", 5, "--accumulate-grad-batches", 2, "--save-top-k", 2,
                     "--output", output]
        self.assertEqual(run(*arguments).returncode, 0)
        kept = sorted(file.name for file in (output / "checkpoints").iterdir())
        best = sorted(range(5), key=losses(output).__getitem__)[:2]
        self.assertEqual([int(name.split("-")[0][6:]) for name in kept], sorted(best))
        files = ["checkpoint.safetensors", "model.safetensors", "metrics.json",
                 *("checkpoints/" + name for name in kept)]
        want = [(output / file).read_bytes() for file in files]
        for which in ("best", "last", output / "checkpoints" / kept[0]):
            done = run(*arguments, "--resume", which)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([(output / file).read_bytes() for file in files], want)
        self.assertEqual(run("train", "--max-epochs", 1, "--output", output).returncode, 0)
        self.assertFalse((output / "checkpoints").exists())

    # -- runs in a folder
    def test_a_new_training_that_fails_leaves_the_old_one_whole(self):
        output = self.folder / "out"
        self.assertEqual(run("train", *SHORT["stateful"], "--output", output).returncode, 0)
        before = {file.name: file.read_bytes() for file in output.iterdir()}
        done = run("train", "--max-epochs", 2, "--output", output,
                   preexec_fn=small_disk(5000))
        self.assertEqual(done.returncode, 2)
        self.assertEqual({file.name: file.read_bytes() for file in output.iterdir()}, before)
        self.fails(["other settings: max_epochs: expected 2, got 4"], "train", "--max-epochs", 2,
                   "--resume", "--output", output)

    def test_a_folder_has_one_training_at_a_time(self):
        output = self.folder / "out"
        with subprocess.Popen([PROGRAM, "train", "--max-epochs", "1000", "--output", output],
                              stdout=subprocess.PIPE, text=True) as first:
            for line in first.stdout:
                if line.startswith("epoch"):
                    break
            for arguments in (["train", "--output", output], ["plot", output],
                              ["train", "--max-epochs", 1000, "--resume", "--output", output]):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"belongs to a run that goes on: process {first.pid} on", done.stderr)
            first.kill()
        self.assertEqual(run("train", "--max-epochs", 1, "--output", output).returncode, 0)
        self.assertEqual(sorted(file.name for file in output.iterdir()),
                         ["checkpoint.safetensors", "log.csv", "log.jsonl", "metrics.json",
                          "model.safetensors", "settings.yaml"])

    def test_an_interrupt_of_the_last_evaluation_is_heard(self):
        output = self.folder / "out"
        heard = 0
        for sent in (signal.SIGINT, signal.SIGTERM):
            arguments = [*SHORT["attention"], "--output", output]
            with subprocess.Popen([PROGRAM, "train", *map(str, arguments)],
                                  stdout=subprocess.DEVNULL) as process:
                while not (output / "model.safetensors").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.0005)
                process.send_signal(sent)
                heard += process.wait() == 130
            self.assertEqual(run("train", *arguments, "--resume").returncode, 0)
            self.assertTrue((output / "metrics.json").exists())
            (output / "model.safetensors").unlink()
        self.assertEqual(heard, 2)

    # -- what is around the program
    def test_output_that_cannot_be_written_is_no_success(self):
        output = self.folder / "out"
        run("train", *SHORT["stateful"], "--output", output)
        for arguments in (["data"], ["train", "--print-config"], ["models"], ["--help"],
                          ["evaluate", output, "--json"], ["evaluate", output]):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=full, check=False,
                                      stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertIn("standard output cannot be written", done.stderr)

    def test_no_shell_reads_the_name_of_a_folder(self):
        for name in ("it's", "$(touch oops)", "; touch oops;", "a b", "'; system('touch oops'); '"):
            with self.subTest(name):
                output = self.folder / name
                self.assertEqual(run("train", "--max-epochs", 1, "--output", output).returncode, 0)
                done = run("plot", output, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue((output / "plots" / "training.png").exists())
        self.assertEqual(list(self.folder.rglob("oops")), [])


if __name__ == "__main__":
    unittest.main()
