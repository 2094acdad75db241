# SPDX-License-Identifier: MIT
"""language_model.py <readme> <source> <program> <agents>: a code block of the README is the source of the program, which
says of a small file what `agents generate --raw` says."""
import pathlib
import re
import subprocess
import sys
import tempfile

readme, source, program, agents = sys.argv[1:]
blocks = re.findall(r"```cpp\n(.*?)```", pathlib.Path(readme).read_text("utf-8"), re.DOTALL)
if pathlib.Path(source).read_text("utf-8").split("\n", 2)[2] not in blocks:
    sys.exit(f"{readme}: has no block that is {source}")
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([agents, "demo", "--output", folder, "--steps", "30"], capture_output=True, check=True)
    file = pathlib.Path(folder) / "model.gguf"
    for text in ("What", "How many", "1 2 3"):
        want = subprocess.run([agents, "generate", "--raw", "--model", file, "--prompt", text, "--temperature", "0",
                               "--max-tokens", "20"], capture_output=True, text=True, check=True).stdout
        got = subprocess.run([program, file, text], capture_output=True, text=True, check=True).stdout
        said, counts = got.rstrip("\n").rsplit("\n", 1)
        if said != want or not re.fullmatch(r"\d+ tokens behind [1-9]\d*", counts):
            sys.exit(f"{program} says {got!r} behind {text!r}, agents {want!r}")
    done = subprocess.run([program, readme, "a"], capture_output=True, text=True)
    if done.returncode != 1 or "README.md: expected a file that begins with" not in done.stderr:
        sys.exit(f"{program}: another file is not refused: {done.stderr}")
    if subprocess.run([program], capture_output=True).returncode != 1:
        sys.exit(f"{program}: no file is not refused")
