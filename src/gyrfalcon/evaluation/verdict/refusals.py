"""Logs and policies that nothing can be estimated from, refused with the row, the value and the remedy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.core.validation import check_choice
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS, EstimatorRow
from gyrfalcon.evaluation.estimators.inputs import TUNED, Limit
from gyrfalcon.evaluation.intervals.by_name import INTERVALS, IntervalRow
from gyrfalcon.evaluation.intervals.validation import ROUNDING, Bounds, check_bounds
from gyrfalcon.evaluation.policies.targets import LoggedTarget, TargetPolicy
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.table import is_deterministic


def refuse_deterministic(rows: EvaluatedRows, targets: Iterable[TargetPolicy]) -> None:
    """Refuse rows without any randomness, unless only the logged play is to be valued."""
    if all(isinstance(target, LoggedTarget) for target in targets) or not is_deterministic(rows.table):
        return
    raise ValueError(
        f"all {len(rows.table)} actions were taken with probability 1, so that the log says nothing of what "
        "others would have earned; randomise a share of decisions, and log their probabilities."
    )


def check_reward_range(rows: EvaluatedRows, bounds: Bounds | None) -> None:
    """Refuse a range that is none, or that some reward lies outside of."""
    if bounds is None:
        return
    check_bounds(bounds, "reward_range")
    (low, high), reward = bounds, rows.table.reward
    slack = ROUNDING * (high - low)
    outside = np.flatnonzero((reward < low - slack) | (reward > high + slack))
    if len(outside):
        row = int(outside[0])
        raise ValueError(
            f"row {rows.table.rows[row]}: the reward {reward[row]:g} is outside of the reward range from "
            f"{low:g} to {high:g}, as are {len(outside)} of {len(reward)} rewards; correct the range, or "
            "leave out rows whose reward is wrong."
        )


def check_methods(estimator: str, interval: str, max_weight: Limit, shrinkage: Limit) -> None:
    """Refuse unknown estimators and intervals, and limits that the estimator does not have or can't tune."""
    check_choice("estimator", estimator, tuple(ESTIMATORS))
    check_choice("interval", interval, tuple(INTERVALS))
    _check_limits(estimator, max_weight, shrinkage)


def _check_limits(name: str, max_weight: Limit, shrinkage: Limit) -> None:
    limit = ESTIMATORS[name].limit
    for setting, value in (("max_weight", max_weight), ("shrinkage", shrinkage)):
        if value is None:
            continue
        if limit is None or limit.name != setting:
            rows = ESTIMATORS.items()
            others = [other for other, row in rows if row.limit is not None and row.limit.name == setting]
            raise ValueError(
                f"{setting} is {short_repr(value)}, which estimator={name!r} does not have; leave it out, or "
                f"choose one of {enumeration(others)}."
            )
        if isinstance(value, str) and (value != TUNED or limit.tuned is None):
            tuned = "" if limit.tuned is None else f" or {TUNED!r}"
            raise ValueError(f"{setting} is {value!r}; give a number{tuned}, or None for the default.")


def refuse_own_weights(estimator: EstimatorRow, interval: IntervalRow) -> None:
    """Refuse contributions that are no plain doubly robust or inverse propensity scores."""
    if estimator.is_biased or estimator.reweighting is None:
        raise ValueError(
            f"{interval.title} intervals weight doubly robust or inverse propensity scores, and not those of "
            f"the {estimator.title} estimate; choose estimator='dr' or 'ips', or interval='minvar'."
        )


def policy_failure(name: str, error: Exception) -> ValueError:
    """The error of a policy that gave no answer, with the policy's name."""
    if isinstance(error, ValueError):
        return ValueError(f"policy {name!r}: {error}")
    return ValueError(
        f"policy {name!r} failed with {type(error).__name__}: {error}; a function gets the table of rows, "
        "whose features are in table.contexts.shared, and returns labels (n,) or probabilities (n, K)."
    )


def check_probabilities(target: Floats, table: DecisionTable, name: str) -> None:
    """Refuse what is no distribution over the eligible actions of each row."""
    if target.shape != (len(table), table.n_actions):
        raise ValueError(
            f"policy {name!r} gives probabilities of shape {target.shape}; give ({len(table)}, "
            f"{table.n_actions}), one column for each action of the log."
        )
    with np.errstate(invalid="ignore"):
        valid = (target >= 0.0).all(axis=1) & (np.abs(target.sum(axis=1) - 1.0) <= 1e-6)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(
            f"row {table.rows[row]}: policy {name!r} gives the probabilities {target[row].tolist()}; give "
            "numbers of at least 0 whose sum is 1."
        )
    wrong = (target > 0.0) & ~table.eligible
    if wrong.any():
        row, action = (int(place) for place in np.argwhere(wrong)[0])
        raise ValueError(
            f"row {table.rows[row]}: policy {name!r} takes {table.actions[action]!r} with probability "
            f"{target[row, action]:.6g}, which is not eligible; give it a policy among eligible actions."
        )
