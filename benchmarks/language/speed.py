# SPDX-License-Identifier: MIT
"""speed.py <agents> <SmolLM2-135M-Instruct.gguf> [--rounds N]: tokens per second beside llama.cpp and torch.

Needs llama-cpp-python, torch, transformers, accelerate and gguf of PyPI; llama.cpp is built for this processor, but
without AMX, whose products crash on some: CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON
-DGGML_F16C=ON -DGGML_BMI2=ON", with GGML_AVX512, GGML_AVX512_VNNI and GGML_AVX512_BF16 where it has them.

Beside llama.cpp the weights are multiplied as stored; beside torch they are widened to floats, by both, or are
of bf16, by both (agents is configured with TESSERA_AGENTS_WEIGHTS="q4_1/q8_0;bf16"). All take turns, each is a
process of its own, and medians are compared: a prompt of 128 and of 512 tokens, and one token after another
behind 16 tokens. The bound of the latter is the file, read once for each token.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

DECODED = 64
PROMPTS = (128, 512)


def prompt(size, vocabulary):
    """The tokens that `agents bench` reads, too."""
    return [7 + i * 31 % (vocabulary - 8) for i in range(size)]


def rate(count, work):
    work()
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return count / statistics.median(times)


def measure_llama_cpp(model, threads):
    import llama_cpp
    llama = llama_cpp.Llama(model_path=model, n_ctx=1024, n_batch=512, n_ubatch=512, n_threads=threads,
                            n_threads_batch=threads, verbose=False)

    def read(size):
        llama.reset()
        llama.eval(prompt(size, llama.n_vocab()))

    def decode():
        llama.n_tokens = 16
        for _ in range(DECODED):
            llama.eval([11])
    found = {f"prompt {n}": rate(n, lambda: read(n)) for n in PROMPTS}
    read(16)
    return {**found, "decode": rate(DECODED, decode)}


def measure_torch(model, threads, dtype="float32"):
    import torch
    import transformers
    torch.set_num_threads(threads)
    dtype = getattr(torch, dtype)
    path = pathlib.Path(model)
    net = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=dtype).eval()

    def run(tokens, cache=None):
        return net(input_ids=torch.tensor([tokens]), past_key_values=cache, use_cache=True,
                   logits_to_keep=1).past_key_values

    def decode():
        cache.crop(16 - cache.get_seq_length())  # so many are taken away
        for _ in range(DECODED):
            run([11], cache)
    with torch.inference_mode():
        cache = run(prompt(16, net.config.vocab_size))
        found = {f"prompt {n}": rate(n, lambda: run(prompt(n, net.config.vocab_size))) for n in PROMPTS}
        return {**found, "decode": rate(DECODED, decode)}


def measure_tessera(agents, model, threads, *more):
    """What `agents bench` prints, by the names of the rows here."""
    text = subprocess.run([agents, "bench", "--model", model, "--threads", str(threads), "--tokens",
                           str(DECODED), "--runs", "3", *more], check=True, capture_output=True, text=True).stdout
    found = {f"prompt {n}": float(r) for n, r in re.findall(r"^prompt of (\d+) tokens: (\S+) tokens/s", text, re.M)}
    for lanes, value in re.findall(r"^(\d+) sequences?: (\S+) tokens/s", text, re.M):
        found["decode" if lanes == "1" else f"decode {lanes} at once"] = float(value)
    found["memory"] = float(re.search(r", (\S+) tokens/s of one sequence at most", text)[1])
    return found


def measure_peer(name, model, threads):
    """In a process of its own, so that no library's threads or memory are beside another's."""
    text = subprocess.run([sys.executable, __file__, name, model, "--peer", str(threads)], check=True,
                          capture_output=True, text=True).stdout
    return {row: float(value) for row, value in re.findall(r"^(.+): (\S+)$", text, re.M)}


def medians(rounds):
    return {row: statistics.median(found[row] for found in rounds) for row in rounds[0]}


def in_bf16(model, folder):
    """The same weights in bf16, as a file that all sides read."""
    import llama_cpp
    options = llama_cpp.llama_model_quantize_default_params()
    options.allow_requantize = True
    options.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_BF16
    path = str(pathlib.Path(folder) / "bf16.gguf")
    if llama_cpp.llama_model_quantize(model.encode(), path.encode(), options) != 0:
        raise SystemExit(f"speed: {model} cannot be written in bf16")
    return path


PEERS = {
    "llama.cpp": (measure_llama_cpp, []),
    "torch": (measure_torch, ["--exact"]),
    "torch-bf16": (lambda model, threads: measure_torch(model, threads, "bfloat16"), []),
}


def compare(name, given, model):
    for threads in given.threads:
        own, others = [], []
        for _ in range(given.rounds):
            own.append(measure_tessera(given.agents, model, threads, *PEERS[name][1]))
            others.append(measure_peer(name, model, threads))
        mine, peer = medians(own), medians(others)
        print(f"beside {name}, {threads} threads, tokens/s, medians of {given.rounds} rounds")
        for row in peer:
            print(f"  {row:14} {mine[row]:8.1f} {peer[row]:8.1f}   {mine[row] / peer[row]:5.2f} x")
        for row in sorted(set(mine) - set(peer) - {"memory"}):
            print(f"  {row:14} {mine[row]:8.1f}            {mine[row] / mine['decode']:5.2f} x of one")
        print(f"  the file read by one thread: {mine['memory']:.1f} tokens/s at most", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("agents")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--peer", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer is not None:
        for row, value in PEERS[given.agents][0](given.model, given.peer).items():
            print(f"{row}: {value:.3f}")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in given.peers:
            compare(name, given, in_bf16(given.model, folder) if name == "torch-bf16" else given.model)


if __name__ == "__main__":
    main()
