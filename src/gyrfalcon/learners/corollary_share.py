"""Passive share of Corollary 1, with the misspecification b estimated from passive rows."""

from __future__ import annotations

import math

from gyrfalcon.core.records import Log
from gyrfalcon.oracles.protocol import AnyOracle

MOST_ROWS = 4096
"""Largest number of passive rows in an estimate, the latest.

It takes 0.01 s with one feature, 0.15 s with 20 of 10 actions, and 1 s with 100. Ten times as many would take
ten times as long, and as the share goes with b to the power 2/5, its error would become smaller by a third.
"""

RATIO = 1.5
"""Growth of the number of rows between two estimates of b."""


def corollary_share(rows: Log, oracle: AnyOracle, n_actions: int, *, before: float) -> tuple[float, str]:
    """The passive share of Corollary 1 at an estimate of b from the passive rows, and its reason as text.

    Where b can't be estimated, the share before is kept.
    """
    share, why = estimated_share(rows, oracle, n_actions)
    return (before, f"{why}; the passive share stays {before:.4f}") if share is None else (share, why)


def estimated_share(rows: Log, oracle: AnyOracle, n_actions: int) -> tuple[float | None, str]:
    """The share of Corollary 1 and its reason; None where b can't be estimated from these rows.

    That includes an interval which rules out nothing, from 0 to more than rewards vary: heavy-tailed features
    and few rows to a coefficient can give a b of any size.
    """
    # Estimates of b need SciPy, which takes a second to import: other learners do not need it.
    from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
    from gyrfalcon.estimates.misspecification.passive_share import epsilon_choice
    from gyrfalcon.estimates.misspecification.result import NotEstimableError

    used = latest_passive(None, rows, n_actions, MOST_ROWS)
    try:
        found = misspecification_estimate(used, n_actions, oracle=oracle)
    except NotEstimableError as error:
        return None, f"b could not be estimated: {str(error).rstrip('.')}"
    if found.lower == 0.0 and found.upper >= used.reward.var():
        return None, (
            f"b could not be estimated: its {found.level:.0%} interval goes from 0 to {found.upper:.4g}, and "
            f"the variance of rewards is {used.reward.var():.4g}"
        )
    share = epsilon_choice(found, n_actions).at_estimate
    return share, (
        f"Corollary 1 asks for a passive share of {share:.4f}: b is about {found.b_hat:.4g} "
        f"({found.level:.0%} interval {found.lower:.4g} to {found.upper:.4g}), "
        f"by {found.method} of {found.n_rows} passive rows"
    )


def latest_passive(before: Log | None, log: Log, n_actions: int, most: float) -> Log:
    """The passive rows of a log after those of earlier ones, the latest `most` of them."""
    new = log.where(log.passive)
    rows = new if before is None else Log.concat((before, new), n_actions)
    return rows.take(slice(max(len(rows) - math.ceil(most), 0), None))


def is_due(n_before: int, n_seen: int, half_life: float | None = None) -> bool:
    """Whether b is estimated anew at this number of rows: at powers of a ratio, and each half-life.

    >>> [n for n in range(1, 40) if is_due(n - 1, n)]
    [1, 2, 3, 4, 6, 8, 12, 18, 26, 39]
    """
    if half_life is not None and math.floor(n_seen / half_life) > math.floor(n_before / half_life):
        return True
    return _power(n_seen) > _power(n_before)


def _power(n: int) -> int:
    return -1 if n < 1 else math.floor(math.log(n) / math.log(RATIO) + 1e-9)
