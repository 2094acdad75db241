# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast/scores.cpp and strategy.cpp, by NumPy."""
import numpy

from golden import Golden

SEED, N, COST = 5, 300, 5e-4
r = numpy.random.RandomState(SEED)
y = 0.01 * r.normal(size=N)
y[::50] = 0
f = 0.3 * y + 0.008 * r.normal(size=N)
g = Golden(__file__, SEED, numpy=numpy.__version__)
g.add("came", y)
g.add("forecasts", f)
e, some = f - y, numpy.abs(y) > 1e-8
g.add("scores", [(e**2).mean(), numpy.sqrt((e**2).mean()), numpy.abs(e).mean(), 1 - (e**2).mean() / y.var(),
                 numpy.abs(e[some] / y[some]).mean(), some.sum(), (numpy.sign(f) == numpy.sign(y)).mean()])

for threshold in (0, 0.005):
    position = numpy.where(f > threshold, 1, numpy.where(f < -threshold, -1, 0))
    change = numpy.abs(numpy.diff(position, prepend=0))
    made = position * y - COST * change
    equity = numpy.cumprod(1 + made)
    high = numpy.maximum.accumulate(numpy.concatenate([[1], equity]))[1:]
    year = numpy.sqrt(252)
    g.add(f"strategy.{threshold}", [
        equity[-1] - 1, made.std(ddof=1) * year, made.mean() / made.std(ddof=1) * year,
        made.mean() / numpy.sqrt((numpy.minimum(made, 0) ** 2).mean()) * year,
        (1 - equity / high).max(), (change > 0).sum()])
    g.add(f"equity.{threshold}", equity)
g.write()
