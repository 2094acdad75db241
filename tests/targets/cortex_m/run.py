# SPDX-License-Identifier: MIT
"""run.py <arm-none-eabi-g++> <host compiler> <its -march> <source folder> <include> <boost> <weights program>

Builds the programs of this folder for a Cortex-M4F, M7 and M55 and for the host, runs them (the boards
under QEMU), and compares: results equal the host's to 1e-6; no symbol of a heap, of exceptions or of a
lock; the memory of an object is what memory_of says. Prints bytes and instructions.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

compiler, host_compiler, architecture, source, include, boost, weights = sys.argv[1:]
source = pathlib.Path(source)
BOARDS = {
    "M4F": ("-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard", "mps2-an386", "mps2.ld", 40),
    "M7": ("-mcpu=cortex-m7 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard", "mps2-an500", "mps2.ld", 40),
    "M55": ("-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3.ld", 31.25),
}
PROGRAMS = ["empty", "step", "networks", "train", "filter"]
FLAGS = ("-std=c++20 -O2 -ffp-contract=off -Wall -Wextra -Werror").split()
BARE = ("-ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit -Wno-psabi "
        "-ffunction-sections -fdata-sections -nostartfiles -Wl,--gc-sections --specs=nano.specs").split()
FORBIDDEN = re.compile(r"alloc|\bfree\b|_sbrk|operator new|operator delete|__cxa|_Unwind|mutex|lock")
failures = []


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    return done


def must(*command):
    done = run(*command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def results(text):
    """Lines "name value value ...", a single value for a count."""
    return {line.split()[0]: [int(v) for v in line.split()[1:]] for line in text.splitlines() if line.strip()}


def floats(bits):
    return [struct.unpack("<f", struct.pack("<I", b))[0] for b in bits]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "boost").symlink_to(pathlib.Path(boost) / "boost")  # no other header of the host
    print(must(weights, folder / "filter_weights.hpp").strip())
    board = source / "board"
    wanted = {}
    for program in PROGRAMS[1:]:
        target = folder / program
        must(host_compiler, *FLAGS, f"-march={architecture}", f"-I{include}", f"-I{folder}", f"-I{boost}", f"-I{source}",
             source / f"{program}.cpp", board / "host.cpp", "-o", target)
        wanted[program] = results(must(target))
    print(f"{'board':6}{'program':10}{'flash':>8}{'RAM':>8}  results")
    for device, (flags, machine, script, nanoseconds) in BOARDS.items():
        for program in PROGRAMS:
            target = folder / f"{program}.elf"
            must(compiler, *FLAGS, *BARE, *flags.split(), f"-I{include}", f"-I{folder}", f"-I{source}",
                 source / f"{program}.cpp", board / "start.cpp", f"-L{board}", f"-T{script}", "-o", target)
            text, data, bss = map(int, must(compiler.replace("g++", "size"), target).splitlines()[1].split()[:3])
            symbols = must(compiler.replace("g++", "nm"), "-C", "-S", target)
            found = [line for line in symbols.splitlines() if FORBIDDEN.search(line)]
            check(not found, f"{device} {program} has {found}")
            done = run("qemu-system-arm", "-M", machine, "-kernel", target, "-nographic", "-monitor", "none", "-serial",
                       "none", "-semihosting-config", "enable=on,target=native", "-icount",
                       "shift=10,align=off,sleep=off", timeout=120)
            check(done.returncode == 0, f"{device} {program} ended with {done.returncode}: {done.stderr[-200:]}")
            got = results(done.stderr)
            notes = []
            for key, want in wanted.get(program, {}).items():
                have = got.get(key, [])
                if len(want) > 1:
                    worst = max((abs(a - b) / max(1, abs(b)) for a, b in zip(floats(have), floats(want))),
                                default=float("inf"))
                    check(len(have) == len(want) and worst <= 1e-6, f"{device} {program} {key}: off by {worst}")
                    notes.append(f"{key} within {worst:.1e}")
                elif key == "memory":
                    check(any(int(line.split()[1], 16) == have[0] for line in symbols.splitlines()
                              if re.search(r" [bB] (learner|stream)$", line)),
                          f"{device} {program}: memory_of says {have[0]} bytes, and no object has them")
                    notes.append(f"object of {have[0]} bytes, as memory_of says")
                elif key.startswith("ticks"):
                    count = have[0] * nanoseconds / 1024
                    notes.append(f"{count:.0f} instructions" + (" (plain weights)" if key == "ticks_plain" else ""))
                    if program == "step":
                        notes.append(f"{count / got['multiply_adds'][0]:.2f} per multiply-add")
            if program == "empty":
                check(text + data + bss <= 400, f"{device}: an empty program takes {text + data + bss} bytes")
            if program == "train":
                check(data + bss <= 17_400, f"{device}: training takes {data + bss} bytes of RAM")
            print(f"{device:6}{program:10}{text + data:8}{data + bss:8}  {', '.join(notes)}", flush=True)
sys.exit(1 if failures else 0)
