# SPDX-License-Identifier: MIT
"""loops.py <root>: numbers are computed by operations and expressions, not by loops of their users.

Fails for a `for` in compose, layers, models or optim that goes over the numbers of a tensor: one whose range is a tensor,
that runs up to its size, or that indexes its memory (`.data()[i]`, `.values[i]`, `x(i, j) = ...`,
a pointer of that header).
Loops over time steps, children, chunks and tables of constants are fine, and so are the kernels of
a floor, in its folders reference, simd and cuda. What must loop all the same is named below, with
its reason; an exception that no loop needs is reported, too.
"""
import pathlib
import re
import sys

from tree import line_of, report

FLOORS = ["compose", "layers", "models", "optim"]
KERNELS = {"reference", "simd", "cuda"}
# <file>: {<a piece of the loop>: <why it stays>}
ALLOWED = {
    "compose/constant.hpp": {"w.values[i] = ": "runs while compiling, from a table"},
    "compose/gradient_check.hpp": {
        "pass->dy.data()[i]": "a check, by index so that it depends on no operation",
        "total += out.data()[i]": "the same",
        "values[i] = before": "moves one number after another"},
    "layers/attention.hpp": {"auto const length : n": "the contract of every lane's length"},
    "layers/mean_over_length.hpp": {"auto const length : n": "the same"},
}
FOR = re.compile(r"\bfor \(")
COMMENT = re.compile(r"//[^\n]*")
# A range that is no tensor: extents, children and chunks, a pack in braces.
NO_TENSOR = re.compile(r"extents$|^passes$|^\{")
POINTER = re.compile(r"\b(?:\w|::|>)+(?: const)?\* (?:const )?(\w+)\b(?!\()")
SIZE = re.compile(r"\b(?!path\b)\w+(?:\.|->)(?:size\(\)|rows\(\))|::capacity\b")


def closing(text, at, pair):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i + 1
    return len(text)


def body_after(text, at):
    """The statement that a loop repeats."""
    while text[at].isspace():
        at += 1
    if text[at] == "{":
        return text[at:closing(text, at, "{}")]
    nested = re.compile(r"(?:for|if(?: constexpr)?) \(").match(text, at)
    if nested:
        end = closing(text, nested.end() - 1, "()")
        return text[at:end] + body_after(text, end)
    return text[at:text.index(";", at) + 1]


def goes_over_numbers(head, body, pointers):
    parts = head.split(";")
    if len(parts) == 1:
        return NO_TENSOR.search(head.split(" : ", 1)[1].strip()) is None
    declared = re.search(r"(\w+)\s*=", parts[0])
    if SIZE.search(parts[1]):
        return True
    if declared is None:
        return False
    i = declared.group(1)
    memory = rf"(?:\.|->)(?:data\(\)|values|memory)\[[^\]]*\b{i}\b"
    element = rf"\b\w+\([^()]*\b{i}\b[^()]*\)\s*[-+*/]?=[^=]"
    walked = "|".join([r"\*\w+\+\+"] + [rf"(?<![\w.]){p}\[[^\]]*\b{i}\b" for p in pointers])
    return re.search(f"{memory}|{element}|{walked}", head + body) is not None


def problems(root):
    library = root / "include" / "tessera"
    for header in [h for floor in FLOORS for h in sorted((library / floor).rglob("*.hpp"))]:
        name = header.relative_to(library)
        if KERNELS & set(name.parts):
            continue
        text = COMMENT.sub(lambda m: " " * len(m.group()), header.read_text(encoding="utf-8"))
        allowed = ALLOWED.get(str(name), {})
        unused = dict(allowed)
        pointers = sorted(set(POINTER.findall(text)))
        for match in FOR.finditer(text):
            end = closing(text, match.end() - 1, "()")
            head, body = text[match.end():end - 1], body_after(text, end)
            if not goes_over_numbers(head, body, pointers):
                continue
            reasons = [piece for piece in allowed if piece in head + body]
            for piece in reasons:
                unused.pop(piece, None)
            if not reasons:
                yield (f"include/tessera/{name}:{line_of(text, match.start())}: goes over the "
                       "numbers of a tensor; an operation or an expression does that")
        for piece in unused:
            yield f"include/tessera/{name}: no loop has `{piece}`, which loops.py allows"


report(problems(pathlib.Path(sys.argv[1])), "no loops over numbers in compose, layers, models and optim")
