"""Decision problems: actions, features of contexts and actions, and rewards."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.action_tables import assembled, cube_of, mask_of, mask_of_row
from gyrfalcon.core.inputs.arguments import (
    agreed_length,
    checked_labels,
    ends,
)
from gyrfalcon.core.inputs.logs import Propensities, log_of
from gyrfalcon.core.inputs.messages import enumeration, short_repr, suggestion
from gyrfalcon.core.inputs.reward_range import OutOfRange, RewardRange
from gyrfalcon.core.inputs.schema import Schema, UnknownFeatures
from gyrfalcon.core.inputs.tables import by_row, listed, values_of
from gyrfalcon.core.records import Log


@dataclass(frozen=True, slots=True, init=False)
class Problem:
    """Decision problem: actions by label, features of contexts and of actions, and the range of rewards.

    Inputs of users are validated and become arrays here, and only here; labels are returned as given.

    Parameters
    ----------
    actions
        At least two labels of any hashable kind, all different.
    features
        Names, kinds or number of the context features (see `Schema.of`), or None without contexts.
    action_features
        Names, kinds or number of the features of actions (see `Schema.of`), or None if they have none.
    reward_range
        Lowest and highest reward; None if unknown. Learners explore by the spread of the rewards they see.
    out_of_range
        Effect of a reward outside the range: "error" refuses it, "clip" moves it to the nearer end, and
        "accept" takes it as it is. It has no meaning without a range.
    cost
        Whether rewards are costs, of which less is better.
    unknown_features
        Effect of a named value that is no feature, of a context or an action: "error" refuses it, "ignore"
        passes it over. None leaves it to the schemas, which refuse it unless they say otherwise.

    Raises
    ------
    ValueError
        If there are fewer than two actions or two are equal, or if a feature or the range is not valid.

    Examples
    --------
    >>> problem = Problem(["red", "blue"], features={"age": "numeric", "country": ["NO", "SE"]})
    >>> contexts = problem.contexts([{"age": 31, "country": "SE"}, {"age": 44, "country": "FI"}])
    >>> contexts.shared.tolist()
    [[31.0, 0.0, 1.0, 0.0], [44.0, 0.0, 0.0, 1.0]]
    >>> problem.log(contexts, ["blue", "red"], rewards=[1, 0], propensities=[0.5, 0.25]).action.tolist()
    [1, 0]
    """

    actions: tuple[Hashable, ...]
    features: Schema
    action_features: Schema
    reward_range: tuple[float, float] | None
    out_of_range: OutOfRange
    cost: bool
    rewards: RewardRange = field(init=False, repr=False, compare=False)
    _indices: dict[object, int] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        actions: Iterable[Hashable],
        features: object = None,
        action_features: object = None,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        out_of_range: OutOfRange = "error",
        cost: bool = False,
        unknown_features: UnknownFeatures | None = None,
    ) -> None:
        labels = checked_labels(actions)
        low, high = ends(reward_range)
        rewards = RewardRange(low, high, out_of_range, cost)
        values = {
            "actions": labels,
            "features": _schema(features, unknown_features),
            "action_features": _schema(action_features, unknown_features),
            "reward_range": rewards.ends,
            "out_of_range": rewards.out_of_range,
            "cost": rewards.cost,
            "rewards": rewards,
            "_indices": {label: index for index, label in enumerate(labels)},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = [f"actions={enumeration(self.actions)}"]
        parts += [f"features={self.features!r}"] if self.features.columns else []
        parts += [f"action_features={self.action_features!r}"] if self.action_features.columns else []
        extent = "from {:g} to {:g}".format(*self.reward_range) if self.reward_range else "of any size"
        parts += [f"{'costs' if self.cost else 'rewards'} {extent}"]
        return f"Problem({'; '.join(parts)})"

    @property
    def n_actions(self) -> int:
        """Number of actions, K."""
        return len(self.actions)

    def index_of(self, label: object) -> int:
        """The position of the action with this label.

        Parameters
        ----------
        label
            Label of an action.

        Raises
        ------
        ValueError
            If no action has this label.
        """
        try:
            return self._indices[label]
        except (KeyError, TypeError):
            hint = suggestion(label, self.actions)
            raise ValueError(f"there is no action {short_repr(label)}; {hint}") from None

    def indices_of(self, labels: object) -> Ints:
        """The positions of the actions with these labels, (n,).

        Parameters
        ----------
        labels
            A list, a 1-d array or a series of labels.

        Raises
        ------
        ValueError
            If one of them is not the label of an action.
        """
        values = values_of(labels)
        try:
            indices = [self._indices[label] for label in listed(values)]
        except (KeyError, TypeError):
            indices = by_row(self.index_of, values)
        return np.array(indices, dtype=np.int64)

    def contexts(
        self, shared: object = None, actions: object = None, eligible: object = None, n: int | None = None
    ) -> Contexts:
        """Many contexts, validated and encoded.

        Parameters
        ----------
        shared
            Table of the context features: a frame, an array, a mapping of columns or a list of rows.
        actions
            Features of actions: an (n, K, q) array; a (K, q) array or a mapping of labels to rows of features
            if they are the same in each context; or a list of n such mappings. In mappings, only eligible
            actions need features; the others count as 0.
        eligible
            Which actions may be chosen: an (n, K) boolean array or n collections of labels; None for all.
        n
            Number of contexts, where neither features nor the other arguments tell.

        Returns
        -------
        Contexts
            The contexts as arrays.

        Raises
        ------
        ValueError
            If a value does not fit its feature, numbers of rows differ, or a context has no eligible action.

        Examples
        --------
        >>> Problem(["up", "down"]).contexts(eligible=[["up"], ["up", "down"]]).eligible.tolist()
        [[True, False], [True, True]]
        """
        self._check_given(shared, actions)
        table = None if shared is None else self.features.encode(shared)
        mask = None if eligible is None else mask_of(self, eligible)
        cube, given, is_same = (None, None, True) if actions is None else cube_of(self, actions)
        varied = None if is_same else cube
        n = agreed_length(n, {"shared": table, "actions": varied, "eligible": mask})
        return assembled(self, n, table, cube, given, mask)

    def context(self, shared: object = None, actions: object = None, eligible: object = None) -> Contexts:
        """One context, validated and encoded, by a shorter way for plain numbers.

        Parameters
        ----------
        shared
            The context features: a mapping of names to values, a sequence or an array.
        actions
            Features of actions: a (K, q) array or a mapping of labels to rows of features.
        eligible
            Which actions may be chosen: a collection of labels or a (K,) boolean array; None for all.

        Returns
        -------
        Contexts
            The context as arrays with one row.

        Raises
        ------
        ValueError
            If a value does not fit its feature, or no action is eligible.

        Examples
        --------
        >>> Problem(["up", "down"], features=2).context([0.5, 2.0]).shared.tolist()
        [[0.5, 2.0]]
        """
        table = self.features.encode_one(shared)
        if actions is None and eligible is None and not self.action_features.columns:
            return Contexts(table)
        self._check_given(table, actions)
        mask = None if eligible is None else mask_of_row(self, eligible)[None]
        cube, given, _ = (None, None, True) if actions is None else cube_of(self, actions)
        if cube is not None and len(cube) != 1:
            raise ValueError(
                f"actions are of {len(cube)} contexts, where one is expected; give one (K, q) array."
            )
        return assembled(self, 1, table, cube, given, mask)

    def log(
        self,
        contexts: Contexts,
        actions: object,
        rewards: object,
        propensities: Propensities,
        *,
        epoch: int = 0,
        rounds: object = None,
        passive: object = None,
    ) -> Log:
        """The log of decisions and their rewards, 0 to 1 where there is a range, which knows this problem.

        Parameters
        ----------
        contexts
            What was known at each decision, made with `contexts`.
        actions
            Labels of the chosen actions.
        rewards
            Rewards in the problem's units.
        propensities
            Probabilities with which the actions were chosen; "uniform" if each was chosen uniformly among the
            eligible ones, which is passive play; "unknown" if nobody knows. Regressions take unknown rows as
            any others, but no estimate by propensities does, and they are never passive.
        epoch
            Index of the epoch that decided.
        rounds
            Numbers of the rounds; 0 to n - 1 by default.
        passive
            Which rows were passive play, where neither all nor none were.

        Returns
        -------
        Log
            The decisions as columns.

        Raises
        ------
        ValueError
            If columns differ in length, or a label, a reward or a propensity is not valid.

        Examples
        --------
        >>> problem = Problem(["up", "down"])
        >>> problem.log(problem.contexts(n=3), ["up", "down", "up"], [1, 0, 0], "uniform").propensity.tolist()
        [0.5, 0.5, 0.5]
        """
        return log_of(self, contexts, actions, rewards, propensities, epoch, rounds, passive)

    def _check_given(self, shared: object, actions: object) -> None:
        if shared is None and self.features.columns:
            raise ValueError(f"contexts need the features {enumeration(self.features.names)}; give `shared`.")
        if (actions is None) == bool(self.action_features.columns):
            fault = "declared and not given" if actions is None else "given and not declared"
            raise ValueError(f"features of actions are {fault}; see `action_features` and `actions`.")


def _schema(spec: object, unknown_features: UnknownFeatures | None) -> Schema:
    schema = Schema.of(spec)
    return schema if unknown_features is None else replace(schema, unknown_features=unknown_features)
