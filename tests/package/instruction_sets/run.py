# SPDX-License-Identifier: MIT
"""run.py <nm> <objdump> <lower> <higher> <runs> <objects and programs>: two instruction sets in one
program.

There are two objects, which one source was compiled to, two programs that are not optimized, and
four programs: of the lower set alone, of the higher one, of both, and of both linked the other way
round. No function may have one name in both objects, or the linker would take one for the other.
What is not optimized has some that every set computes alike; none of them may multiply and add in
one rounding. Where the machine runs the programs (<runs>), each must print in both orders what
it prints alone.
"""
import pathlib
import re
import subprocess
import sys

# What computes nothing.
SHARED = re.compile(r"tessera::broken_contract\(|tessera::detail::current_team$")


def functions(nm, program):
    """The library's functions that a linker may take from another file."""
    table = subprocess.run([nm, "-C", "--defined-only", str(program)], text=True,
                           capture_output=True, check=True).stdout
    found = re.findall(r"^[0-9a-f]+ W (.*\btessera::.*)$", table, re.MULTILINE)
    return {name for name in found if not SHARED.search(name)}


def fused(objdump, program):
    """The functions that multiply and add in one rounding."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", str(program)], text=True,
                          capture_output=True, check=True).stdout
    found = re.findall(r"^[0-9a-f]+ <(.*)>:\n((?:.+\n)*)", text, re.MULTILINE)
    return {name for name, body in found if re.search(r"\tvfn?m(add|sub)", body)}


def sections(program):
    """What it prints, by instruction set."""
    lines = subprocess.run([str(program)], text=True, capture_output=True,
                           check=True).stdout.splitlines()
    result = {}
    for line in lines:
        if line in {"lower", "higher"}:
            result[line] = []
        else:
            result[next(reversed(result))].append(line)
    return result


def main(nm, objdump, lower, higher, runs, lower_object, higher_object, lower_apart, higher_apart,
         *programs):
    of_lower, of_higher = functions(nm, lower_object), functions(nm, higher_object)
    shared = of_lower & of_higher
    print(f"{lower}: {len(of_lower)} functions, {higher}: {len(of_higher)}, "
          f"{len(shared)} of one name")
    if shared:
        sys.exit("\n".join(name[:160] for name in sorted(shared)))
    if min(len(of_lower), len(of_higher)) < 20:
        sys.exit("the objects hold too few functions of the library to tell")
    of_higher = functions(nm, higher_apart)
    shared = of_higher & functions(nm, lower_apart)
    round_once = of_higher & fused(objdump, higher_apart)
    print(f"not optimized: {len(shared)} of one name, {len(round_once)} round once in {higher}")
    if shared & round_once:
        sys.exit("\n".join(name[:160] for name in sorted(shared & round_once)))
    if len(round_once) < 20 or len(shared) < 20:
        sys.exit("too few functions to tell, or nm and objdump give them other names")
    if runs != "1":
        print(f"not run: this machine has no {higher}")
        return
    only_lower, only_higher, *both = map(sections, programs)
    alone = only_lower | only_higher
    if not all(len(lines) > 5 for lines in alone.values()):
        sys.exit("the programs printed too little")
    for program, printed in zip(programs[2:], both):
        if printed != alone:
            sys.exit(f"{program} printed\n{printed}\nand the programs of one\n{alone}")
    print(f"{lower} and {higher} ran in both orders: {len(alone['lower'])} lines each")


main(*sys.argv[1:])
