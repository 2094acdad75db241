# SPDX-License-Identifier: MIT
"""macros.py <root>: the library's macros are few and in one place.

Fails when a header other than core/config.hpp defines a macro, when a name does not start with
TESSERA_, and when there are more than ten.
"""
import pathlib
import re
import sys

from tree import line_of, report

MOST = 10
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


def problems(root):
    library = root / "include"
    names = set()
    for header in sorted(library.rglob("*.hpp")):
        name = header.relative_to(root)
        text = header.read_text(encoding="utf-8")
        for match in DEFINE.finditer(text):
            at = f"{name}:{line_of(text, match.start())}"
            if header != library / "tessera" / "core" / "config.hpp":
                yield f"{at}: defines {match.group(1)}; macros are defined in core/config.hpp"
            elif not match.group(1).startswith("TESSERA_"):
                yield f"{at}: {match.group(1)} does not start with TESSERA_"
            names.add(match.group(1))
    if len(names) > MOST:
        yield f"include/tessera/core/config.hpp: {len(names)} macros, {MOST} are allowed"


report(problems(pathlib.Path(sys.argv[1])), "macros are few and in one place")
