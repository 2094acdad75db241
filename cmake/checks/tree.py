# SPDX-License-Identifier: MIT
"""What the checks of the source tree share: its floors, its files, the way a check ends."""
import sys

# Low to high; floors of one level may include each other.
FLOORS = ["core", "shape", "backend", "tensor", "random", "ops", "grad", "compose", "layers",
          "models", "optim", "bridge io data", "text", "train", "program track optimize group generate",
          "parallel", "serve"]
LEVEL = {floor: level for level, floors in enumerate(FLOORS) for floor in floors.split()}


def cpp_files(root):
    for folder in ["include", "tests", "examples", "benchmarks"]:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".hpp", ".cpp", ".h", ".c", ".cu"}:
                yield file


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def reached(graph, header):
    """A header and all that it includes, by others or itself; the graph has what each one includes."""
    found, left = set(), [header]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left.extend(graph.get(one, ()))
    return found


def report(problems, fine):
    """Prints the problems and ends the check, successfully only when there are none."""
    problems = list(problems)
    print("\n".join(problems) or fine)
    sys.exit(bool(problems))
