# SPDX-License-Identifier: MIT
"""serve_attacks.py <program>: what a server must survive, from outside.

Malformed requests get a 4xx and nothing else; overload gets 429 and passes; versions are replaced
under load without a request lost; 256 sequences at once have the answers of single ones; SIGTERM
drains, and a server that was killed begins again. <program> is tests/serve/http_server_program.cpp.
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = sys.argv[1]
WINDOW = {"name": "input", "datatype": "FP32", "shape": [1, 60, 15], "data": [0.5] * 900}
INFER = "/v2/models/forecast/infer"


def without_interim(got):
    """What came behind interim answers: a client that waits for long gets some (RFC 9110, 15.2)."""
    while got.startswith(b"HTTP/1.1 1") and b"\r\n\r\n" in got:
        got = got.split(b"\r\n\r\n", 1)[1]
    return got if not got.startswith(b"HTTP/1.1 1") else b""


class Server:
    def __init__(self, root, **options):
        words = [f"{name}={value}" for name, value in options.items()]
        self.process = subprocess.Popen([PROGRAM, "serve", root, *words], stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())

    def raw(self, data, shut=True, timeout=10):
        """The status of the answer to these bytes; 0 where the connection ends without one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as s:
            try:
                s.sendall(data)
                if shut:
                    s.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it may have answered already
            got = b""
            try:
                while b"\r\n" not in without_interim(got):
                    piece = s.recv(65536)
                    if not piece:
                        break
                    got += piece
            except ConnectionResetError:
                pass
        got = without_interim(got)
        return int(got.split(b" ", 2)[1]) if got.startswith(b"HTTP/1.") else 0

    def ask(self, method, path, body=None, connection=None):
        c = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        c.request(method, path, data)
        answer = c.getresponse()
        text = answer.read()
        if connection is None:
            c.close()
        return answer.status, text

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def post(path, body, more=b""):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s"
            % (path.encode(), len(body), more, body))


