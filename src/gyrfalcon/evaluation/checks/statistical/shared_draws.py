"""Draws that rows share: actions assigned once for each user, in logs with several rows of each."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.single_rows.events import mixed
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import two_sided

_LEAST = 20
"""Fewest rows whose features were there before."""

_SURE = 1e-6
"""p-value from which on draws are shared; so small that it adds nothing to the rate of false alarms."""

_EXCESS = 0.05
"""Least share of rows by which actions repeat too often: wrong propensities have less."""


def shared_draws(log: LogColumns, distribution: Floats | None) -> list[LogFinding]:
    """Rows whose action is that of the last row with the same features more often than its probability says.

    Whether an action is drawn again, less its probability, has mean 0 given everything before.
    """
    if distribution is None or not log.shared.shape[1]:
        return []
    _, group = np.unique(mixed(list(log.shared.T)), return_inverse=True)
    order = np.argsort(group, kind="stable")
    follows = np.flatnonzero(np.diff(group[order]) == 0)
    rows, last = order[follows + 1], order[follows]
    chance = distribution[rows, np.maximum(log.action[last], 0)]
    known = ~np.isnan(chance) & (log.action[rows] >= 0) & (log.action[last] >= 0)
    rows, last, chance = rows[known], last[known], chance[known]
    again = log.action[rows] == log.action[last]
    excess = float((again - chance).sum())
    p_value = float(two_sided(np.array(excess), np.array((chance * (1.0 - chance)).sum())))
    if len(rows) < _LEAST or excess < _EXCESS * len(rows) or p_value > _SURE:
        return []
    return log.fault(
        "draw_shared",
        np.sort(rows),
        f"{again.mean():.0%} of the rows with the same features as an earlier one have its action, and their "
        f"probabilities say {chance.mean():.0%} (p = {p_value:.2g}), as where each user keeps an action",
        "keep one row for each draw, such as the sum of a user's rewards: rows that share a draw count once, "
        "and tests and intervals take each for a draw of its own",
        sets_aside=False,
        p_value=p_value,
    )


def first_rows(log: LogColumns) -> Ints:
    """The first row with each context."""
    return np.sort(np.unique(mixed(list(log.shared.T)), return_index=True)[1])
