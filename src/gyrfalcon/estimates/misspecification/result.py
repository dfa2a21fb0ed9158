"""What an estimate of the misspecification b is: a number with its interval, and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri, stdtrit

from gyrfalcon.core.validation import is_number


class NotEstimableError(ValueError):
    """These rows can't say how wrong the model class is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MisspecificationEstimate:
    """The misspecification b of a model class, estimated from passive rows.

    b is the mean, over contexts and uniform play, of the squared distance between the true mean reward and
    the best model of the class. No estimate is free of assumptions: noise and a mean reward that is rough
    enough can't be told apart.

    Attributes
    ----------
    b_hat : float
        The estimate, at least 0.
    standard_error : float
        Standard error of the estimate.
    lower : float
        Lower end of the interval.
    upper : float
        Upper end of the interval.
    level : float
        Confidence level of the interval, where the assumption holds.
    method : str
        Method of estimation.
    assumption : str
        What the interval rests on, in a sentence.
    n_rows : int
        Number of passive rows used.
    n_pairs : int, default 0
        Number of pairs of rows compared.
    n_groups : int, default 0
        Number of distinct contexts and actions, where repeated ones were compared.
    untruncated : float
        The estimate before truncation at 0: nearly unbiased, and so what to average.
    why : str, default ''
        Why this method was chosen, where it was not given.
    notes : tuple[str, ...], default ()
        What the rows can't identify.
    """

    b_hat: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    assumption: str
    n_rows: int
    n_pairs: int = 0
    n_groups: int = 0
    untruncated: float
    why: str = ""
    notes: tuple[str, ...] = ()

    @staticmethod
    def around(
        value: float,
        standard_error: float,
        level: float,
        degrees: float = math.inf,
        **rest: Any,
    ) -> MisspecificationEstimate:
        """The estimate with an interval of so many standard errors to both sides, both moved up to 0."""
        lower, upper = symmetric(value, standard_error, level, degrees)
        return MisspecificationEstimate(
            b_hat=max(value, 0.0),
            standard_error=standard_error,
            lower=lower,
            upper=upper,
            level=level,
            untruncated=value,
            **rest,
        )

    @property
    def interval(self) -> tuple[float, float]:
        """(lower, upper)."""
        return self.lower, self.upper


def check_level(level: float) -> None:
    """Refuse a level that is not between 0 and 1."""
    if not (is_number(level) and 0.0 < level < 1.0):
        raise ValueError(f"level is {level!r}; give a number between 0 and 1, such as .95.")


def quantile(level: float, degrees: float = math.inf) -> float:
    """How many standard errors a two-sided interval reaches, by Student's t unless degrees are infinite.

    >>> round(quantile(0.95), 6), round(quantile(0.95, 9), 6)
    (1.959964, 2.262157)
    """
    share = 0.5 + level / 2.0
    return float(ndtri(share)) if degrees == math.inf else float(stdtrit(degrees, share))


def symmetric(
    value: float, standard_error: float, level: float, degrees: float = math.inf
) -> tuple[float, float]:
    """The interval of so many standard errors to both sides, moved up to 0 where it lies below."""
    reach = quantile(level, degrees) * standard_error
    return max(value - reach, 0.0), max(value + reach, 0.0)