def malformed():
    """Requests, all of which are wrong."""
    whole = post(INFER, {"inputs": [WINDOW]})
    head_end = whole.index(b"\r\n\r\n") + 4
    for cut in [*range(1, head_end, 3), *range(head_end, len(whole), len(whole) // 20)]:
        yield whole[:cut]  # truncated, and nothing more comes
    for line in (b"", b"G", b"GET", b"GET /", b"GET / HTTP", b"GET / HTTP/1.1 x", b"GET / HTTP/0.9",
                 b"GET / HTTP/2.0", b"GET / HTTP/11", b"GET  / HTTP/1.1", b" GET / HTTP/1.1",
                 b"G\x00T / HTTP/1.1", b"GET /\x00 HTTP/1.1", b"GET /\xff\xfe\x01 HTTP/1.1",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0",
                 b"GET /" + b"a" * 100_000 + b" HTTP/1.1", b"(GET) / HTTP/1.1"):
        yield line + b"\r\nHost: x\r\n\r\n"
    for header in (b"", b"Host x", b"Host: x\r\nHost: y", b": x\r\nHost: x", b"Ho st: x",
                   b"Host: x\r\nA\x00: b", b"Host: x\r\nA: \x00", b"Host: x\r\n" + b"A: b\r\n" * 5000,
                   b"Host: x\r\nA: " + b"b" * 200_000, b"Host: x\r\nExpect: more"):
        yield b"GET /v2 HTTP/1.1\r\n" + header + b"\r\n\r\n"
    for header in (b"Content-Length: x", b"Content-Length: -5", b"Content-Length: 5, 6",
                   b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: 1e3",
                   b"Content-Length: 18446744073709551616", b"Content-Length: 99999999999",
                   b"Transfer-Encoding: chunked\r\nContent-Length: 5", b"Transfer-Encoding: gzip",
                   b"Transfer-Encoding: chunked, chunked"):
        yield b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n{}"
    for chunk in (b"x\r\n", b"-1\r\n", b"5\r\nab\r\n", b"fffffffffffffffff\r\n", b"2\r\n{}}\r\n",
                  b"2;" + b"e" * 100_000 + b"\r\n{}\r\n0\r\n\r\n", b"200000\r\n" + b"a" * 0x200000):
        yield (b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: x\r\n"
               b"Transfer-Encoding: chunked\r\n\r\n" + chunk)
    for path in ("/", "/v3", "/v2/models", "/v2/models/", "/v2/models/none", "/v2/models/forecast/x",
                 "/v2/models/forecast/versions/9", "/v2/models/forecast/versions//ready",
                 "/v2/models/%", "/v2/models/%zz", "/v2/models/%00", "/v2/models/%ff",
                 "/v2/models/../../etc/passwd", "/v2/models/..%2f..%2fetc", "*", "//", "/?", "/#",
                 "http://x/none", "/v2/models/forecast/infer", "/v2/repository/index",
                 "/v2/models/" + "a/" * 1000):
        yield f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    for method in ("DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "post"):
        yield f"{method} {INFER} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    for body in (b"", b"{", b"[", b"nul", b"\xff", b"\x00" * 100, b"[" * 100_000, b'{"a":' * 10_000,
                 b'"' + b"a" * 100_000, b"[" + b"1," * 400_000 + b"1]", b"{}", b"[]", b"1", b'"a"',
                 b"a" * 2_000_000, b'{"inputs":' + b"9" * 100_000 + b"}", b"{}{}", b"\xef\xbb\xbf{}"):
        yield post(INFER, body)
    for inputs in (None, 1, {}, [], [1], [[]], [{}], [None], [WINDOW, WINDOW], ["input"]):
        yield post(INFER, {"inputs": inputs})
    for change in ({"name": None}, {"name": 1}, {"name": "x"}, {"name": "a" * 10_000},
                   {"datatype": None}, {"datatype": "FP64"}, {"datatype": "fp32"}, {"datatype": 1},
                   {"datatype": "INT64"}, {"shape": None}, {"shape": 1}, {"shape": []},
                   {"shape": [60, 15]}, {"shape": [1, 60, 16]}, {"shape": [0, 60, 15]},
                   {"shape": [-1, 60, 15]}, {"shape": [1.0, 60, 15]}, {"shape": ["1", 60, 15]},
                   {"shape": [17, 60, 15]}, {"shape": [2 ** 62, 60, 15]}, {"shape": [2 ** 64, 4, 4]},
                   {"shape": [1] * 1000}, {"shape": [2, 60, 15]}, {"data": None}, {"data": 1},
                   {"data": []}, {"data": [1] * 899}, {"data": [1] * 901}, {"data": [None] * 900},
                   {"data": ["1"] * 900}, {"data": [True] * 900}, {"data": [[1] * 900]},
                   {"data": [1e300] * 900}, {"data": [float("nan")] * 900},
                   {"data": [float("inf")] * 900}, {"data": {}}, {"data": "x"},
                   {"data": [[[1] * 15] * 59]}, {"data": [[[1] * 14] * 60]},
                   {"parameters": {"binary_data_size": 3600}},
                   {"parameters": {"binary_data_size": -1}},
                   {"parameters": {"binary_data_size": "x"}}):
        yield post(INFER, {"inputs": [{**WINDOW, **change}]})
    for parameters in (1, [], {"sequence_id": 5}, {"sequence_id": -5}, {"sequence_id": 1.5},
                       {"sequence_id": []}, {"sequence_start": True}, {"sequence_start": 1},
                       {"user": {}}, {"user": "u" * 1000}):
        yield post(INFER, {"parameters": parameters, "inputs": [WINDOW]})
    sample = {"name": "input", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}
    for parameters in ({}, {"sequence_id": 0}, {"sequence_id": 77}, {"sequence_id": "none"},
                       {"sequence_end": True}):
        yield post("/v2/models/stream/infer", {"parameters": parameters, "inputs": [sample]})
    binary = {**WINDOW, "parameters": {"binary_data_size": 3600}}
    del binary["data"]
    text = json.dumps({"inputs": [binary]}).encode()
    for length, bytes_behind in ((len(text), b""), (len(text), b"\0" * 3599),
                                 (len(text), b"\0" * 3601), (len(text) + 1, b"\0" * 3600),
                                 (len(text) - 1, b"\0" * 3600), (10 ** 12, b""), (-1, b""),
                                 (len(text), struct.pack("<f", float("nan")) * 900)):
        more = b"Inference-Header-Content-Length: %d\r\n" % length
        yield post(INFER, text + bytes_behind, more)


def check_malformed(root):
    server = Server(root)
    count = 0
    for request in malformed():
        count += 1
        status = server.raw(request)
        assert 400 <= status < 500 or (status == 0 and len(request) < 40), (status, request[:200])
        if count % 20 == 0:
            assert server.ask("GET", "/v2/health/live")[0] == 200
    for start in (b"G", b"GET / HTTP/1.1\r\nHost: x\r\n",
                  b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"):
        status = server.raw(start, shut=False)
        assert status == 408, (status, start)
        count += 1
    noise = random.Random(1)
    whole = post(INFER, {"inputs": [WINDOW]})
    for _ in range(100):  # bytes of a good request that have changed: anything but a failure
        spoilt = bytearray(whole)
        for _ in range(noise.randint(1, 20)):
            spoilt[noise.randrange(len(spoilt))] = noise.randrange(256)
        assert server.raw(bytes(spoilt)) < 500
    assert count >= 200
    assert server.ask("POST", INFER, {"inputs": [WINDOW]})[0] == 200
    assert server.end() == 0
    return count


def check_overload(root):
    server = Server(root, requests=2)
    statuses = []
    one = json.dumps({"inputs": [{**WINDOW, "shape": [16, 60, 15], "data": [0.5] * 14400}]}).encode()

    def client(_):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for _ in range(15):
            statuses.append(server.ask("POST", INFER, one, c)[0])

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        list(pool.map(client, range(20)))
    assert set(statuses) == {200, 429}, set(statuses)
    for _ in range(20):
        assert server.ask("POST", INFER, {"inputs": [WINDOW]})[0] == 200
    assert server.end() == 0
    return statuses.count(429), len(statuses)


def check_reload(root):
    """Versions are replaced, added and withdrawn while clients ask."""
    server = Server(root)
    folder = pathlib.Path(root, "forecast")
    bad, asked, ends = [], [0], threading.Event()

    def client(i):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        while not ends.is_set():
            body = {"parameters": {"user": f"u{i}"}, "inputs": [WINDOW]}
            status, text = server.ask("POST", INFER, body, c)
            asked[0] += 1
            if status != 200:
                bad.append((status, text))

    clients = [threading.Thread(target=client, args=(i,)) for i in range(4)]
    for one in clients:
        one.start()
    for round_ in range(6):
        shutil.copy(folder / f"{round_ % 2 + 1}/model.safetensors", folder / "new")
        os.replace(folder / "new", folder / "1/model.safetensors")
        (folder / "3").mkdir(exist_ok=True)
        shutil.copy(folder / "2/model.safetensors", folder / "3/new")
        os.replace(folder / "3/new", folder / "3/model.safetensors")
        assert server.ask("POST", "/v2/repository/models/forecast/load")[0] == 200
        weights = {"weights": {"1": 1, "3": 1}}
        assert server.ask("POST", "/v2/repository/models/forecast/traffic", weights)[0] == 200
        shutil.rmtree(folder / "3")
        assert server.ask("POST", "/v2/repository/models/forecast/load")[0] == 200
    ends.set()
    for one in clients:
        one.join()
    assert not bad, bad[:3]
    assert server.ask("POST", "/v2/repository/models/forecast/traffic", {"weights": {}})[0] == 200
    assert server.end() == 0
    return asked[0]


def check_sequences(root):
    """256 at once, interleaved, beside the same ones alone."""
    server = Server(root)

    def run(name, seed, steps):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        noise = random.Random(seed)
        result = []
        for t in range(steps):
            sample = {"name": "input", "datatype": "FP32", "shape": [1, 4],
                      "data": [noise.uniform(-1, 1) for _ in range(4)]}
            parameters = {"sequence_id": name, "sequence_start": t == 0,
                          "sequence_end": t == steps - 1}
            status, text = server.ask("POST", "/v2/models/stream/infer",
                                      {"parameters": parameters, "inputs": [sample]}, c)
            assert status == 200, text
            result.append(json.loads(text)["outputs"][0]["data"])
        c.close()
        return result

    with concurrent.futures.ThreadPoolExecutor(256) as pool:
        together = list(pool.map(lambda i: run(f"t{i}", i, 8), range(256)))
    for i in range(256):
        assert run(i + 1, i, 8) == together[i], i
    metrics = server.ask("GET", "/metrics")[1].decode()
    batches = [line for line in metrics.splitlines() if "batch_size_bucket" in line and "stream" in line]
    assert server.end() == 0
    return batches[0]


def check_end(root):
    server = Server(root)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    server = Server(root, port=server.port)  # the same port at once
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    assert server.ask("POST", INFER, {"inputs": [WINDOW]}, c)[0] == 200
    begun = time.monotonic()
    assert server.end() == 0  # with a connection that is idle
    assert time.monotonic() - begun < 5


def main():
    with tempfile.TemporaryDirectory() as root:
        subprocess.run([PROGRAM, "make", root], check=True)
        for check in (check_malformed, check_overload, check_reload, check_sequences, check_end):
            begun = time.monotonic()
            found = check(root)
            print(f"{check.__name__}: {found} ({time.monotonic() - begun:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
