"""Kinds of target policies: each gives probabilities of all actions in the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import enumeration, short_repr, suggestion
from gyrfalcon.core.policies.kernel_policy import Policy, UniformPolicy
from gyrfalcon.core.policies.kernels import uniform as uniform_probabilities
from gyrfalcon.evaluation.policies.alignment import PolicyNames, spread_out

_ROWS = 1 << 16
"""Rows whose probabilities are computed at a time."""


class TargetPolicy(Protocol):
    """Policy to be evaluated on a log."""

    def __call__(self, table: DecisionTable) -> Floats:
        """Probabilities of all actions in each row, (n, K); 0 for ineligible ones."""
        ...


@dataclass(frozen=True, slots=True)
class Always:
    """One action in every row; made by `always`."""

    label: Hashable
    otherwise: TargetPolicy | None = None

    def __call__(self, table: DecisionTable) -> Floats:
        """Probability 1 for the action where it is eligible, (n, K)."""
        place = _place(self.label, table)
        target = np.zeros((len(table), table.n_actions))
        may: Bools = np.asarray(table.eligible[:, place])
        target[may, place] = 1.0
        if may.all():
            return target
        if self.otherwise is None:
            row = int(may.argmin())
            raise ValueError(
                f"row {table.rows[row]}: {short_repr(self.label)} is not eligible, nor is it in "
                f"{int((~may).sum())} of {len(table)} rows; say what is done there instead, with "
                f"always({self.label!r}, otherwise=uniform_play())."
            )
        target[~may] = self.otherwise(table.take(~may))
        return target


@dataclass(frozen=True, slots=True)
class UniformTarget:
    """Every eligible action with the same probability; made by `uniform_play`."""

    def __call__(self, table: DecisionTable) -> Floats:
        """Equal probabilities of all eligible actions, (n, K)."""
        return uniform_probabilities(table.n_actions, len(table), table.contexts.eligible)


@dataclass(frozen=True, slots=True)
class LoggedTarget:
    """The play that was logged, whose value is the mean reward; made by `logged_play`."""

    def __call__(self, table: DecisionTable) -> Floats:
        """The logged distributions, (n, K), refused where they are unknown."""
        known: Bools = np.zeros(len(table), dtype=np.bool_)
        if table.distribution is not None:
            known = np.asarray(~np.isnan(table.distribution).any(axis=1))
        if table.distribution is None or not known.all():
            raise ValueError(
                f"row {table.rows[int(known.argmin())] if len(table) else 0}: the distribution over actions "
                "is unknown; the value of the logged play is the mean reward, so give 'logged' to `evaluate`."
            )
        return table.distribution


@dataclass(frozen=True, slots=True)
class PolicyTarget:
    """A policy of the package on the rows of a table; made by `of_policy`."""

    policy: Policy
    names: PolicyNames = field(default_factory=PolicyNames)
    passive_policy: Policy | None = None
    passive_share: float = 0.0
    held_out: bool = False

    @property
    def is_learned(self) -> bool:
        """Whether the policy may have been learned from the rows that it is evaluated on."""
        return not self.held_out and not isinstance(self.policy, UniformPolicy)

    def __call__(self, table: DecisionTable) -> Floats:
        """The policy's probabilities in the columns of the table, (n, K)."""
        places = self.names.places(table)
        contexts = self.names.contexts(table, places)
        starts = range(0, max(len(table), 1), _ROWS)
        parts = [self._probabilities(contexts.take(slice(start, start + _ROWS))) for start in starts]
        probabilities = np.concatenate(parts)
        if probabilities.shape != (len(table), len(places)):
            raise ValueError(
                f"the policy gives probabilities of shape {probabilities.shape} for {len(table)} rows and "
                f"{len(places)} actions; give the labels of its actions with of_policy(policy, actions=...)."
            )
        return spread_out(probabilities, places, table.n_actions)

    def _probabilities(self, contexts: Contexts) -> Floats:
        active = self.policy.probabilities(contexts)
        if self.passive_policy is None or self.passive_share == 0.0:
            return active
        passive = self.passive_policy.probabilities(contexts)
        return active + self.passive_share * (passive - active)


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A function of a table as a target policy."""

    function: Callable[[DecisionTable], Any]

    def __call__(self, table: DecisionTable) -> Floats:
        """Probabilities from what the function returns: probabilities (n, K), or labels (n,)."""
        return _as_probabilities(self.function(table), table)


@dataclass(frozen=True, slots=True, eq=False)
class FixedTarget:
    """Probabilities (n, K) or labels (n,) of the rows of one table as a target policy."""

    values: Any

    def __call__(self, table: DecisionTable) -> Floats:
        """Probabilities of all actions in the rows of that table, (n, K)."""
        return _as_probabilities(self.values, table)


class _UnknownFeatureError(KeyError):
    """A rule needs a feature that the log does not have."""


class _Row(dict[str, float]):
    """Features of one row by name."""

    def __missing__(self, name: str) -> float:
        raise _UnknownFeatureError(name)


@dataclass(frozen=True, slots=True)
class RowTarget:
    """A function of one row's features as a target policy; made by `by_row`."""

    function: Callable[[Mapping[str, float]], Any]

    def __call__(self, table: DecisionTable) -> Floats:
        """Probabilities from the label, or the probabilities by label, that each row gets, (n, K)."""
        target = np.zeros((len(table), table.n_actions))
        for row, values in enumerate(table.contexts.shared.tolist()):
            try:
                answer = self.function(_Row(zip(table.features, values, strict=True)))
            except _UnknownFeatureError as error:
                name = error.args[0]
                raise ValueError(
                    f"there is no feature {short_repr(name)} in the log; {suggestion(name, table.features)}"
                ) from error
            shares = answer if isinstance(answer, Mapping) else {answer: 1.0}
            for label, share in shares.items():
                target[row, _place(label, table)] += share
        return target


