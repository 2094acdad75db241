# SPDX-License-Identifier: MIT
"""format.py <root> <clang-format>: every C++ file is as clang-format lays it out."""
import pathlib
import subprocess
import sys

from tree import cpp_files

files = [str(file) for file in cpp_files(pathlib.Path(sys.argv[1]))]
if not files:
    sys.exit(f"{sys.argv[1]}: has no C++ files")
print(f"{len(files)} files", flush=True)
sys.exit(subprocess.run([sys.argv[2], "--dry-run", "-Werror", "--style=file", *files],
                        check=False).returncode)
