"""Capital of a gambler who bets that a mean is above a candidate: lower bounds are where it stays small.

If v is the mean of scores given the past, the capital prod_i (1 + lambda_i(v) (phi_i - v)) is a nonnegative
martingale, which exceeds 1 / error with probability `error` at most, at whatever time (Ville). Scores are
at least -k_i, and bets lambda_i(v) at most c / (k_i + v), so that no row takes more than a share c of the
capital.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.intervals.sequences.bets import plug_in_bets

_BLOCK = 1 << 17
"""Entries of a block of capitals; larger ones leave the cache."""

_HALVINGS = 45
"""Steps of the search for a bound: below 1e-13 of the unit interval."""


def log_capital(
    scores: Floats, candidates: Floats, bets: Floats, truncation: Floats, largest_loss: float = 0.25
) -> Floats:
    """Logarithm of the capital after each row against each candidate for the mean, (n_candidates, n)."""
    v = candidates[:, None]
    with np.errstate(divide="ignore"):  # where k = v = 0, scores cannot lose, and bets are not limited
        limited = np.minimum(bets, largest_loss / (truncation + v))
    return np.asarray(np.cumsum(np.log1p(limited * (scores - v)), axis=1))


def lower_bounds(
    scores: Floats, truncation: Floats, error: float, resolution: int, largest_loss: float = 0.25
) -> Floats:
    """Lower bounds in [0, 1] after each row, (n,), which all hold at once but for a probability of `error`.

    Capital decreases in the candidate, so that candidates below a refused one are refused, too. The last
    bound is found by bisection, earlier ones among `resolution` candidates below it; both are the largest
    that was refused, and not the smallest that was not: rounding is outward.
    """
    bets = plug_in_bets(scores / (truncation + 1.0), error) / (truncation + 1.0)
    threshold = math.log(1.0 / error)

    def refused_at(candidates: Floats) -> Ints:
        capital = log_capital(scores, candidates, bets, truncation, largest_loss)
        refused = capital >= threshold
        return np.where(refused.any(axis=1), refused.argmax(axis=1), len(scores))

    last = _largest_refused(lambda v: bool(refused_at(np.array([v]))[0] < len(scores)))
    bounds = np.zeros(len(scores))
    if last > 0.0:
        candidates = np.linspace(0.0, last, resolution + 1)[1:]
        n_together = max(1, _BLOCK // len(scores))
        for start in range(0, resolution, n_together):
            block = candidates[start : start + n_together]
            rows = refused_at(block)
            seen = rows < len(scores)
            np.maximum.at(bounds, rows[seen], block[seen])
    return np.asarray(np.maximum.accumulate(bounds))


def _largest_refused(refused: Callable[[float], bool]) -> float:
    """The largest candidate in [0, 1] that is refused, by bisection from below; 0 if none is."""
    if refused(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if refused(middle):
            low = middle
        else:
            high = middle
    return low
