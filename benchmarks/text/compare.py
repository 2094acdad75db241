# SPDX-License-Identifier: MIT
"""compare.py <tokenizer.json> <text>: encoding beside Hugging Face's tokenizers, in turns, one thread each.

MB/s of processor time, so that other work on the machine counts little; the median of the rounds. Both
must find as many tokens. Needs a C++ compiler, PCRE2, utf8proc, nlohmann-json and PyPI's tokenizers.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers

FOLDER = pathlib.Path(__file__).parent
ROUNDS = 3


def build(program):
    include = FOLDER.parent.parent / "include"
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-march=native", "-DPCRE2_CODE_UNIT_WIDTH=8",
                    f"-I{include}", FOLDER / "tokenize.cpp", "-o", program, "-lpcre2-8", "-lutf8proc"], check=True)


def main():
    file, source = sys.argv[1:]
    text = pathlib.Path(source).read_text(encoding="utf-8")
    size = len(text.encode())
    theirs = tokenizers.Tokenizer.from_file(file)
    theirs.no_truncation()
    theirs.no_padding()
    own, peer = [], []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "tokenize"
        build(program)
        for _ in range(ROUNDS):
            decoded = pathlib.Path(folder) / "decoded"
            done = subprocess.run([program, file, source, "1", decoded], capture_output=True, text=True, check=True)
            count, encode, decode = done.stdout.split()
            own.append((float(encode), float(decode)))
            begun = time.process_time()
            found = theirs.encode(text)
            middle = time.process_time()
            their_text = theirs.decode(found.ids, skip_special_tokens=False)
            peer.append((size / (middle - begun) / 1e6, size / (time.process_time() - middle) / 1e6))
            if len(found.ids) != int(count):
                sys.exit(f"{count} tokens by tessera, {len(found.ids)} by tokenizers")
            if decoded.read_bytes() != their_text.encode():
                sys.exit("tessera and tokenizers decode to other texts")
    print(f"{size / 1e6:.1f} MB, {count} tokens; tokenizers {tokenizers.__version__}")
    for i, what in enumerate(("encode", "decode")):
        a, b = (statistics.median(pair[i] for pair in side) for side in (own, peer))
        print(f"{what}: {a:.1f} MB/s by tessera, {b:.2f} by tokenizers, {a / b:.1f}x")


main()
