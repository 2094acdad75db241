# SPDX-License-Identifier: MIT
"""Reference values for tests/examples/forecast/drift.cpp: Kolmogorov-Smirnov by SciPy, the
population stability index by NumPy."""
import numpy
import scipy
from scipy import special, stats

from golden import Golden

SEED = 3
r = numpy.random.RandomState(SEED)
g = Golden(__file__, SEED, numpy=numpy.__version__, scipy=scipy.__version__)
for name, a, b in (("near", r.normal(size=200), r.normal(0.1, 1, 60)),
                   ("far", r.normal(size=150), r.normal(0.6, 1.5, 90)),
                   ("ties", r.randint(0, 6, 80).astype(float), r.randint(1, 7, 50).astype(float))):
    a, b = numpy.sort(a), numpy.sort(b)
    d = stats.ks_2samp(a, b, method="asymp").statistic
    n = len(a) * len(b) / (len(a) + len(b))
    g.add(f"{name}.a", a)
    g.add(f"{name}.b", b)
    g.add(f"{name}.ks", [d, special.kolmogorov(numpy.sqrt(n) * d)])
p, q = r.dirichlet(numpy.ones(10)), r.dirichlet(numpy.ones(10))
q[3] = 0
g.add("p", p)
g.add("q", q)
fp, fq = numpy.maximum(p, 1e-4), numpy.maximum(q, 1e-4)
g.add("psi", [((fp - fq) * numpy.log(fp / fq)).sum()])
g.write()
