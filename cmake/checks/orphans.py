# SPDX-License-Identifier: MIT
"""orphans.py <root>: one idea, one stem.

Fails for a header without its test, a test without its header or that its folder's CMakeLists.txt
does not name, and reference values without the program that made them. The kernels of
ops/simd/x.hpp and ops/reference/x.hpp are tested by tests/ops/x.cpp; the parts of x.hpp in a folder
x/ by the test of x.hpp. A second test of x.hpp is named x_<what>.cpp.
"""
import pathlib
import sys

from tree import LEVEL, report

KERNELS = {"reference", "simd", "cuda"}  # folders that hold kernels of the floor's operations
EXEMPT = {"concepts.hpp", "fwd.hpp"}     # declarations only: those who use them test them


def stems_of_header(path):
    """The stems of the tests that may cover a header; the first is the usual one."""
    parts = [part for part in path.parts[:-1] if part not in KERNELS]
    yield pathlib.Path(*parts, path.stem)
    if len(parts) > 1:
        yield pathlib.Path(*parts)


def problems(root):
    library, tests = root / "include" / "tessera", root / "tests"
    headers = [header.relative_to(library) for header in sorted(library.rglob("*.hpp"))]
    headers = [header for header in headers if len(header.parts) > 1]
    covered, reported = set(), set()
    for header in headers:
        stems = list(stems_of_header(header))
        covered.add(stems[0])
        if header.name in EXEMPT or "detail" in header.parts:
            continue
        parent = library.joinpath(*header.parts[:-1]).with_suffix(".hpp")
        candidates = stems if parent.exists() else stems[:1]
        if not any((tests / stem).with_suffix(".cpp").exists() for stem in candidates):
            if candidates[0] not in reported:
                yield f"include/tessera/{header}: has no test tests/{candidates[0]}.cpp"
            reported.add(candidates[0])
    for folder in sorted(tests.iterdir()) if tests.exists() else []:
        if not folder.is_dir() or folder.name not in LEVEL:
            continue
        recipe = folder / "CMakeLists.txt"
        registered = recipe.read_text(encoding="utf-8").split() if recipe.exists() else []
        registered = {word.strip("()") for word in registered}
        if "${sources}" in registered:  # the folder's own, whatever they are
            registered |= {test.name for test in folder.glob("*.cpp")}
        for test in sorted(folder.rglob("*.cpp")):
            stem = test.relative_to(tests).with_suffix("")
            if str(test.relative_to(folder)) not in registered:
                yield f"tests/{stem}.cpp: is not named in tests/{folder.name}/CMakeLists.txt"
            if not any(stem == one or str(stem).startswith(f"{one}_") for one in covered):
                yield f"tests/{stem}.cpp: has no header include/tessera/{stem}.hpp"
    for values in sorted((tests / "reference").rglob("*.txt")):
        maker = values.with_name(values.name.split(".")[0] + ".py")
        if not maker.exists():
            yield f"{values.relative_to(root)}: has no {maker.relative_to(root)} that made it"


report(problems(pathlib.Path(sys.argv[1])), "no orphans")
