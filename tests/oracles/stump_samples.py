"""Small samples for tests of stumps, and all stumps of a sample by definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.stump_hull.regressor import StumpHull


@dataclass(frozen=True)
class Sample:
    x: Floats
    y: Floats
    w: Floats

    def fit(self, budget: float, **settings: Any) -> StumpHull:
        return StumpHull(budget=budget, **settings).fit(self.x, self.y, self.w)

    def risk(self, values: Floats) -> float:
        return float(np.average((self.y - values) ** 2, weights=self.w))

    def variance(self) -> float:
        return self.risk(np.full(len(self.y), np.average(self.y, weights=self.w)))


def sample(n: int, p: int, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    return Sample(x, np.tanh(2.0 * x).sum(axis=1) + rng.normal(size=n), rng.uniform(0.1, 2.0, size=n))


def all_stumps(x: Floats) -> Floats:
    """(n, Q): by definition, one column for each value of each input but its largest."""
    columns = [x[:, j] > level for j in range(x.shape[1]) for level in np.unique(x[:, j])[:-1]]
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(x)).T


def centred(sample: Sample, columns: Floats) -> Floats:
    return columns - np.average(columns, axis=0, weights=sample.w)


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-3.0, 3.0, allow_subnormal=False))
budgets = st.one_of(st.just(0.0), st.floats(0.01, 20.0))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    n, p = draw(st.integers(1, 12)), draw(st.integers(0, 3))
    w = draw(arrays(np.float64, n, elements=st.integers(0, 3).map(float)).filter(lambda w: w.any()))
    y = draw(arrays(np.float64, n, elements=numbers.map(lambda y: round(y, 1))))
    return Sample(draw(arrays(np.float64, (n, p), elements=numbers)), y, w)
