# SPDX-License-Identifier: MIT
"""floors.py <root>: includes point down.

Fails when a header includes a floor above its own, an umbrella, or the private detail/ of another
floor, and when a folder is no floor.
"""
import pathlib
import re
import sys

from tree import LEVEL, line_of, report

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<tessera/([^>]+)>|"([^"]+)")', re.MULTILINE)


def problems(root):
    library = root / "include" / "tessera"
    for header in sorted(library.rglob("*.hpp")):
        here = header.relative_to(library).parts
        if len(here) == 1:
            continue  # an umbrella may include anything
        name = header.relative_to(root)
        if here[0] not in LEVEL:
            yield f"{name}: {here[0]} is no floor"
            continue
        text = header.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            at = f"{name}:{line_of(text, match.start())}"
            if match.group(2):
                yield f'{at}: includes "{match.group(2)}"; write <tessera/...>'
                continue
            there = match.group(1).split("/")
            if len(there) == 1:
                yield f"{at}: includes the umbrella {there[0]}; include what it uses"
            elif there[0] not in LEVEL:
                yield f"{at}: {there[0]} is no floor"
            elif LEVEL[there[0]] > LEVEL[here[0]]:
                yield f"{at}: {here[0]} is below {there[0]} and may not include it"
            elif "detail" in there[:-1] and there[0] != here[0]:
                yield f"{at}: detail/ of {there[0]} is private to that floor"


report(problems(pathlib.Path(sys.argv[1])), "floors hold")
