# SPDX-License-Identifier: MIT
"""license.py <root>: the first line of every C++ file is the license."""
import pathlib
import sys

from tree import cpp_files, report

LINE = "// SPDX-License-Identifier: MIT"


def problems(root):
    for file in cpp_files(root):
        with file.open(encoding="utf-8") as opened:
            if opened.readline().rstrip("\n") != LINE:
                yield f"{file.relative_to(root)}:1: is not `{LINE}`"


report(problems(pathlib.Path(sys.argv[1])), "every file names its license")
