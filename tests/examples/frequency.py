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
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False, **options)


def losses(folder):
    with open(folder / "log.csv", encoding="utf-8") as log:
        return [float(row["monitored_loss"]) for row in csv.DictReader(log)]


SHORT = {
    "stateful": ["--mode", "stateful", "--epochs", 4, "--threads", 1],
    "windowed": ["--mode", "windowed", "--length", 10, "--layers", 2, "--epochs", 1,
                 "--dropout", 0.2, "--threads", 2],
    "attention": ["--mode", "windowed", "--length", 8, "--variant", "attention", "--epochs", 1,
                  "--batch", 64],
    "film": ["--mode", "stateful", "--variant", "film", "--epochs", 2],
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

    def test_threads_change_no_byte(self):
        checkpoints = []
        for threads in (1, 2, 4):
            output = self.folder / str(threads)
            done = run("train", "--mode", "windowed", "--length", 5, "--layers", 1, "--epochs", 1,
                       "--validation", 0.45, "--threads", threads, "--output", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (output / "checkpoint.safetensors").read_bytes()
            checkpoints.append(text.replace(b"threads: %d" % threads, b"threads: 0"))
        self.assertEqual(checkpoints[0], checkpoints[1])
        self.assertEqual(checkpoints[0], checkpoints[2])

    def test_killed_at_any_moment_and_resumed_it_ends_with_the_same_bytes(self):
        arguments = ["train", "--mode", "stateful", "--epochs", 25, "--checkpoint-seconds", 0,
                     "--output"]
        whole = self.folder / "whole"
        begun = time.monotonic()
        self.assertEqual(run(*arguments, whole).returncode, 0)
        seconds = time.monotonic() - begun
        killed = self.folder / "killed"
        dice = random.Random(1)
        kills = 0
        while True:
            resume = ["--resume"] if (killed / "checkpoint.safetensors").exists() else []
            process = subprocess.Popen([PROGRAM, *map(str, arguments), killed, *resume],
                                       stdout=subprocess.DEVNULL)
            try:
                process.wait(dice.uniform(0.01, 0.05) * seconds if kills < 20 else None)
                break
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
        self.assertEqual(process.returncode, 0)
        self.assertGreaterEqual(kills, 15)
        print(kills, "kills")
        for file in ("checkpoint.safetensors", "model.safetensors", "metrics.json"):
            self.assertEqual((killed / file).read_bytes(), (whole / file).read_bytes(), file)
        self.assertEqual(losses(killed), losses(whole))

    def test_an_interrupt_saves_and_says_how_to_go_on(self):
        output = self.folder / "out"
        process = subprocess.Popen([PROGRAM, "train", "--epochs", "1000", "--output", output],
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
        self.assertEqual(printed["epochs"], "10")
        again = self.folder / "again.yaml"
        again.write_text(done.stdout)
        self.assertEqual(run("train", "--config", again, "--print-config").stdout, done.stdout)

    def test_every_key_of_the_config_works(self):
        values = {"mode": "windowed", "variant": "film", "length": 7, "hidden": 128, "layers": 1,
                  "dropout": 0.25, "epochs": 3, "batch": 5, "truncation": 9,
                  "learning_rate": 0.125, "weight_decay": 0.5, "clip_norm": 2, "schedule": "plateau",
                  "patience": 4, "min_delta": 0.5, "validation": 0.25, "seed": 6, "train_seed": 7,
                  "test_seed": 8, "phase_scale": 0.75, "threads": 3, "checkpoint_seconds": 11}
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
        self.fails(["epochs: expected a whole number", "many"], *config("epochs: many\n"))
        self.fails(["epochs: expected a whole number", "-1"], *config("epochs: -1\n"))
        self.fails(["dropout: expected a number"], *config("dropout: [1]\n"))
        self.fails(["is not YAML"], *config("a: [\n"))
        self.fails(["expected keys and values"], *config("- 1\n"))
        self.fails(["none.yaml cannot be read"], *train, "--config", self.folder / "none.yaml")
        self.fails(["--length: expected a number from 1 to 100, got 0"], *train, "--mode",
                   "windowed", "--length", 0)
        self.fails(["--dropout: expected a number from 0 to 0.9, got 1.5"], *train, "--dropout", 1.5)
        self.fails(["--mode: expected one of stateful, windowed, got both"], *train, "--mode", "both")
        self.fails(["--hidden: expected 64, 128 or 256, got 65"], *train, "--hidden", 65)
        self.fails(["--length: expected 1, as the mode is stateful"], *train, "--length", 50)
        self.fails(["--variant"], *train, "--variant", "attention")
        self.fails(["--epochs"], *train, "--epochs", "many")
        self.fails(["--learning-rate"], *train, "--learning-rate", "nan")
        self.fails(["--wide"], *train, "--wide", 3)
        self.fails(["--print"], "data", "--print", 0)

    def test_bad_files_are_refused_and_nothing_is_written(self):
        output = self.folder / "out"
        run("train", *SHORT["stateful"], "--output", output)
        self.fails(["it is no output of `train`"], "evaluate", self.folder)
        self.fails(["other settings"], "train", "--resume", "--output", output, "--epochs", 9)
        self.fails(["expected shape (512, 5), got (256, 5)", "model.0.weight_ih_l0"], "train",
                   *SHORT["stateful"], "--resume", "--output", output, "--hidden", 128)
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

    def test_folders_that_cannot_be_written_are_refused(self):
        file = self.folder / "file"
        file.write_text("")
        self.fails(["file"], "train", "--output", file / "out")
        self.fails(["out"], "train", "--output", "/dev/null/out")
        full = self.folder / "full"
        full.mkdir()
        os.symlink("/dev/full", full / "settings.yaml.part")
        done = run("train", "--epochs", 1, "--output", full)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual(list(full.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
