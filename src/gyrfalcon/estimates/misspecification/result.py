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
    """

    b_hat: float
    """The estimate, at least 0."""
    standard_error: float
    lower: float
    upper: float
    level: float
    """How often the interval from `lower` to `upper` holds b, where the assumption does."""
    method: str
    assumption: str
    """What the interval rests on, in a sentence."""
    n_rows: int
    """Passive rows that were used."""
    n_pairs: int = 0
    n_groups: int = 0
    """Distinct contexts and actions, where repeated ones were compared."""
    untruncated: float
    """The estimate before it was moved up to 0: nearly unbiased, and so what to average."""
    why: str = ""
    """Why this method was chosen, if it was not asked for."""
    notes: tuple[str, ...] = ()
    """What the rows could not say."""

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
