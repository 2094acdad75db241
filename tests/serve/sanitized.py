# SPDX-License-Identifier: MIT
"""sanitized.py <forecast> <repository>: what a forecaster built with sanitizers must survive.

The attacks of tests/readers/serve_attacks.py, those on /predict, requests in the same bytes, versions
that are replaced under load and SIGTERM in the middle of it. Nothing may answer 5xx, and the server's
standard error stays empty: a sanitizer writes there. The model is `range` with a look-back of 20.
"""
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).parents[1] / "readers"))
import serve_attacks

LOOK_BACK = 20
serve_attacks.INFER = INFER = "/v2/models/range/infer"
serve_attacks.WINDOW = WINDOW = {"name": "features", "datatype": "FP64", "shape": [1, LOOK_BACK, 15],
                                 "data": [0.01] * (15 * LOOK_BACK)}
post = serve_attacks.post


class Server(serve_attacks.Server):
    def __init__(self, repository, *options):
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.argv[1], "serve", "--repository", repository, "--port", "0", "--poll-seconds", "0.1", *options],
            stdout=subprocess.PIPE, stderr=self.said, text=True,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1:exitcode=99",
                 "UBSAN_OPTIONS": "print_stacktrace=1"})
        self.port = next(int(line.rsplit(":", 1)[1]) for line in self.process.stdout if "listening" in line)

    def end(self):
        status = super().end()
        self.said.seek(0)
        text = self.said.read().decode(errors="replace")
        assert not text, text[:5000]
        return status


def days(count):
    first = datetime.date(2018, 1, 1)
    noise = random.Random(1)
    return [{"date": (first + datetime.timedelta(days=i)).isoformat(), "open": 100, "high": 102, "low": 98,
             "close": 100 + noise.uniform(-1, 1), "volume": 1e9} for i in range(count)]


def bad_predictions():
    good = days(LOOK_BACK + 40)
    yield from ([], {}, 1, None, "x", {"prices": None}, {"prices": {}}, {"prices": "x"}, {"prices": []},
                {"prices": [1]}, {"prices": [[]]}, {"prices": [{}]}, {"prices": good[:1]},
                {"prices": good[:10]}, {"prices": good + good}, {"prices": good[::-1]},
                {"prices": good, "target": 1}, {"prices": good, "target": "none"},
                {"prices": good, "target": "x" * 10_000}, {"prices": good, "user": []})
    for key in ("date", "open", "high", "low", "close", "volume"):
        for value in (None, [], {}, True, "x", -1, 1e999, 0, "2018-13-01", "2018-02-30",
                      "\u00e9" * 10, "9" * 500):
            if not (key == "volume" and value == 0):
                yield {"prices": [*good[:-1], {**good[-1], key: value}]}
        yield {"prices": [*good[:-1], {k: v for k, v in good[-1].items() if k != key}]}


def more():
    """What the list for any server lacks."""
    good = days(LOOK_BACK + 41)
    for body in bad_predictions():
        yield post("/predict", body)
    for change in ({"data": [0.01] * 15 + [1e300] * 15 * (LOOK_BACK - 1)}, {"data": [-1e300] * (15 * LOOK_BACK)},
                   {"data": [1e39] * (15 * LOOK_BACK)}, {"data": [1e18] * (15 * LOOK_BACK)},
                   {"data": [[[1e308] * 15] * LOOK_BACK]}, {"data": [10 ** 30] * (15 * LOOK_BACK)},
                   {"shape": [1, 0, 15], "data": []}, {"shape": [1, -LOOK_BACK, -15]},
                   {"shape": [1, LOOK_BACK, 15, 1]}, {"shape": [15, LOOK_BACK, 1]}):
        yield post(INFER, {"inputs": [{**WINDOW, **change}]})
    for behind in (struct.pack("<d", 1e300), struct.pack("<d", math.nan), struct.pack("<d", -math.inf)):
        binary = {k: v for k, v in WINDOW.items() if k != "data"}
        text = json.dumps({"inputs": [{**binary, "parameters": {"binary_data_size": 8 * 15 * LOOK_BACK}}]}).encode()
        yield post(INFER, text + behind * (15 * LOOK_BACK), b"Inference-Header-Content-Length: %d\r\n" % len(text))
    for outputs in (1, {}, [1], [{}], [{"name": "x"}], [{"name": 1}],
                    [{"name": "forecast", "parameters": {"binary_data": 1}}]):
        yield post(INFER, {"inputs": [WINDOW], "outputs": outputs})
    for parameters in ({"sequence_id": "s" * 300}, {"sequence_id": 2 ** 64}, {"sequence_id": "\u00e9\u0001"},
                       {"sequence_id": 1, "sequence_start": True, "sequence_end": True}):
        yield post(INFER, {"parameters": parameters, "inputs": [WINDOW]})
    for name in (1, [], {}):
        yield post(INFER, {"id": name, "inputs": [WINDOW]})
    window = json.dumps(WINDOW)
    for text in (window[:-1] + ',"shape":[1]}', window[:-1] + ',"name":"x"}', window[:-1] + ',"datatype":"FP32"}'):
        yield post(INFER, f'{{"inputs":[{text}]}}'.encode())  # the last of equal keys counts
    for word in ("NaN", "Infinity", "-Infinity", "1e999", "-", "+1", "0x10", "1e", "\\u0031"):
        yield post(INFER, f'{{"inputs":[{window.replace("0.01", word, 1)}]}}'.encode())
        yield post("/predict", json.dumps({"prices": good}).replace("1000000000.0", word, 1).encode())
    for method in ("HEAD", "OPTIONS", "TRACE", "DELETE"):
        for path in ("/predict", "/predict/batch", "/nothing", "*", "/%", "/predict/%ff", INFER):
            yield f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    for expected in (b"100-continue, more", b"200-ok", b""):
        yield post(INFER, {}, b"Expect: " + expected + b"\r\n")
        yield post("/predict", {}, b"Expect: " + expected + b"\r\n")
    for requests in (None, {}, [], 1, [1], [None], [{}], [[]], [{"prices": good}, 1], [{"prices": []}] * 100,
                     [{"prices": good}] * 101):
        yield post("/predict/batch", {"requests": requests})
    for body in (b"{", b"[" * 200_000, b'{"prices":[' * 1000, b"\xff\xfe", b'{"prices":"\\ud800"}'):
        yield post("/predict", body)
        yield post("/predict/batch", body)
    for what in ("traffic", "load", "unload", "rollback", "x"):
        for name in ("none", "%2e%2e", "%00", "..", "a" * 5000):
            yield post(f"/v2/repository/models/{name}/{what}", b"{")
    for weights in (None, 1, [], {"1": -1}, {"1": "x"}, {"9": 1}, {"1": 1e308, "2": 1e308}, {"": 1}, {"1": None}):
        yield post("/v2/repository/models/range/traffic", {"weights": weights})


