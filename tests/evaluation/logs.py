"""Logs with known truth for tests of evaluations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable

LABELS = ("red", "blue", "green")
MEANS = np.array([0.3, 0.5, 0.4])
"""Expected rewards of the actions where x is 0; each rises by 0.2 x."""


def log_of(
    n: int = 2000, *, seed: int = 0, propensities: Floats | None = None, **columns: Any
) -> DecisionTable:
    """Rows of one feature x in (-1, 1) with rewards 0 or 1, drawn by fixed propensities."""
    random = np.random.default_rng(seed)
    shares = np.full(3, 1 / 3) if propensities is None else propensities
    x = random.uniform(-1.0, 1.0, n)
    action = random.choice(3, size=n, p=shares)
    reward = (random.random(n) < MEANS[action] + 0.2 * x).astype(float)
    table = DecisionTable(
        actions=LABELS,
        contexts=Contexts(x[:, np.newaxis]),
        action=action,
        reward=reward,
        propensity=shares[action],
        distribution=np.tile(shares, (n, 1)),
        features=("x",),
        reward_range=(0.0, 1.0),
    )
    return replace(table, **columns)


def relabelled(table: DecisionTable, order: list[int]) -> DecisionTable:
    """The log whose k-th action is what was action order[k]."""
    place = np.argsort(order)
    eligible = table.contexts.eligible
    return replace(
        table,
        actions=tuple(table.actions[old] for old in order),
        action=place[table.action],
        distribution=None if table.distribution is None else table.distribution[:, order],
        contexts=replace(table.contexts, eligible=None if eligible is None else eligible[:, order]),
    )
