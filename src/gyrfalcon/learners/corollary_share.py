"""The passive share of Corollary 1, with the misspecification b estimated or bounded from passive rows."""

from __future__ import annotations

import math
from dataclasses import replace

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.protocol import AnyOracle

MOST_ROWS = 4096
"""Largest number of passive rows in an estimate, the latest.

Their estimate takes 0.01 s with one feature, 1 s with 20 features and 10 actions, and 3 s with 100. Ten times
as many would take ten times as long, and as the share goes with b to the power 2/5, what it owes to noise
would become smaller by a third, no more.
"""

RATIO = 1.5
"""Growth of the number of rows between two estimates of b."""


def corollary_share(rows: Log, oracle: AnyOracle, n_actions: int, *, before: float) -> tuple[float, str]:
    """The passive share of Corollary 1 at an estimate of b from the passive rows, and its reason as text.

    Where they only bound b, the share before is moved into the range of shares that the bounds leave. Where
    they can't show it, the share before is kept.
    """
    shares, why = estimated_shares(rows, oracle, n_actions)
    if shares is None:
        return before, f"{why}; the passive share stays {before:.4f}"
    share = min(max(before, shares[0]), shares[1])
    return share, why if shares[0] == shares[1] else f"{why}; the passive share is {share:.4f}"


def with_corollary_share(following: Epoch, oracle: AnyOracle, log: Log) -> Epoch:
    """The epoch with the passive share that Corollary 1 has for the misspecification in these rows."""
    n_actions, report = fitted_state(following).problem.n_actions, following.report
    assert report is not None  # that of the fit just made
    share, why = corollary_share(log, oracle, n_actions, before=following.passive_share)
    return replace(following, passive_share=share, report=replace(report, details=(*report.details, why)))


def estimated_shares(rows: Log, oracle: AnyOracle, n_actions: int) -> tuple[tuple[float, float] | None, str]:
    """The least and the largest passive share that Corollary 1 can mean, and why; None if any.

    Both are the same share where b is estimated, and differ where it is bounded. An interval which rules out
    nothing, from 0 to more than rewards vary, says none: heavy-tailed features and few rows to a coefficient
    can give a b of any size.
    """
    # Estimates of b need SciPy, which takes a second to import: no other learner has to wait for it.
    from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
    from gyrfalcon.estimates.misspecification.passive_share import epsilon_choice
    from gyrfalcon.estimates.misspecification.result import NotEstimableError

    used = latest_passive(None, rows, n_actions, MOST_ROWS)
    try:
        found = misspecification_estimate(used, n_actions, oracle=oracle, rows="passive")
    except NotEstimableError as error:
        return None, f"b could not be estimated: {str(error).rstrip('.')}"
    interval = f"{found.level:.0%} interval {found.lower:.4g} to {found.upper:.4g}"
    if found.lower == 0.0 and found.upper >= used.reward.var():
        return None, (
            f"b could not be estimated: its {interval} rules out nothing, as the variance of rewards is "
            f"{used.reward.var():.4g}"
        )
    shares = epsilon_choice(found, n_actions).range
    source = f"{found.method.replace('_', ' ')} of {found.n_rows} passive rows"
    if found.is_lower_bound:
        return shares, (
            f"Corollary 1 has a passive share between {shares[0]:.4f} and {shares[1]:.4f}: b is bounded "
            f"({interval}), by {source}"
        )
    return shares, (
        f"Corollary 1 has a passive share of {shares[0]:.4f}: b is about {found.b_hat:.4g} ({interval}), "
        f"by {source}"
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
