# SPDX-License-Identifier: MIT
"""embedded.py <compiler> <flags>...: what embedded.hpp includes fits a small machine.

The header is preprocessed as for a target without an operating system; what it reaches may be
neither one of the standard headers that need a heap, streams or exceptions, nor xtensor.
"""
import subprocess
import sys

from tree import report

HEADERS = {"algorithm", "any", "chrono", "codecvt", "condition_variable", "deque", "filesystem",
           "forward_list", "fstream", "functional", "future", "iomanip", "ios", "iosfwd",
           "iostream", "istream", "list", "locale", "map", "memory", "memory_resource", "mutex",
           "ostream", "queue", "random", "regex", "set", "shared_mutex", "sstream", "stack",
           "stdexcept", "streambuf", "string", "syncstream", "system_error", "thread",
           "unordered_map", "unordered_set", "valarray", "vector"}
INSIDE = {"basic_string.h", "stl_vector.h", "ostream.tcc", "locale_facets.h", "shared_ptr.h"}
FOLDERS = {"xtensor", "xtl", "xsimd", "nlohmann", "yaml-cpp", "CLI"}


def forbidden(path):
    parts = path.split("/")
    if "tessera" in parts:
        return False
    return parts[-1] in HEADERS | INSIDE or not FOLDERS.isdisjoint(parts[:-1])


done = subprocess.run([*sys.argv[1:], "-ffreestanding", "-M", "-x", "c++", "-"], text=True,
                      input="#include <tessera/embedded.hpp>\n", capture_output=True, check=False)
if done.returncode != 0:
    sys.exit(done.stderr)
reached = done.stdout.replace("\\\n", " ").split()[1:]
report((f"tessera/embedded.hpp: reaches {path}" for path in reached if forbidden(path)),
       f"embedded.hpp reaches {len(reached)} files, none of them hosted")
