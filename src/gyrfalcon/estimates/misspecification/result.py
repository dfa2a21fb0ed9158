"""What an estimate of the misspecification b is: a number with its interval, and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from gyrfalcon.core.arrays import Floats


class NotEstimableError(ValueError):
    """Raised where rows can't determine the misspecification of a model class."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MisspecificationEstimate:
    """The misspecification b of a model class, estimated from logged rows, or bounded by them.

    b is the mean, over contexts and uniform play, of the squared distance between the true mean reward and
    the best model of the class. No estimate is free of assumptions: noise and a mean reward that is rough
    enough can't be distinguished.

    Attributes
    ----------
    b_hat : float
        The estimate, at least 0; the estimate of a lower bound of b where `is_lower_bound`.
    standard_error : float
        Standard error of `b_hat`.
    lower : float
        Lower end of the interval.
    upper : float
        Upper end, above 0; where `is_lower_bound`, that of the class's mean squared error, noise included.
    level : float
        Confidence level of the interval, where the assumption holds.
    method : str
        Method of estimation.
    is_lower_bound : bool, default False
        Whether b may exceed `b_hat` by any amount up to `upper`: `b_hat` is then no estimate of b itself.
    assumption : str
        What the interval rests on, in a sentence.
    n_rows : int
        Number of rows used.
    n_pairs : int, default 0
        Number of pairs of rows compared.
    n_groups : int, default 0
        Number of distinct contexts and actions, where repeated ones were compared.
    untruncated : float
        The estimate before truncation at 0: nearly unbiased, and so what to average.
    why : str, default ''
        Why this method was chosen, where it was not given.
    rows : str, default ''
        Which rows were used: passive ones, or all that have propensities, weighted to uniform play.
    notes : tuple[str, ...], default ()
        What the rows can't identify.

    Examples
    --------
    >>> about = {"method": "one_step", "assumption": "", "n_rows": 900}
    >>> MisspecificationEstimate.at_least(0.02, 0.002, 0.05, 0.95, **about)
    MisspecificationEstimate(b >= 0.02, 95% interval 0.01608 to 0.05, one step of 900 rows)
    """

    b_hat: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    is_lower_bound: bool = False
    assumption: str
    n_rows: int
    n_pairs: int = 0
    n_groups: int = 0
    untruncated: float
    why: str = ""
    rows: str = ""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sign = "b >=" if self.is_lower_bound else "b about"
        interval = f"{100 * self.level:.4g}% interval {self.lower:.4g} to {self.upper:.4g}"
        method = self.method.replace("_", " ")  # a sentence for readers; the field has the value
        found = f"{sign} {self.b_hat:.4g}, {interval}, {method} of {self.n_rows} rows"
        return f"{type(self).__name__}({found})"

    @staticmethod
    def around(
        value: float,
        standard_error: float,
        level: float,
        degrees: float = math.inf,
        **rest: Any,
    ) -> MisspecificationEstimate:
        """The estimate of b with an interval of a few standard errors to both sides."""
        lower, upper = ends(value, standard_error, level, degrees)
        return MisspecificationEstimate(
            b_hat=max(value, 0.0),
            standard_error=standard_error,
            lower=lower,
            upper=upper,
            level=level,
            untruncated=value,
            **rest,
        )

    @staticmethod
    def at_least(
        value: float, standard_error: float, upper: float, level: float, **rest: Any
    ) -> MisspecificationEstimate:
        """The estimate of a lower bound of b, with an upper end that comes from elsewhere."""
        lower, _ = ends(value, standard_error, level)
        return MisspecificationEstimate(
            b_hat=max(value, 0.0),
            standard_error=standard_error,
            lower=lower,
            upper=max(upper, value),
            level=level,
            untruncated=value,
            is_lower_bound=True,
            **rest,
        )

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval as a pair (lower, upper)."""
        return self.lower, self.upper


def quantile(level: float, degrees: float = math.inf) -> float:
    """How many standard errors a two-sided interval reaches, by Student's t unless degrees are infinite.

    >>> round(quantile(0.95), 6), round(quantile(0.95, 9), 6)
    (1.959964, 2.262157)
    """
    share = 0.5 + level / 2.0
    return float(ndtri(share)) if degrees == math.inf else float(stdtrit(degrees, share))


def ends(value: float, standard_error: float, level: float, degrees: float = math.inf) -> tuple[float, float]:
    """The interval around an estimate of b and what it is at least, 0.

    An estimate below 0 is moved up to 0 before it gets its upper end, which so is never 0 itself.

    >>> [round(end, 4) for end in ends(-0.5, 0.1, 0.95)]
    [0.0, 0.196]
    """
    reach = quantile(level, degrees) * standard_error
    return max(value - reach, 0.0), max(value, 0.0) + reach


def mean_and_error(values: Floats, weights: Floats | None) -> tuple[float, float]:
    """Mean and standard error of values (n,), weighted ones as a ratio of means.

    >>> mean_and_error(np.array([1.0, 3.0]), None), mean_and_error(np.array([1.0, 3.0]), np.array([1.0, 0.0]))
    ((2.0, 1.0), (1.0, 0.0))
    """
    n = len(values)
    if weights is None:
        return float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(n)
    value = float(weights @ values / weights.sum())
    influence = weights * (values - value) / float(weights.mean())
    return value, math.sqrt(float(influence @ influence) / (n - 1) / n)
