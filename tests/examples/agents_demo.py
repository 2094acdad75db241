# SPDX-License-Identifier: MIT
"""agents_demo.py <program>: a model that is trained on the spot, its file, and what other commands make of it."""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from program import Program

program = Program(sys.argv[1])
run, check = program.run, program.check


def trained(folder, *arguments):
    """What a training prints, and the file that it leaves."""
    done = run("demo", "--output", folder, *arguments)
    check(done.returncode == 0, f"demo {arguments} ends well: {done.stderr}")
    return done.stdout, folder / "model.gguf"


def learns(folder):
    text, file = trained(folder / "whole")
    losses = [float(loss) for loss in re.findall(r"^step +\d+ of \d+, loss ([\d.]+)", text, re.M)]
    check(len(losses) > 5, f"losses are printed: {text}")
    check(all(b < a for a, b in zip(losses[:5], losses[1:5])), f"the loss falls: {losses}")
    check(losses[-1] < losses[0] / 20, f"and far: {losses}")
    found = re.search(r"^held out: (\d+) of (\d+) answers are right$", text, re.M)
    check(found is not None, f"answers are counted: {text}")
    right, asked = map(int, found.groups())
    check(right >= 0.9 * asked, f"what was held out is answered: {right} of {asked}")
    answers = re.findall(r"^> (.+)\n(.*)\n  (right|expected .+)$", text, re.M)
    check(len(answers) == 6, f"six questions are answered: {text}")
    check(sum(verdict == "right" for _, _, verdict in answers) >= 6 - (asked - right), f"as counted: {answers}")
    check(str(file) in text, "the file is named")
    return file, answers


def answers_as_any_model(file, answers):
    for question, answer, _ in answers:
        done = run("generate", "--model", file, "--temperature", 0, "--max-tokens", 20, "--prompt", question)
        check(done.stdout == answer + "\n", f"generate answers {question}: {done.stdout!r}, not {answer!r}")
    question, answer, _ = answers[0]
    asks = ("generate", "--model", file, "--temperature", 0, "--prompt", "-")
    done = program.run(*asks, stdin=question.encode())
    check(done.stdout == answer + "\n", f"- is standard input: {done.stdout!r} {done.stderr}")
    check(re.fullmatch(r"\d+ tokens of prompt in [\d.]+ s, \d+ tokens at [\d.]+ tokens/s\n", done.stderr), f"how fast: {done.stderr}")
    done = program.run(*asks, "--max-tokens", 1, stdin=question.encode())
    check(re.fullmatch(r"\d+ tokens of prompt and the first one in [\d.]+ s\n", done.stderr), f"one token: {done.stderr}")
    chat = "<|im_start|>user\n" + answers[0][0] + "<|im_end|>\n<|im_start|>assistant\n"
    done = run("generate", "--model", file, "--raw", "--temperature", 0, "--max-tokens", 20, "--prompt", chat)
    check(done.returncode == 0 and done.stdout == answers[0][1], f"as a raw text: {done.stdout!r} {done.stderr}")
    text = "Is 7 < 8?\n\u00e9\u20ac"
    done = run("tokenize", "--model", file, "--text", text)
    check(done.stdout.split() == [str(byte) for byte in text.encode()], f"tokens are bytes: {done.stdout}")
    done = run("tokenize", "--model", file, "--text", "<|im_start|>a<|im_end|><|endoftext|>")
    check(done.stdout.split() == ["257", "97", "258", "256"], f"and three that are none: {done.stdout}")
    done = run("inspect", file)
    for line in ('general.architecture (string) = "llama"', "llama.context_length (u32) = 128", "tensors: 20",
                 'tokenizer.ggml.pre (string) = "gpt-2"', "tokenizer.ggml.eos_token_id (u32) = 258"):
        check(line in done.stdout, f"inspect prints {line}: {done.stdout}")


