"""Writes examples/digits/digits.npy: the 1,797 handwritten digits of scikit-learn's package, 64 pixels of
0 .. 16 and then the class, as bytes."""
import pathlib

import numpy
from sklearn.datasets import load_digits

data = load_digits()
table = numpy.concatenate([data.data, data.target[:, None]], 1).astype(numpy.uint8)
path = pathlib.Path(__file__).parents[2] / "examples/digits/digits.npy"
numpy.save(path, table)
print(path.name, table.shape, table.dtype)
