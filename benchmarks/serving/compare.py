# SPDX-License-Identifier: MIT
"""compare.py <forecast>: a served forecaster beside the same model in onnxruntime behind FastAPI.

`forecast serve` and `uvicorn` get the same requests of KServe's protocol from the same machine, one
after another, in turns: closed loop by wrk, whose connections send as soon as they are answered, and
a constant rate by load.cpp, where a request's time begins when it is due. /predict, which computes
the features from prices, is measured at the same rate. Both must have answered the same before.
Needs wrk, a C++ compiler and what requirements.txt names; uvloop and httptools, which uvicorn takes
where it finds them, are part of what is compared.
"""
import argparse
import contextlib
import csv
import datetime
import http.client
import importlib.metadata
import io
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy

FOLDER = pathlib.Path(__file__).parent
sys.path.append(str(FOLDER.parent / "run_time"))
import machine

BUSY = 0.1  # cores that others may take
MOST_APART = 1e-5  # of the answer
PACKAGES = "onnxruntime", "fastapi", "uvicorn", "uvloop", "httptools"
TICKS = os.sysconf("SC_CLK_TCK")


def settings():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=pathlib.Path, help="the forecast program")
    parser.add_argument("--study", type=pathlib.Path, help="output of its train or demo; a demo without")
    parser.add_argument("--rate", type=float, default=1000, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60, help="of the constant rate")
    parser.add_argument("--closed", type=float, default=5, help="seconds of each closed loop")
    parser.add_argument("--connections", type=int, nargs="*", default=[1, 8, 64], help="of closed loops")
    parser.add_argument("--rounds", type=int, default=3, help="of closed loops; the median counts")
    parser.add_argument("--busy", action="store_true", help="measure beside others' work")
    parser.add_argument("--before", default="", help="words before servers and clients: 'chrt -f 10'")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    return parser.parse_args()


def version(package):
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"no {package}"


