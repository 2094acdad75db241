# SPDX-License-Identifier: MIT
"""doc_paths.py <root>: every path in an `Errors` or `Source` line of a doc block exists.

A path starts with a folder of the repository; `*` and `{a,b}` must match at least one file.
"""
import itertools
import pathlib
import re
import sys

from tree import report

KEYWORD = re.compile(r"///\s([A-Z][a-z]+)\s")
PATH = re.compile(r"\b(?:tests|include|examples|benchmarks|cmake)/[\w./*{},-]*[\w}*]")


def alternatives(path):
    parts = re.split(r"\{([^}]*)\}", path)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def problems(root):
    for header in sorted((root / "include").rglob("*.hpp")):
        keyword = ""
        for number, line in enumerate(header.read_text(encoding="utf-8").splitlines(), 1):
            if not line.lstrip().startswith("///") or line.strip() == "///":
                keyword = ""
                continue
            started = KEYWORD.search(line)
            keyword = started.group(1) if started else keyword
            if keyword not in ("Errors", "Source"):
                continue
            for path in PATH.findall(line):
                for one in alternatives(path):
                    if not any(root.glob(one)):
                        yield f"{header.relative_to(root)}:{number}: {one} does not exist"


report(problems(pathlib.Path(sys.argv[1])), "doc lines name what exists")
