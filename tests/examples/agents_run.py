# SPDX-License-Identifier: MIT
"""agents_run.py <program>: groups of agents behind addresses, played by scripts; options, files, statuses."""
import fcntl
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from program import Program

program = Program(sys.argv[1])
check = program.check


def run(*arguments):
    return program.run("run", *arguments)


class Address(http.server.ThreadingHTTPServer):
    """An OpenAI-compatible address whose replies a function makes of the request."""

    def __init__(self, reply):
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):
                body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
                self.asked.append((handler.path, handler.headers, body))
                text = reply(body["messages"])
                handler.send_response(200)
                handler.send_header("Content-Type", "text/event-stream")
                handler.send_header("Connection", "close")
                handler.end_headers()
                try:
                    for i in range(0, len(text), 7):
                        chunk = {"choices": [{"index": 0, "delta": {"content": text[i:i + 7]}}]}
                        handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    handler.wfile.write(b"data: [DONE]\n\n")
                except ConnectionError:
                    pass  # it has new answers, and asks again
                handler.close_connection = True

            def do_GET(handler):
                body = json.dumps({"object": "list", "data": [{"id": "only"}]}).encode()
                handler.send_response(200)
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(handler, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


def answers(content):
    return json.dumps({"action": "new_answer", "content": content})


def decided(messages):
    """Answers where there is none yet, else votes for the first; presents what it is told to."""
    last = messages[-1]["content"]
    if "JSON" not in last:
        return "Presented: forty-two."
    if "none yet" in last:
        return answers("forty-two")
    shown = re.search(r'"agent": "(agent\d+)"', last).group(1)
    return json.dumps({"action": "vote", "agent": shown, "reason": "it is right"})


def slow(messages):
    time.sleep(20)
    return decided(messages)


def dead_url():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/v1"


def group_file(folder, agents, **settings):
    path = folder / "group.yaml"
    path.write_text(json.dumps({**settings, "agents": agents}))  # JSON is YAML
    return path


def answers_and_votes(folder):
    address = Address(decided)
    out = folder / "sessions"
    urls = [f"--remote={address.url}#m{i}" for i in range(3)]
    done = run(*urls, "--seed", 5, "--output", out, "What is six times seven?")
    check(done.returncode == 0, f"a group of three answers: {done.stderr}")
    check(done.stdout == "Presented: forty-two.\n", f"the answer, and nothing else: {done.stdout}")
    check("answers: forty-two" in done.stderr and "it is right" in done.stderr, f"what was said: {done.stderr}")
    turn = out / "session_1" / "turn_1"
    status = json.loads((turn / "status.json").read_text())
    check(status["phase"] == "ended" and status["completion"] == 100, f"the last status: {status}")
    check(all(one["status"] == "completed" for one in status["agents"].values()), f"of each: {status}")
    winner = status["winner"]
    check((turn / "final" / winner / "answer.txt").read_text() == "Presented: forty-two.", "the answer's file")
    record = [json.loads(line) for line in (turn / "record.jsonl").read_text().splitlines()]
    check(record[-1]["outcome"] == "votes" and record[-1]["winner"] == winner, f"the record's end: {record[-1]}")
    check({one[2]["model"] for one in address.asked} == {"m0", "m1", "m2"}, "each agent asks for its model")
    check({one[2]["seed"] for one in address.asked} == {5, 6, 7}, "each agent has a seed of its own")
    check(all(one[0] == "/v1/chat/completions" for one in address.asked), "at the path of chats")

    asked = len(address.asked)
    again = run(*urls, "--automation", "--session", out / "session_1", "And half of it?")
    check(again.returncode == 0, f"a second turn: {again.stderr}")
    check("forty-two" not in again.stderr, f"--automation leaves out what was said: {again.stderr}")
    check(any("six times seven" in json.dumps(one[2]) for one in address.asked[asked:]), "knows the first one")
    check(" votes for member_" in done.stderr and "agent1" not in done.stderr, f"agents have one name: {done.stderr}")
    check(", by votes:" in done.stderr, f"how it ended: {done.stderr}")
    listed = run("--list-sessions", "--output", out)
    check("2 turns" in listed.stdout and "And half of it?" in listed.stdout, f"the list: {listed.stdout}")


def shows_no_terminal_what_it_would_obey(folder):
    """What agents behind addresses say is no command to a terminal, neither as it is said nor as the answer."""
    bad = "\x1b]0;title\x07\x1b[2J\u009b2J done"

    def reply(messages):
        return decided(messages).replace("Presented: forty-two.", bad).replace("forty-two", json.dumps(bad)[1:-1])
    path = group_file(folder, [{"url": Address(reply).url}, {"url": Address(reply).url}])
    done = run("--config", path, "--no-display", "--output", folder / "out", "What?")
    check("?]0;title??[2J?2J done" in done.stderr, f"what was said: {done.stderr!r}")
    check("\x1b" not in done.stderr and "\u009b" not in done.stderr and "\x07" not in done.stderr, f"as letters: {done.stderr!r}")
    check(done.stdout == bad + "\n", f"a file gets the answer as it is: {done.stdout!r}")
    near, far = os.openpty()
    process = subprocess.Popen([program.path, "run", "--config", path, "--no-display", "--output", folder / "shown", "What?"],
                               stdout=far, stderr=subprocess.PIPE)
    process.communicate(timeout=60)
    shown = os.read(near, 65536).decode()
    check(shown == "?]0;title??[2J?2J done\r\n", f"a terminal gets none of it: {shown!r}")


def says_what_does_not_count(folder):
    """A vote that is refused is no vote to who looks on."""
    wrong = Address(lambda messages: json.dumps({"action": "vote", "agent": "agent7", "reason": "why not"}))
    done = run(f"--remote={wrong.url}#m", "--output", folder / "out", "What?")
    check(done.returncode == 2 and done.stderr.count("member_1 votes for agent7, which does not count: why not") == 3,
          f"three votes that are none: {done.stderr}")
    check("member_1 is lost: nothing that it did counts" in done.stderr, f"and the end of it: {done.stderr}")


def finds_the_model(folder):
    """Without #MODEL an address is asked for the only one that it has; so does this program's own `serve`."""
    subprocess.run([program.path, "demo", "--steps", "20", "--output", folder], check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([program.path, "serve", "--model", folder / "model.gguf", "--name", "own", "--port", "0"],
                              stdout=subprocess.PIPE, text=True)
    url = next(line for line in server.stdout if "listening" in line).split()[-1]
    done = run(f"--remote={url}", "--output", folder / "out", "?")
    check("does not exist" not in done.stderr, f"the server's own model is asked: {done.stderr}")
    check("maximum context length" in done.stderr, f"and says that the rules are too long for it: {done.stderr}")
    server.terminate()
    server.wait(30)


def needs_something_new(folder):
    """Two agents say nearly the same: that is an answer only where any other text is one."""
    def replies(text):
        def reply(messages):
            last = messages[-1]["content"]
            if "JSON" not in last:
                return "Presented."
            if "expected a new answer" in json.dumps(messages) or len(re.findall(r'"agent": "', last)) > 1:
                shown = re.search(r'"agent": "(agent\d+)"', json.dumps(messages).replace('\\"', '"')).group(1)
                return json.dumps({"action": "vote", "agent": shown, "reason": "it says so"})
            return answers(text)
        return Address(reply).url
    urls = [f"--remote={replies(text)}" for text in ("the cat sat on the mat", "the cat sat on a mat")]
    for how, count in (("balanced", 1), ("lenient", 2)):
        done = run(*urls, "--novelty", how, "--output", folder / how, "Where is the cat?")
        check(done.returncode == 0, f"--novelty {how}: {done.stderr}")
        record = (folder / how / "session_1" / "turn_1" / "record.jsonl").read_text()
        given = {event["text"] for event in map(json.loads, record.splitlines())
                 if event.get("event") == "answer" and event["verdict"] == "taken"}
        check(len(given) == count, f"--novelty {how}: {record}")


class Screen:
    """What a vt100 shows of these bytes: what ncurses sends to one, and no more."""

    def __init__(self, rows, columns):
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0

    def put(self, text):
        for code, command, letter in re.findall(
                r"\x1b\[([\d;?]*)([A-Za-z])|\x1b[()].|\x1b.|([^\x00\x0e\x0f])", text):
            numbers = [int(n) for n in re.findall(r"\d+", code)]
            if command == "H":
                self.row, self.column = (n - 1 for n in (numbers or [1, 1]))
            elif command and command in "ABCD":
                by = (numbers or [1])[0]
                self.row += {"A": -by, "B": by}.get(command, 0)
                self.column += {"C": by, "D": -by}.get(command, 0)
            elif command == "J":
                for row in self.cells[self.row + (self.column > 0):]:
                    row[:] = [" "] * len(row)
            elif command == "K":
                first, last = (0, self.column + 1) if code == "1" else (self.column, len(self.cells[0]))
                self.cells[self.row][first:last] = [" "] * (last - first)
            elif letter == "\r":
                self.column = 0
            elif letter == "\n":
                self.row += 1
            elif letter == "\b":
                self.column -= 1
            elif letter:
                self.cells[self.row][self.column] = letter
                self.column += 1

    def line(self, row):
        return "".join(self.cells[row]).rstrip()


def in_terminal(folder, path, kind):
    """What a terminal of this kind got while a group worked; the answer goes elsewhere."""
    near, far = os.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(far)
    process = subprocess.Popen([sys.argv[1], "run", "--config", path, "--output", folder / kind, "What is it?"],
                               stdin=far, stderr=far, stdout=subprocess.PIPE,
                               env={**os.environ, "TERM": kind, "LC_ALL": "C.UTF-8"})
    sent = bytearray()

    def read():
        while b"the record is in" not in sent:
            sent.extend(os.read(near, 65536))
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    output = process.communicate(timeout=60)[0].decode()
    reader.join(10)
    check(process.returncode == 0 and output == "Presented: forty-two.\n", f"the answer, alone: {output}")
    check(termios.tcgetattr(far) == before, "the terminal is as it was")
    return sent.decode()


def shows_columns(folder):
    """In a terminal: a column for each agent, and the answer alone on standard output."""
    url = Address(decided).url
    path = group_file(folder, [{"id": "ada", "url": url}, {"id": "bob", "url": url}], seed=1)
    for kind in ("no-such-terminal", "dumb"):
        lines = in_terminal(folder, path, kind)
        check(" votes for ada" in lines or " votes for bob" in lines, f"lines in a terminal of the kind {kind}: {lines!r}")
    text = in_terminal(folder, path, "vt100")
    if "ada" not in text.split("the record is in")[0]:
        return check("ada votes" in text, f"lines where there is no ncurses: {text!r}")
    screen = Screen(24, 200)
    screen.put(text[:text.index("the record is in")])
    shown = "\n".join(screen.line(row) for row in range(24))
    check(screen.line(0).startswith("What is it?"), f"the question on top: {shown}")
    check(re.fullmatch(r"ada \w+ {2,}bob \w+", screen.line(2)) and screen.line(2).index("bob") == 40,
          f"two columns: {shown}")
    check("forty-two" in shown and re.search(r"^votes: (ada|bob) \d, (ada|bob) \d", screen.line(23)),
          f"what was said, and the votes: {shown}")


def goes_on_without_the_dead(folder):
    alive = Address(decided)
    os.environ["TESSERA_TEST_TOKEN"] = "secret"
    path = group_file(folder, [{"id": "dead", "url": dead_url()},
                               {"id": "ada", "url": alive.url, "character": "You are Ada.",
                                "token_variable": "TESSERA_TEST_TOKEN"},
                               {"id": "bob", "url": alive.url, "max_tokens": 7, "top_p": 0.5, "seed": 7}], seed=1)
    done = run("--config", path, "--output", folder / "lost", "What?")
    check(done.returncode == 0, f"two of three answer: {done.stderr}")
    check("dead is lost" in done.stderr, f"and the third is named: {done.stderr}")
    check(any(one[1].get("Authorization") == "Bearer secret" for one in alive.asked), "the token is sent")
    check(any("You are Ada." in json.dumps(one[2]["messages"]) for one in alive.asked), "the character is told")
    check({7, 200} == {one[2]["max_tokens"] for one in alive.asked}, "settings are of each agent")
    check({None, 0.5} == {one[2].get("top_p") for one in alive.asked}, "top_p is sent where it is given")
    check({2, 7} == {one[2]["seed"] for one in alive.asked}, "a seed is an agent's own, or the group's and its place")
    none = run(f"--remote={dead_url()}", "--output", folder / "none", "What?")
    check(none.returncode == 2 and none.stdout == "", f"nobody left: {none.stderr}")


def ends_in_time(folder):
    first = Address(lambda messages: answers("so far") if "none yet" in messages[-1]["content"] else slow(messages))
    begun = time.monotonic()
    done = run(f"--remote={first.url}", f"--remote={Address(slow).url}", "--timeout", 2, "--output",
               folder / "late", "What?")
    check(done.returncode == 3, f"the status of a time-out: {done.returncode} {done.stderr}")
    check(done.stdout == "so far\n", f"the best answer so far: {done.stdout}")
    check(time.monotonic() - begun < 10, "it does not wait for those that are late")
    status = json.loads((folder / "late" / "session_1" / "turn_1" / "status.json").read_text())
    check({one["status"] for one in status["agents"].values()} == {"timeout"}, f"both were at work: {status}")
    begun = time.monotonic()
    done = run(f"--remote={first.url}", f"--remote={Address(slow).url}", "--patience", 1, "--timeout", 30,
               "--output", folder / "silent", "What?")
    check("member_2 is lost" in done.stderr and time.monotonic() - begun < 25, f"--patience: {done.stderr}")


def can_be_interrupted(folder):
    for kind in (signal.SIGINT, signal.SIGTERM):
        interrupts(folder / kind.name, kind)


def interrupts(folder, kind):
    process = subprocess.Popen([sys.argv[1], "run", f"--remote={Address(slow).url}", "--output",
                                str(folder / "stopped"), "What?"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    status = folder / "stopped" / "session_1" / "turn_1" / "status.json"
    for _ in range(200):
        if status.exists():
            break
        time.sleep(0.05)
    process.send_signal(kind)
    process.communicate(timeout=30)
    check(process.returncode == 4, f"the status of an interrupted group: {process.returncode}")
    written = json.loads(status.read_text())
    check(written["phase"] == "interrupted" and written["winner"] is None, f"its status says so: {written}")
    listed = run("--list-sessions", "--output", folder / "stopped")
    check("1 turns  What? (without an answer)" in listed.stdout, f"its question is listed: {listed.stdout}")


def refuses(folder):
    url = "http://127.0.0.1:1/v1"
    for agents, settings, what in (
            ([], {}, "expected 1 to 64 agents, got 0"),
            ([{"id": "a", "url": url}, {"id": "a", "url": url}], {}, "two of a"),
            ([{"url": url, "temperature": 11}], {}, "--temperature: expected a number from 0 to 10"),
            ([{"url": url, "colour": "red"}], {}, "agent 1: unknown key colour"),
            ([{"url": url}], {"agentes": 3}, "unknown key agentes"),
            ([{"url": url, "id": "../up"}], {}, "expected ids of letters"),
            ([{"url": "ftp://a"}], {}, "http"),
            ([{"url": "https://a"}], {}, "it speaks no TLS"),
            ([{"url": url}], {"patience": 0}, "--patience: expected a number from 0.001"),
            ([{"model": "m"}], {}, "expected a url"),
            ([{}], {}, "expected --model FILE"),
            ([{"url": url, "token_variable": "TESSERA_NO_SUCH"}], {}, "has no TESSERA_NO_SUCH"),
            ("three", {}, "agents: expected a list"),
            ([{"url": url, "seed": 2**63}], {}, "expected a seed of at most 9223372036854775807"),
            ([{"url": url}], {"arithmetic": "fast"}, "one of stored, exact"),
            ([{"url": url}], {"novelty": "none"}, "one of strict, balanced, lenient"),
            ([{"url": url}], {"embeddings": str(folder / "none")}, "tokenizer.json")):
        done = run("--config", group_file(folder, agents, **settings), "--output", folder / "no", "What?")
        check(done.returncode == 1 and what in done.stderr, f"{what}: {done.returncode} {done.stderr}")
    done = run(f"--remote={url}", "--output", folder / "no")
    check(done.returncode == 1 and "expected a question" in done.stderr, f"no question: {done.stderr}")
    done = run(f"--remote={url}", "--output", folder / "no", b"caf\xe9?")
    check(done.returncode == 1 and "the question: expected UTF-8, byte 3 is none" in done.stderr, f"no UTF-8: {done.stderr}")
    path = group_file(folder, [{"url": url}])
    path.write_bytes(path.read_bytes().replace(b'"url"', b'"character": "caf\xe9", "url"'))
    done = run("--config", path, "--output", folder / "no", "What?")
    check(done.returncode == 1 and "expected UTF-8, byte" in done.stderr, f"a file that is no UTF-8: {done.stderr}")
    check(not (folder / "no").exists(), "a group that cannot be leaves nothing behind")
    for arguments, what in ((("--agents", 65), "--agents: expected a number from 0 to 64, got 65"), (("--seed", -1), "--seed: expected a whole number"),
                            (("--sing",), "--sing"), (("--timeout", "1s"), "--timeout: expected a finite number")):
        done = run(f"--remote={url}", "--output", folder / "no", "What?", *arguments)
        check(done.returncode == 1 and what in done.stderr, f"{what}: {done.returncode} {done.stderr}")
    damaged = folder / "damaged" / "turn_1"
    (damaged / "final" / "a").mkdir(parents=True)
    (damaged / "question.txt").write_bytes(b"caf\xe9")
    (damaged / "final" / "a" / "answer.txt").write_text("A place.")
    done = run(f"--remote={url}", "--session", folder / "damaged", "What?")
    check(done.returncode == 1 and "question.txt: expected UTF-8, byte 3 is none" in done.stderr, f"damage: {done.stderr}")
    done = run("--list-sessions", "--output", folder / "no")
    check(done.returncode == 1 and "no: expected a folder of sessions" in done.stderr, f"no sessions: {done.stderr}")
    done = run(f"--remote={url}", "--session", folder / "damaged" / "turn_1", "What?")
    check(done.returncode == 1 and "turn_1: expected a session, got one of its turns" in done.stderr, f"a turn: {done.stderr}")
    done = run("--remote", Address(decided).url + "#m", "What is it?", "--output", folder / "order")
    check(done.returncode == 0, f"a question behind an address is none: {done.stderr}")
    done = run(f"--remote={url}", "--validate")
    check(done.returncode == 0 and "1 agents" in done.stdout, f"--validate: {done.stderr}")


with tempfile.TemporaryDirectory() as name:
    for test in (answers_and_votes, shows_no_terminal_what_it_would_obey, says_what_does_not_count, finds_the_model,
                 needs_something_new, shows_columns, goes_on_without_the_dead, ends_in_time,
                 can_be_interrupted, refuses):
        place = pathlib.Path(name) / test.__name__
        place.mkdir()
        test(place)
sys.exit(1 if program.failures else 0)
