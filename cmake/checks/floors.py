# SPDX-License-Identifier: MIT
"""floors.py <root>: includes point down, and umbrellas are whole.

Fails when a header includes a floor above its own, an umbrella, or the private detail/ of another
floor, when a folder is no floor, and when headers form a circle; and when tessera.hpp does not
reach a header of the library that is neither a component's nor device code, or cuda.hpp one that
is device code.
"""
import pathlib
import re
import sys

from tree import LEVEL, line_of, reached, report

COMPONENTS = {"bridge", "io", "data", "text", "train", "program", "track", "optimize", "generate", "serve",
              "group"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<tessera/([^>]+)>|"([^"]+)")', re.MULTILINE)


def problems(root):
    library = root / "include" / "tessera"
    for header in sorted(library.rglob("*.hpp")):
        here = header.relative_to(library).parts
        if len(here) == 1:
            continue  # an umbrella may include anything
        name = header.relative_to(root)
        if here[0] not in LEVEL:
            yield f"{name}: {here[0]} is no floor"
            continue
        text = header.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            at = f"{name}:{line_of(text, match.start())}"
            if match.group(2):
                yield f'{at}: includes "{match.group(2)}"; write <tessera/...>'
                continue
            there = match.group(1).split("/")
            if len(there) == 1:
                yield f"{at}: includes the umbrella {there[0]}; include what it uses"
            elif there[0] not in LEVEL:
                yield f"{at}: {there[0]} is no floor"
            elif LEVEL[there[0]] > LEVEL[here[0]]:
                yield f"{at}: {here[0]} is below {there[0]} and may not include it"
            elif "detail" in there[:-1] and there[0] != here[0]:
                yield f"{at}: detail/ of {there[0]} is private to that floor"


def included(library):
    """For each header the headers of the library that it includes, with their places."""
    graph = {}
    for header in sorted(library.rglob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        graph[header.relative_to(library).as_posix()] = {
            match.group(1): line_of(text, match.start())
            for match in INCLUDE.finditer(text) if match.group(1)}
    return graph


def circles(graph):
    """Every include that closes a circle, with the way round."""
    done = set()

    def visit(header, way):
        for there, line in graph.get(header, {}).items():
            if there in way:
                round_trip = " -> ".join([*way[way.index(there):], there])
                yield f"include/tessera/{header}:{line}: closes a circle: {round_trip}"
            elif there not in done:
                yield from visit(there, [*way, there])
        done.add(header)

    for header in graph:
        if header not in done:
            yield from visit(header, [header])


def left_out(graph):
    """Headers that the umbrella of their kind does not reach."""
    umbrellas = {name: reached(graph, name) for name in ["tessera.hpp", "cuda.hpp"] if name in graph}
    for header in graph:
        parts = header.split("/")
        umbrella = "cuda.hpp" if "cuda" in parts else "tessera.hpp"
        if len(parts) == 1 or parts[0] in COMPONENTS or umbrella not in umbrellas:
            continue
        if header not in umbrellas[umbrella]:
            yield f"include/tessera/{header}: {umbrella} does not reach it"


def all_problems(root):
    graph = included(root / "include" / "tessera")
    yield from problems(root)
    yield from circles(graph)
    yield from left_out(graph)


report(all_problems(pathlib.Path(sys.argv[1])), "floors hold")
