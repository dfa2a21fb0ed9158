"""Logged decisions as columns: what logs are read into, checked as, and evaluated from."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.optional_columns import feature_table, joined_column
from gyrfalcon.core.records import PASSIVE, POLICY, Log
from gyrfalcon.frames import Column, Lists, Tabular, label_column, phase_column

Texts: TypeAlias = NDArray[np.object_]
"""Text as Python strings, None where there is none."""

PropensitySource: TypeAlias = Literal["logged", "estimated"]
"""Where propensities come from."""

UNKNOWN_ACTION = -1
"""Position of an action that is none of the table's."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DecisionTable(Tabular):
    """Logged decisions as columns of length n, in the order of the log.

    Nothing is validated here, so that faults of a log can be seen and reported: probabilities may be
    impossible, rewards infinite and actions ineligible. What computes with a table validates it first.

    Parameters
    ----------
    actions
        Labels of the K actions, by position.
    contexts
        What was known at each decision: shared features, features of actions, eligible actions.
    action
        Position of the logged action, (n,); -1 where it is none of `actions`.
    reward
        Reward in the unit of the log's user, (n,); nan where there is none (yet).
    propensity
        Probability with which the action was chosen, (n,); nan where it is unknown.
    distribution
        Probabilities of all actions, (n, K), nan in rows where they are unknown; None if unknown everywhere.
    features
        Names of the shared features.
    action_features
        Names of the features of actions.
    event_id
        Ids of the events, (n,), None where an event has none; or None if no event has one.
    time
        Time of each decision in seconds, (n,), nan where unknown; or None.
    reward_time
        Time at which each reward became final, (n,), nan where unknown; or None.
    epoch
        Number of the epoch that decided, (n,); or None.
    round
        Number of the round, counted from 0, (n,); or None.
    passive
        Which rows were uniform play, (n,); or None.
    model
        Content hash of the policy that decided, (n,), None where unknown; or None.
    experiment
        Name of the experiment that each decision belongs to, (n,); or None.
    defaulted
        Which rewards are the default after a timeout, not an observed one, (n,); or None.
    late
        Which events had a reward that came too late to count, (n,); or None.
    overridden
        Which events were shown another action than the logged one, (n,); or None.
    shadow
        Which decisions were only logged and never shown, (n,); or None.
    reward_range
        Lowest and highest possible reward, if known.
    cost
        Whether rewards are costs, of which less is better.
    source
        What the log is called in messages: a path, or "" for arrays.
    source_row
        Number of each row in its source, (n,), where rows were left out; None if it is the position.
    propensity_source
        "logged" where propensities are those that actions were drawn with, "estimated" where they were
        estimated from the rows.

    Examples
    --------
    >>> table = DecisionTable.of(
    ...     actions=["red", "blue"], action=["blue", "red"], reward=[1.0, 0.0], propensity=[0.5, 0.2]
    ... )
    >>> table
    DecisionTable(2 decisions, 2 actions, 0 features, mean reward 0.5)
    >>> table.action.tolist()
    [1, 0]
    """

    actions: tuple[Hashable, ...]
    contexts: Contexts
    action: Ints
    reward: Floats
    propensity: Floats
    distribution: Floats | None = None
    features: tuple[str, ...] = ()
    action_features: tuple[str, ...] = ()
    event_id: Texts | None = None
    time: Floats | None = None
    reward_time: Floats | None = None
    epoch: Ints | None = None
    round: Ints | None = None
    passive: Bools | None = None
    model: Texts | None = None
    experiment: Texts | None = None
    defaulted: Bools | None = None
    late: Bools | None = None
    overridden: Bools | None = None
    shadow: Bools | None = None
    reward_range: tuple[float, float] | None = None
    cost: bool = False
    source: str = ""
    source_row: Ints | None = None
    propensity_source: PropensitySource = "logged"

    def __len__(self) -> int:
        return len(self.action)

    def __repr__(self) -> str:
        n_decisions = f"{len(self)} decision{'' if len(self) == 1 else 's'}"
        parts = [n_decisions, f"{self.n_actions} actions", f"{self.contexts.shared.shape[-1]} features"]
        known = self.reward[~np.isnan(self.reward)]
        parts += [f"mean reward {known.mean():.3g}"] if len(known) else ["no rewards"]
        return f"DecisionTable({', '.join(parts)})"

    @property
    def n_actions(self) -> int:
        """Number of actions K."""
        return len(self.actions)

    @property
    def eligible(self) -> Bools:
        """Which actions could be chosen, (n, K)."""
        mask = self.contexts.eligible
        return np.ones((len(self), self.n_actions), dtype=np.bool_) if mask is None else mask

    @property
    def rows(self) -> Ints:
        """Number of each row in its source, counted from 0, (n,)."""
        return np.arange(len(self)) if self.source_row is None else self.source_row

    @staticmethod
    def of(
        *,
        actions: Iterable[Hashable],
        action: Iterable[Hashable],
        reward: Iterable[float],
        propensity: Iterable[float] | None = None,
        shared: Any = None,
        features: Sequence[str] | None = None,
        **columns: Any,
    ) -> DecisionTable:
        """A table from labels and numbers as a user has them; other columns as the class names them."""
        labels = tuple(actions)
        places = {label: place for place, label in enumerate(labels)}
        chosen = np.array([places.get(label, UNKNOWN_ACTION) for label in action], dtype=np.int64)
        n = len(chosen)
        numbers = feature_table(shared, n)
        names = (
            tuple(f"x{place}" for place in range(numbers.shape[1])) if features is None else tuple(features)
        )
        chances = np.full(n, np.nan) if propensity is None else np.asarray(propensity, dtype=np.float64)
        return DecisionTable(
            actions=labels,
            contexts=Contexts(numbers),
            action=chosen,
            reward=np.asarray(reward, dtype=np.float64),
            propensity=chances,
            features=names,
            **columns,
        )

    @staticmethod
    def of_log(log: Log) -> DecisionTable:
        """The table of a log whose problem is known, with rewards in the problem's units."""
        problem = log.problem
        if problem is None:
            raise ValueError(
                "the log has no problem, and its actions no labels; give it the one it belongs to, with "
                "dataclasses.replace(log, problem=...)."
            )
        return DecisionTable(
            actions=problem.actions,
            contexts=log.contexts,
            action=log.action,
            reward=problem.rewards.from_unit(log.reward),
            propensity=log.propensity,
            features=tuple(problem.features.names),
            action_features=tuple(problem.action_features.names),
            epoch=log.epoch,
            round=log.round,
            passive=log.passive,
            reward_range=problem.reward_range,
            cost=problem.cost,
        )

    @staticmethod
    def concat(tables: Sequence[DecisionTable]) -> DecisionTable:
        """The rows of tables with the same actions and features; a column that some lack is unknown there."""
        first = tables[0]
        if len(tables) == 1:
            return first
        sizes = [len(one) for one in tables]
        joined: dict[str, Any] = {
            name: joined_column([getattr(one, name) for one in tables], sizes) for name in _COLUMNS
        }
        contexts = Contexts.concat([one.contexts for one in tables], first.n_actions)
        rows = np.concatenate([one.rows for one in tables])
        source = max(tables, key=lambda one: one.propensity_source == "estimated").propensity_source
        return replace(first, contexts=contexts, source_row=rows, propensity_source=source, **joined)

    def to_log(self) -> Log:
        """The rows as a log whose rewards stay in their own unit: what model classes are fitted to."""
        n = len(self)
        zeros = np.zeros(n, dtype=np.int64)
        passive = np.zeros(n, dtype=np.bool_) if self.passive is None else self.passive
        return Log(
            self.contexts,
            self.action,
            self.reward,
            self.propensity,
            zeros if self.epoch is None else self.epoch,
            np.arange(n) if self.round is None else self.round,
            np.where(passive, PASSIVE, POLICY).astype(np.int64),
        )

    def take(self, rows: slice | Bools | Ints) -> DecisionTable:
        """The table of these rows, which remember their numbers in the source."""
        taken: dict[str, Any] = {
            one.name: None if (column := getattr(self, one.name)) is None else column[rows]
            for one in fields(self)
            if one.name in _COLUMNS
        }
        return replace(self, contexts=self.contexts.take(rows), source_row=self.rows[rows], **taken)

    def columns(self) -> Mapping[str, Column]:
        """Columns by name, in labels: what tables of other libraries are made of."""
        labels, eligible = label_column(self.actions), self.eligible
        place, sizes = np.nonzero(eligible)[1], eligible.sum(axis=1)
        shared = zip(self.features, self.contexts.shared.T, strict=True)
        named: dict[str, Column | None] = {
            "event_id": self.event_id,
            "time": self.time,
            **{f"context.{name}": values for name, values in shared},
            "action_features": self._structs(eligible, sizes),
            "eligible": Lists(labels[place], sizes),
            "action": self._labels(labels),
            "propensity": self.propensity,
            "distribution": None if self.distribution is None else Lists(self.distribution[eligible], sizes),
            "reward": self.reward,
            "reward_time": self.reward_time,
            "defaulted": self.defaulted,
            "late": self.late,
            "overridden": self.overridden,
            "shadow": self.shadow,
            "phase": None if self.passive is None else phase_column(self.passive),
            "epoch": self.epoch,
            "round": self.round,
            "model": self.model,
            "experiment": self.experiment,
        }
        if self.propensity_source != "logged":
            named["propensity_source"] = np.full(len(self), self.propensity_source, dtype=object)
        return {name: column for name, column in named.items() if column is not None}

    def _labels(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The label of each row's action; None where it is unknown."""
        known = self.action != UNKNOWN_ACTION
        if known.all():
            return labels[self.action]
        chosen = np.full(len(self), None, dtype=object)
        chosen[known] = labels[self.action[known]].tolist()
        return chosen

    def _structs(self, eligible: Bools, sizes: Ints) -> Lists | None:
        cube = self.contexts.actions
        if cube is None:
            return None
        return Lists(dict(zip(self.action_features, cube[eligible].T, strict=True)), sizes)


_COLUMNS = frozenset(
    (
        *("action", "reward", "propensity", "distribution", "event_id", "time", "reward_time", "epoch"),
        *("round", "passive", "model", "experiment", "defaulted", "late", "overridden", "shadow"),
    )
)
