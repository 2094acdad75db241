# SPDX-License-Identifier: MIT
"""track_files.py <track_run>: what a run wrote, read back: metrics.csv, JSON lines, and event files
by TensorBoard's EventAccumulator and its hparams plugin; whole ones and those of a killed run."""
import csv
import json
import pathlib
import sys

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2

from track_support import (MAE, NOTE, NUMBERS, SETTINGS, STEPS, check, check_endless, long_text,
                           loss_at, same, temporary_folder, write_everything, write_until_killed)

EVERYTHING = {"compressedHistograms": 0, "images": 0, "scalars": 0, "histograms": 0, "tensors": 0}


def check_csv(folder):
    with open(folder / "metrics.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    check(len(rows) == len(STEPS), f"csv: {len(rows)} rows")
    for step, row in zip(STEPS, rows):
        check(int(row["step"]) == step and same(float(row["train/loss"]), loss_at(step)),
              f"csv: {row}")
        check(row["validation/mae"] == "" or float(row["validation/mae"]) == MAE[step],
              f"csv: {row}")
        check((row["validation/mae"] == "") == (step not in MAE), f"csv: {row}")
    lines = (folder / "hparams.yaml").read_text().splitlines()
    settings = dict(line.split(": ", 1) for line in lines)
    read = {json.loads(name): json.loads(value) for name, value in settings.items()}
    check(read == SETTINGS | {"decay": 0.5, "best/mae": 0.125}, f"hparams.yaml: {read}")


def number(value):
    return float(value)  # "NaN", "Infinity" and "-Infinity" are what float() reads


def check_json_lines(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    scalars = [line for line in lines if line["event"] == "scalars"]
    check([line["step"] for line in scalars] == list(STEPS), "JSON lines: steps")
    for line in scalars:
        step, values = line["step"], line["values"]
        check(same(number(values["train/loss"]), loss_at(step)), f"JSON lines: {line}")
        check(values.get("validation/mae") == MAE.get(step), f"JSON lines: {line}")
    by_event = {line["event"]: line for line in lines}
    check(by_event["begin"]["settings"] == SETTINGS, "JSON lines: settings")
    check(by_event["begin"]["time"] == 1_700_000_000.125, "JSON lines: time")
    check(sum(by_event["histogram"]["counts"]) == len(NUMBERS), "JSON lines: histogram")
    check(by_event["text"]["text"] == long_text(), "JSON lines: text")
    check(by_event["hyperparameters"]["metrics"] == {"best/mae": 0.125}, "JSON lines: metrics")
    check(by_event["finish"]["state"] == "finished", "JSON lines: state")


def accumulated(folder):
    events = EventAccumulator(str(folder), size_guidance=EVERYTHING)
    events.Reload()
    return events


def check_histogram(histogram):
    exact = NUMBERS.astype(np.float64)
    check(histogram.num == 1000 and histogram.min == exact.min() and histogram.max == exact.max(),
          f"TensorBoard: histogram {histogram.num} {histogram.min} {histogram.max}")
    check(histogram.sum == exact.sum() and histogram.sum_squares == (exact**2).sum(),
          f"TensorBoard: sums {histogram.sum} {histogram.sum_squares}")
    limits = np.array(histogram.bucket_limit)
    expected = np.zeros(len(limits))
    np.add.at(expected, np.searchsorted(limits, exact, side="right"), 1)
    check((expected == np.array(histogram.bucket)).all(), "TensorBoard: counts of buckets")
    powers = np.log(limits[limits > 0] / 1e-12) / np.log(1.1)
    check(len(powers) > 20 and np.allclose(powers, np.round(powers), atol=1e-6),
          f"TensorBoard: limits {limits}")


def check_hyperparameters(events):
    def content(tag):
        metadata = events.SummaryMetadata(tag)
        check(metadata.plugin_data.plugin_name == "hparams", f"TensorBoard: plugin of {tag}")
        return plugin_data_pb2.HParamsPluginData.FromString(metadata.plugin_data.content)
    start = content("_hparams_/session_start_info").session_start_info
    kinds = {"number_value", "string_value", "bool_value"}
    read = {name: getattr(value, value.WhichOneof("kind")) for name, value in start.hparams.items()
            if value.WhichOneof("kind") in kinds}
    check(read == SETTINGS | {"decay": 0.5}, f"TensorBoard: hyperparameters {read}")
    check(start.start_time_secs == 1_700_000_000.125, "TensorBoard: start")
    experiment = content("_hparams_/experiment").experiment
    types = {info.name: info.type for info in experiment.hparam_infos}
    check(types == {"rate": api_pb2.DATA_TYPE_FLOAT64, "layers": api_pb2.DATA_TYPE_FLOAT64,
                    "causal": api_pb2.DATA_TYPE_BOOL, "cell": api_pb2.DATA_TYPE_STRING,
                    "decay": api_pb2.DATA_TYPE_FLOAT64}, f"TensorBoard: kinds {types}")
    check([info.name.tag for info in experiment.metric_infos] == ["best/mae"],
          "TensorBoard: metrics")
    end = content("_hparams_/session_end_info").session_end_info
    check(end.status == api_pb2.STATUS_SUCCESS, "TensorBoard: status")


def check_tensorboard(folder, picture):
    events = accumulated(folder)
    tags = events.Tags()
    check(set(tags["scalars"]) == {"train/loss", "validation/mae", "best/mae"},
          f"TensorBoard: {tags['scalars']}")
    loss = events.Scalars("train/loss")
    check([event.step for event in loss] == list(STEPS), "TensorBoard: steps")
    for event in loss:
        check(same(event.value, float(np.float32(loss_at(event.step)))), f"TensorBoard: {event}")
        check(event.wall_time > 1_700_000_000, f"TensorBoard: {event}")
    read = {event.step: event.value for event in events.Scalars("validation/mae")}
    check(read == {step: float(np.float32(value)) for step, value in MAE.items()},
          "TensorBoard: second scalar")
    (histogram,) = events.Histograms("weights/fc.weight")
    check(histogram.step == 1200, "TensorBoard: step of the histogram")
    check_histogram(histogram.histogram_value)
    (image,) = events.Images("attention")
    check((image.encoded_image_string, image.width, image.height, image.step) ==
          (picture, 5, 4, 1201), "TensorBoard: picture")
    for tag, text in {"note": NOTE, "long": long_text()}.items():
        (event,) = events.Tensors(tag)
        check(list(event.tensor_proto.string_val) == [text.encode()], f"TensorBoard: {tag}")
        check(events.SummaryMetadata(tag).plugin_data.plugin_name == "text",
              f"TensorBoard: plugin of {tag}")
    check_hyperparameters(events)


def check_killed(program, folder):
    steps = write_until_killed(program, folder)
    with open(folder / "csv" / "metrics.csv", newline="", encoding="utf-8") as file:
        rows = [(int(row["step"]), float(row["x"])) for row in csv.DictReader(file)]
    check_endless(rows, steps, "csv")
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    check_endless([(line["step"], line["values"]["x"]) for line in lines
                   if line["event"] == "scalars"], steps, "JSON lines")
    events = accumulated(folder / "tensorboard").Scalars("x")
    check_endless([(event.step, event.value) for event in events], steps, "TensorBoard")


def main(program):
    with temporary_folder() as folder:
        picture = write_everything(program, folder)
        check_csv(folder / "csv")
        check_json_lines(folder / "run.jsonl")
        check_tensorboard(folder / "tensorboard", picture)
    with temporary_folder() as folder:
        check_killed(program, folder)
    print("csv, JSON lines and TensorBoard read back what was logged")


main(pathlib.Path(sys.argv[1]))
