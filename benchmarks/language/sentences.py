# SPDX-License-Identifier: MIT
"""sentences.py <agents> <folder of all-MiniLM-L6-v2>: vectors of sentences beside sentence-transformers.

Needs torch, sentence-transformers, onnx and onnxruntime of PyPI. 500 sentences in 10 scripts, by words that
are drawn: the least cosine between both vectors. Then the time of one thread for each sentence alone, beside
onnxruntime, in turns; the tokens are made before.
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import torch
from sentence_transformers import SentenceTransformer

AGENTS, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
WORDS = {
    "Latin": "the quick brown fox jumps over a lazy dog while rain falls on the old town and nobody looks".split(),
    "Greek": "η γρήγορη αλεπού πηδά πάνω από τον τεμπέλη σκύλο ενώ βρέχει στην παλιά πόλη".split(),
    "Cyrillic": "быстрая лиса прыгает через ленивую собаку пока дождь идёт над старым городом".split(),
    "Arabic": "الثعلب السريع يقفز فوق الكلب الكسول بينما يهطل المطر على المدينة القديمة".split(),
    "Hebrew": "השועל המהיר קופץ מעל הכלב העצלן בזמן שגשם יורד על העיר העתיקה".split(),
    "Devanagari": "तेज़ लोमड़ी आलसी कुत्ते के ऊपर कूदती है जबकि पुराने शहर पर बारिश होती है".split(),
    "Han": "敏捷 的 狐狸 跳过 懒狗 而 雨 落在 古城 上 没有 人 看见".split(),
    "Kana": "すばやい きつねが なまけものの いぬを とびこえる ふるい まちに あめが ふる カメラ".split(),
    "Hangul": "빠른 여우가 게으른 개를 뛰어넘는 동안 오래된 도시에 비가 내린다".split(),
    "Thai": "สุนัขจิ้งจอก กระโดด ข้าม สุนัข ขี้เกียจ ขณะที่ ฝน ตก ใน เมือง เก่า".split(),
}


def sentences():
    draw = random.Random(1)
    return [" ".join(draw.choices(words, k=draw.randint(3, 40))) for words in WORDS.values() for _ in range(50)]


def vectors(texts):
    done = subprocess.run([AGENTS, "embed", "--model", FOLDER], input="\n".join(texts) + "\n", text=True,
                          encoding="utf-8", stdout=subprocess.PIPE, check=True)
    return np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])


def onnx_session(model, folder):
    """The encoder, the mean and the length as one graph."""
    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model[0].auto_model

        def forward(self, ids):
            y = self.inner(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.mean(1)
            return torch.nn.functional.normalize(y, dim=-1)
    path = pathlib.Path(folder) / "m.onnx"
    torch.onnx.export(Whole().eval(), (torch.ones(1, 8, dtype=torch.int64),), str(path), input_names=["ids"],
                      dynamic_axes={"ids": {1: "time"}}, dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def main():
    torch.set_num_threads(1)
    model = SentenceTransformer(str(FOLDER), device="cpu")
    texts = sentences()
    want = model.encode(texts, convert_to_numpy=True, normalize_embeddings=True).astype(np.float64)
    got = vectors(texts)
    cosines = (want * got).sum(1) / np.linalg.norm(want, axis=1) / np.linalg.norm(got, axis=1)
    print(f"{len(texts)} sentences in {len(WORDS)} scripts: the least cosine is {cosines.min():.9f}")
    with tempfile.TemporaryDirectory() as folder:
        session = onnx_session(model, folder)
        ids = [np.array([model.tokenizer(t, truncation=True, max_length=256).input_ids]) for t in texts]
        file = pathlib.Path(folder) / "ids.json"
        file.write_text(json.dumps([i[0].tolist() for i in ids]))
        ratios, both = [], []
        for _ in range(5):
            own = json.loads(subprocess.run([AGENTS, "bench", "--sentences", FOLDER, "--ids", file], check=True,
                                            text=True, stdout=subprocess.PIPE).stdout)["seconds"]
            begun = time.perf_counter()
            for each in ids:
                session.run(None, {"ids": each})
            peer = time.perf_counter() - begun
            both.append((own, peer))
            ratios.append(peer / own)
        own, peer = (statistics.median(x) for x in zip(*both))
        print(f"{len(texts)} sentences of {sum(i.size for i in ids)} tokens, one thread: {own:.2f} s, onnxruntime "
              f"{peer:.2f} s; {statistics.median(ratios):.2f} x onnxruntime")


main()
