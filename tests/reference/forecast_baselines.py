# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast/baselines.cpp: least squares by NumPy.

The features are those that tests/reference/forecast_features.py computes.
"""
import contextlib
import io

import numpy
import pandas

from golden import Golden

with contextlib.redirect_stdout(io.StringIO()):
    from forecast_features import DATA, features

FOLDS, YEAR, DROPPED = 5, 252, 21


def with_mean(x):
    return numpy.column_stack([numpy.ones(len(x)), x])


def least_squares(x, y, ahead):
    return with_mean(ahead) @ numpy.linalg.lstsq(with_mean(x), y, rcond=None)[0]


def ridge(x, y, ahead, penalty=1.0):
    shift, scale = x.mean(0), x.std(0)
    z = (x - shift) / scale
    w = numpy.linalg.solve(z.T @ z + penalty * numpy.eye(z.shape[1]), z.T @ (y - y.mean()))
    return y.mean() + (ahead - shift) / scale @ w


def forecasts(table, known, har, y, train, held):
    return {
        "zero": numpy.zeros(len(y[held])),
        "mean": numpy.full(len(y[held]), y[train].mean()),
        "persistence": known[held],
        "ar1": least_squares(known[train], y[train], known[held]),
        "har": least_squares(har[train], y[train], har[held]),
        "ridge": ridge(table[train], y[train], table[held]),
    }


g = Golden(__file__, "none", numpy=numpy.__version__, pandas=pandas.__version__)
for index in ("sp500", "nasdaq"):
    prices = pandas.read_csv(DATA / f"{index}.csv.gz")
    spread = numpy.log(prices.High / prices.Low)
    har = numpy.column_stack([spread, spread.rolling(5).mean(), spread.rolling(22).mean()])
    table = features(prices).to_numpy()
    for target, horizon in (("range", 1), ("range", 5), ("return", 1), ("return", 5)):
        if target == "range":
            known = spread.to_numpy()
            future = spread.shift(-horizon).to_numpy()
        else:
            known = prices.Close.pct_change(horizon).to_numpy()
            future = known[horizon:]
        days = len(prices) - horizon
        rows = [part[DROPPED:days] for part in (table, known, har, future)]
        n = len(rows[0])
        errors = {}
        for k in range(FOLDS):
            begin = n - YEAR - (horizon - 1) - YEAR * (FOLDS - k)
            train, held = slice(0, begin - horizon), slice(begin, begin + YEAR)
            for name, f in forecasts(*rows, train, held).items():
                errors.setdefault(name, []).append(((f - rows[3][held]) ** 2).mean())
        for name, values in errors.items():
            g.add(f"{index}.{target}.{horizon}.{name}", values)
g.write()
