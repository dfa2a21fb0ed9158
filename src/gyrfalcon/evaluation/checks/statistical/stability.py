"""Drift: contexts and rewards of actions that change over the course of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns, scaled
from gyrfalcon.evaluation.checks.finding import LogFinding, stretch_name
from gyrfalcon.evaluation.checks.statistical.balance import robust_scores
from gyrfalcon.evaluation.checks.statistical.segments import Segments, blocks_of
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import holm

_LEAST, _MOST = 100, 200_000
_RARE, _COUNTS = 5.0, 5.0
"""Fewest rows of an action that a probability at the floor promises in a block, and fewest effective ones in
units of the rewards' kurtosis less 1: of rare rewards, so many that are not 0."""

_CUT = 0.3
"""Share of a block, in standard errors, that the floor on probabilities may cut off."""


def feature_drift(log: LogColumns, alpha: float) -> list[LogFinding]:
    """Features whose mean changes over time, by the largest deviation of cumulative sums (CUSUM)."""
    n = len(log)
    if n < _LEAST or not log.shared.shape[1]:
        return []
    p_values, changes = np.ones(log.shared.shape[1]), np.zeros(log.shared.shape[1], dtype=np.int64)
    thin, step = log.thinned(_MOST)
    for place in range(log.shared.shape[1]):
        values = thin.shared[:, place]
        finite = np.isfinite(values)
        if finite.any():
            p_values[place], change = cusum(robust_scores(values, finite))
            changes[place] = min(change * step, n - 1)
    bad = holm(p_values, alpha)
    if not bad.any():
        return []
    worst = int(p_values.argmin())
    names = [log.feature_name(place) for place in np.flatnonzero(bad).tolist()]
    more = f"; {len(names) - 1} more features drift" if len(names) > 1 else ""
    return log.fault(
        "feature_drift",
        np.arange(n) >= changes[bad].min(),
        f"the distribution of the feature {log.feature_name(worst)} changes, most clearly "
        f"at row {log.rows[changes[worst]]} (p = {p_values[worst]:.2g}){more}",
        "find out whether traffic, units or the recording changed there; evaluate the time after it by "
        "itself",
        severity="warning",
        p_value=float(p_values[worst]),
        change=int(log.rows[changes[worst]]),
        features=names,
    )


def cusum(values: Floats) -> tuple[float, int]:
    """p-value of a constant mean, and the position at which it most likely changes.

    The largest cumulative deviation from the mean, in standard errors, has Kolmogorov's distribution.

    Examples
    --------
    >>> p_value, change = cusum(np.repeat([0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 2.0, 3.0], 25))
    >>> round(p_value, 6), change
    (0.0, 100)
    """
    centred = values - values.mean()
    spread = float(np.sqrt(centred @ centred))
    if spread == 0.0:
        return 1.0, 0
    path = np.abs(np.cumsum(centred)) / spread
    place = int(path.argmax())
    return float(special.kolmogorov(path[place])), place + 1