def chats_beyond_the_context(file):
    def chat(*lines, tokens=20):
        return program.run("chat", "--model", file, "--temperature", 0, "--max-tokens", tokens,
                           stdin=b"".join(line.encode() + b"\n" for line in lines))
    question = "What is the capital of France?"
    first = chat(question).stdout
    done = chat(*[question] * 6)
    check(done.returncode == 0 and len(done.stdout.splitlines()) == 6, f"every message is answered: {done.stdout} {done.stderr}")
    check(re.search(r"the context of 128 tokens is full: \d of the oldest exchanges left it", done.stderr),
          f"what leaves the context is told: {done.stderr}")
    check("left out" not in done.stderr, f"and nothing else is left out: {done.stderr}")
    done = chat("x" * 200, question)
    check("this message is left out: prompt: expected at most 128 tokens, got 2" in done.stderr and done.stdout == first,
          f"a message that has no place goes alone: {done.stdout} {done.stderr}")
    check("the answer ends here: --max-tokens says so" in chat(question, tokens=2).stderr, "a cut is told")
    check("the answer ends here: the context is full" in chat("x" * 108, tokens=500).stderr, "and one by the context")
    goes_on_behind_an_interrupt(file)
    waits = subprocess.Popen([program.path, "chat", "--model", file], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    while waits.stderr.read(1) != b">":
        pass
    waits.send_signal(signal.SIGINT)
    check(waits.wait(20) == -signal.SIGINT, "who is asked for a message may leave")


def goes_on_behind_an_interrupt(file):
    """Ctrl-C ends an answer, and the conversation goes on. An answer that was over before is tried again."""
    for _ in range(20):
        chat = subprocess.Popen([program.path, "chat", "--model", file, "--temperature", "10", "--max-tokens", "100"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        chat.stdin.write(b"a\n")
        chat.stdin.flush()
        chat.stdout.read(1)
        chat.send_signal(signal.SIGINT)
        errors = chat.communicate(b"b\n", timeout=60)[1].decode()
        if "the answer ends here: interrupted" in errors:
            return check(chat.returncode == 0 and errors.count("> ") == 3, f"the next message is asked for: {errors}")
    check(False, "an answer was interrupted")


def refuses_what_no_model_can(file):
    text = file.with_suffix(".txt")
    text.write_text("a")
    number = "expected a whole number of 0 or more"
    program.refuses((["generate", "--model", file, "--prompt", "a", "--seed", -1], "--seed: " + number),
                    (["generate", "--model", file, "--prompt", "a", "--top-k", -1], "--top-k: " + number),
                    (["generate", "--model", file, "--prompt", b"caf\xe9"], "--prompt: expected UTF-8, byte 3 is none"),
                    (["generate", "--model", file, "--prompt", "a" * 200], "prompt: expected at most 128 tokens, got 2"),
                    (["tokenize", "--model", file, "--text", b"\xff"], "--text: expected UTF-8"),
                    (["embed", "--model", file, "--text", "a"], "model.gguf: expected a folder of transformers, of bert, got a file"),
                    (["bench", "--model", file, "--tokens", 113], "--tokens: expected a number from 1 to 112, got 113"),
                    (["bench", "--model", file, "--prompts", text], "--scores"),
                    (["bench", "--model", file, "--perplexity", text, "--window", 129], "--window: expected a number from 2 to 128, got 129"),
                    (["generate", "--model", file, "--raw", "--prompt", "a", "--system", "b"], "--system: expected a conversation"),
                    (["bench", "--model", file, "--perplexity", text], "model.txt: expected two tokens at least, got 1"))
    text.write_bytes(b"abc\xff")
    program.refuses((["bench", "--model", file, "--perplexity", text], "model.txt: expected UTF-8, byte 3 is none"))
    done = program.run("chat", "--model", file, stdin=b"caf\xe9\n")
    check(done.returncode == 0 and "left out: expected UTF-8, byte 3 is none" in done.stderr, f"a line: {done.stderr}")
    text.unlink()


def runs_without_its_template(file):
    other = file.with_name("other.gguf")
    content = file.read_bytes()
    check(b"add_generation_prompt" in content, "the file has a chat template")
    other.write_bytes(content.replace(b"add_generation_prompt", b"add_generation_prompX"))
    words = ["--prompt", "What is", "--temperature", 0, "--max-tokens", 8]
    want, got = (run("generate", "--raw", "--model", one, *words) for one in (file, other))
    check(want.returncode == 0 and got.returncode == 0 and want.stdout == got.stdout,
          f"a text goes on without a template that is known: {got.stdout + got.stderr}")
    done = run("bench", "--model", other, "--tokens", 2, "--runs", 1)
    check(done.returncode == 0 and "1 sequence:" in done.stdout, f"and is measured: {done.stderr}")
    told = "other.gguf: generate --raw and bench run it; chat template: expected one of the families chatml"
    program.refuses((["generate", "--model", other, "--prompt", "a"], told), (["chat", "--model", other], told))
    other.unlink()


def repeats_itself(folder):
    _, first = trained(folder / "first", "--steps", 20, "--seed", 5)
    _, again = trained(folder / "again", "--steps", 20, "--seed", 5, "--threads", 1)
    _, other = trained(folder / "other", "--steps", 20, "--seed", 6)
    check(first.read_bytes() == again.read_bytes(), "the same seed gives the same file, by one thread as by two")
    check(first.read_bytes() != other.read_bytes(), "another seed gives another")
    check(not list(folder.glob("*/*[!f]")), "nothing else is left")


def refuses(folder):
    (folder / "file").write_text("")
    program.refuses((["demo", "--steps", 1], "--steps"), (["demo", "--seed", -1], "--seed"),
                    (["demo", "--output", folder / "file"], "file"), (["demo", "--threads", 0], "--threads"))


with tempfile.TemporaryDirectory() as name:
    model, answered = learns(pathlib.Path(name))
    answers_as_any_model(model, answered)
    chats_beyond_the_context(model)
    refuses_what_no_model_can(model)
    runs_without_its_template(model)
with tempfile.TemporaryDirectory() as name:
    repeats_itself(pathlib.Path(name))
    refuses(pathlib.Path(name))
sys.exit(1 if program.failures else 0)
