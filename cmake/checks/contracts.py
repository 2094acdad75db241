# SPDX-License-Identifier: MIT
"""contracts.py <root>: every layer keeps the contract of layers, and its test asserts it.

Fails for a header of layers or models whose test has no static_assert that a layer accepts an
input: `accepts<L, S>` or `layer_for<L, X>`. Asserted in the header itself it would be paid for by
every program that includes it.
"""
import pathlib
import re
import sys

from tree import report

NO_LAYERS = {"layers/loss.hpp", "models/diffusion.hpp"}
ASSERTED = re.compile(r"\bstatic_assert\(([^;]*)\);")
KEPT = re.compile(r"(?<!not )\b(?:accepts|layer_for)<")


def problems(root):
    library = root / "include" / "tessera"
    for header in [h for floor in ("layers", "models") for h in sorted((library / floor).glob("*"))]:
        name = header.relative_to(library)
        test = root / "tests" / name.with_suffix(".cpp")
        if header.suffix != ".hpp" or str(name) in NO_LAYERS:
            continue
        text = test.read_text(encoding="utf-8") if test.exists() else ""
        if not any(KEPT.search(claim) for claim in ASSERTED.findall(text)):
            yield f"tests/{name.with_suffix('.cpp')}: does not assert that a layer accepts an input"


report(problems(pathlib.Path(sys.argv[1])), "every layer keeps the contract")
