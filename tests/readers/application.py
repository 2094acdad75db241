# SPDX-License-Identifier: MIT
"""application.py <characters>: TensorBoard reads what a training of an application told it."""
import csv
import pathlib
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from track_support import check

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "text").write_text("a text of some words, which are always the same; " * 8000)
    subprocess.run([sys.argv[1], "train", "--text", folder / "text", "--max-steps", "60", "--limit-val-batches", "2",
                    "--loggers", "csv,tensorboard", "--output", folder], check=True)
    with open(folder / "logs" / "characters" / "metrics.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    run = EventAccumulator(str(folder / "logs" / "tensorboard" / "characters"))
    run.Reload()
    for column in ("train_loss", "learning_rate", "train_loss_epoch", "val_loss"):
        want = [(int(row["step"]), float(row[column])) for row in rows if row[column]]
        got = [(each.step, each.value) for each in run.Scalars(column)]
        check(len(want) > 0 and [step for step, _ in got] == [step for step, _ in want], f"{column}: {got}, not {want}")
        check(all(abs(a - b) <= 1e-6 * abs(b) for (_, a), (_, b) in zip(got, want)), f"{column}: {got}, not {want}")
        print(column, got)
    tags = run.Tags()["histograms"]
    for prefix in ("weights/", "gradients/"):
        check(any(tag.startswith(prefix) for tag in tags), f"no {prefix} among {tags}")
