"""Mappings from the columns of a table to those of a log: which column has the action, the reward, ..."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from gyrfalcon.core.inputs.messages import enumeration, short_repr, suggestion

CONTEXT = "context."
"""What the names of feature columns start with in tables that `DecisionTable.to_pandas` makes."""

ROLES = (
    *("event_id", "time", "eligible", "action", "propensity", "distribution", "action_features", "reward"),
    *("reward_time", "defaulted", "late", "overridden", "shadow", "phase", "epoch", "round", "model"),
    "experiment",
)
"""Columns of a table of decisions besides its features."""

BY_ACTION = ("eligible", "distribution")
"""What may stand in one column for each action instead of in lists."""

Features = tuple[str, ...] | Mapping[str, object] | Literal["*"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMapping:
    """Columns of a table by what they hold in a log of decisions.

    All but `action` may be None: then the log lacks this column.

    Parameters
    ----------
    action
        Column with the label of the action that was taken.
    reward
        Column with the reward, or with the cost if `cost` is true; empty where there is none.
    propensity
        Column with the probability with which the action was taken.
    features
        Columns of shared features: a list of names, whose kinds are inferred (numbers are numeric, text is
        categorical); a mapping of names to kinds as `features` of a `Problem` are; or "*" for all columns
        that are not named otherwise.
    event_id
        Column with ids of the events.
    time
        Column with the time of the decision: seconds since 1970, or a date.
    reward_time
        Column with the time of the reward.
    eligible
        Column with lists of the actions that could be taken, as JSON in files of text; or a mapping from each
        label to its own column of true and false.
    distribution
        Column with lists of the probabilities of all eligible actions, in their order; or a mapping from each
        label to its own column of probabilities.
    action_features
        Column with lists of the features of all eligible actions, each a mapping of names to numbers.
    defaulted
        Column that says where the reward is the default after a timeout.
    late
        Column that says where a reward came too late to count.
    overridden
        Column that says where another action was shown.
    shadow
        Column that says where the decision was only logged.
    phase
        Column with "passive" where actions were drawn uniformly.
    epoch
        Column with the number of the epoch.
    round
        Column with the number of the round.
    model
        Column with the content hash of the policy.
    experiment
        Column with the name of the experiment.
    actions
        Labels of all actions in the order they are to have; None takes those that occur.
    cost
        Whether the column `reward` has costs, of which less is better.
    reward_range
        Lowest and highest possible reward.
    prefix
        What the names of the features' columns start with. If there is one, features are numbers that are
        taken as they are, nan included.

    Examples
    --------
    >>> ColumnMapping.of({"action": "banner", "reward": "click", "features": ["age"]}).reward
    'click'
    """

    action: str
    reward: str | None = None
    propensity: str | None = None
    features: Features = ()
    event_id: str | None = None
    time: str | None = None
    reward_time: str | None = None
    eligible: str | Mapping[Hashable, str] | None = None
    distribution: str | Mapping[Hashable, str] | None = None
    action_features: str | None = None
    defaulted: str | None = None
    late: str | None = None
    overridden: str | None = None
    shadow: str | None = None
    phase: str | None = None
    epoch: str | None = None
    round: str | None = None
    model: str | None = None
    experiment: str | None = None
    actions: tuple[Hashable, ...] | None = None
    cost: bool = False
    reward_range: tuple[float, float] | None = None
    prefix: str = ""

    @staticmethod
    def of(given: object, columns: Iterable[str] = ()) -> ColumnMapping:
        """The mapping that a dict stands for; columns that are called as `to_pandas` calls them need none.

        Parameters
        ----------
        given
            A mapping, a dict of its fields, or None. Where it names no column, those of a table of decisions
            are taken by their own names, and "context.age" is the feature "age".
        columns
            Names of the columns that the table has.

        Raises
        ------
        ValueError
            If a field is unknown, or no column holds the action.
        """
        if isinstance(given, ColumnMapping):
            return given
        if not isinstance(given, Mapping | None):
            raise ValueError(  # noqa: TRY004 - every refused input is a ValueError
                f"mapping is {short_repr(given)}; give a dict such as {{'action': 'banner'}}."
            )
        named = dict(given or {})
        known = [one.name for one in fields(ColumnMapping)]
        for name in named:
            if name not in known:
                raise ValueError(f"the mapping has {short_repr(name)}; {suggestion(name, known)}")
        if not any(role in named for role in (*ROLES, "features")):
            named = {**_own_names(list(columns)), **named}
        if "action" not in named:
            raise ValueError(
                f"the mapping has no 'action'; give the column with the actions taken, among "
                f"{enumeration(list(columns))}."
            )
        if named.get("features") == "*" and named.get("prefix"):
            named["features"] = _without(named["prefix"], columns)
        return ColumnMapping(**_checked(named))

    def columns_by_role(self) -> dict[str, str]:
        """The columns that are named, by what they hold; columns of one action each have its label behind."""
        named = {role: getattr(self, role) for role in ROLES}
        single = {role: column for role, column in named.items() if isinstance(column, str)}
        own = {
            f"{role}.{label}": column
            for role in BY_ACTION
            if isinstance(named[role], Mapping)
            for label, column in named[role].items()
        }
        return {**single, **own}

    @property
    def own_labels(self) -> tuple[Hashable, ...]:
        """Labels of the actions that have columns of their own."""
        parts = [part for part in (self.eligible, self.distribution) if isinstance(part, Mapping)]
        return tuple(dict.fromkeys(label for part in parts for label in part))


def _own_names(columns: list[str]) -> dict[str, Any]:
    """The mapping of a table with the names of `DecisionTable.columns`."""
    if "action" not in columns:
        return {}
    roles = {role: role for role in ROLES if role in columns}
    return {**roles, "features": _without(CONTEXT, columns), "prefix": CONTEXT}


def _without(prefix: str, columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that start with the prefix, without it."""
    return tuple(name.removeprefix(prefix) for name in columns if name.startswith(prefix))


def _checked(named: dict[str, Any]) -> dict[str, Any]:
    """The fields, with names that are text and sequences as tuples."""
    for role in ROLES:
        given = named.get(role)
        is_wide = role in BY_ACTION and isinstance(given, Mapping) and len(given) > 0
        texts: list[object] = list(named[role].values()) if is_wide else [given or ""]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(
                f"the mapping's {role!r} is {short_repr(named[role])}; give the name of a column."
            )
    features = named.get("features", ())
    if isinstance(features, str):
        features = "*" if features == "*" else (features,)
    elif not isinstance(features, Mapping):
        features = tuple(features)
    actions, bounds = named.get("actions"), named.get("reward_range")
    return {
        **named,
        "features": features,
        "actions": None if actions is None else tuple(actions),
        "reward_range": None if bounds is None else (float(bounds[0]), float(bounds[1])),
    }
