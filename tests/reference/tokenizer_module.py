# SPDX-License-Identifier: MIT
"""Small tokenizers of known kinds, trained on the spot by Hugging Face's tokenizers, and fuzzed strings for
them: what tests/reference/tokenizer.py and tests/readers/tokenizer_kinds.py share."""
import json
import random
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
ROOTS = ("the of and to in is was for on are as with his they at be this have from or one had by word but not what all were we when your can said there "
         "use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more "
         "write go see number no way could people my than first water been call who oil its now find long down day did get come made may part "
         "über straße naïve café résumé Ångström größe niño garçon привет мир слово время год человек 日本語 東京 中文 模型 你好 世界 한국어 안녕 "
         "नमस्ते हिन्दी العربية مرحبا שלום ελληνικά κόσμε ไทย สวัสดี tiếng Việt 1234 2024 3.14 99 don't I'll we're you've it's I'm he'd !? ... -- (x) [y] {z} "
         "def return self None int main void std::vector #include <html> https://example.org/a?b=c 😀 🚀 👍🏽 👩‍👩‍👧 é ñ").split()


def corpus(seed=1, lines=2000):
    r = random.Random(seed)
    for _ in range(lines):
        yield "".join(r.choice(ROOTS) + r.choice([" ", " ", " ", " ", "  ", "\n", ", ", ". "]) for _ in range(12))


def special(*names):
    return [AddedToken(name, special=True, normalized=False) for name in names]


def trained(t, trainer):
    t.train_from_iterator(corpus(), trainer)
    return t


def gpt2(small=False):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=True)
    trained(t, trainers.BpeTrainer(vocab_size=400 if small else 700, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                                  special_tokens=["<|endoftext|>"]))
    t.add_tokens([AddedToken("<tool>", lstrip=True, rstrip=True, normalized=False), AddedToken("word", single_word=True, normalized=True)])
    return t


def llama3(small=False, pattern=LLAMA3, normalizer=None, ignore=True):
    t = Tokenizer(models.BPE(ignore_merges=ignore))
    t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    trained(t, trainers.BpeTrainer(vocab_size=400 if small else 800, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                                  special_tokens=special("<|begin_of_text|>", "<|eot_id|>")))
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), processors.TemplateProcessing("<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|> $B:1", [("<|begin_of_text|>", 0)])])
    return t


def qwen2(small=False):
    t = llama3(small, QWEN2, normalizers.NFC(), False)
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def llama2(small=False):
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    in_bytes = [f"<0x{i:02X}>" for i in range(256)]
    t.pre_tokenizer = pre_tokenizers.Split(Regex("(?<=[^▁])(?=▁)"), "isolated")
    trained(t, trainers.BpeTrainer(vocab_size=500 if small else 700, show_progress=False, limit_alphabet=150,
                                  special_tokens=["<unk>", "<s>", "</s>", *in_bytes]))
    j = json.loads(t.to_str())
    j["pre_tokenizer"] = None
    j["added_tokens"] = [a for a in j["added_tokens"] if a["id"] < 3]
    t = Tokenizer.from_str(json.dumps(j))
    t.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)])
    return t


def unigram(small=False):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    trained(t, trainers.UnigramTrainer(vocab_size=300 if small else 500, show_progress=False, unk_token="<unk>", special_tokens=["<pad>", "</s>", "<unk>"]))
    t.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    return t


def bert(small=False):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    trained(t, trainers.WordPieceTrainer(vocab_size=400 if small else 700, show_progress=False, limit_alphabet=150,
                                        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)])
    return t


KINDS = dict(gpt2=gpt2, llama3=llama3, qwen2=qwen2, llama2=llama2, unigram=unigram, bert=bert)

# Code points that Unicode has had, or known as punctuation, marks or control characters, only since the
# version 8 that tokenizers' normal forms and classes of BERT are of; all others are the same to both.
LATER = '''
61D 7FD 890-89F 8CA-8E2 9FD-9FE A76 AFA-AFF B55 C04 C3C C77 C84 D00 D3B-D3C D81 EBA 166D 1715 1734
180E-180F 1885-1886 1ABF-1ACE 1B7D-1B7E 1CF2-1CF7 1DF6-1DFB 2E43-2E5D 32FF A7F2-A7F4 A82C A8C5 A8FF
A9BD AB69 10781-107BA 10D24-10D27 10EAB-10EAD 10F46-10F59 10F82-10F89 11070-11074 110C2 110CD
11145-11146 111C9-111CF 1123E 1133B 11438-1144F 1145A-1145E 11660-1166C 116B9 1182C-1183B
11930-11946 119D1-119E4 11A01-11A0A 11A33-11A47 11A51-11A5B 11A8A-11AA2 11C30-11C45 11C70-11C71
11C92-11CB6 11D31-11D47 11D8A-11D97 11EF3-11EF8 11FFF 12FF1-12FF2 13430-13438 16E97-16E9A 16F4F
16F7F-16F87 16FE2-16FE4 16FF0-16FF1 1CF00-1CF46 1E000-1E02A 1E130-1E136 1E2AE 1E2EC-1E2EF
1E944-1E94A 1E95E-1E95F 1F16C 1FBF0-1FBF9
'''


def points(ranges):
    for one in ranges.split():
        first, _, last = one.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


EXCEPT = set(points(LATER))


def assigned(c):
    return unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and c not in EXCEPT


ALL = [c for c in range(1, 0x110000) if assigned(c)]
def strings(n, seed, specials=()):
    r = random.Random(seed)
    pools = [range(0x20, 0x7F), range(0xA0, 0x250), range(0x300, 0x370), range(0x370, 0x530), range(0x590, 0x700), range(0x900, 0xE80), range(0x1100, 0x1200), range(0x1E00, 0x2070),
             range(0x2070, 0x2C00), range(0x3040, 0x3100), range(0x4E00, 0x5000), range(0xAC00, 0xAD00), range(0xF900, 0xFB50), range(0xFF00, 0xFFF0), range(0x1F300, 0x1F650), ALL]
    pools = [[c for c in p if assigned(c)] for p in pools]
    white = list(" \t\n\r\v\f\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u3000\u200b\u200d")
    tails = ["'s", "'S", "'LL", "'re", "'ve", "'\u017f", "n't", "\r\n", "\n\n", "   ", "\u0301", "\u0323\u0307", "\uFFFD", "\u2581", "12345", "\u00bd", "\u0130", "\u1e9b\u0323", "\ud7a3\u11a8", "\u1100\u1161"]
    for _ in range(n):
        out = []
        for _ in range(r.randrange(0, 14)):
            k = r.random()
            if k < 0.4: out.append(r.choice(ROOTS))
            elif k < 0.55: out.append("".join(r.choice(white[:3] if r.random() < .7 else white) for _ in range(r.randrange(1, 4))))
            elif k < 0.65: out.append(r.choice(tails))
            elif k < 0.7 and specials: out.append(r.choice(specials))
            else:
                p = r.choice(pools)
                out.append("".join(chr(r.choice(p)) for _ in range(r.randrange(1, 6))))
            if r.random() < 0.5: out.append(" ")
        yield "".join(out)
