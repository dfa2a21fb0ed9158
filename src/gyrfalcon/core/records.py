"""Records of play: decisions with their exact propensities, and logs of decisions with their rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.frames import Column, Lists, Tabular, label_column, phase_column

if TYPE_CHECKING:
    from gyrfalcon.core.inputs.problem import Problem

POLICY = 0
PASSIVE = 1
CONTROL = -2
"""Even, as all that is not passive, and no base of a mixture."""


def phase_of(component: int) -> str:
    """The phase that a component is logged as.

    >>> [phase_of(component) for component in (POLICY, PASSIVE, CONTROL)]
    ['policy', 'passive', 'control']
    """
    if component == CONTROL:
        return "control"
    return "passive" if component % 2 == PASSIVE else "policy"


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions as columns of length n.

    Parameters
    ----------
    epoch
        Index of the epoch that decided.
    round
        Number of the round, counted from 0.
    action
        Position of the chosen action.
    propensity
        Probability of the action over all components.
    component
        Which part of the play acted: POLICY (0) or PASSIVE (1); in a mixture of bases, base j acts as
        2 j + POLICY or 2 j + PASSIVE. A control share beside the policy is CONTROL (-2).
    """

    epoch: Ints
    round: Ints
    action: Ints
    propensity: Floats
    component: Ints

    def __len__(self) -> int:
        return len(self.action)


@dataclass(frozen=True, slots=True)
class Log(Tabular):
    """Decisions with their rewards, as columns of length n; `Problem.log` makes one.

    `to_pandas`, `to_polars` and `to_arrow` give the log as a table, in labels and in the problem's units.

    Parameters
    ----------
    contexts
        What was known at each decision.
    action
        Position of the chosen action.
    reward
        Reward in [0, 1], or beyond if the problem accepts that; as it was, costs negative, without a range.
    propensity
        Probability with which the action was chosen; nan where it is unknown. Regressions take such rows as
        any others, while nothing that divides by propensities does.
    epoch
        Index of the epoch that decided.
    round
        Number of the round, counted from 0.
    component
        Which part of the play acted: see `Decisions`.
    problem
        The problem that actions, features and rewards belong to; None for rows of the learner's own problem.

    Examples
    --------
    >>> from gyrfalcon import Problem
    >>> problem = Problem(["red", "blue"], reward_range=(0, 5))
    >>> log = problem.log(problem.contexts(n=2), ["blue", "red"], [5, 1], propensities="unknown")
    >>> log
    Log(2 rows, 0 features, rounds 0 to 1, mean reward 0.6, 0% passive, 100% of unknown propensity)
    >>> log.to_pandas()[["action", "propensity", "reward"]]
      action  propensity  reward
    0   blue         NaN     5.0
    1    red         NaN     1.0
    """

    contexts: Contexts
    action: Ints
    reward: Floats
    propensity: Floats
    epoch: Ints
    round: Ints
    component: Ints
    problem: Problem | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.action)

    def __repr__(self) -> str:
        if not len(self):
            return "Log(0 rows)"
        rows = f"{len(self)} row{'' if len(self) == 1 else 's'}, {self.contexts.shared.shape[-1]} features"
        means = f"mean reward {self.reward.mean():.3g}, {self.passive.mean():.0%} passive"
        known = self.has_propensity
        unknown = "" if known.all() else f", {1.0 - known.mean():.0%} of unknown propensity"
        return f"Log({rows}, rounds {self.round.min()} to {self.round.max()}, {means}{unknown})"

    @property
    def passive(self) -> Bools:
        """Which rows were passive (uniform) play, (n,)."""
        return (self.component & 1).astype(np.bool_)

    @property
    def has_propensity(self) -> Bools:
        """Which rows have a known propensity, (n,)."""
        return ~np.isnan(self.propensity)

    def columns(self) -> Mapping[str, Column]:
        """Columns by name, in labels and in the problem's units: what tables are made of."""
        return _log_columns(self)

    @staticmethod
    def of(contexts: Contexts, decisions: Decisions, reward: Floats) -> Log:
        """The log of decisions and their rewards in the log's units."""
        return Log(
            contexts,
            decisions.action,
            reward,
            decisions.propensity,
            decisions.epoch,
            decisions.round,
            decisions.component,
        )

    def where(self, mask: Bools) -> Log:
        """The rows where the mask is true, as views where they are adjacent."""
        return self.take(rows_of(mask))

    def take(self, rows: slice | Bools | Ints) -> Log:
        """The log of these rows, as views where they are a slice."""
        return Log(
            self.contexts.take(rows),
            self.action[rows],
            self.reward[rows],
            self.propensity[rows],
            self.epoch[rows],
            self.round[rows],
            self.component[rows],
            problem=self.problem,
        )

    @staticmethod
    def concat(logs: Sequence[Log], n_actions: int) -> Log:
        """The rows of all logs, in the order given; of no named problem where one of them has none."""
        if len(logs) == 1:
            return logs[0]
        columns = (np.concatenate([getattr(log, name) for log in logs]) for name in _NUMBERS)
        contexts = Contexts.concat([log.contexts for log in logs], n_actions)
        return Log(contexts, *columns, problem=_common_problem(logs))


_NUMBERS = tuple(one.name for one in fields(Log) if one.name not in {"contexts", "problem"})


def _common_problem(logs: Sequence[Log]) -> Problem | None:
    named = [log.problem for log in logs if log.problem is not None]
    if any(problem != named[0] for problem in named):
        raise ValueError(
            "the logs are of different problems, in which the same position is not the same action; "
            "make them with the `log` of one problem."
        )
    return named[0] if named and len(named) == len(logs) else None


def _log_columns(log: Log) -> dict[str, Column]:
    """The columns of a log, in the order and by the names of a decision log.

    Features of contexts are columns of their own, "context.age"; features of actions are lists of structs,
    one for each label in "eligible".
    """
    problem = log.problem
    if problem is None:
        raise ValueError(
            "the log has no problem, and its actions no labels; give it the one it belongs to, with "
            "dataclasses.replace(log, problem=...)."
        )
    labels = label_column(problem.actions)
    shared = zip(problem.features.names, log.contexts.shared.T, strict=True)
    mask = log.contexts.eligible
    eligible = np.ones((len(log), problem.n_actions), dtype=np.bool_) if mask is None else mask
    return {
        **{f"context.{name}": values for name, values in shared},
        **_action_features(log, problem, eligible),
        "eligible": Lists(labels[np.nonzero(eligible)[1]], eligible.sum(axis=1)),
        "action": labels[log.action],
        "propensity": log.propensity,
        "reward": problem.rewards.from_unit(log.reward),
        "phase": phase_column(log.passive, log.component == CONTROL),
        "epoch": log.epoch,
        "round": log.round,
    }


def _action_features(log: Log, problem: Problem, eligible: Bools) -> dict[str, Column]:
    """The features of eligible actions; those of others are placeholders."""
    features = log.contexts.actions
    if features is None:
        return {}
    given = features[eligible]
    structs = dict(zip(problem.action_features.names, given.T, strict=True))
    return {"action_features": Lists(structs, eligible.sum(axis=1))}


def rows_of(mask: Bools) -> slice | Bools:
    """A mask as a slice where its rows are adjacent: a view instead of a copy of every column.

    >>> rows_of(np.array([False, True, True])), rows_of(np.array([True, False, True])).tolist()
    (slice(1, 3, None), [True, False, True])
    """
    n_rows = int(np.count_nonzero(mask))
    first = int(mask.argmax()) if n_rows else 0
    return slice(first, first + n_rows) if mask[first : first + n_rows].all() else mask
