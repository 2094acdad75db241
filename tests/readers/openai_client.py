# SPDX-License-Identifier: MIT
"""openai_client.py <agents>: OpenAI's own package, 16 clients at once and clients that leave, against `serve`.

The model is the one that `agents demo` trains on the spot. Ends with the server's metrics as promtool reads
them, where it is installed.
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
import threading
import time

import openai

AGENTS = sys.argv[1]
MESSAGES = [{"role": "user", "content": "hello"}]
SMALL = {"model": "m", "messages": MESSAGES, "max_tokens": 12, "temperature": 1.0}


def check(fine, what):
    if not fine:
        raise SystemExit(f"openai_client: {what}")


class Server:
    def __init__(self, model, *more):
        self.process = subprocess.Popen(
            [AGENTS, "serve", "--model", str(model), "--name", "m", "--port", "0", *more],
            stdout=subprocess.PIPE, text=True)
        line = next(line for line in self.process.stdout if "listening" in line)
        self.port = int(re.search(r":(\d+)/v1", line)[1])
        self.client = openai.OpenAI(base_url=f"http://127.0.0.1:{self.port}/v1", api_key="x", max_retries=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        check(self.process.wait(30) == 0, "the server ends well")

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def metric(self, name):
        text = self.ask("GET", "/metrics")[1].decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])

    def is_idle(self):
        for _ in range(200):
            if self.metric("generation_active_sequences") == 0 == self.metric("generation_waiting_sequences"):
                return True
            time.sleep(0.05)
        return False


def text_of(answer):
    return answer.choices[0].message.content


def answers(server):
    ask = server.client.chat.completions.create
    check([m.id for m in server.client.models.list()] == ["m"], "the models are listed")
    check(server.client.models.retrieve("m").id == "m", "a model is found")
    first = ask(seed=5, **SMALL)
    check(first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens, "tokens are counted")
    check(first.choices[0].finish_reason in ("stop", "length"), "an end is named")
    check(text_of(ask(seed=5, **SMALL)) == text_of(first), "a seed repeats an answer")
    check(len({text_of(ask(seed=i, **SMALL)) for i in range(8)}) > 1, "another seed has another answer")
    pieces = list(ask(seed=5, stream=True, stream_options={"include_usage": True}, **SMALL))
    streamed = "".join(p.choices[0].delta.content or "" for p in pieces if p.choices)
    check(streamed == text_of(first), f"a stream says the same: {streamed!r}")
    check(pieces[-1].usage.total_tokens == first.usage.total_tokens, "a stream counts tokens")
    scored = ask(seed=5, logprobs=True, top_logprobs=3, **SMALL).choices[0].logprobs.content
    check(scored, "every token has its log-probability")
    check(all(len(one.top_logprobs) == 3 and one.logprob <= 0 for one in scored), "log-probabilities are given")
    check(all(one.top_logprobs[0].logprob >= one.top_logprobs[1].logprob for one in scored), "the highest come first")
    greedy = {**SMALL, "temperature": 0}
    whole = text_of(ask(**greedy))
    check(len(whole) > 2, "the model says something")
    cut = ask(stop=whole[2], **greedy)
    check(text_of(cut) == whole[:whole.index(whole[2])] and cut.choices[0].finish_reason == "stop", "a stop string ends")
    several = ask(n=3, seed=5, **SMALL)
    check([c.index for c in several.choices] == [0, 1, 2], "several choices")
    check(several.choices[0].message.content == text_of(first), "the first of several is the one alone")
    plain = server.client.completions.create(model="m", prompt=["ab", "cd"], max_tokens=4, logprobs=2)
    check(len(plain.choices) == 2 and len(plain.choices[0].logprobs.token_logprobs) > 0, "texts are continued")
    greedy = {"model": "m", "max_tokens": 4, "temperature": 0}
    by_texts, by_tokens, alone = (server.client.completions.create(prompt=prompt, **greedy) for prompt in
                                  (["ab", "cd"], [[97, 98], [99, 100]], [97, 98]))
    check([c.text for c in by_tokens.choices] == [c.text for c in by_texts.choices], "lists of tokens, too")
    check(alone.choices[0].text == by_texts.choices[0].text, "and one list")


def refusals(server):
    ask = server.client.chat.completions.create
    for kind, what in [(openai.NotFoundError, {"model": "no"}), (openai.BadRequestError, {"temperature": 9}),
                       (openai.BadRequestError, {"tools": [{"type": "function", "function": {"name": "f"}}]}),
                       (openai.BadRequestError, {"messages": [{"role": "user", "content": "x" * 100000}]}),
                       (openai.BadRequestError, {"messages": []}), (openai.BadRequestError, {"n": 0})]:
        try:
            ask(**{**SMALL, **what})
        except kind as error:
            check(error.body["message"], "an error has a message")
            beyond = "x" * 1000 in str(what)
            check((error.code == "context_length_exceeded") == beyond, f"its code says what to do: {error.body}")
        else:
            check(False, f"expected {kind.__name__} for {str(what)[:60]}")
    try:
        server.client.embeddings.create(model="m", input="a")
    except openai.BadRequestError as error:
        check("embeddings" in error.body["message"], "a model without embeddings says so")
    else:
        check(False, "a model without embeddings is asked for some")
    good = json.dumps(SMALL).encode()
    bad = [good[:n] for n in range(0, len(good), 3)] + [b"[]", b"null", b"\xff", b"{" * 3000, b'"' * 50]
    bad += [json.dumps({**SMALL, key: value}).encode() for key in
            ("model", "messages", "max_tokens", "temperature", "top_p", "stop", "seed", "n", "stream", "logprobs")
            for value in ([[]], {"a": 1}, -1.5)]
    check(len(bad) >= 60, "enough requests that are none")
    for body in bad:
        for path in ("/v1/chat/completions", "/v1/completions"):
            status, answer = server.ask("POST", path, body)
            check(400 <= status < 500 and "error" in json.loads(answer), f"{body[:80]}: {status} {answer[:100]}")


def many(server):
    found = [None] * 16

    def go(i):
        found[i] = text_of(server.client.chat.completions.create(seed=i, **SMALL))
    threads = [threading.Thread(target=go, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = [text_of(server.client.chat.completions.create(seed=i, **SMALL)) for i in range(16)]
    check(found == alone, "16 clients at once have the answers that each has alone")


def leavers(server):
    endless = {**SMALL, "max_tokens": 90, "logit_bias": {}}
    for i in range(12):
        stream = server.client.chat.completions.create(stream=True, **endless)
        next(iter(stream))
        stream.close()
    check(server.is_idle(), "a client that leaves keeps no lane")
    answers(server)


def overload(model):
    """All requests are there at once, however fast the model is: the server sleeps while they are sent."""
    body = json.dumps({**SMALL, "max_tokens": 90})
    with Server(model, "--queue", "2") as server:
        server.process.send_signal(signal.SIGSTOP)
        clients = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(60)]
        for client in clients:
            client.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        server.process.send_signal(signal.SIGCONT)
        answers = [client.getresponse() for client in clients]
        codes = [answer.status for answer in answers]
        check(set(codes) == {200, 429}, f"too many requests are refused, others answered: {set(codes)}")
        refused = [json.loads(answer.read()) for answer in answers if answer.status == 429]
        check(all(one["error"]["message"] for one in refused), "a refusal has a message")
        check(codes.count(200) >= 2, "those who wait are answered")
        check(server.is_idle(), "nothing is left behind")


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([AGENTS, "demo", "--output", folder], check=True, stdout=subprocess.DEVNULL)
    (file,) = pathlib.Path(folder).glob("*.gguf")
    with Server(file) as running:
        answers(running)
        refusals(running)
        many(running)
        leavers(running)
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "metrics"], input=running.ask("GET", "/metrics")[1], check=True)
    overload(file)
print("openai's package is answered")
