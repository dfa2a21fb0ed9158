"""Rows of a log that values are estimated from, and how many are set aside for which reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.evaluation.rows.fixed_shares import fixed_shares

NO_REWARD = "no reward"
UNKNOWN_PROPENSITY = "unknown propensity"
_LEAST_ROWS_OF_FIXED_SHARES = 100
_LEAST_CHANCE = 1e-100


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EvaluatedRows:
    """Rows in the order of time with an action that was shown, a finite reward and a valid propensity.

    Parameters
    ----------
    table
        The rows.
    places
        Their positions in the given table, (n,).
    n_given
        Number of rows that were given.
    set_aside
        Number of rows left out by reason; a row counts under the first that applies.
    distribution
        Probabilities of all actions, (n, K), as logged or as they follow from propensities; nan in rows where
        they are unknown, None if they are unknown in all rows.
    """

    table: DecisionTable
    places: Ints
    n_given: int
    set_aside: Mapping[str, int]
    distribution: Floats | None

    @property
    def known(self) -> Bools:
        """Which rows have a known distribution, (n,)."""
        if self.distribution is None:
            return np.zeros(len(self.table), dtype=np.bool_)
        return ~np.isnan(self.distribution[:, 0])

    def without_first(self) -> EvaluatedRows:
        """The rows but the first, which only starts the predictions of the others."""
        later = slice(1, None)
        return replace(
            self,
            table=self.table.take(later),
            places=self.places[later],
            set_aside={**self.set_aside, "first row, from which predictions start": 1},
            distribution=None if self.distribution is None else self.distribution[later],
        )

    @property
    def missing_share(self) -> float:
        """Share of shown decisions that have no reward."""
        n_missing = self.set_aside.get(NO_REWARD, 0)
        n_shown = len(self.table) + n_missing
        return n_missing / n_shown if n_shown else 0.0


def evaluated_rows(table: DecisionTable, *, propensities: bool = True) -> EvaluatedRows:
    """The rows of a table that estimates can use, in the order of time.

    Parameters
    ----------
    table
        Logged decisions, whose faults are counted here and reported by `check_log`.
    propensities
        Whether rows need a known propensity.

    Raises
    ------
    ValueError
        If no row is left.
    """
    left = np.ones(len(table), dtype=np.bool_)
    set_aside: dict[str, int] = {}
    for reason, wrong in _faults(table, propensities=propensities).items():
        n_wrong = int((left & wrong).sum())
        set_aside |= {reason: n_wrong} if n_wrong else {}
        left &= ~wrong
    places = np.flatnonzero(left)
    if not len(places):
        raise ValueError(_nothing_left(table, set_aside))
    places = places[_order_of_time(table, places)]
    used = table.take(places)
    return EvaluatedRows(
        table=used,
        places=places,
        n_given=len(table),
        set_aside=set_aside,
        distribution=_distributions(used),
    )


def _faults(table: DecisionTable, *, propensities: bool) -> dict[str, Bools]:
    nothing = np.zeros(len(table), dtype=np.bool_)
    action = table.action
    known = (action >= 0) & (action < table.n_actions)
    ineligible = np.zeros(len(table), dtype=np.bool_)
    ineligible[known] = ~table.eligible[np.flatnonzero(known), action[known]]
    faults = {
        "another action was shown": nothing if table.overridden is None else table.overridden,
        "logged and never shown": nothing if table.shadow is None else table.shadow,
        "unknown action": (action == UNKNOWN_ACTION) | ~known,
        "ineligible action": ineligible,
        NO_REWARD: np.isnan(table.reward),
        "infinite reward": np.isinf(table.reward),
    }
    if not propensities:
        return faults
    return {
        **faults,
        UNKNOWN_PROPENSITY: np.isnan(table.propensity),
        "impossible propensity": ~((table.propensity > _LEAST_CHANCE) & (table.propensity <= 1.0)),
    }


def _nothing_left(table: DecisionTable, set_aside: Mapping[str, int]) -> str:
    if not len(table):
        return "the log has no rows; give one with decisions, their probabilities and rewards."
    if set_aside.get(UNKNOWN_PROPENSITY, 0):
        return (
            f"{set_aside[UNKNOWN_PROPENSITY]} of {len(table)} rows have no propensity, and no other can be "
            "used; log the probability of each action, or estimate them by `estimated_propensities` (on the "
            "command line --estimated-propensities)."
        )
    reasons = ", ".join(f"{reason}: {count}" for reason, count in set_aside.items())
    return f"none of {len(table)} rows can be used ({reasons}); give rows with an action and its reward."


def _order_of_time(table: DecisionTable, places: Ints) -> Ints:
    """The order of times where all are known, else that of the log."""
    if table.time is None or np.isnan(table.time[places]).any():
        return np.arange(len(places))
    return np.argsort(table.time[places], kind="stable")


def _distributions(table: DecisionTable) -> Floats | None:
    """Logged distributions where they are valid, and those that follow from propensities; nan elsewhere."""
    found = _implied_distributions(table)
    given = table.distribution
    if given is not None and given.shape == found.shape:
        with np.errstate(invalid="ignore"):
            valid = (given >= 0.0).all(axis=1) & (np.abs(given.sum(axis=1) - 1.0) <= 1e-6)
            chosen = given[np.arange(len(table)), table.action]
            valid &= np.abs(chosen - table.propensity) <= 1e-6
        # What is smaller is never drawn, and its squared inverse would be no number.
        found[valid] = np.where(given[valid] > 0.0, np.maximum(given[valid], _LEAST_CHANCE), 0.0)
    return None if np.isnan(found).all() else found


def _implied_distributions(table: DecisionTable) -> Floats:
    """Distributions of rows with two eligible actions, or of all rows if draws were uniform or shares fixed.

    Shares are fixed where each action has one propensity throughout an epoch and these sum to 1.
    """
    eligible, propensity = table.eligible, table.propensity
    found = np.full(eligible.shape, np.nan)
    counts = eligible.sum(axis=1)
    rows = np.arange(len(table))
    uniform = np.abs(propensity * counts - 1.0) <= 1e-9
    if uniform.all():
        return np.asarray(eligible / counts[:, np.newaxis])
    pairs = (counts == 2) & eligible[rows, table.action]
    found[pairs] = np.where(eligible[pairs], 1.0 - propensity[pairs, np.newaxis], 0.0)
    found[rows[pairs], table.action[pairs]] = propensity[pairs]
    group = np.zeros(len(table), np.int64)
    if table.epoch is not None:
        group = np.asarray(np.unique(table.epoch, return_inverse=True)[1], np.int64)
    shares = fixed_shares(table.action, propensity, eligible, group)
    # In few rows, propensities of several distributions may sum to 1 by chance.
    shares[np.bincount(group) < _LEAST_ROWS_OF_FIXED_SHARES] = np.nan
    fixed = np.isnan(found[:, 0]) & ~np.isnan(shares[group, 0])
    found[fixed] = shares[group[fixed]]
    return found
