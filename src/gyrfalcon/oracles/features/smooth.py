"""Smooth bases: regression splines of each input, and random Fourier features of all of them together.

Splines have knots at quantiles of an input, and are straight lines outside of its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, pi, prod, sqrt

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.features.bases import moments
from gyrfalcon.oracles.linalg.batch_invariant import inner_products

# In standard deviations. The line outside a range is as steep as 1 / (the outermost gap between knots), and a
# line through a crowd of nearly equal values would follow their noise.
MERGE_BELOW = 1e-4


_NUMBERS, _ANGLES = 1 << 15, 1 << 13
"""Splines and angles that are worked on at a time, so that they stay in cache."""


@dataclass(frozen=True, slots=True)
class SplineMap:
    """Piecewise polynomials of one standardised input each.

    The `knots` (p, M) cut the line of each input into M + 1 pieces. On a piece, feature d is a polynomial in
    s = (z - origin) / width, with `origins` and `widths` (p, M + 1), of the input `sources[d]`; its
    coefficient of s^k is `coefficients[k, piece, d]`. Where an input has fewer knots, its last one and its
    last piece are repeated.

    >>> hat = Splines(n_knots=3, degree=1).fit(np.array([[0.0], [1.0], [2.0]]))
    >>> hat.expand(np.array([[0.5], [1.0], [2.0], [4.0]])).round(6)
    array([[ 0.5,  0. ],
           [ 1. ,  0. ],
           [ 0. ,  1. ],
           [-2. ,  3. ]])
    """

    means: Floats
    scales: Floats
    knots: Floats
    origins: Floats
    widths: Floats
    sources: Ints
    coefficients: Floats

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.means.size

    @property
    def n_features(self) -> int:
        """The number of splines over all inputs."""
        return self.sources.size

    def expand(self, x: Floats) -> Floats:
        """The splines (..., D), by elementwise arithmetic alone, so that a batch changes no bit of a row."""
        if x.size * len(self.sources) <= _NUMBERS * x.shape[-1]:
            return self._expanded(x)
        rows = x.reshape(-1, x.shape[-1])
        features, step = np.empty((len(rows), len(self.sources))), max(1, _NUMBERS // len(self.sources))
        for start in range(0, len(rows), step):
            features[start : start + step] = self._expanded(rows[start : start + step])
        return features.reshape(*x.shape[:-1], len(self.sources))

    def _expanded(self, x: Floats) -> Floats:
        """The splines of rows that are all in cache."""
        z = (x - self.means) / self.scales
        piece = np.sum(z[..., None] >= self.knots, axis=-1, dtype=np.int64)
        inputs = np.arange(len(self.means))
        local = (z - self.origins[inputs, piece]) / self.widths[inputs, piece]
        local, piece = np.take(local, self.sources, axis=-1), np.take(piece, self.sources, axis=-1)
        places = piece * len(self.sources) + np.arange(len(self.sources))  # in one table per power
        tables = self.coefficients.reshape(len(self.coefficients), -1)[::-1]
        features: Floats = np.take(tables[0], places)
        for table in tables[1:]:
            features *= local
            features += np.take(table, places)
        return features


@dataclass(frozen=True, slots=True)
class Splines:
    """B-splines of each input, with knots at quantiles and linear outside.

    The sum of all B-splines of an input is 1, so the first is left out for the intercept: an input yields
    n_knots + degree - 2 features. A column of few distinct values gets fewer knots and a lower degree, and no
    more features than are identified: a two-valued or constant column is left as it is.

    Parameters
    ----------
    n_knots : int, default 5
        Number of knots per input, both ends included.
    degree : int, default 3
        Degree of the splines, 1 to 5.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [5.0, 1.0], [7.0, 1.0]])
    >>> splines = Splines(n_knots=3, degree=3).fit(rows)
    >>> splines.n_features  # 4 of the first input and 1 of the second
    5
    >>> splines.expand(rows[:2]).round(2)
    array([[0.  , 0.  , 0.  , 0.  , 1.  ],
           [0.58, 0.11, 0.01, 0.  , 1.  ]])
    """

    n_knots: int = 5
    degree: int = 3

    def __post_init__(self) -> None:
        if not 2 <= self.n_knots <= 100:
            raise ValueError(f"n_knots is {self.n_knots}; give 2 to 100, counting the two ends.")
        if not 1 <= self.degree <= 5:
            raise ValueError(f"degree is {self.degree}; give 1 to 5, where 3 is the usual cubic spline.")

    def fit(self, x: Floats) -> SplineMap:
        """The splines with knots at the quantiles of these rows."""
        means, scales = moments(x)
        p, n_pieces = x.shape[1], self.n_knots + 1
        knots, origins, widths = np.empty((p, self.n_knots)), np.empty((p, n_pieces)), np.empty((p, n_pieces))
        tables = [np.empty((self.degree + 1, n_pieces, 0))]
        for j, column in enumerate(((x - means) / scales).T):
            own, degree = self._knots_and_degree(column)
            knots[j] = _extended(own, self.n_knots)
            origins[j] = _extended(np.concatenate([own[:1], own[:-1], own[-2:-1]]), n_pieces)
            gaps = np.diff(own)
            widths[j] = _extended(np.concatenate([gaps[:1], gaps, gaps[-1:]]), n_pieces)
            tables.append(self._padded(_pieces(own, degree)[..., 1:]))
        sources = np.repeat(np.arange(p), [table.shape[-1] for table in tables[1:]])
        return SplineMap(means, scales, knots, origins, widths, sources, np.concatenate(tables, axis=-1))

    def _knots_and_degree(self, column: Floats) -> tuple[Floats, int]:
        # Quantiles that are themselves values of the column: between two values there is nothing to bend for.
        quantiles = np.quantile(column, np.linspace(0.0, 1.0, self.n_knots), method="inverted_cdf")
        knots = quantiles[np.concatenate([[True], np.diff(quantiles) > MERGE_BELOW])]
        if knots.size == 1:
            return np.array([knots[0], knots[0] + 1.0]), 1
        n_values = np.unique(column).size
        return knots, int(np.clip(n_values - knots.size + 1, 1, self.degree))

    def _padded(self, table: Floats) -> Floats:
        """The table with powers of 0 and repeated last pieces, as many as others have."""
        n_powers, n_pieces, n_splines = table.shape
        padded = np.zeros((self.degree + 1, self.n_knots + 1, n_splines))
        padded[:n_powers, :n_pieces] = table
        padded[:n_powers, n_pieces:] = table[:, -1:]
        return padded


@dataclass(frozen=True, slots=True)
class FourierMap:
    """Random Fourier features: cosines of standardised inputs, with `frequencies` (p, D) and `phases` (D,).

    >>> cosines = FourierMap(np.zeros(1), np.ones(1), frequencies=np.array([[1.0, 2.0]]), phases=np.zeros(2))
    >>> cosines.expand(np.array([np.pi])).round(6)
    array([-1.,  1.])
    """

    means: Floats
    scales: Floats
    frequencies: Floats
    phases: Floats

    @property
    def n_inputs(self) -> int:
        """The number p of inputs."""
        return self.means.size

    @property
    def n_features(self) -> int:
        """The number D of random Fourier features."""
        return self.phases.size

    def expand(self, x: Floats) -> Floats:
        """sqrt(2 / D) cos(W z + phase), (..., D), of the standardised inputs z."""
        z = np.ascontiguousarray((x - self.means) / self.scales).reshape(prod(x.shape[:-1]), len(self.means))
        angles = inner_products(z, self.frequencies.T)
        angles += self.phases
        features, _ = cosines_and_sines(angles)
        features *= sqrt(2.0 / len(self.phases))
        return features.reshape(*x.shape[:-1], len(self.phases))


@dataclass(frozen=True, slots=True)
class RandomFourier:
    """Random Fourier features: their inner products approximate a Gaussian kernel.

    The kernel is exp(-|z - z'|^2 / (2 length_scale^2)) of standardised inputs z (Rahimi and Recht, 2007,
    Algorithm 1). The features depend on the seed and the number of inputs alone.

    Parameters
    ----------
    n_features : int, default 100
        Number of features.
    length_scale : float, default 1.0
        Length scale of the kernel, in standard deviations of the inputs.
    seed : int, default 0
        Seed of the random frequencies and phases.

    Examples
    --------
    >>> features = RandomFourier(n_features=2000, length_scale=2.0).fit(np.array([[0.0], [2.0]]))
    >>> a, b = features.expand(np.array([[0.0], [2.0]]))  # these are z = -1 and z = 1
    >>> bool(abs(a @ b - np.exp(-0.5)) < 0.05)
    True
    """

    n_features: int = 100
    length_scale: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_features < 2:
            raise ValueError(f"n_features is {self.n_features}; give at least 2, better 100 or more.")
        if not (isfinite(self.length_scale) and self.length_scale > 0.0):
            raise ValueError(f"length_scale is {self.length_scale}; give a finite number above 0, such as 1.")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; give a whole number that is not negative.")

    def fit(self, x: Floats) -> FourierMap:
        """Features drawn from the seed, of inputs standardised with these rows."""
        means, scales = moments(x)
        rng = np.random.default_rng(self.seed)
        frequencies = rng.standard_normal((x.shape[1], self.n_features)) / self.length_scale
        return FourierMap(means, scales, frequencies, rng.uniform(0.0, 2.0 * pi, self.n_features))


def cosines_and_sines(angles: Floats) -> tuple[Floats, Floats]:
    """Cosines and sines by the tangent t of half an angle: (1 - t^2) / (1 + t^2) and 2 t / (1 + t^2).

    NumPy has tangents in vector instructions where it has them, but no cosines, which take 10 times as long;
    elsewhere both take the same time. Errors are a few units of rounding.

    >>> cosines, sines = cosines_and_sines(np.pi * np.array([0.0, 0.5, 1.5]))
    >>> cosines.round(12) + 0.0, sines.round(12)
    (array([1., 0., 0.]), array([ 0.,  1., -1.]))
    """
    # Contiguous, so that the tangent runs over the same kind of loop whatever the batch.
    sines = np.multiply(angles, 0.5, order="C")
    cosines = np.empty(sines.shape)
    flat = sines.reshape(-1), cosines.reshape(-1)
    for start in range(0, sines.size, _ANGLES):
        sine, cosine = (one[start : start + _ANGLES] for one in flat)
        np.tan(sine, out=sine)
        np.multiply(sine, sine, out=cosine)
        cosine += 1.0
        np.divide(2.0, cosine, out=cosine)
        sine *= cosine
        cosine -= 1.0
    return cosines, sines


def _extended(values: Floats, size: int) -> Floats:
    return np.concatenate([values, np.full(size - values.size, values[-1])])


def _pieces(knots: Floats, degree: int) -> Floats:
    """Coefficients (degree + 1, M + 1, M + degree - 1) of all B-splines on the pieces cut by M knots."""
    inside = _cox_de_boor(knots, degree)
    powers = np.arange(degree + 1.0)[:, None]
    value, slope = inside[:, -1].sum(axis=0), (powers * inside[:, -1]).sum(axis=0)
    outside = np.zeros((2, degree + 1, inside.shape[-1]))
    outside[0, :2] = inside[:2, 0]
    outside[1, :2] = value - slope, slope
    return np.concatenate([outside[0][:, None], inside, outside[1][:, None]], axis=1)


def _cox_de_boor(knots: Floats, degree: int) -> Floats:
    """Coefficients (degree + 1, M - 1, M + degree - 1) of all B-splines between the knots.

    The recursion runs on polynomials in s, which goes from 0 to 1 between two knots. There each factor
    (z - t_i) / (t_{i+k} - t_i) is a + b s with a, b >= 0 and a + b <= 1, so no gap is too uneven for it.
    """
    t = np.concatenate([np.repeat(knots[0], degree), knots, np.repeat(knots[-1], degree)])
    left, gaps = knots[:-1, None], np.diff(knots)[:, None]
    intervals = np.arange(knots.size - 1)
    splines = np.zeros((degree + 1, intervals.size, t.size - 1))
    splines[0, intervals, intervals + degree] = 1.0
    for order in range(1, degree + 1):
        spans = t[order:] - t[:-order]
        inverse = np.divide(1.0, spans, out=np.zeros_like(spans), where=spans > 0.0)
        rising = splines * ((left - t[:-order]) * inverse)
        rising[1:] += splines[:-1] * (gaps * inverse)
        splines = rising[..., :-1] + (splines - rising)[..., 1:]
    return splines
