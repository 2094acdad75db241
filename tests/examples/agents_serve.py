# SPDX-License-Identifier: MIT
"""agents_serve.py <program>: OpenAI's interface under attack; what it refuses, and by which words.

Requests that are none get a 4xx and nothing else, as tests/readers/serve_attacks.py makes them and as chats have
them; promtool reads the metrics afterwards, where it is installed.
"""
import http.client
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "readers"))
import serve_attacks

from program import Program

program = Program(sys.argv[1])
check = program.check
CHAT = serve_attacks.INFER = "/v1/chat/completions"
GOOD = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 3}


class Server(serve_attacks.Server):
    def __init__(self, model, *more):
        words = [program.path, "serve", "--model", model, "--name", "m", "--port", "0", *more]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.address = next(line for line in self.process.stdout if "listening" in line).split()[-1]
        self.port = int(re.search(r":(\d+)/v1", self.address)[1])

    def error(self, path, body):
        """Status and error of a request that is refused."""
        status, text = self.ask("POST", path, body)
        return status, json.loads(text)["error"]


def malformed():
    yield from serve_attacks.malformed()
    whole = json.dumps(GOOD).encode()
    for cut in range(0, len(whole), 5):
        yield serve_attacks.post(CHAT, whole[:cut])
    for text in (b"caf\xe9", b"\xed\xa0\x80", b"\\ud800", b"\\udc00\\ud800", b"\x00", b"\xf4\x90\x80\x80", b"\\x"):
        yield serve_attacks.post(CHAT, whole.replace(b'"hi"', b'"' + text + b'"'))
    for key in ("model", "messages", "max_tokens", "temperature", "top_p", "stop", "seed", "n", "stream",
                "logprobs", "logit_bias", "frequency_penalty", "stream_options", "tools", "response_format"):
        for value in ([[]], {"a": 1}, -1e300, 2 ** 70):
            if (key, value) != ("stream_options", {"a": 1}):
                yield serve_attacks.post(CHAT, {**GOOD, key: value})
    for prompt in ([], [[]], [1, "a"], ["a", 1], [[1], 2], [-1], [2 ** 32], [2 ** 80], [1.5], [[[1]]], {}, 7, True,
                   [10 ** 6], [[1], [10 ** 6]], "", [""], ["a"] * 17, [[1]] * 17, [1] * 5000):
        yield serve_attacks.post("/v1/completions", {"model": "m", "prompt": prompt})
    for path in ("/v1", "/v1/models/%ff", "/v1/models/" + "a" * 9000, "/v1/embeddings", "/v1/chat", "/v1//models/x"):
        yield f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def refuses_what_is_none(server):
    count = 0
    for request in malformed():
        count += 1
        status = server.raw(request)
        check(400 <= status < 500 or (status == 0 and len(request) < 40), f"{status} for {request[:300]}")
    check(count >= 300, f"there are many: {count}")
    check(server.process.poll() is None, "the server lives")
    check(server.ask("POST", CHAT, GOOD)[0] == 200, "and answers as before")


def says_what_is_wrong(server):
    status, error = server.error(CHAT, {**GOOD, "messages": [{"role": "user", "content": "x" * 300}]})
    check(status == 400 and error["code"] == "context_length_exceeded" and error["param"] == "messages",
          f"a prompt beyond the context: {error}")
    check(re.fullmatch(r"This model's maximum context length is 128 tokens\. However, your messages resulted in 3\d\d "
                       r"tokens\. Please reduce the length of the messages\.", error["message"]), f"in OpenAI's words: {error}")
    status, error = server.error("/v1/completions", {"model": "m", "prompt": [65] * 200, "max_tokens": 5})
    check(status == 400 and error["code"] == "context_length_exceeded" and "205 tokens (200 in your prompt; 5 for"
          in error["message"], f"the same of tokens: {error}")
    status, error = server.error("/v1/completions", {"model": "m", "prompt": "x" * 10 ** 6})
    check(error["code"] == "context_length_exceeded" and "more than 128" in error["message"], f"of a long text: {error}")
    status, error = server.error("/v1/embeddings", {"model": "m", "input": "a"})
    check(status == 400 and "embeddings" in error["message"], f"no embeddings: {error}")


def takes_tokens(server):
    same = {"model": "m", "max_tokens": 8, "temperature": 0}
    texts, tokens = ({**same, "prompt": prompt} for prompt in (["ab", "c"], [[97, 98], [99]]))
    by_texts, by_tokens = (json.loads(server.ask("POST", "/v1/completions", body)[1]) for body in (texts, tokens))
    check([one["text"] for one in by_texts["choices"]] == [one["text"] for one in by_tokens["choices"]],
          f"tokens are the texts that they are of: {by_texts} {by_tokens}")
    check(by_tokens["usage"] == by_texts["usage"], "and count as they do")


def tells_prometheus(server):
    text = server.ask("GET", "/metrics")[1]
    check(b"generation_tokens_total" in text and b"generation_active_sequences 0" in text, "metrics are there")
    if not shutil.which("promtool"):
        return print("no promtool: metrics were not checked by it")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    check(done.returncode == 0 and not done.stderr, f"promtool: {done.stdout}{done.stderr}")


def listens_on_names(model):
    server = Server(model, "--host", "localhost")
    check(server.address.startswith("http://localhost:"), f"the address has the name: {server.address}")
    check(server.ask("GET", "/health")[0] == 200, "it is heard there")
    check(server.end() == 0, "it ends well")
    server = Server(model, "--allow-origin", "*")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("OPTIONS", CHAT, headers={"Origin": "http://page", "Access-Control-Request-Method": "POST"})
    answer = connection.getresponse()
    check(answer.status == 200 and answer.headers["Access-Control-Allow-Origin"] == "*", f"scripts may ask: {answer.status}")
    check(server.end() == 0, "it ends well")
    program.refuses((["serve", "--model", model, "--allow-origin", "a\r\nb"], "--allow-origin"))
    check(all(Server(model).end() == 0 for _ in range(10)), "whoever reads that it listens may end it at once")
    program.refuses((["serve", "--model", model, "--host", "no.such.name.invalid"], "cannot listen on no.such.name.invalid:8000"),
                    (["serve", "--model", model, "--host", ""], "expected an address or a name, got none"),
                    (["serve", "--model", model, "--port", 65536], "65536 not in range"), (["serve", "--model", model, "--queue", -1], "--queue"), (["serve", "--model", model, "--name", b"\xff"], "UTF-8"))


with tempfile.TemporaryDirectory() as name:
    subprocess.run([program.path, "demo", "--steps", "20", "--output", name], check=True, stdout=subprocess.DEVNULL)
    file = pathlib.Path(name) / "model.gguf"
    running = Server(file)
    for test in (refuses_what_is_none, says_what_is_wrong, takes_tokens, tells_prometheus):
        test(running)
    running.process.send_signal(signal.SIGINT)
    check(running.process.wait(30) == 0, "the server ends well")
    listens_on_names(file)
sys.exit(1 if program.failures else 0)
