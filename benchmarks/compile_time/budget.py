# SPDX-License-Identifier: MIT
"""budget.py <folder> [--record] [--clang <compiler>] [--gcc <compiler>] [<flags>...]

Counts the template instantiations of every program in the folder, as clang's time trace lists them,
and compares with the folder's baseline.txt: more than 1 % above it is pointed out, more than 3 %
fails. --record writes a new baseline. The seconds and the memory of g++ -O2 are only printed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-march=x86-64-v3", "-ffp-contract=off"]
NOTICE, LIMIT = 0.01, 0.03


def compile_program(command):
    """CPU seconds and peak megabytes of one compiler call."""
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def instantiations(clang, flags, program, folder):
    output = folder / f"{program.stem}.o"
    compile_program([clang, *FLAGS, *flags, "-O0", "-ftime-trace", "-ftime-trace-granularity=0",
                     "-c", program, "-o", output])
    return occurrences(output.with_suffix(".json"), b'"name":"Instantiate')


def occurrences(file, wanted):
    """How often a text is in a file, by pieces: the next compiler's peak memory begins with what
    this process holds."""
    count, rest = 0, b""
    with file.open("rb") as trace:
        while piece := trace.read(1 << 20):
            piece = rest + piece
            count += piece.count(wanted)
            rest = piece[-(len(wanted) - 1):]
    return count


def read_baseline(file):
    if not file.exists():
        return {}
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    return {line[0]: int(line[1]) for line in lines if line and line[0] != "#"}


def write_baseline(file, counts, clang):
    version = subprocess.run([clang, "--version"], capture_output=True, text=True, check=True)
    lines = ["# template instantiations of each program; written by budget.py --record",
             f"# {version.stdout.splitlines()[0]}; {' '.join(FLAGS)}"]
    lines += [f"{stem} {count}" for stem, count in counts.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def verdict(count, allowed):
    """What to print behind a count, and whether it fails."""
    if allowed is None:
        return "not in baseline.txt: record it", True
    change = count / allowed - 1
    text = f"{change:+.1%} of {allowed}"
    if change > LIMIT:
        return f"{text}: more than {LIMIT:.0%} above the baseline", True
    return (f"{text}: above the baseline" if change > NOTICE else text), False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--gcc", default="g++-12")
    arguments, flags = parser.parse_known_args()

    file = arguments.folder / "baseline.txt"
    baseline = read_baseline(file)
    counts, failed = {}, False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for program in sorted(arguments.folder.glob("*.cpp")):
            count = instantiations(arguments.clang, flags, program, folder)
            seconds, megabytes = compile_program([
                arguments.gcc, *FLAGS, *flags, "-O2", "-c", program, "-o", folder / "gcc.o"])
            counts[program.stem] = count
            text, above = ("recorded", False) if arguments.record else verdict(
                count, baseline.get(program.stem))
            failed |= above
            print(f"{program.stem}: {count} instantiations, {text}; "
                  f"g++ -O2 {seconds:.1f} s, {megabytes:.0f} MB", flush=True)
    if arguments.record:
        write_baseline(file, counts, arguments.clang)
        return 0
    for stem in baseline.keys() - counts.keys():
        print(f"{stem}: in baseline.txt, but there is no {stem}.cpp")
        failed = True
    if not counts:
        print(f"{arguments.folder}: has no programs")
    return int(failed or not counts)


sys.exit(main())
