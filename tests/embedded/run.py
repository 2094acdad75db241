# SPDX-License-Identifier: MIT
"""run.py <arm-none-eabi-g++> <source> <include> <boost>: a program for a Cortex-M4 without a heap.

It is compiled for a machine without an operating system, linked with no library but memory copies, and
none of its symbols belongs to a heap, to exceptions or to streams.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

compiler, source, include, boost = sys.argv[1:]
FLAGS = ["-std=c++20", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard",
         "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-Wall", "-Wextra",
         "-Werror"]
FORBIDDEN = re.compile(r"alloc|\bfree\b|_sbrk|operator new|operator delete|__cxa|unwind|std::.*stream")

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "boost").symlink_to(pathlib.Path(boost) / "boost")  # no other header of the host
    for optimization in ("-O2", "-Os"):
        program = folder / "stream.elf"
        subprocess.run([compiler, *FLAGS, optimization, f"-I{include}", f"-I{folder}", source,
                        "-nostartfiles", "-nodefaultlibs", "-lc", "-lgcc", "-o", program],
                       check=True)
        nm = compiler.replace("g++", "nm")
        symbols = subprocess.run([nm, "-C", program], capture_output=True, text=True,
                                 check=True).stdout
        if "_start" not in symbols:
            sys.exit("the program has no _start")
        found = [line for line in symbols.splitlines() if FORBIDDEN.search(line)]
        if found:
            sys.exit("\n".join(found))
        size = subprocess.run([compiler.replace("g++", "size"), program], capture_output=True,
                              text=True, check=True).stdout.splitlines()[1].split()
        print(f"{optimization}: {size[0]} bytes of flash with weights, {size[2]} of memory")
