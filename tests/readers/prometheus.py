# SPDX-License-Identifier: MIT
"""prometheus.py <forecast>: a Prometheus that scrapes the server reads what /metrics says.

The programs are Debian's package prometheus; where they are missing, the test is skipped (77).
"""
import collections
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

SKIPPED = 77
if not (shutil.which("prometheus") and shutil.which("promtool")):
    print("skipped: prometheus and promtool are missing (Debian: prometheus)")
    sys.exit(SKIPPED)

failures = 0


def check(holds, what):
    global failures
    failures += not holds
    if not holds:
        print("FAILED:", what)


def ask(port, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST" if body else "GET", path, body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(what, holds):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if holds():
                return True
        except (OSError, http.client.HTTPException, ValueError):
            pass  # it is not there yet
        time.sleep(0.1)
    check(False, f"{what} within a minute")
    return False


def counts_of(text):
    """The samples of http_requests_total, but for those of the scrapes themselves."""
    found = collections.Counter()
    for labels, value in re.findall(r"^http_requests_total\{(.*)\} (\S+)$", text, re.M):
        labels = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if labels["route"] != "/metrics":
            found[labels["method"], labels["route"], labels["code"]] = float(value)
    return found


def query(port, expression):
    status, text = ask(port, "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
    answer = json.loads(text)
    if status != 200 or answer["status"] != "success":
        raise ValueError(text)
    return answer["data"]["result"]


def counts_in(port):
    return collections.Counter(
        {(r["metric"]["method"], r["metric"]["route"], r["metric"]["code"]): float(r["value"][1])
         for r in query(port, 'http_requests_total{route!="/metrics"}')})


def compare(server, prometheus):
    for i in range(40):
        ask(server, "/health")
        ask(server, "/v2/models/range")
        if i % 2:
            ask(server, "/none")
            ask(server, "/predict", b"{")
    text = ask(server, "/metrics")[1]
    told = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    check(told.returncode == 0, f"promtool check metrics: {told.stdout}{told.stderr}")
    wait_for("up is 1", lambda: [r["value"][1] for r in query(prometheus, "up")] == ["1"])
    own = counts_of(text)
    check(sum(own.values()) == 120, f"120 requests, got {own}")
    wait_for(f"Prometheus has {own}", lambda: counts_in(prometheus) == own)
    before = own["GET", "/health", "200"]
    for _ in range(5):
        ask(server, "/health")
    wait_for("it sees what comes later",
             lambda: counts_in(prometheus)["GET", "/health", "200"] == before + 5)
    names = {r["metric"]["__name__"] for r in query(prometheus, '{job="forecast"}')}
    missing = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")} - {
        re.sub("_(bucket|sum|count)$", "", name) for name in names}
    check(not missing, f"Prometheus lacks {missing}")
    print(f"{len(names)} series names, {sum(counts_in(prometheus).values()):g} requests counted")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([sys.argv[1], "train", "--hidden", "32", "--look-back", "20", "--targets", "range", "--folds", "1",
                    "--max-epochs", "1", "--output", folder / "study"], check=True, capture_output=True)
    server = subprocess.Popen([sys.argv[1], "serve", "--repository", folder / "study" / "repository",
                               "--port", "0"], stdout=subprocess.PIPE, text=True)
    port = next(int(line.rsplit(":", 1)[1]) for line in server.stdout if "listening" in line)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 500ms, scrape_timeout: 500ms}\n"
        f"scrape_configs: [{{job_name: forecast, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n")
    own_port = free_port()
    with open(folder / "log", "w") as log:
        prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{own_port}"], stdout=log, stderr=subprocess.STDOUT)
    try:
        if wait_for("Prometheus is ready", lambda: ask(own_port, "/-/ready")[0] == 200):
            compare(port, own_port)
        else:
            print((folder / "log").read_text())
    finally:
        for one in (prometheus, server):
            one.send_signal(signal.SIGTERM)
        check(server.wait(30) == 0, "the server drains")
        prometheus.wait(30)
sys.exit(1 if failures else 0)
