# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast/ridge.cpp: ridge regression on whole windows by NumPy,
as Ridge(alpha) of scikit-learn defines it. The days are known to both."""
import numpy

from golden import Golden

ROWS, FEATURES, LOOK_BACK, BEGIN, END = 90, 3, 5, 10, 70


def number(i, k):
    return ((7919 * i * i + 104729 * k + 31 * i) % 257 - 128) / 64


days = numpy.array([[number(r, f) for f in range(FEATURES)] for r in range(ROWS)])
target = numpy.array([number(r, 7) for r in range(ROWS)])
last = numpy.arange(BEGIN + LOOK_BACK - 1, END)
x = numpy.stack([days[r - LOOK_BACK + 1:r + 1].ravel() for r in last])
y = target[last]
golden = Golden(__file__, "none", numpy=numpy.__version__)
for penalty in (0.5, 40):
    z = x - x.mean(0)
    # A least-squares problem with a row for each penalty: not the normal equations of the header.
    stacked = numpy.vstack([z, numpy.sqrt(penalty) * numpy.eye(x.shape[1])])
    weight = numpy.linalg.lstsq(stacked, numpy.concatenate([y - y.mean(), numpy.zeros(x.shape[1])]), rcond=None)[0]
    golden.add(f"weight.{penalty}", weight)
    golden.add(f"bias.{penalty}", [y.mean() - x.mean(0) @ weight])
golden.write()
