# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast/features.cpp: the 15 features by pandas.

NASDAQ's series has a day with volume 0, whose changes are 0 by definition.
"""
import pathlib

import numpy
import pandas

from golden import Golden

DATA = pathlib.Path(__file__).parents[2] / "examples" / "forecast" / "data"
FIRST, LAST = 40, 5  # rows that are kept


def features(prices):
    o, h, l, c, v = (prices[name] for name in ("Open", "High", "Low", "Close", "Volume"))
    spread = numpy.log(h / l)
    change = c.diff()
    gain = change.clip(lower=0).rolling(14).mean()
    loss = (-change.clip(upper=0)).rolling(14).mean()
    ema = lambda x, span: x.ewm(span=span, adjust=False).mean()
    macd = ema(c, 12) - ema(c, 26)
    middle, deviation = c.rolling(20).mean(), c.rolling(20).std(ddof=0)
    lower, upper = middle - 2 * deviation, middle + 2 * deviation
    table = {
        "return": c.pct_change(),
        "gap": o / c.shift() - 1,
        "range": spread,
        "sma5": c.rolling(5).mean() / c - 1,
        "sma10": c.rolling(10).mean() / c - 1,
        "sma20": c.rolling(20).mean() / c - 1,
        "ema12": ema(c, 12) / c - 1,
        "ema26": ema(c, 26) / c - 1,
        "macd": macd / c,
        "signal": ema(macd, 9) / c,
        "rsi14": (100 - 100 / (1 + gain / loss)) / 100,
        "bollinger": (c - lower) / (upper - lower),
        "volume": numpy.log(v.where(v > 0) / v.shift().where(v.shift() > 0)).fillna(0),
        "deviation10": numpy.log(c / c.shift()).rolling(10).std(ddof=1),
        "range22": spread.rolling(22).mean(),
    }
    return pandas.DataFrame(table)


g = Golden(__file__, "none", numpy=numpy.__version__, pandas=pandas.__version__)
for index in ("sp500", "nasdaq"):
    prices = pandas.read_csv(DATA / f"{index}.csv.gz")
    whole = features(prices)
    filled = whole.dropna()
    g.add(f"{index}.rows", [len(filled), filled.index[0]])
    for name in whole.columns:
        g.add(f"{index}.{name}", [*filled[name][:FIRST], *filled[name][-LAST:]])
g.write()
