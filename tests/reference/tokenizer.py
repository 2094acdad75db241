# SPDX-License-Identifier: MIT
"""Reference values for tests/text/tokenizer.cpp: what Hugging Face's tokenizers makes of fuzzed strings.

A comment line, and for each kind of tokenizer a line of JSON: the tokenizer.json that was trained here, and
for each string its ids, offsets (begin, end, begin, ...), and the text with and without special tokens.
"""
import json
import pathlib
import sys

import tokenizers

import tokenizer_module as kinds

SEED = 3
lines = [f"# {pathlib.Path(__file__).name}: Python {sys.version.split()[0]}, tokenizers {tokenizers.__version__}, seed {SEED}"]
for name, make in kinds.KINDS.items():
    t = make(small=True)
    special = [token.content for token in t.get_added_tokens_decoder().values()]
    cases = []
    for text in kinds.strings(60, SEED, special):
        e = t.encode(text)
        cases.append({"text": text, "ids": e.ids, "offsets": [i for pair in e.offsets for i in pair],
                      "types": sum(e.type_ids),
                      "decoded": t.decode(e.ids, skip_special_tokens=False), "plain": t.decode(e.ids)})
    a, b = (c["text"] for c in cases[-2:])
    e = t.encode(a, b)
    pair = {"first": a, "second": b, "ids": e.ids, "types": e.type_ids}
    lines.append(json.dumps({"kind": name, "file": json.loads(t.to_str()), "cases": cases, "pair": pair},
                            separators=(",", ":"), ensure_ascii=False))
path = pathlib.Path(__file__).with_suffix(".txt")
path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
print(path.name, path.stat().st_size, "bytes")
