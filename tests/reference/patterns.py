# SPDX-License-Identifier: MIT
"""Reference values for tests/text/tokenizer.cpp: where Hugging Face's tokenizers cuts a text by a pattern.

A comment line, and a line of JSON for each pattern: it, and texts with the ends of their pieces in code points (Split,
isolated) and with every match replaced by "-" (Replace). Patterns that Oniguruma and PCRE2 read in different ways, and some of well-known files.
"""
import json
import pathlib
import sys

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

TEXTS = ["", "hello world 你好 abc", "हिन्दी cafe\u0301 x_y-z", "a\na\n\nb", "a\u180eb\u3000c\x85d\u200de", "Ⓐb 🄰 ١२3 Ⅷ½²",
         "foo barfoo foo\u0301 foo", "ab^]-[x&&y}{,2} 0xBEEF", "你好。他「说」、・ー々 カタ,؟ـع।ह", "aB ac C c ABx x\v\f amz-b:;", "aaaa aaab abcab abxc", "can't ABC'S 12345 ...\r\n  x"]
PATTERNS = [
    r"\w+|[^\w\s]+", r"\w", r"\W+", r"[\W_]+", r"[^\W_]+", r"[\w-]+", r"[-\w]+", r"\s", r"\S+", r"[^\S\n]+", r"[\s\d]+", r"[^\s]+",
    r"\bfoo\b", r"\Boo", r"\b", r"\h+", r"\H+", r"[\hx]+", r"[^\H]+", "^a", "a$", "^", "$", r"\Aa", r"a\z", r"(?m).+", r"(?m:a.a)", ".+", r"(?i-m)ABC",
    r"[a-z&&[^b]]+", r"[^a-z&&[^b]]+", r"[a-z&&[^b]&&[^c]]+", r"[[a-c][x-z]]+", r"[^[a-c]x]+", r"[x[^\s]]+", r"[[:word:]]+", r"[^[:word:]]+", r"[[:^word:]]+",
    r"[[:alpha:]]+", r"[[:alnum:]]+", r"[[:space:]]+", r"[[:upper:]]+", r"[[:lower:]]+", r"[[:punct:]]+", r"[[:graph:]]+", r"[[:print:]]+", r"[[:cntrl:]]+", r"[^[:blank:]]+", r"[[:digit:]]+", r"[[:xdigit:]]+", r"[\]\[^]+", r"[&]+", r"[\^&]+", r"\x{4F60}", r"\x{61}+", r"\x{61}{2}", r"\p{L}{2}", r"[\x{61}-\x{63}]+", r"\u0061b?", r"[\u0061-\u0063]+",
    "a{,2}", "a{2}", "a{2,}", "a{1,2}?", "x{,", r"a++b", "x*", "a*?", "(?=b)", "[ab]*", r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"[^\r\n\p{L}\p{N}]?(?:\p{L}|\p{M}|\x{200C}|\x{200D})+", r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
    r"\p{Han}+", r"[\p{Han}]+", r"\P{Katakana}+", r"\p{^Arabic}+", r"[^\p{Devanagari}]+", r"\p{Hiragana}|\p{Latin}", r"a(?i)b|C", r"(a(?i)b|c)d?", r"x(?i)b|c", r"(?i)ab|c(?-i)B|x",
    r"\v+", r"[\v]", r"[a[b]-z]+", r"[-[x]]+", r"[a-z-[x]]+", r"[[:,;]]+|[x:]+", r"(?#[)a", r"a(?# b)b", r"[a-c-9]+", r"[\d-]+", r"[.&&-]|[^a-c&&b]+", r"[a\-z]+", r"[\x{61}-\x{63}\-]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+", r"\p{N}{1,3}(?=(?:\p{N}{3})*\b)",
    r"\P{N}*\P{L}", r"\P{N}+\P{L}", r"\p{^N}+\p{^L}", r"\p{^L}*?\P{N}", r"(?=a)b?a", r"(?=a)[abc]?a", r"(?i)\p{Lu}+", r"(?i:a)[[:upper:]]",
]
lines = [f"# {pathlib.Path(__file__).name}: Python {sys.version.split()[0]}, tokenizers {tokenizers.__version__}"]
for pattern in PATTERNS:
    split, replace = pre_tokenizers.Split(Regex(pattern), "isolated"), normalizers.Replace(Regex(pattern), "-")
    texts = [{"text": t, "ends": [end for _, (_, end) in split.pre_tokenize_str(t)], "replaced": replace.normalize_str(t)}
             for t in TEXTS]
    lines.append(json.dumps({"pattern": pattern, "texts": texts}, separators=(",", ":"), ensure_ascii=False))
path = pathlib.Path(__file__).with_suffix(".txt")
path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
print(path.name, path.stat().st_size, "bytes")