def _as_probabilities(answer: Any, table: DecisionTable) -> Floats:
    n, n_actions = len(table), table.n_actions
    values = np.asarray(answer)
    if values.ndim == 2 and values.shape[1] == n_actions and hasattr(answer, "columns"):
        values = values[:, _order_of_columns(list(answer.columns), table)]
    if values.ndim == 2 and values.shape == (n, n_actions) and values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.shape != (n,):
        raise ValueError(
            f"the policy gives values of shape {values.shape}; give probabilities of shape ({n}, "
            f"{n_actions}), or {n} labels of actions."
        )
    target = np.zeros((n, n_actions))
    labels = values.tolist()
    places = {label: _place(label, table) for label in dict.fromkeys(labels)}
    target[np.arange(n), [places[label] for label in labels]] = 1.0
    return target


def _order_of_columns(names: list[Any], table: DecisionTable) -> list[int]:
    """Positions of the table's actions among the columns of a frame: by name where names are labels."""
    texts, labels = [str(name) for name in names], [str(label) for label in table.actions]
    if sorted(texts) == sorted(labels):
        return [texts.index(label) for label in labels]
    if texts == [str(place) for place in range(len(labels))]:
        return list(range(len(labels)))
    raise ValueError(
        f"the policy gives a frame with the columns {enumeration(names)}, and the log's actions are "
        f"{enumeration(table.actions)}; name each column as its action."
    )


def _place(label: Any, table: DecisionTable) -> int:
    """Position of the action with this label; numbers typed as text are found, too."""
    for place, known in enumerate(table.actions):
        if known == label and isinstance(known, bool) == isinstance(label, bool):
            return place
    by_text = {str(known): place for place, known in enumerate(table.actions)}
    if str(label) in by_text:
        return by_text[str(label)]
    raise ValueError(f"there is no action {short_repr(label)} in the log; {suggestion(label, table.actions)}")
