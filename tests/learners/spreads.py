"""Rewards as learners' constants refer to them: above their mean, in multiples of their spread."""

from __future__ import annotations

from dataclasses import replace

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.records import Log


def in_spreads(log: Log, *, intercept: bool = True) -> Log:
    """The log with rewards less their mean, unless models have no intercept, over twice their deviation."""
    return replace(
        log, reward=(log.reward - (log.reward.mean() if intercept else 0.0)) / spread_of(log.reward)
    )


def spread_of(rewards: Floats) -> float:
    """Twice the standard deviation."""
    return 2.0 * float(rewards.std())
