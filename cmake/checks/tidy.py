# SPDX-License-Identifier: MIT
"""tidy.py <root> <clang-tidy> <flags>...: clang-tidy has nothing to say about a library header.

All headers but the umbrellas and device code are read as two programs side by side, so that each is
parsed once: Boost's Beast, which is most of what the floors of NETWORK include, in one of them.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

NETWORK = ("serve", "track", "group")

root, clang_tidy, flags = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
library = root / "include" / "tessera"
headers = [header.relative_to(library.parent) for header in sorted(library.rglob("*.hpp"))
           if header.parent != library and "cuda" not in header.parts]
if not headers:
    sys.exit(f"{root}: has no headers")
programs = [[header for header in headers if (header.parts[1] in NETWORK) == network]
            for network in (True, False)]


def read(part):
    """What clang-tidy says of the headers of one program."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "every_header.cpp"
        program.write_text("".join(f"#include <{header}>\n" for header in part), encoding="utf-8")
        return subprocess.run([clang_tidy, "--quiet", f"--config-file={root / '.clang-tidy'}",
                               f"--header-filter={library}/", program, "--", *flags,
                               f"-I{library.parent}"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


print(f"{len(headers)} headers", flush=True)
with concurrent.futures.ThreadPoolExecutor() as pool:
    done = list(pool.map(read, [part for part in programs if part]))
for part in done:
    print(part.stdout, end="")
sys.exit(max(abs(part.returncode) for part in done))