class Server:
    """A program in a session of its own, so that its workers are found."""

    def __init__(self, words, port=None, **environment):
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=FOLDER,
                                        start_new_session=True, env={**os.environ, **environment})
        self.port = port or self._told()

    def _told(self):
        for line in self.process.stdout:
            if found := re.match(r"listening on .*:(\d+)$", line):
                return int(found.group(1))
        raise RuntimeError(f"the server ended with {self.process.wait()}")

    def ask(self, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {text}")
        return json.loads(text)

    def await_answer(self, path, body):
        for _ in range(300):
            with contextlib.suppress(ConnectionError):
                return self.ask(path, body)
            time.sleep(0.1)
        raise RuntimeError(f"nothing answers at port {self.port}")

    def used(self):
        """Seconds of processor time and MiB of memory, of all its processes."""
        seconds = pages = 0
        for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                fields = file.read_text().rsplit(") ", 1)[1].split()
                if int(fields[3]) == self.process.pid:
                    seconds += (int(fields[11]) + int(fields[12])) / TICKS
                    pages += int(fields[21])
        return seconds, pages * os.sysconf("SC_PAGESIZE") / 2 ** 20

    def end(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(30)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Clients:
    def __init__(self, folder, before):
        self.program, self.before = folder / "load", before
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, "-std=c++20", "-O2", FOLDER / "load.cpp", "-o", self.program], check=True)

    def _measure(self, server, words):
        before, begun = server.used()[0], time.monotonic()
        done = subprocess.run([*self.before, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{words[0]}: {done.stderr or done.stdout}")
        cpu, memory = server.used()
        return {**json.loads(done.stdout.strip().rsplit("\n", 1)[-1]),
                "cores": (cpu - before) / (time.monotonic() - begun), "memory": memory, "said": done.stderr}

    def closed(self, server, path, body, connections, seconds):
        url = f"http://127.0.0.1:{server.port}{path}"
        return self._measure(server, ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "-s",
                                      FOLDER / "post.lua", url, "--", body])

    def constant(self, server, path, body, rate, seconds):
        return self._measure(server, [self.program, server.port, path, body, rate, seconds, 64])


def middle(rounds):
    """The round whose rate is the median, with the errors of all."""
    one = dict(sorted(rounds, key=lambda r: r["rate"])[len(rounds) // 2])
    return {**one, "errors": sum(r["errors"] for r in rounds)}


def requests(program, study, folder):
    """Files of bodies: features of the model's look-back, and prices."""
    look_back = int(re.search(r"^look_back: (\d+)", (study / "settings.yaml").read_text(), re.M).group(1))
    table = subprocess.run([program, "data"], capture_output=True, text=True, check=True).stdout
    days = list(csv.reader(io.StringIO(table)))[-look_back:]
    tensor = {"name": "features", "datatype": "FP64", "shape": [1, look_back, 15],
              "data": [float(v) for row in days for v in row[1:16]]}
    noise = numpy.random.default_rng(1)
    close = 1000 * numpy.exp(numpy.cumsum(noise.normal(0, 0.01, look_back + 41)))
    first = datetime.date(2018, 1, 1)
    prices = [{"date": (first + datetime.timedelta(days=i)).isoformat(), "open": c, "high": 1.01 * c,
               "low": 0.99 * c, "close": c, "volume": 1e9} for i, c in enumerate(close)]
    for name, body in (("infer", {"inputs": [tensor]}), ("predict", {"prices": prices, "target": "range"})):
        (folder / name).write_text(json.dumps(body))
    return {name: folder / name for name in ("infer", "predict")}


def line(name, load, r):
    print(f"{name:24} {load:18} {r['rate']:9.0f} {r['p50']:9.3f} {r['p99']:9.3f} {r['max']:9.3f} "
          f"{r['errors']:7} {r['cores']:6.2f} {r['memory']:7.0f}", flush=True)


class Comparison:
    INFER = "/v2/models/range/infer"

    def __init__(self, options, folder):
        self.options, self.before = options, shlex.split(options.before)
        self.study = options.study
        if not self.study:
            self.study = folder / "demo"
            subprocess.run([options.program, "demo", "--output", self.study], check=True, capture_output=True)
        self.model = folder / "model.onnx"
        subprocess.run([options.program, "export", self.study, "--file", self.model], check=True,
                       capture_output=True)
        self.bodies = requests(options.program, self.study, folder)
        self.clients = Clients(folder, self.before)

    def start(self, name):
        infer = self.bodies["infer"].read_text()
        if name == "tessera":
            one = Server([*self.before, self.options.program, "serve", "--repository",
                          self.study / "repository", "--port", "0"])
        else:
            port, workers = free_port(), name.rsplit(" ", 1)[-1]
            one = Server([*self.before, sys.executable, "-m", "uvicorn", "peer:app", "--port", str(port),
                          "--no-access-log", "--log-level", "warning", "--workers", workers], port,
                         PEER_MODEL=str(self.model), OMP_NUM_THREADS="1")
        answer = one.await_answer(self.INFER, infer)["outputs"][0]["data"][0]
        return one, answer

    def run(self):
        names = ["tessera", *dict.fromkeys(f"FastAPI, workers: {n}" for n in (1, os.cpu_count()))]
        servers, rows = {}, []
        try:
            answers = {}
            for name in names:
                servers[name], answers[name] = self.start(name)
            for name in names[1:]:
                apart = abs(answers[name] - answers["tessera"]) / abs(answers["tessera"])
                print(f"the same answer: {answers['tessera']:.9g} by tessera, {answers[name]:.9g} by {name}")
                if not apart <= MOST_APART:
                    sys.exit(f"{name} answers something else: {apart:.1e} apart, expected {MOST_APART:g} at most")
            print(f"\n{'server':24} {'load':18} {'per s':>9} {'p50 ms':>9} {'p99 ms':>9} {'max ms':>9} "
                  f"{'errors':>7} {'cores':>6} {'MiB':>7}")
            for count in self.options.connections:
                rounds = {name: [] for name in names}
                for _ in range(self.options.rounds):
                    for name in names:
                        rounds[name].append(self.clients.closed(servers[name], self.INFER, self.bodies["infer"],
                                                                count, self.options.closed))
                for name in names:
                    rows.append((name, f"closed, {count}", middle(rounds[name])))
                    line(*rows[-1])
            for name, path, body in [*((n, self.INFER, "infer") for n in names),
                                     ("tessera", "/predict", "predict")]:
                found = self.clients.constant(servers[name], path, self.bodies[body], self.options.rate,
                                              self.options.seconds)
                shown = "/predict" if body == "predict" else "infer"
                rows.append((name, f"{self.options.rate:g}/s {shown}", found))
                line(*rows[-1])
        finally:
            for one in servers.values():
                one.end()
        return rows


def ratios(rows):
    print("\nbeside tessera           load               throughput   p99")
    of = {(name, load): r for name, load, r in rows}
    for (name, load), r in of.items():
        if name != "tessera":
            own = of["tessera", load]
            print(f"{name:24} {load:18} {own['rate'] / r['rate']:9.2f}x {r['p99'] / own['p99']:6.2f}x")


def main():
    options = settings()
    options.program = options.program.resolve()
    busy = machine.load_now()
    if busy > BUSY and not options.busy:
        sys.exit(f"others use {busy:.2f} cores: --busy measures nevertheless, and says so")
    wrk = subprocess.run(["wrk", "-v"], capture_output=True, text=True).stdout.split(" [")[0]
    print(f"{machine.processor()}; caches {machine.caches()}; others use {busy:.2f} cores; "
          f"{wrk}, {', '.join(map(version, PACKAGES))}"
          f"{'; servers and clients by ' + options.before if options.before else ''}")
    with tempfile.TemporaryDirectory() as name:
        rows = Comparison(options, pathlib.Path(name)).run()
    ratios(rows)
    if options.json:
        options.json.write_text(json.dumps(
            {"processor": machine.processor(), "others": busy, "before": options.before,
             "versions": [wrk, *map(version, PACKAGES)],
             "rows": [{"server": name, "load": load, **r} for name, load, r in rows]}, indent=2))
    own = [r for name, load, r in rows if name == "tessera"]
    sys.exit(1 if any(r["errors"] for r in own) else 0)


main()
