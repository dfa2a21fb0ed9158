"""Faults of single rows: actions that are unknown, misspelt or were not eligible."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import islice

import numpy as np

from gyrfalcon.core.arrays import Bools, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns, flags
from gyrfalcon.evaluation.checks.finding import LogFinding

_RARE = 0.005
"""Largest share of rows with a label that may be misspelt; the right one is in 20 times as many."""
_MOST_LABELS = 50
"""Rare labels, and common ones, that are compared."""


def action_faults(log: LogColumns) -> list[LogFinding]:
    """Actions that the log's list does not have, or that could not be chosen in their row."""
    if not len(log):
        return []
    unknown, none_eligible = log.action < 0, ~log.eligible.any(axis=1)
    chosen = log.eligible[np.arange(len(log)), np.maximum(log.action, 0)] if log.table.n_actions else unknown
    return [
        *log.fault(
            "action_unknown",
            unknown,
            "the logged action is none of the log's actions",
            "give the action that was shown, or add its label to the actions",
        ),
        *log.fault(
            "no_eligible_action",
            none_eligible,
            "no action is eligible",
            "give the actions that could be chosen, among them the logged one",
        ),
        *log.fault(
            "action_ineligible",
            ~unknown & ~none_eligible & ~chosen,
            lambda row: f"the logged action {log.label(int(log.action[row]))} is not among the eligible ones",
            "correct the action or the list of eligible actions",
        ),
    ]


def misspelt_actions(log: LogColumns) -> list[LogFinding]:
    """Labels of hardly any rows that are nearly a common one, and seldomer than their propensities say."""
    known = log.action >= 0
    counts = np.bincount(log.action[known], minlength=log.table.n_actions)
    if len(log) < 100 or log.distribution is not None:
        return []
    rare = np.flatnonzero((counts > 0) & (counts <= _RARE * len(log)))
    found = []
    for action in rare[:_MOST_LABELS].tolist():
        rows = log.action == action
        with np.errstate(divide="ignore", invalid="ignore"):
            stands_for = (1.0 / log.propensity[rows]).sum()
        other = _nearly_the_same(log, action, counts)
        if other is None or stands_for > 0.1 * log.eligible[:, action].sum():  # nan where none is known
            continue
        found += log.fault(
            "action_misspelt",
            rows,
            f"the action is {log.label(action)}, and {log.label(other)}, which is nearly the same, in "
            f"{counts[other]:,} others",
            "correct the label, if it is misspelt",
            severity="warning",
        )
    return found


def _nearly_the_same(log: LogColumns, action: int, counts: Ints) -> int | None:
    """The most common action whose label differs by a letter or so; None if there is none."""
    label = log.table.actions[action]
    if not isinstance(label, str):
        return None
    common = [place for place in np.argsort(-counts).tolist() if counts[place] >= 20 * counts[action]]
    texts = ((place, log.table.actions[place]) for place in islice(common, _MOST_LABELS))
    return next((place for place, text in texts if isinstance(text, str) and _alike(label, text)), None)


def _alike(first: str, second: str) -> bool:
    """Whether two labels have nearly the same words and the same numbers.

    >>> _alike("summer sale", "sumer sale"), _alike("Red", "red "), _alike("item 1", "item 11")
    (True, True, False)
    >>> _alike("banner a", "banner b"), _alike("hat", "cat")
    (False, False)
    """
    if re.findall(r"\d+", first) != re.findall(r"\d+", second):
        return False
    words, others = first.casefold().split(), second.casefold().split()
    if len(words) != len(others):
        words, others = ["".join(words)], ["".join(others)]
    return all(SequenceMatcher(None, a, b).ratio() >= 0.75 for a, b in zip(words, others, strict=True))


def shown_otherwise_faults(log: LogColumns) -> list[LogFinding]:
    """Rewards of decisions that were never shown: those overridden, and shadow decisions."""
    return [
        *_counted(
            log,
            "overridden_with_reward",
            log.table.overridden,
            "another action was shown than the logged one",
        ),
        *_counted(log, "shadow_with_reward", log.table.shadow, "the decision was logged and never shown"),
    ]


def passive_faults(log: LogColumns) -> list[LogFinding]:
    """Passive rows whose propensity is not that of uniform play, in epochs where it is in the others.

    With passive rounds by a coin, propensities are of the mixture of both components, and no passive row of
    an epoch needs to have that of uniform play.
    """
    if log.passive is None or not log.passive.any():
        return []
    uniform = 1.0 / np.maximum(log.n_eligible, 1)
    with np.errstate(invalid="ignore"):
        differs = log.passive & (np.abs(log.propensity - uniform) > 1e-6)
        differs &= (log.propensity > 0.0) & (log.propensity <= 1.0)
    _, group = np.unique(np.zeros(len(log)) if log.epoch is None else log.epoch, return_inverse=True)
    n_passive = np.bincount(group, weights=log.passive)
    mostly_uniform = (np.bincount(group, weights=differs) <= 0.2 * n_passive) & (n_passive >= 5)
    return log.fault(
        "passive_not_uniform",
        differs & mostly_uniform[group],
        lambda row: (
            f"the row is passive, and its propensity is {log.propensity[row]:.6g} and not "
            f"1/{log.n_eligible[row]}, as in other passive rows"
        ),
        "give passive rows the probability of uniform play, or mark them as rows of the policy",
    )


def _counted(log: LogColumns, kind: str, column: Bools | None, what: str) -> list[LogFinding]:
    if column is None:
        return []
    return log.fault(
        kind,
        flags(column) & log.has_outcome,
        f"{what}, and yet the row has a reward",
        "leave the row out: its reward belongs to what was shown, whose propensity is not this one",
    )
