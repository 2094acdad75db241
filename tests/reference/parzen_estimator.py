"""Densities of Optuna's Parzen estimator, as its TPESampler makes them by default.

parzen_estimator.py; needs numpy and optuna. Points are rows (x, rate, layers, model): uniform over
[-5, 10], logarithmic over [1e-5, 1], whole of 1 .. 90 and different,
one of four. The density of a rate is that of its logarithm. Which of equal numbers gets which width
is left to the sorting of NumPy, so there are none.
"""
import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator, _ParzenEstimatorParameters
from optuna.samplers._tpe.sampler import default_weights

from golden import Golden

SEED = 7
SPACE = {"x": FloatDistribution(-5, 10), "rate": FloatDistribution(1e-5, 1, log=True),
         "layers": IntDistribution(1, 90), "model": CategoricalDistribution(list("abcd"))}
parameters = _ParzenEstimatorParameters(1.0, True, False, default_weights, True)
random = np.random.RandomState(SEED)


def points(n):
    return np.stack([random.uniform(-5, 10, n), np.exp(random.uniform(np.log(1e-5), 0, n)),
                     1 + random.permutation(90)[:n], random.randint(0, 4, n)], axis=1)


def columns(rows):
    return {name: rows[:, i] for i, name in enumerate(SPACE)}


golden = Golden(__file__, SEED, numpy=np.__version__, optuna=optuna.__version__)
asked = points(20)
golden.add("asked", asked.flatten())
for n in [0, 1, 2, 9, 26, 40]:
    seen = points(n)
    estimator = _ParzenEstimator(columns(seen), SPACE, parameters)
    golden.add(f"seen_{n}", seen.flatten())
    golden.add(f"density_{n}", np.exp(estimator.log_pdf(columns(asked))))
golden.write()