def reward_drift(log: LogColumns, distribution: Floats | None, alpha: float) -> list[LogFinding]:
    """Expected rewards of actions that change over time, weighted by 1 / p so that policies may change."""
    usable = np.isfinite(log.reward) & (log.action >= 0) & (log.propensity > 0.0)
    usable &= log.propensity <= 1.0 + 1e-6
    if usable.sum() < 2 * _LEAST:
        return []
    rows, places = log.take_without_features(usable), np.flatnonzero(usable)
    chances = None if distribution is None else distribution[usable]
    blocks = blocks_of(rows, min(8, len(rows) // _LEAST))
    actions = range(rows.table.n_actions)
    tests = [_homogeneity(rows, action, _block_sizes(rows, action, blocks, chances)) for action in actions]
    p_values = np.array([p_value for p_value, _ in tests])
    bad = holm(p_values, alpha)
    if not bad.any():
        return []
    worst = int(p_values.argmin())
    labels = [log.label(action) for action in np.flatnonzero(bad).tolist()]
    extent = stretch_name(rows.rows[blocks.of_row == tests[worst][1]])
    of_block = np.isin(blocks.of_row, [tests[action][1] for action in np.flatnonzero(bad).tolist()])
    return log.fault(
        "reward_drift",
        places[of_block],
        f"the expected reward of {log.label(worst)} is not the same over time, and furthest from its mean in "
        f"{extent} (p = {p_values[worst]:.2g})",
        "evaluate the last part of the log by itself, and give learners a half-life; look for a change of "
        "units or of how rewards are counted",
        severity="warning",
        p_value=float(p_values[worst]),
        actions=labels,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Blocks of a log as an action sees them."""

    of_row: Ints
    """(n,)."""
    chance: Floats
    """(n,) probabilities that rewards are weighted by: no smaller than a floor."""
    sizes: Floats
    """(B,) rows in which the action was eligible."""
    inverse: Floats
    """(B,) means of 1 / p over these rows, whether the action was chosen or not."""
    tested: Bools
    """(B,): whether weights are small enough for a normal limit, and the floor changes next to nothing."""


def _block_sizes(log: LogColumns, action: int, blocks: Segments, chances: Floats | None) -> _Blocks:
    """Sizes of blocks, and mean inverse propensities: by design where all probabilities are known.

    Rows of a rare action that were not drawn yet are missing from estimates, so that these say too little
    about their own error. Its probabilities say whether it can be tested in a block.
    """
    eligible, chosen = log.eligible[:, action], log.action == action
    sizes = blocks.sums(eligible.astype(np.float64))
    size = np.maximum(sizes, 1.0)
    if chances is None or np.isnan(chances).any():
        weight = 1.0 / log.propensity
        squares = blocks.sums(np.where(chosen, weight**2, 0.0)) / size
        heaviest = np.zeros(len(blocks))
        np.maximum.at(heaviest, blocks.of_row[chosen], weight[chosen])
        total = blocks.sums(np.where(chosen, weight, 0.0)) / size
        tested = (2.0 * _RARE * heaviest <= sizes) & (np.abs(total - 1.0) <= 0.25)
        return _Blocks(blocks.of_row, log.propensity, sizes, squares, tested)
    p, floor = chances[:, action], _RARE / size[blocks.of_row]
    raised = np.maximum(p, floor)
    inverse = blocks.sums(np.where(eligible, 1.0 / raised, 0.0)) / size
    cut = blocks.sums(np.where(eligible, 1.0 - p / raised, 0.0)) / size
    tested = (cut <= _CUT * np.sqrt(inverse / size)) & (sizes >= 4.0 * _RARE)
    return _Blocks(blocks.of_row, raised, sizes, inverse, tested)


def _homogeneity(log: LogColumns, action: int, blocks: _Blocks) -> tuple[float, int]:
    """p-value of equal expected rewards in all blocks, and the block that is furthest from their mean."""
    rows = (log.action == action) & blocks.tested[blocks.of_row]
    if blocks.tested.sum() < 2 or rows.sum() < 2:
        return 1.0, 0
    reward, weight, block = log.reward[rows], 1.0 / blocks.chance[rows], blocks.of_row[rows]
    # Small numbers, whatever the unit.
    reward = scaled(reward)
    reward = scaled(reward - reward[0])
    centred = reward - np.average(reward, weights=weight)
    variance = float(np.average(centred**2, weights=weight))
    if variance <= 1e-24:
        return 1.0, 0
    kurtosis = float(np.average(centred**4, weights=weight)) / variance**2
    size = np.maximum(blocks.sizes, 1.0)
    tested = blocks.tested & (size / np.maximum(blocks.inverse, 1.0) >= _COUNTS * (kurtosis - 1.0))
    if tested.sum() < 2:
        return 1.0, 0
    # Rare rows may be noisier than others, and noise in a block may be small by chance: the larger counts.
    weighted = float(np.average(centred**2, weights=weight**2))
    own = np.bincount(block, weights=(weight * centred) ** 2, minlength=len(size)) / size
    noise = (np.maximum(own, max(variance, weighted) * blocks.inverse) / size)[tested]
    means = (np.bincount(block, weights=weight * centred, minlength=len(size)) / size)[tested]
    distances = (means - np.average(means, weights=1.0 / noise)) ** 2 / noise
    furthest = int(np.flatnonzero(tested)[distances.argmax()])
    freedom = int(tested.sum()) - 1
    # Of F rather than chi-square: variances are estimated.
    rest = float((size / np.maximum(blocks.inverse, 1.0))[tested].sum()) - freedom
    return float(special.fdtrc(freedom, max(rest, 1.0), distances.sum() / freedom)), furthest