def check_odd(server):
    """Prices that are allowed, but no number comes of them, spoil nothing for those who come later."""
    good = days(LOOK_BACK + 41)
    for _ in range(3):
        for close in (1e-320, 1e308):
            odd = [*good[:-1], {**good[-1], "close": close, "high": 1e308, "low": 1e-320}]
            status, text = server.ask("POST", "/predict", {"prices": odd})
            assert status == 400 and b"forecast" in text, (status, text)
    for _ in range(100):  # more than a window of the drift monitor
        status, text = server.ask("POST", "/predict", {"prices": good})
        assert status == 200, (status, text)


def malformed(repository):
    server = Server(repository)
    noise = random.Random(2)
    slow = [b"G", b"POST /predict HTTP/1.1\r\nHost: x\r\n", b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Le"]
    with concurrent.futures.ThreadPoolExecutor(len(slow)) as pool:
        late = [pool.submit(server.raw, one, False, 60) for one in slow]
        right = post(INFER, {"inputs": [WINDOW]})  # a wrong datatype there is the right one here
        requests = [one for one in [*serve_attacks.malformed(), *more()] if one != right]
        for request in requests:
            status = server.raw(request, timeout=60)
            assert 400 <= status < 500 or (status == 0 and len(request) < 40), (status, request[:200], request[-200:])
        assert [one.result() for one in late] == [408] * len(slow)
    check_odd(server)
    whole = [post("/predict", {"prices": days(LOOK_BACK + 41)}), post(INFER, {"inputs": [WINDOW]})]
    for round_ in range(300):  # spoilt bytes, and what comes behind them on the same connection
        spoilt = bytearray(whole[round_ % 2])
        for _ in range(noise.randint(1, 20)):
            spoilt[noise.randrange(len(spoilt))] = noise.randrange(256)
        behind = noise.choice([b"", whole[0] * 3, bytes(noise.randrange(256) for _ in range(500)), b"\r\n" * 99])
        assert server.raw(bytes(spoilt) + behind, timeout=60) < 500
    for piece in (1, 7, 1000):  # a good one in chunks is none of these
        body = json.dumps({"inputs": [WINDOW]}).encode()
        parts = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + piece]), body[i:i + piece])
                         for i in range(0, len(body), piece))
        head = f"POST {INFER} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        assert server.raw(head + parts + b"0\r\n\r\n", timeout=60) == 200
        assert server.raw(head + parts + b"z\r\n\r\n" + whole[0], timeout=60) == 400
    assert server.ask("POST", "/predict", {"prices": days(LOOK_BACK + 41)})[0] == 200
    assert server.end() == 0
    return len(requests) + len(slow) + 306


def load(server, ends, statuses):
    try:
        while not ends.is_set():
            statuses.append(server.ask("POST", INFER, {"inputs": [WINDOW]})[0])
            statuses.append(server.ask("POST", "/predict", {"prices": days(LOOK_BACK + 41)})[0])
    except OSError:
        statuses.append(0)  # the server has ended


def under_load(repository, act):
    """Statuses that eight clients saw before `act` was over."""
    server, ends, statuses = Server(repository), threading.Event(), []
    clients = [threading.Thread(target=load, args=(server, ends, statuses)) for _ in range(8)]
    for one in clients:
        one.start()
    time.sleep(1)
    act(server)
    seen = list(statuses)
    ends.set()
    if server.process.poll() is None:
        assert server.end() == 0
    for one in clients:
        one.join()
    return seen


def reload(repository):
    model = pathlib.Path(repository, "range")
    first = next(p for p in model.iterdir() if p.is_dir())

    def act(server):
        for round_ in range(10):
            shutil.copytree(first, model / "7")
            assert server.ask("POST", "/v2/repository/models/range/load")[0] == 200
            shutil.rmtree(model / "7")
            assert server.ask("POST", "/v2/repository/models/range/load")[0] == 200

    seen = under_load(repository, act)
    assert set(seen) == {200}, set(seen)
    return len(seen)


def end(repository):
    for i in range(5):
        def act(server):
            time.sleep(0.1 * i)
            status = server.end()
            assert status == 0, status

        seen = under_load(repository, act)
        assert set(seen) <= {200, 503, 0}, set(seen)
    return "ended with 0 five times"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (malformed, reload, end):
            repository = pathlib.Path(folder, check.__name__)
            shutil.copytree(sys.argv[2], repository)
            begun = time.monotonic()
            print(f"{check.__name__}: {check(str(repository))} ({time.monotonic() - begun:.1f} s)", flush=True)


main()
