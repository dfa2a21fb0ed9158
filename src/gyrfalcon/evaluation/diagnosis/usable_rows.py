"""Rows of a log that a diagnosis can use, in the unit of their rewards, and those set aside with reasons."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.core.inputs.alignment import aligned
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.result import NotEstimableError
from gyrfalcon.evaluation.rows.table import check_table


@dataclass(frozen=True, slots=True)
class SetAside:
    """Rows that were set aside for one reason.

    Attributes
    ----------
    reason : str
        Why, such as "without a reward".
    n_rows : int
        How many.
    first_row : int
        Number of the first of them in its source, counted from 0.
    """

    reason: str
    n_rows: int
    first_row: int


@dataclass(frozen=True, slots=True, eq=False)
class UsableRows:
    """Rows of a log in the order of their decisions, with rewards of which more is better."""

    table: DecisionTable
    """The usable rows as they were logged."""
    log: Log
    """Their rewards in their own unit; costs are negative."""
    set_aside: tuple[SetAside, ...]

    @property
    def sign(self) -> float:
        """What turns a reward of `log` into a number of the user's: -1 for costs."""
        return -1.0 if self.table.cost else 1.0

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features of contexts, then those of actions, with a fallback for missing names."""
        given = (*self.table.features, *self.table.action_features)
        contexts = self.log.contexts
        n_shared = contexts.shared.shape[1]
        n_own = 0 if contexts.actions is None else contexts.actions.shape[2]
        if len(given) == n_shared + n_own:
            return given
        return (*(f"x{j}" for j in range(n_shared)), *(f"v{j}" for j in range(n_own)))


def usable_rows(given: DecisionTable | Log, problem: Problem | None = None) -> UsableRows:
    """The rows that can be used, ordered by time or else as they are; all others with the reason.

    Raises
    ------
    NotEstimableError
        If no row is left.
    """
    table = _table(given, problem) if isinstance(given, Log) else given
    check_table(table)
    reasons = _reasons(table)
    bad = np.zeros(len(table), dtype=np.bool_)
    set_aside = []
    for reason, mask in reasons.items():
        new = mask & ~bad
        if new.any():
            set_aside.append(SetAside(reason, int(new.sum()), int(table.rows[new][0])))
        bad |= mask
    if bad.all():
        named = "; ".join(f"{one.n_rows} {one.reason}" for one in set_aside)
        raise NotEstimableError(
            f"none of the {len(table)} rows can be used{f': {named}' if named else ''}; give a log with "
            "rewards of known actions."
        )
    kept = table.take(~bad)
    if kept.time is not None and not np.isnan(kept.time).any():
        kept = kept.take(np.argsort(kept.time, kind="stable"))
    log = replace(kept.to_log(), round=np.arange(len(kept)))
    if kept.cost:
        log = replace(log, reward=-log.reward)
    uniform = log.passive & ~log.has_propensity
    if uniform.any():  # passive play is uniform over eligible actions
        log = replace(log, propensity=np.where(uniform, 1.0 / kept.eligible.sum(axis=1), log.propensity))
    return UsableRows(kept, replace(log, contexts=_finite(log.contexts)), tuple(set_aside))


def _table(log: Log, problem: Problem | None) -> DecisionTable:
    if problem is None:
        return DecisionTable.of_log(log)
    return DecisionTable.of_log(replace(aligned(log, problem), problem=problem))


def _reasons(table: DecisionTable) -> dict[str, Bools]:
    """Which rows can't be used, by the reason."""
    n, chosen = len(table), np.maximum(table.action, 0)
    flag = np.zeros(n, dtype=np.bool_)
    unknown = (table.action == UNKNOWN_ACTION) | (table.action >= table.n_actions)
    p = table.propensity
    eligible = table.eligible[np.arange(n), np.minimum(chosen, table.n_actions - 1)] if n else flag
    return {
        "without a reward": np.isnan(table.reward),
        "with a reward that is not finite": np.isinf(table.reward),
        "with an unknown action": unknown,
        "with an action that is not eligible": ~unknown & ~eligible,
        "with a propensity that is not in (0, 1]": ~np.isnan(p) & ~((p > 0.0) & (p <= 1.0)),
        "with features that are missing or not finite": ~_finite_features(table),
        "that were only logged and never shown": flag if table.shadow is None else table.shadow,
        "whose action was overridden": flag if table.overridden is None else table.overridden,
    }


def _finite_features(table: DecisionTable) -> Bools:
    """Which rows have finite features, of the context and of all eligible actions."""
    finite = np.isfinite(table.contexts.shared).all(axis=1)
    cube = table.contexts.actions
    if cube is not None:
        finite &= (np.isfinite(cube).all(axis=2) | ~table.eligible).all(axis=1)
    return np.asarray(finite)


def _finite(contexts: Contexts) -> Contexts:
    """Contexts in which features of actions that are not eligible are 0 where they are unknown."""
    if contexts.actions is None or np.isfinite(contexts.actions).all():
        return contexts
    return replace(contexts, actions=np.nan_to_num(contexts.actions, nan=0.0, posinf=0.0, neginf=0.0))
