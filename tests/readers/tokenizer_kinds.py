# SPDX-License-Identifier: MIT
"""tokenizer_kinds.py <program> [<strings>]: tokenizers of six kinds beside Hugging Face's tokenizers.

Each is trained here, saved as tokenizer.json, and asked by both for the ids, offsets and decoded text of
10,000 fuzzed strings, alone and a hundred together; <program> is tests/readers/tokenizer_program.cpp. What
it gives token by token is together the decoded text, too. Vocabularies that have no token for some bytes,
with what is then unknown, are asked as well.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "reference"))
import tokenizer_module as kinds

PROGRAM = sys.argv[1]
STRINGS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000


def answers(file, texts):
    done = subprocess.run([PROGRAM, file], input="".join(json.dumps(t) + "\n" for t in texts), text=True,
                          encoding="utf-8", stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def expected(t, text):
    e = t.encode(text)
    return {"ids": e.ids, "offsets": [list(o) for o in e.offsets], "types": e.type_ids,
            "text": t.decode(e.ids, skip_special_tokens=False), "plain": t.decode(e.ids)}


def differences(t, file, texts):
    for text, got in zip(texts, answers(file, texts), strict=True):
        want = expected(t, text)
        got["stream"], want["stream"] = "".join(got.pop("pieces")), want["text"]
        for what, value in want.items():
            if got[what] != value:
                yield f"{what} of {text!a}: expected {value!a}, got {got[what]!a}"[:10_000]


def few_bytes(**unknown):
    t = kinds.Tokenizer(kinds.models.BPE(**unknown))
    t.pre_tokenizer = kinds.pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = kinds.decoders.ByteLevel()
    t.post_processor = kinds.processors.ByteLevel(trim_offsets=False)
    trainer = kinds.trainers.BpeTrainer(vocab_size=300, show_progress=False, special_tokens=["<unk>"], limit_alphabet=60)
    return kinds.trained(t, trainer)


LACKING = {"few_bytes": few_bytes, "few_bytes_unknown": lambda: few_bytes(unk_token="<unk>"),
           "few_bytes_fused": lambda: few_bytes(unk_token="<unk>", fuse_unk=True)}
TOGETHER = 100

wrong = 0
with tempfile.TemporaryDirectory() as folder:
    for name, make in (kinds.KINDS | LACKING).items():
        t = make()
        file = pathlib.Path(folder) / f"{name}.json"
        t.save(str(file))
        special = [token.content for token in t.get_added_tokens_decoder().values()]
        texts = list(kinds.strings(STRINGS, 11, special))
        texts += ["".join(texts[i:i + TOGETHER]) for i in range(0, STRINGS, TOGETHER)]
        found = list(differences(t, file, texts))
        wrong += len(found)
        print(f"{name}: {len(texts)} strings, {len(found)} differences", *found[:5], sep="\n  ")
sys.exit(wrong > 0)
