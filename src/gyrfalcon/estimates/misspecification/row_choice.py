"""Which rows of a log stand for uniform play: passive ones, or all, weighted by their propensities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_choice
from gyrfalcon.estimates.misspecification.crossfit import effective_number
from gyrfalcon.estimates.misspecification.passive_rows import passive_rows
from gyrfalcon.estimates.misspecification.result import NotEstimableError
from gyrfalcon.estimates.validation import check_propensities, check_rewards

RowChoice = Literal["auto", "passive", "all"]

ENOUGH_PASSIVE = 200
"""Passive rows that are preferred to weighted ones unless these are far more."""
FAR_MORE = 10.0
"""Effective number of weighted rows, in multiples of the passive ones, from which all rows are taken."""
FEWEST_JUDGED = 50
"""Rows whose mean weight says something of the log."""
MEAN_WEIGHT_TOLERANCE, LARGEST_MEAN_ERROR = 0.1, 0.2
"""How far the mean weight may be from 1, its expectation: without a note, and to be used unless required."""


@dataclass(frozen=True, slots=True)
class UniformRows:
    """Rows that stand for uniform play over eligible actions, and by which weights."""

    log: Log
    weights: Floats | None
    """(n,) with mean 1; None for passive rows, which count alike."""
    description: str
    notes: tuple[str, ...] = ()


def uniform_rows(log: Log, n_actions: int, rows: RowChoice = "auto") -> UniformRows:
    """The rows that an estimate under uniform play uses, and their weights.

    With "all", row i counts by 1 / (K_i p_i) for its propensity p_i and K_i eligible actions: means are then
    those of uniform play over eligible actions, in the contexts of the log. "auto" takes passive rows where
    there are enough, as weights have tails and passive rows none, and refuses weights whose mean is off.
    """
    check_choice("rows", rows, ("auto", "passive", "all"))
    known = log.where(log.has_propensity)
    if rows == "passive" or len(known) == 0:
        return _passive(log)
    n_passive = int(np.count_nonzero(log.passive))
    if rows == "auto" and n_passive == len(known):
        return _passive(log)
    check_propensities(known.propensity)
    raw = uniform_weights(known, n_actions)
    if rows == "auto" and n_passive and not _weighted_preferred(n_passive, raw):
        return _passive(log)
    if rows == "auto" and len(raw) >= FEWEST_JUDGED and abs(float(raw.mean()) - 1.0) > LARGEST_MEAN_ERROR:
        raise NotEstimableError(
            f"weights 1 / (K p) average {raw.mean():.3g} where 1 is expected: some actions are too rare in "
            "these rows for them to stand for uniform play, or propensities are wrong; collect passive rows, "
            "or give rows='all' to use them all the same."
        )
    return _weighted(log, known, raw, n_passive)


def residual_rows(log: Log, n_actions: int, rows: RowChoice = "auto") -> UniformRows:
    """The rows in which errors of a class are looked for: those of uniform play, or all alike if few are.

    If the class holds the true means, residuals of whatever rows average 0 given context and action.
    """
    check_choice("rows", rows, ("auto", "passive", "all"))
    if rows != "auto":
        return uniform_rows(log, n_actions, rows)
    check_rewards(log.reward)
    try:
        used = uniform_rows(log, n_actions)
    except NotEstimableError:
        pass
    else:
        n = len(used.log) if used.weights is None else effective_number(used.weights)
        if n >= ENOUGH_PASSIVE or (len(used.log) == len(log) and used.weights is None):
            return used
    _check_varied(log)
    note = (
        "Few rows stand for uniform play, so that all rows count alike: this shows errors of the class where "
        "the logged policy went."
    )
    return UniformRows(log, None, f"{len(log)} rows of logged play, which count alike", (note,))


def evenly_spread(rows: UniformRows, most: int) -> UniformRows:
    """Rows evenly spread over the log, at most as many as given, which saves time and memory."""
    n = len(rows.log)
    if n <= most:
        return rows
    places = np.linspace(0, n - 1, most).astype(np.int64)
    weights = None if rows.weights is None else rows.weights[places] / rows.weights[places].mean()
    description = f"{most} of {rows.description}"
    return UniformRows(rows.log.take(places), weights, description, rows.notes)


def _check_varied(log: Log) -> None:
    if len(log) == 0 or np.ptp(log.reward) == 0.0:
        first = log.reward[0] if len(log) else "missing"
        raise NotEstimableError(
            f"the rewards of all {len(log)} rows are {first}, which tells nothing of noise or of a class's "
            "error; wait for rows with another reward."
        )


def uniform_weights(log: Log, n_actions: int) -> Floats:
    """Weights 1 / (K p) that turn logged play into uniform play over the K eligible actions, (n,).

    >>> from gyrfalcon.core.inputs.problem import Problem
    >>> problem = Problem(["a", "b"])
    >>> log = problem.log(problem.contexts(n=2), ["a", "b"], rewards=[1, 0], propensities=[0.5, 0.25])
    >>> uniform_weights(log, 2).tolist()
    [1.0, 2.0]
    """
    return np.asarray(1.0 / (eligible_counts(log, n_actions) * log.propensity))


def eligible_counts(log: Log, n_actions: int) -> Ints:
    """Number of eligible actions of each row, (n,)."""
    mask = log.contexts.eligible
    return np.full(len(log), n_actions) if mask is None else np.asarray(mask.sum(axis=1))


def _weighted_preferred(n_passive: int, raw: Floats) -> bool:
    """Whether all rows tell more than the passive ones, by weights whose mean is as expected."""
    least = 2.0 if n_passive < ENOUGH_PASSIVE else FAR_MORE
    usual = abs(float(raw.mean()) - 1.0) <= MEAN_WEIGHT_TOLERANCE
    return usual and effective_number(raw) > least * n_passive


def _passive(log: Log) -> UniformRows:
    rows = passive_rows(log)
    return UniformRows(rows, None, f"{len(rows)} passive rows, which count alike")


def _weighted(log: Log, known: Log, raw: Floats, n_passive: int) -> UniformRows:
    check_rewards(known.reward)
    _check_varied(known)
    mean, effective = float(raw.mean()), effective_number(raw)
    description = (
        f"{len(known)} rows of {len(log)} ({n_passive} passive), weighted by 1 / (K p) to uniform play over "
        f"eligible actions: as good as about {effective:.0f} passive rows"
    )
    notes = []
    n_unknown = len(log) - len(known)
    if n_unknown:
        notes.append(f"{n_unknown} rows of unknown propensity were left out.")
    if abs(mean - 1.0) > MEAN_WEIGHT_TOLERANCE:
        notes.append(
            f"Weights average {mean:.3g} where 1 is expected: some action is too rare in these rows, or "
            "propensities are wrong, and the interval may be too narrow."
        )
    if len(np.unique(known.epoch)) > 1:
        notes.append(
            "Propensities followed from earlier rewards, so that rows are no independent draws: the interval "
            "holds approximately."
        )
    return UniformRows(known, raw / mean, description, tuple(notes))
