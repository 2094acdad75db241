# SPDX-License-Identifier: MIT
"""tidy.py <root> <clang-tidy> <flags>...: clang-tidy has nothing to say about a library header.

All headers but the umbrellas and device code are read as one program, so each is parsed once.
"""
import pathlib
import subprocess
import sys
import tempfile

root, clang_tidy, flags = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
library = root / "include" / "tessera"
headers = [header.relative_to(library.parent) for header in sorted(library.rglob("*.hpp"))
           if header.parent != library and "cuda" not in header.parts]
if not headers:
    sys.exit(f"{root}: has no headers")
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "every_header.cpp"
    program.write_text("".join(f"#include <{header}>\n" for header in headers), encoding="utf-8")
    print(f"{len(headers)} headers", flush=True)
    done = subprocess.run([clang_tidy, "--quiet", f"--config-file={root / '.clang-tidy'}",
                           f"--header-filter={library}/", program, "--", *flags,
                           f"-I{library.parent}"], check=False)
sys.exit(done.returncode)
