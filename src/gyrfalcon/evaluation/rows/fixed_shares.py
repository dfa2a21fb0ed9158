"""Shares of actions that stay fixed throughout a group of rows, as in an experiment with fixed traffic."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints

_CLOSE = 1e-6


def fixed_shares(action: Ints, propensity: Floats, eligible: Bools, group: Ints) -> Floats:
    """The one propensity of each action in each group, (G, K), nan in groups where they don't sum to 1.

    Parameters
    ----------
    action
        Positions of the logged actions, (n,).
    propensity
        Their propensities, (n,).
    eligible
        Which actions could be taken, (n, K); groups in which some could not have no fixed shares.
    group
        Number of the group of each row, (n,), from 0.

    Examples
    --------
    >>> action, propensity, eligible = np.array([0, 1, 0]), np.array([0.8, 0.2, 0.8]), np.ones((3, 2), bool)
    >>> fixed_shares(action, propensity, eligible, np.zeros(3, dtype=int)).tolist()
    [[0.8, 0.2]]
    """
    n_groups, n_actions = int(group.max()) + 1, eligible.shape[1]
    low, high = np.full((n_groups, n_actions), np.inf), np.full((n_groups, n_actions), -np.inf)
    np.minimum.at(low, (group, action), propensity)
    np.maximum.at(high, (group, action), propensity)
    mask = np.bincount(group, weights=~eligible.all(axis=1), minlength=n_groups) > 0.0
    drawn = np.isfinite(low)
    shares = np.where(drawn, low, 0.0)
    single = (np.where(drawn, high - low, 0.0) <= _CLOSE).all(axis=1) & ~mask
    valid = single & (np.abs(shares.sum(axis=1) - 1.0) <= _CLOSE)
    return np.where(valid[:, np.newaxis], shares, np.nan)
