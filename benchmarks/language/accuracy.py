# SPDX-License-Identifier: MIT
"""accuracy.py <agents> <SmolLM2 gguf> [<text of the perplexity>]: a real model beside transformers.

Needs torch, transformers, accelerate and gguf of PyPI. 20 prompts: the scores of all tokens behind each, and the greedy
text of 200 tokens, by float arithmetic on the file's weights; where two texts part, both candidates' scores
in transformers. Then the perplexity of a text with the weights multiplied as stored, beside widened ones.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

AGENTS, FILE = sys.argv[1], pathlib.Path(sys.argv[2])
PROMPTS = [
    "The capital of France is", "Once upon a time, in a small village by the sea,", "def fibonacci(n):",
    "Water boils at a temperature of", "The three primary colours are", "In 1969, the first human",
    "My favourite recipe for bread begins with", "The theory of evolution says that", "Dear Sir or Madam,",
    "The quick brown fox", "1, 2, 3, 4, 5,", "A good way to learn a language is", "The sun rises in the",
    "Photosynthesis is the process by which", "import numpy as np\n\nx = np.", "To be or not to be,",
    "Музыка — это", "Der schnellste Weg nach Hause", "The difference between a virus and a bacterium is",
    "Question: What is the largest planet?\nAnswer:"]
TOKENS = 200


def run(*words):
    return subprocess.run([AGENTS, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout


def continuations():
    """The greedy text of each prompt, by the server's lanes."""
    server = subprocess.Popen([AGENTS, "serve", "--model", str(FILE), "--exact", "--port", "0", "--name", "m",
                               "--threads", "2"], stdout=subprocess.PIPE, text=True)
    try:
        address = next(re.search(r"http://\S+", line)[0] for line in server.stdout if "listening" in line)

        def ask(prompt):
            body = {"model": "m", "prompt": prompt, "temperature": 0, "max_tokens": TOKENS}
            request = urllib.request.Request(address + "/completions", json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["choices"][0]["text"]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(ask, PROMPTS))
    finally:
        server.terminate()
        server.wait()


def main():
    torch.set_num_threads(1)
    words = AutoTokenizer.from_pretrained(FILE.parent, gguf_file=FILE.name)
    model = AutoModelForCausalLM.from_pretrained(FILE.parent, gguf_file=FILE.name, dtype=torch.float32)
    model.eval()
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        prompts, scores = pathlib.Path(folder) / "prompts.txt", pathlib.Path(folder) / "scores.npy"
        prompts.write_text("\n".join([p.replace("\n", " ") for p in PROMPTS]) + "\n", encoding="utf-8")
        run("bench", "--model", FILE, "--exact", "--prompts", prompts, "--scores", scores)
        ours = np.load(scores)
        worst = 0.0
        for row, prompt in zip(ours, PROMPTS, strict=True):
            ids = words(prompt.replace("\n", " "), return_tensors="pt", add_special_tokens=False).input_ids
            worst = max(worst, float(np.abs(model(ids).logits[0, -1].numpy() - row).max()))
        print(f"scores of {len(PROMPTS)} prompts: {worst:.2e} from transformers at most")
        same = 0
        for prompt, text in zip(PROMPTS, continuations(), strict=True):
            ids = words(prompt, return_tensors="pt", add_special_tokens=False).input_ids
            out = model.generate(ids, max_new_tokens=TOKENS, do_sample=False)[0, ids.shape[1]:]
            want = words.decode(out, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            if text == want:
                same += 1
                continue
            got = words(text, add_special_tokens=False).input_ids
            at = next((i for i, (a, b) in enumerate(zip(got, out.tolist())) if a != b), min(len(got), len(out)))
            if at >= len(got) or at >= len(out):
                print(f"  {prompt!r}: of another length, {len(got)} and {len(out)} tokens")
                continue
            there = model(torch.cat([ids[0], out[:at]])[None]).logits[0, -1]
            print(f"  {prompt!r}: token {at} is {got[at]} for {int(out[at])}, whose scores are "
                  f"{float(there[got[at]]):.6f} and {float(there[out[at]]):.6f}")
        print(f"greedy texts of {TOKENS} tokens: {same} of {len(PROMPTS)} the same")
    if len(sys.argv) > 3:
        for how in [[], ["--exact"]]:
            print(run("bench", "--model", FILE, "--threads", "2", "--perplexity", sys.argv[3], *how), end="")


main()
