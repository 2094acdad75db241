# SPDX-License-Identifier: MIT
"""readme.py <readme> <source> <program>: the first example of the README is the source of a program,
and what it is said to print is what the program prints."""
import pathlib
import re
import subprocess
import sys

readme, source, program = sys.argv[1:]
text = pathlib.Path(readme).read_text("utf-8")
code = re.search(r"```cpp\n(.*?)```", text, re.DOTALL).group(1)
printed = re.search(r"```\n(.*?)```", text[text.index(code) + len(code) + 3:], re.DOTALL).group(1)
if code != pathlib.Path(source).read_text("utf-8").split("\n", 2)[2]:
    sys.exit(f"{readme}: its example is not {source}")
got = subprocess.run([program], capture_output=True, text=True, check=True).stdout
if got != printed:
    sys.exit(f"{readme}: says\n{printed}{program} prints\n{got}")
