# SPDX-License-Identifier: MIT
"""Reference values for tests/data/scaler.cpp."""
import numpy
import sklearn
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from golden import Golden

g = Golden(__file__, 1, numpy=numpy.__version__, sklearn=sklearn.__version__)
x = numpy.random.RandomState(1).normal(3, 5, (7, 4))
x[:, 2] = 2.5
g.add("x", x.flatten())
for name, scaler in dict(standard=StandardScaler(), min_max=MinMaxScaler()).items():
    g.add(name, scaler.fit_transform(x).flatten())
g.write()
