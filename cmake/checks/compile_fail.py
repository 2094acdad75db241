# SPDX-License-Identifier: MIT
"""compile_fail.py control|must_fail <source> <compiler> <flags>...

control: the source compiles. must_fail: with TESSERA_MUST_FAIL it does not, and what the compiler
prints matches every `// EXPECT: <regex>` line of the source and is no longer than its
`// LINES: <most> [<most with clang>]` line, where it has one, allows. How the program came to
include a header is no part of the message and does not count.
"""
import os
import re
import subprocess
import sys

INCLUDED = re.compile(r"In file included from |                 from ")


def main(mode, source, *compile_command):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    expected = re.findall(r"^// EXPECT: (.+)$", text, re.MULTILINE)
    most = re.search(r"^// LINES: (\d+)(?: (\d+))?$", text, re.MULTILINE)
    if not expected:
        return f"{source}: has no `// EXPECT: <regex>` line"
    if re.search(r"^// EXPECT: .+\n// (?!EXPECT|LINES|COMPILER)", text, re.MULTILINE):
        return f"{source}: an `// EXPECT: <regex>` line goes on in the next one"
    if "LINES:" in text and not most:
        return f"{source}: has LINES, and no `// LINES: <most> [<most with clang>]` line"
    if "TESSERA_MUST_FAIL" not in text:
        return f"{source}: never asks for TESSERA_MUST_FAIL"

    define = ["-DTESSERA_MUST_FAIL"] if mode == "must_fail" else []
    done = subprocess.run([*compile_command, *define, source], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}, check=False)
    printed = done.stderr
    count = sum(not INCLUDED.match(line) for line in printed.splitlines())
    print(printed, end="")
    print(f"{count} lines")
    if mode == "control":
        return f"{source}: does not compile as it stands" if done.returncode != 0 else None
    if done.returncode == 0:
        return f"{source}: compiles with TESSERA_MUST_FAIL"
    if done.returncode != 1 or "internal compiler error" in printed:
        return f"{source}: the compiler itself failed"
    for pattern in expected:
        if not re.search(pattern, printed):
            return f"{source}: the message does not match: {pattern}"
    if most:
        allowed = int(most[2] or most[1]) if "clang" in compile_command[0] else int(most[1])
        if count > allowed:
            return f"{source}: the message has {count} lines, {allowed} are allowed"
    return None


problem = main(*sys.argv[1:])
if problem:
    print(problem)
sys.exit(bool(problem))
