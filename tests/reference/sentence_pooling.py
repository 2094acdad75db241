# SPDX-License-Identifier: MIT
"""The files in which sentence-transformers says how it makes vectors of sentences.

Arrays "<case>.modules" and "<case>.pooling" hold the bytes of modules.json and of 1_Pooling's config.json; "<case>.y" is
what these modules make of the vectors in "x", one row for each of three tokens.
"""
import pathlib
import tempfile

import sentence_transformers
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizer

from golden import Golden

golden = Golden(__file__, 1, torch=torch.__version__, sentence_transformers=sentence_transformers.__version__)
torch.manual_seed(1)
WIDTH = 4
x = torch.rand(3, WIDTH) * 2 - 1
golden.tensor("x", x)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    BertModel(BertConfig(vocab_size=6, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4,
                         max_position_embeddings=8)).save_pretrained(folder / "bert")
    for case, mode, last in (("mean", "mean", [Normalize()]), ("cls", "cls", [Normalize()]), ("plain_mean", "mean", []),
                             ("plain_cls", "cls", []), ("max", "max", []), ("both", ("cls", "mean"), [])):
        pooling = Pooling(WIDTH, pooling_mode=mode)
        SentenceTransformer(modules=[Transformer(str(folder / "bert")), pooling, *last]).save(str(folder / case))
        golden.add(f"{case}.modules", (folder / case / "modules.json").read_bytes())
        golden.add(f"{case}.pooling", (folder / case / "1_Pooling" / "config.json").read_bytes())
        features = pooling({"token_embeddings": x[None], "attention_mask": torch.ones(1, 3)})
        for module in last:
            features = module(features)
        golden.tensor(f"{case}.y", features["sentence_embedding"][0])
golden.write()
