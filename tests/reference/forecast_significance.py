# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast/significance.cpp: Diebold-Mariano by NumPy, with the
distributions of SciPy."""
import numpy
import scipy
from scipy import stats

from golden import Golden

SEED, N = 11, 120


def diebold_mariano(a, b, y, h, harvey, lags=None):
    d = (a - y) ** 2 - (b - y) ** 2
    n, u = len(d), d - d.mean()
    variance = u @ u / n
    lags = h - 1 if lags is None else lags
    for lag in range(1, lags + 1):
        variance += 2 * (1 - lag / (lags + 1)) * (u[lag:] @ u[:-lag]) / n
    t = d.mean() / numpy.sqrt(variance / n)
    if not harvey:
        return d.mean(), t, 2 * stats.norm.sf(abs(t))
    t *= numpy.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    return d.mean(), t, 2 * stats.t.sf(abs(t), n - 1)


r = numpy.random.RandomState(SEED)
y = r.normal(size=N)
a = y + numpy.convolve(r.normal(size=N + 2), [0.5, 0.4, 0.3], "valid")
b = y + 1.1 * numpy.convolve(r.normal(size=N + 2), [0.5, 0.4, 0.3], "valid")
g = Golden(__file__, SEED, numpy=numpy.__version__, scipy=scipy.__version__)
g.add("came", y)
g.add("a", a)
g.add("b", b)
for h in (1, 3, 10):
    g.add(f"none.{h}", diebold_mariano(a, b, y, h, False))
    g.add(f"harvey.{h}", diebold_mariano(a, b, y, h, True))
    lags = max(h - 1, 4)  # 4 * 4 * 4 <= 120
    g.add(f"robust.none.{h}", diebold_mariano(a, b, y, h, False, lags)[2:])
    g.add(f"robust.harvey.{h}", diebold_mariano(a, b, y, h, True, lags)[2:])
g.write()
