# SPDX-License-Identifier: MIT
"""forecast_serve.py <program>: trained models asked over HTTP, replaced, overloaded, killed, drained."""
import concurrent.futures
import csv
import gzip
import http.client
import io
import json
import math
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from program import Program

program = Program(sys.argv[1])
run, check = program.run, program.check
PRICES = pathlib.Path(__file__).parents[2] / "examples" / "forecast" / "data" / "sp500.csv.gz"


class Server:
    def __init__(self, repository, *options):
        self.process = subprocess.Popen([program.path, "serve", "--repository", str(repository), "--port", "0",
                                         "--poll-seconds", "0.1", *map(str, options)],
                                        stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "listening" in line:
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise RuntimeError(f"the server ended with {self.process.wait()}")

    def ask(self, method, path, body=None, headers={}, connection=None):
        to = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        to.request(method, path, data, headers)
        answer = to.getresponse()
        text = answer.read().decode()
        if connection is None:
            to.close()
        return answer.status, text, answer.headers

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def metric(self, name):
        text = self.ask("GET", "/metrics")[1]
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                if line.startswith(name)}

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        rest = self.process.stdout.read()
        return self.process.wait(timeout=60), rest


def rows_of(days):
    def iso(date):
        month, day, year = date.split("/")
        return f"{int(year):04}-{int(month):02}-{int(day):02}"
    return [dict(date=iso(d["Date"]), open=float(d["Open"]), high=float(d["High"]), low=float(d["Low"]),
                 close=float(d["Close"]), volume=float(d["Volume"])) for d in days]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    text = gzip.open(PRICES, "rt").read().splitlines()
    prices = rows_of(list(csv.DictReader(text)))
    (folder / "first.csv").write_text("\n".join(text[:1900]))
    study = folder / "study"
    done = run("train", "--hidden", 32, "--look-back", 20, "--data", folder / "first.csv", "--targets", "range",
               "--folds", 1, "--train-days", 600, "--max-epochs", 2, "--output", study)
    check(done.returncode == 0, f"a short study: {done.stderr}")
    repository = study / "repository"
    server = Server(repository)

    # What it answers is what the program answers, to the last bit.
    here = json.loads(run("predict", study).stdout)
    status, body, headers = server.post("/predict", {"prices": prices[:1899]})
    there = json.loads(body)
    check(status == 200 and there["forecast"] == here["forecast"] and there["intervals"] == here["intervals"],
          f"the server says {body}, the program {here}")
    check(headers["X-Model-Version"] == there["version"] == "1", "the version is told")
    days = list(csv.reader(io.StringIO(run("data", "--data", folder / "first.csv").stdout)))[-20:]
    tensor = [[float(x) for x in day[1:16]] for day in days]
    status, body, _ = server.post("/v2/models/range/infer", {"inputs": [
        {"name": "features", "shape": [1, 20, 15], "datatype": "FP64", "data": [tensor]}]})
    check(status == 200 and json.loads(body)["outputs"][0]["data"] == [here["forecast"]], f"KServe: {body}")
    tensor[3][4] = 1e300
    status, body, _ = server.post("/v2/models/range/infer", {"inputs": [
        {"name": "features", "shape": [1, 20, 15], "datatype": "FP64", "data": [tensor]}]})
    check(status == 400 and 'input "features": element 49, ' in json.loads(body)["error"]
          and "expected a number from" in body and "got 1e+300" in body, f"a number too large: {status} {body}")
    parts = [prices[i:i + 60] for i in range(100)]
    status, body, _ = server.post("/predict/batch", {"requests": [{"prices": p} for p in parts]})
    alone = [json.loads(server.post("/predict", {"prices": p})[1])["forecast"] for p in parts]
    check(status == 200 and [p["forecast"] for p in json.loads(body)["predictions"]] == alone,
          "a hundred together answer as each alone")
    check(json.loads(server.ask("GET", "/features/schema")[1])["least_rows"] == {"range": 41}, "the schema")
    check(json.loads(server.ask("GET", "/model/info")[1])["models"][0]["target"] == "range", "the models")
    for path in ("/health", "/ready", "/live", "/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/range/ready"):
        check(server.ask("GET", path)[0] == 200, path)

    # What is none is refused with a sentence, and nothing happens.
    good = prices[:60]
    def changed(key, value, row=3):
        return {"prices": [{**d, key: value} if i == row else d for i, d in enumerate(good)]}
    refused = [b"", b"{", b"[]", b"null", b"{}", b'{"prices": 1}', b'{"prices": []}', b'{"prices": [1]}',
               b"\xff\xfe", b"[" * 100_000, b'{"prices": [' + b"{}," * 50_000 + b"{}]}", {"prices": good[:40]},
               changed("high", 1.0), changed("close", "x"), changed("close", None), changed("close", -1),
               changed("volume", -1), changed("date", "x"), changed("date", 5), changed("date", good[2]["date"]),
               changed("open", 1e999), {"prices": good, "target": 5}, {"prices": good, "user": []}]
    for body in refused:
        status, text, _ = server.post("/predict", body)
        check(400 <= status < 500 and "error" in json.loads(text), f"{str(body)[:60]}: {status} {text[:100]}")
    for body in ({}, {"requests": []}, {"requests": [{"prices": good}] * 101}, {"requests": [{"prices": good}, 1]}):
        check(server.post("/predict/batch", body)[0] == 400, f"batch {str(body)[:40]}")
    check(server.post("/predict", {"prices": good, "target": "luck"})[0] == 404, "a model that is not there")
    check(server.ask("GET", "/predict")[0] == 405 and server.ask("GET", "/nothing")[0] == 404, "405 and 404")

    # A new version while requests come: none is lost.
    ends, lost, seen = threading.Event(), [], set()
    def load():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        while not ends.is_set():
            status, text, headers = server.post("/predict", {"prices": good}, connection=connection)
            seen.add(headers["X-Model-Version"])
            if status != 200:
                lost.append((status, text))
    threads = [threading.Thread(target=load) for _ in range(4)]
    for t in threads:
        t.start()
    done = run("retrain", study, "--data", "sp500")
    check(done.returncode == 0, f"a better model: {done.stdout}{done.stderr}")
    begun = time.monotonic()
    while "2" not in seen and time.monotonic() < begun + 120:
        time.sleep(0.05)
    run("rollback", study)
    back = json.loads(server.post("/predict", {"prices": good})[1])["version"]
    while back != "1" and time.monotonic() < begun + 240:
        back = json.loads(server.post("/predict", {"prices": good})[1])["version"]
    ends.set()
    for t in threads:
        t.join()
    check(not lost and seen == {"1", "2"} and back == "1", f"lost {lost[:3]}, versions {seen}, now {back}")

    # The new version's bands come from what it missed by on the days that judged it.
    server.post("/v2/repository/models/range/traffic", {"weights": {"2": 1}})
    held, inside = range(len(prices) - 253, len(prices) - 1), {0.8: 0, 0.95: 0}
    for i in range(0, len(held), 84):
        some = held[i:i + 84]
        told = json.loads(server.post("/predict/batch", {"requests": [{"prices": prices[j - 500:j + 1]} for j in some]})[1])
        for j, one in zip(some, told["predictions"], strict=True):
            came = math.log(prices[j + 1]["high"] / prices[j + 1]["low"])
            for band in one["intervals"]:
                inside[band["share"]] += band["low"] <= came <= band["high"]
    for band, count in inside.items():
        check(abs(count / len(held) - band) < 0.01, f"{100 * band} % band of version 2: {count} of {len(held)} inside")

    # Half of the users each; the same user is given the same version, after kill -9, too.
    check(server.post("/v2/repository/models/range/traffic", {"weights": {"1": 1, "2": 1}})[0] == 200, "weights")
    check(run("predict", study).returncode == 0, "the program still knows which version was promoted")
    def versions():
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda i: json.loads(server.post(
                "/predict", {"prices": good, "user": f"user {i}"})[1])["version"], range(400)))
    before = versions()
    share = before.count("1") / len(before)
    check(0.4 < share < 0.6, f"version 1 has {share} of the users")
    server.end(signal.SIGKILL)
    server = Server(repository)
    check(versions() == before, "the same version for everyone after a restart")

    # Windows of usual days, then of days five times as wild.
    def drifted():
        return max(server.metric("forecast_input_drifted{").values())
    quiet = []
    for i in range(0, 1500, 100):
        server.post("/predict/batch", {"requests": [{"prices": prices[j:j + 41]} for j in range(i, i + 100)]})
        quiet.append(drifted())
    print(f"{sum(quiet):.0f} of {len(quiet)} times drift of days that were learned from")
    check(sum(quiet) <= 4, "what was learned from is no drift")
    # One day a thousand times is one day, whatever is said of the days before.
    def windows():
        return max(server.metric("forecast_input_windows_total{").values())
    before = windows()
    for i in range(10):
        server.post("/predict/batch", {"requests": [{"prices": prices[200 - (i + j) % 80:300]} for j in range(100)]})
    tensor = {"name": "features", "shape": [1, 20, 15], "datatype": "FP64", "data": [tensor]}
    for i in range(100):
        server.post("/v2/models/range/infer", {"inputs": [tensor]})
    check(windows() <= before + 1, f"two days are no window of days: {windows() - before} windows")
    wild = []
    for d in prices[:141]:
        middle = d["open"]
        wild.append({**d, **{k: middle * (d[k] / middle) ** 5 for k in ("high", "low", "close")}})
    server.post("/predict/batch", {"requests": [{"prices": wild[j:j + 41]} for j in range(100)]})
    check(drifted() == 1, "days that are wilder are drift")

    # Figures that Prometheus takes.
    text = server.ask("GET", "/metrics")[1]
    check('nn_inference_requests_total' in text or 'http_requests_total' in text, "requests are counted")
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        check(done.returncode == 0, f"promtool: {done.stdout}{done.stderr}")
    else:
        print("no promtool: metrics were not checked by it")
    code, rest = server.end()
    check(code == 0 and "all requests were answered" in rest, f"ends with {code}: {rest}")

    # More than it may hold: refused, and well afterwards. With a token.
    (folder / "token").write_text("secret\n")
    server = Server(repository, "--requests", 1, "--token-file", folder / "token")
    bearer = {"Authorization": "Bearer secret"}
    check(server.post("/predict", {"prices": good})[0] == 401, "no token")
    check(server.ask("GET", "/health")[0] == 200, "health needs none")
    many = {"requests": [{"prices": prices[:1000]}] * 20}
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: server.post("/predict/batch", many, headers=bearer)[0], range(60)))
    check(set(answers) <= {200, 429} and 429 in answers and 200 in answers, f"overload: {sorted(set(answers))}")
    check(server.post("/predict", {"prices": good}, headers=bearer)[0] == 200, "well afterwards")
    check(server.end()[0] == 0, "ends well")

    (folder / "empty").mkdir()
    program.refuses((["serve", "--repository", folder / "none"], "none"), (["serve"], "--repository"),
                    (["serve", "--repository", folder / "empty"], "no model"), (["serve", "--port", 70000], "--port"),
                    (["serve", "--repository", repository, "--token-file", folder / "no"], "no"))
    broken = folder / "broken" / "range" / "1"
    shutil.copytree(repository / "range" / "1", broken)
    (broken / "config.json").write_text('{"kind": "forecast", "model": "oracle"}')
    program.refuses((["serve", "--repository", folder / "broken"], "no model"))
sys.exit(1 if program.failures else 0)
