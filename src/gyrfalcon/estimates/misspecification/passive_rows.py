"""Passive rows as points: what tells them apart, which are the same, and in which order they are taken."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.result import NotEstimableError


def passive_rows(log: Log) -> Log:
    """The rows of uniform play: only these show a model class all its errors alike."""
    rows = log.where(log.passive)
    n_unknown = int(np.count_nonzero(~log.has_propensity))
    if len(rows) == 0:
        unknown = f", and {n_unknown} have unknown propensities" if n_unknown else ""
        raise NotEstimableError(
            f"none of the {len(log)} rows is passive (uniform play){unknown}; "
            "give some, or play with a passive share above 0."
        )
    if n_unknown and not rows.has_propensity.all():
        raise ValueError(
            "the log holds passive rows of unknown propensity, and passive play is uniform; "
            "make it with `Problem.log`, by propensities='uniform' if they are."
        )
    bad = rows.reward[~np.isfinite(rows.reward)]
    if len(bad):
        raise ValueError(f"the log holds a reward of {bad[0]}; drop or fill such rows first.")
    if np.ptp(rows.reward) == 0.0:
        raise NotEstimableError(
            f"the rewards of all {len(rows)} passive rows are {rows.reward[0]}, which tells nothing of "
            "noise or of a class's error; wait for rows with another reward."
        )
    return rows


def points(log: Log) -> Floats:
    """What mean rewards can depend on besides the action: features of the context and of it, (n, p + q)."""
    shared, actions = log.contexts.shared, log.contexts.actions
    parts = [shared] if actions is None else [shared, actions[np.arange(len(log)), log.action]]
    # A zero with a sign is the same zero.
    return np.concatenate(parts, axis=1) + 0.0


def spread_points(log: Log) -> Floats:
    """The points in units of each column's spread, without columns that are constant up to rounding."""
    columns = points(log)
    size = np.abs(columns).max(axis=0, initial=0.0)
    varied = np.ptp(columns, axis=0) > 1e-12 * size if len(columns) else np.zeros(len(size), dtype=np.bool_)
    kept = columns[:, varied]
    if not kept.size:
        return kept
    ordered = np.sort(kept, axis=0)  # sums of sorted numbers have the same bits, whatever the order of rows
    return np.asarray((kept - ordered.mean(axis=0)) / ordered.std(axis=0))


def arranged(log: Log, columns: Floats) -> tuple[Ints, Bools]:
    """Rows by action, columns and round, and which of them, so arranged, equal the one before.

    Rewards have no say in the order: pairs of equal contexts would get equal noise.
    """
    keys = (log.round, log.epoch, *columns.T[::-1], log.action)
    order = np.lexsort(keys)
    sorted_columns, actions = columns[order], log.action[order]
    same = np.zeros(len(order), dtype=np.bool_)
    same[1:] = (sorted_columns[1:] == sorted_columns[:-1]).all(axis=1) & (actions[1:] == actions[:-1])
    return order, same


def groups(log: Log) -> Ints:
    """(n,) the number of each row's context and action: rows that have the same are replicates."""
    order, same = arranged(log, points(log))
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = np.cumsum(~same) - 1
    return labels


def folds(log: Log, n_folds: int) -> Ints:
    """(n,) a fold for each row: the rows of every action are dealt out in turn, by round."""
    order = np.lexsort((log.round, log.epoch, log.action))
    actions = log.action[order]
    firsts = np.searchsorted(actions, actions)
    dealt = np.empty(len(order), dtype=np.int64)
    dealt[order] = (np.arange(len(order)) - firsts) % n_folds
    return dealt


def unseen_note(log: Log, n_actions: int) -> tuple[str, ...]:
    """A sentence about actions without any of these rows, if there are."""
    n_unseen = n_actions - len(np.unique(log.action))
    if n_unseen == 0:
        return ()
    return (f"Nothing is said of {n_unseen} of {n_actions} actions: none of their rows could be used.",)
