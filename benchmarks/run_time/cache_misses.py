# SPDX-License-Identifier: MIT
"""cache_misses.py [<row>...]: misses of caches by multiply-add, the same on every machine.

Builds cache_misses.cpp for AVX2 and runs it under valgrind's cachegrind, which models a first level
of 32 KiB and a last one of 1 MiB. What one repetition adds to another before it is counted.
OpenBLAS takes its AVX2 kernels, which valgrind can run.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import machine

ROOT = pathlib.Path(__file__).parents[2]
ARCH = "x86-64-v3"
CACHES = "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"
COUNTS = {"instructions": r"I +refs: +([\d,]+)", "first": r"D1 +misses: +([\d,]+)",
          "last": r"LLd misses: +([\d,]+)"}


def built(folder):
    """The program, built where CMake's cache is not for AVX2 yet."""
    steps = [["cmake", "--preset", "bench", "-B", str(folder), f"-DTESSERA_ARCH={ARCH}"],
             ["cmake", "--build", str(folder), "--target", "cache_misses"]]
    there = (folder / "build.ninja").exists()
    for step in steps[there and machine.cached(folder, "TESSERA_ARCH") == ARCH:]:
        done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(step)} failed:\n{done.stdout}{done.stderr}")
    return folder / "benchmarks" / "run_time" / "cache_misses"


def counted(program, row, repetitions):
    """What cachegrind counts in a run, and the multiply-adds of a repetition."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *CACHES,
             f"--cachegrind-out-file={folder}/out", program, row, str(repetitions)],
            capture_output=True, text=True,
            env=os.environ | {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"{row}: {done.stderr}")
    counts = {what: int(re.search(pattern, done.stderr)[1].replace(",", ""))
              for what, pattern in COUNTS.items()}
    return counts, float(done.stdout)


def rows_of(program):
    listed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()

    def order(row):
        return "openblas" in row, not row.startswith("product"), [int(n) for n in
                                                                  re.findall(r"\d+", row)]
    return sorted(listed, key=order)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", help="how names of rows begin; all of them without")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "bench-x86-64-v3")
    options = parser.parse_args()
    program = built(options.build)
    print(f"{'':28} {'last level':>12} {'':>12} {'first level':>12} {'':>12} {'instructions':>12}")
    print(f"{'':28} {'misses':>12} {'/1000 fma':>12} {'misses':>12} {'/1000 fma':>12} {'/fma':>12}")
    for row in rows_of(program):
        if options.rows and not row.startswith(tuple(options.rows)):
            continue
        before, _ = counted(program, row, 1)
        after, multiply_adds = counted(program, row, 2)
        once = {what: after[what] - before[what] for what in COUNTS}
        print(f"{row:28} {once['last']:12,} {1e3 * once['last'] / multiply_adds:12.4f} "
              f"{once['first']:12,} {1e3 * once['first'] / multiply_adds:12.4f} "
              f"{once['instructions'] / multiply_adds:12.3f}", flush=True)


if __name__ == "__main__":
    main()
