# SPDX-License-Identifier: MIT
"""headers.py <root> <clang++> <flags>...: every library header compiles alone.

What a header includes is mostly what others include, too, and parsing it takes nearly all the time.
So a header is read behind one that it includes itself, precompiled: it sees the same that it sees
alone, and what it forgets to include is missed all the same. The headers to precompile are chosen
so that little is parsed twice. (clang 19 crashes on many that are precompiled behind another.)
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tree import reached

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>")
OPENS = re.compile(r"[ \t]*#[ \t]*if")
CLOSES = re.compile(r"[ \t]*#[ \t]*endif")
# What parsing a library takes, whatever of it is included, about, in a hundredth of a second; and a
# header of the standard library, or of this one, without what it includes.
LIBRARIES = {"boost/hana": 20, "boost/asio": 120, "boost/beast": 120, "nlohmann": 170, "xsimd": 60,
             "xtensor": 100, "CLI": 140, "yaml-cpp": 80, "filesystem": 70, "thread": 50, "string": 40}
HEADER = 4
LOADED = 0.5  # what writing a precompiled header takes, against parsing it

root, clang, flags = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
library = root / "include"
headers = [header.relative_to(library).as_posix()
           for header in sorted((library / "tessera").rglob("*.hpp"))]
if not headers:
    sys.exit(f"{root}: has no headers")


def included(header):
    """What a header includes wherever it is read: not what stands behind an #if."""
    found, depth = [], 0
    for line in (library / header).read_text(encoding="utf-8").splitlines():
        depth += bool(OPENS.match(line)) - bool(CLOSES.match(line))
        found += INCLUDE.findall(line) if depth == 0 else []
    return found


includes = {header: included(header) for header in headers}


def library_of(name):
    parts = name.split("/")
    return next((one for one in ("/".join(parts[:2]), parts[0]) if one in LIBRARIES), name)


def bases(closures):
    """The headers to precompile, the heaviest first."""
    cost = {header: HEADER + sum(LIBRARIES.get(one, HEADER) for one in set(map(library_of, closures[header])))
            for header in headers}
    users = {header: [one for one in headers if header in closures[one]] for header in headers}
    saved = dict.fromkeys(headers, 0)
    chosen = []
    while True:
        gain = {header: sum(max(0, cost[header] - saved[one]) for one in users[header]) -
                (cost[header] - saved[header]) - LOADED * cost[header]
                for header in headers if header not in chosen}
        best = max(gain, key=gain.get, default=None)
        if best is None or gain[best] <= 0:
            return sorted(chosen, key=cost.get, reverse=True)
        chosen.append(best)
        for one in users[best]:
            saved[one] = max(saved[one], cost[best])


def read(header, output, base):
    """What clang says of a program that includes the header alone, behind the precompiled base."""
    mode = ["-xc++-header", "-o", output] if output else ["-xc++", "-fsyntax-only"]
    done = subprocess.run([clang, *flags, f"-I{library}", *mode,
                           *(["-include-pch", base] if base else []), "-"],
                          check=False, text=True, input=f"#include <{header}>\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else f"{header}: does not compile alone\n{done.stdout}"


closures = {header: reached(includes, header) - {header} for header in headers}
chosen = bases(closures)
with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    files = {header: f"{folder}/{number}" for number, header in enumerate(chosen)}
    said = list(pool.map(lambda header: read(header, files[header], None), chosen))
    # Behind one that is wrong a header has to show by itself what it is.
    good = [header for header in chosen if os.path.exists(files[header])]

    def read_behind(header):
        base = next((one for one in good if one in closures[header]), None)
        return read(header, None, files.get(base))

    said += pool.map(read_behind, [header for header in headers if header not in files])
problems = sorted(filter(None, said))
print("".join(problems) or f"{len(headers)} headers compile alone, {len(chosen)} of them precompiled\n",
      end="")
sys.exit(bool(problems))
