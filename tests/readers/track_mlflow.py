# SPDX-License-Identifier: MIT
"""track_mlflow.py <track_run>: runs logged to a real `mlflow server`, read back by mlflow's client;
a server that is killed in the middle of a training, and one that never answers, and what they cost.
"""
import contextlib
import csv
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from mlflow.tracking import MlflowClient

from track_support import (MAE, SETTINGS, STEPS, check, loss_at, same, temporary_folder,
                           write_everything)

TRAINING_STEPS = 1000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`mlflow server` with SQLite in a folder, in a session of its own."""

    def __init__(self, folder):
        folder.mkdir()
        self.url = f"http://127.0.0.1:{free_port()}"
        command = [pathlib.Path(sys.executable).with_name("mlflow"), "server",
                   "--backend-store-uri", f"sqlite:///{folder}/mlflow.db",
                   "--artifacts-destination", str(folder / "artifacts"),
                   "--host", "127.0.0.1", "--port", self.url.rsplit(":", 1)[1], "--workers", "1"]
        self.log = open(folder / "log", "w+", encoding="utf-8")
        environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT,
                                        env=environment, start_new_session=True)

    def wait(self):
        for _ in range(600):
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            check(self.process.poll() is None, f"mlflow server ended: {self.words()}")
            time.sleep(0.2)
        sys.exit(f"failed: mlflow server does not start: {self.words()}")

    def processor_seconds(self):
        """What all processes of its session have used."""
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rsplit(")", 1)[1].split()
                if int(fields[3]) == self.process.pid:
                    ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def wait_until_idle(self):
        """Its processes go on with their beginning after it answers, and take the machine."""
        for _ in range(60):
            before = self.processor_seconds()
            time.sleep(0.5)
            if self.processor_seconds() - before < 0.05:
                return

    def words(self):
        self.log.seek(0)
        return self.log.read()

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def serving(folder):
    server = Server(folder)
    try:
        server.wait()
        yield server
    finally:
        server.kill()


def check_everything(program, folder, server):
    picture = write_everything(program, folder, server.url)
    client = MlflowClient(server.url)
    experiment = client.get_experiment_by_name("readers")
    (run,) = client.search_runs([experiment.experiment_id])
    check(run.info.run_name == "first run" and run.info.status == "FINISHED", f"MLflow: {run.info}")
    check(run.info.start_time == 1_700_000_000_125, f"MLflow: start {run.info.start_time}")
    expected = {"rate": "0.001", "layers": "2", "causal": "false", "cell": "lstm", "decay": "0.5"}
    check(set(SETTINGS) < set(expected) and run.data.params == expected,
          f"MLflow: {run.data.params}")
    tags = {name: value for name, value in run.data.tags.items() if not name.startswith("mlflow.")}
    check(tags == {"short": "true", "real": "true", "group": "folds"}, f"MLflow: {tags}")
    loss = sorted(client.get_metric_history(run.info.run_id, "train/loss"), key=lambda m: m.step)
    check([metric.step for metric in loss] == list(STEPS), f"MLflow: {len(loss)} steps")
    for metric in loss:  # its database has the largest number for what is infinite
        expected = loss_at(metric.step)
        limited = max(-sys.float_info.max, min(expected, sys.float_info.max))
        check(same(metric.value, expected) or abs(metric.value) > 1.79e308 and
              metric.value * limited > 0, f"MLflow: {metric}")
    mae = {m.step: m.value for m in client.get_metric_history(run.info.run_id, "validation/mae")}
    check(mae == MAE, f"MLflow: {mae}")
    check(run.data.metrics["best/mae"] == 0.125, "MLflow: metric of a run")
    artifacts = folder / "mlflow" / "artifacts"
    (image,) = artifacts.rglob("images/attention_1201.png")
    check(image.read_bytes() == picture, "MLflow: picture")
    (text,) = artifacts.rglob("texts/note_1202.txt")
    check(text.read_text().startswith('a "quoted" line'), "MLflow: text")
    print(f"MLflow: {len(loss) + len(mae)} metrics, {len(run.data.params)} parameters, "
          f"{len(tags)} tags, 1 picture and 2 texts read back")


def train(program, folder, *url, on_half=lambda: None):
    """What `track_run train` says at its end, and what it warns of."""
    with subprocess.Popen([program, "train", folder, str(TRAINING_STEPS), *url], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        for line in run.stdout:
            if line.startswith("{"):
                result = json.loads(line)
            if line == f"step {TRAINING_STEPS // 2}\n":
                on_half()
        warnings = run.stderr.read().splitlines()
    check(run.returncode == 0 and result["dropped"] == 0, f"training: {run.returncode}")
    with open(folder / "csv" / "metrics.csv", newline="", encoding="utf-8") as file:
        steps = [int(row["step"]) for row in csv.DictReader(file)]
    check(steps == list(range(1, TRAINING_STEPS + 1)), "training: rows of the other loggers")
    return result, warnings


def own_seconds(result):
    """The time of a training, without that in which other programs had the processors."""
    return result["seconds"] - result["waited"]


def check_cost(program, folder, what, disturbed, finish):
    """A training beside `disturbed(folder)` has the bits and, within 5 %, the time of one without
    MLflow, of its thread and of all its threads' work; the least of five at most is compared."""
    alone, beside = [], []
    for turn in range(5):
        result, said = train(program, folder / f"alone.{what}.{turn}")
        check(not said, f"training alone: {said}")
        other, warnings = disturbed(folder / f"{what}.{turn}")
        check(other["sum"] == result["sum"], f"{what}: other bits")
        check(len(warnings) == 1 and "MLflow" in warnings[0], f"{what}: {warnings}")
        check(other["finish"] < finish, f"{what}: finish took {other['finish']} s")
        alone.append(result)
        beside.append(other)
        for name, each in {"without MLflow": result, what: other}.items():
            print(f"{name}: {each['seconds']:.3f} s of training, {own_seconds(each):.3f} s its own,"
                  f" {each['processor']:.3f} s of processors; {each['finish']:.3f} s after it")
        print(*warnings)
        if all(min(map(of, beside)) <= 1.05 * min(map(of, alone)) + 0.05
               for of in (own_seconds, lambda each: each["processor"])):
            return
    sys.exit(f"failed: {what}: the training takes longer than without MLflow")


def check_killed(program, folder):
    count = iter(range(3))

    def disturbed(place):
        with serving(folder / f"server.{next(count)}") as server:
            server.wait_until_idle()
            return train(program, place, server.url, on_half=server.kill)
    check_cost(program, folder, "killed", disturbed, 2)


def check_silent(program, folder):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(100)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        check_cost(program, folder, "silent",
                   lambda place: train(program, place, url), 6)


def main(program):
    with temporary_folder() as folder:
        with serving(folder / "mlflow") as server:
            check_everything(program, folder, server)
        check_silent(program, folder)
        check_killed(program, folder)


main(pathlib.Path(sys.argv[1]))
