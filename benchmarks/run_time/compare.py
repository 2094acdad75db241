# SPDX-License-Identifier: MIT
"""compare.py [<row>...]: Tessera beside others, in one run.

Configures and builds the preset `bench` where needed and measures the rows whose names begin as one
of the given ones (regular expressions). Before a row is measured, every side must have computed the
same from the same numbers; a row with a star does not tell its results. Then all sides take turns,
round by round; medians are compared, and the spread is half of what lies between the fastest round
and the slowest. With --fastest it is each side's fastest round, and the spread what lies between it
and the median: for a host whose other guests slow a core down for seconds. The bound of the machine
is measured by the same programs in the same rounds:
  peak   floating-point operations by the rate of multiply-adds without memory
  read   bytes by the rate of reads from a block of as many bytes
  row    a row of the program that moves as much memory without work
Needs numpy, torch, onnx, onnxruntime and safetensors from PyPI, matplotlib for a chart, and an idle
machine. OpenBLAS, oneDNN and Eigen are measured where CMake finds them.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

import machine
from programs import COLUMNS, Programs

ROOT = pathlib.Path(__file__).parents[2]
BUSY = 0.1  # cores that others may take
PRODUCT_PEERS = "openblas", "onednn", "eigen", "onnx", "torch"
CORES = machine.apart(os.sched_getaffinity(0))[-2:]
MOST_APART = 1e-3  # of the largest number
DEEP = 1 << 20  # sums where a row does not tell its operations


def settings():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", help="how names of rows begin; all of them without")
    parser.add_argument("--busy", action="store_true", help="measure beside others' work")
    parser.add_argument("--fastest", action="store_true",
                        help="compare fastest rounds instead of medians; give it more rounds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of one side in one round")
    parser.add_argument("--arch", choices=("x86-64-v3", "x86-64-v4"),
                        help="instruction set of all sides; what the machine has without")
    parser.add_argument("--build", type=pathlib.Path, help="a folder of programs that are built")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    parser.add_argument("--chart", type=pathlib.Path, help="file for a bar chart, .png")
    return parser.parse_args()


def limit_peers(level):
    """One thread, and the instruction set of Tessera: libraries do not know every processor. NumPy,
    whose arrays torch takes, asks for huge pages where the system gives them: so do the programs."""
    avx512 = level == "x86-64-v4"
    os.environ["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1",
                      OPENBLAS_CORETYPE="SkylakeX" if avx512 else "Haswell")
    if not avx512:
        os.environ.update(ONEDNN_MAX_CPU_ISA="AVX2", DNNL_MAX_CPU_ISA="AVX2",
                          ATEN_CPU_CAPABILITY="avx2", MKL_ENABLE_INSTRUCTIONS="AVX2")


def built(options):
    """The folder of the programs, which are made if they are not there or out of date."""
    if options.build:
        return options.build
    build = ROOT / "build" / ("bench" if not options.arch else f"bench-{options.arch}")
    configure = ["cmake", "--preset", "bench", "-B", str(build)]
    if options.arch:
        configure.append(f"-DTESSERA_ARCH={options.arch}")
    steps = [] if (build / "build.ninja").exists() else [configure]
    for step in steps + [["cmake", "--build", str(build)]]:
        done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(step)} failed:\n{done.stdout}{done.stderr}")
    return build


def measure(function, seconds):
    """Seconds of one call: the mean over a run of about `seconds`, after a warm-up."""
    function()
    calls, passed = 1, 0.0
    while passed < seconds / 4:
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        passed = time.perf_counter() - begin
        calls *= 2
    calls = max(1, int(calls / 2 * seconds / passed))
    begin = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - begin) / calls


def array(x):
    if hasattr(x, "detach"):
        x = x.detach()
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def tolerance(scalar, depth):
    """What sums of `depth` products may differ by, relative to the largest of them, for their
    order: rounding errors add up like steps to either side."""
    return min(MOST_APART, 8 * max(1, depth) ** 0.5 * float(np.finfo(scalar).eps))


def difference(name, who, call, told, operations=0):
    """Holds the first calls against what Tessera told: the largest difference, by the largest
    number; NaN where there is one. The operations of a call tell the depth of its sums."""
    expected = [told["result"]] if "result" in told else told["results"]
    off = [np.abs(array(call()).reshape(result.shape) - result).max() for result in expected]
    largest = float(np.max(off) / np.max([np.abs(result).max() for result in expected]))
    depth = operations / 2 / expected[0].size if operations else DEEP
    allowed = tolerance(expected[0].dtype, depth)
    if not largest < allowed:
        sys.exit(f"{name}: {who} computes something else, off by {largest:.1e} of {allowed:.1e}")
    return largest


class Measured:
    """One row: the seconds of every side, round by round."""

    def __init__(self, name, row, programs, options):
        self.name, self.row, self.programs, self.options = name, row, programs, options
        self.within = {"tessera": name} | programs.peers(name)
        self.bounds = [f"peak/{row.scalar}"] if row.operations else []
        if row.bytes:
            self.bounds.append(f"read/{int(row.bytes)}")
        if row.bound:
            self.bounds.append(row.bound)
        told = programs.results(name) if row.peers else None
        if told and row.reference:
            difference(name, "numpy", row.reference(told), told, row.operations)
        self.off, self.checked = {}, bool(told) or not row.peers
        self.calls = {who: self.fastest(who, makers, told) for who, makers in row.peers.items()}
        self.times = {who: [] for who in (*self.within, *self.calls)}
        self.limits = []

    def fastest(self, who, makers, told):
        """The peer that takes the least time of those that can be, after each was checked."""
        calls = [make(told) for make in makers]
        if told:
            self.off[who] = max(difference(self.name, who, call, told, self.row.operations)
                                for call in calls)
        return calls[0] if len(calls) == 1 else min(
            calls, key=lambda call: measure(call, self.options.seconds))

    def take_turns(self):
        pin(self.row.cores)
        inside = {}
        for names in self.processes():
            inside |= self.programs.run(names, self.options.seconds)
        for who, name in self.within.items():
            self.times[who].append(inside[name]["seconds"])
        self.limits.append({bound.split("/")[0] if bound != self.row.bound else "row":
                            self.least(inside[bound]) for bound in self.bounds})
        for who, call in self.calls.items():
            self.times[who].append(measure(call, self.options.seconds))

    def processes(self):
        """What is measured in one process: the bounds, and each side by itself, another one first
        from round to round, as a processor that has rested is slow."""
        sides = [[name] for name in self.within.values()]
        first = len(self.limits) % len(sides)
        bounds = [[self.within["tessera"], *self.bounds]] if self.bounds else []
        return bounds + sides[first:] + sides[:first]

    def least(self, bound):
        """The seconds that a bound asks for."""
        if bound["name"].startswith("peak"):
            return self.row.operations / bound["items_per_second"]
        if bound["name"].startswith("read"):
            return self.row.bytes / bound["bytes_per_second"]
        return bound["seconds"]

    def figures(self):
        one_of = min if self.options.fastest else statistics.median
        taken = {who: one_of(times) for who, times in self.times.items()}
        own = self.times["tessera"]
        apart = (statistics.median(own) - min(own) if self.options.fastest
                 else (max(own) - min(own)) / 2)
        bounds = {of: one_of(limit[of] for limit in self.limits)
                  for of in (self.limits[0] if self.limits else ())}
        of = max(bounds, key=bounds.get) if bounds else None
        return {"seconds": self.times, "taken": taken, "operations": self.row.operations,
                "spread": apart / taken["tessera"], "difference": self.off,
                "checked": self.checked,
                "bound": bounds.get(of), "of": of,
                "x_bound": taken["tessera"] / bounds[of] if of else None,
                "ratio": {who: taken[who] / taken["tessera"] for who in taken
                          if who != "tessera"}}


def pin(cores):
    os.sched_setaffinity(0, set(CORES[-cores:]))


# -- tables ---------------------------------------------------------------------------------------
def product_header():
    print(f"\n{'GFLOP/s':26} {'Tessera':>8} {'+-':>4} {'of peak':>8} " + " ".join(
        f"{COLUMNS[who]:>8}" for who in PRODUCT_PEERS) + "   first")


def product_line(name, row):
    rate = {who: row["operations"] / seconds / 1e9 for who, seconds in row["taken"].items()}
    first = max(rate, key=rate.get)
    print(f"{name:26} {rate['tessera']:8.1f} {row['spread']:4.0%} {1 / row['x_bound']:8.0%} " +
          " ".join(f"{rate[who]:8.1f}" if who in rate else f"{'-':>8}" for who in PRODUCT_PEERS) +
          f"   {COLUMNS.get(first, 'Tessera')}", flush=True)


def time_header(peers):
    print(f"\n{'':32} {'Tessera':>12} {'+-':>4} {'bound':>12} {'of':>5} {'x bound':>8} " +
          " ".join(f"{COLUMNS[who]:>9}" for who in peers) + "   (peers: times Tessera's time)")


def time_line(name, row, peers):
    bound = (f"{row['bound'] * 1e6:10.2f}us {row['of']:>5} {row['x_bound']:8.2f}" if row["of"]
             else f"{'-':>12} {'-':>5} {'-':>8}")
    name += "" if row["checked"] else " *"
    print(f"{name:32} {row['taken']['tessera'] * 1e6:10.2f}us {row['spread']:4.0%} {bound} " +
          " ".join(f"{row['ratio'][who]:9.2f}" if who in row["ratio"] else f"{'-':>9}"
                   for who in peers), flush=True)


def table(rows, programs, options):
    """Measures and prints row by row; each kind of rows under a heading of its own."""
    figures, kind = {}, None
    for name, row in rows.items():
        measured = Measured(name, row, programs, options)
        peers = tuple(who for who in COLUMNS if who in measured.times)
        now = "product" if name.startswith("product/") else peers
        if now != kind:
            product_header() if now == "product" else time_header(peers)
        kind = now
        for _ in range(options.rounds):
            measured.take_turns()
        figures[name] = measured.figures()
        if now == "product":
            product_line(name, figures[name])
        else:
            time_line(name, figures[name], peers)
    return figures


def description(build, level):
    """What the figures depend on."""
    import onnxruntime
    import torch
    return {"processor": machine.processor(), "caches": machine.caches(),
            "threads": machine.threads(CORES),
            "instruction set": f"{machine.LEVELS[level]} ({level})",
            "compiler": machine.compiler(build),
            "peers": f"torch {torch.__version__}, ONNX Runtime {onnxruntime.__version__}, "
                     f"OpenBLAS as {os.environ['OPENBLAS_CORETYPE']}"}


def main():
    options = settings()
    build = built(options)
    load = machine.load_now()
    if load > BUSY and not options.busy:
        sys.exit(f"others take {load:.2f} cores: wait, or measure beside them with --busy")
    level = machine.level(build)
    limit_peers(level)
    import torch
    torch.set_num_threads(1)
    import rows
    said = description(build, level)
    for key, text in said.items():
        print(f"{key + ':':17}{text}")
    print(f"{'load:':17}{load:.2f} cores by others" + (", BUSY" if load > BUSY else ""))
    programs = Programs(build)
    there = {name: row for name, row in rows.wanted_rows(options.rows).items()
             if name in programs.of}
    if not there:
        sys.exit("no such row" + "".join(f"; {name} is not built" for name in programs.missing))
    others = machine.Others()
    figures = table(there, programs, options)
    said["load"] = [load, others.cores()]
    said["rounds"] = f"{'fastest' if options.fastest else 'median'} of {options.rounds} rounds"
    print(f"\nothers took {said['load'][1]:.2f} cores meanwhile; {said['rounds']}")
    if options.json:
        options.json.write_text(json.dumps({"machine": said, "rows": figures}, indent=1))
    if options.chart:
        import chart
        title = f"{said['processor']}, {said['instruction set']}"
        chart.draw(figures, COLUMNS, title, options.chart)


if __name__ == "__main__":
    main()
