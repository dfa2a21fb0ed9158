"""Actions with equal features as one action, so that estimates weight what actions have in common.

Importance weights of merged actions are those of marginalised inverse propensity scoring (Saito and Joachims
2022) for features that are known for each action; every other estimator and interval is marginalised alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows

_MOST_VALUES = 1_000
"""Different values of features above which there is hardly anything to merge."""
_NO_DISTRIBUTION = "unknown probabilities of other actions"


@dataclass(frozen=True, slots=True, eq=False)
class MergedActions:
    """The different values of features of actions in a table, and which of them each action has.

    Parameters
    ----------
    features
        Names of the features of actions by which they are merged.
    labels
        Texts for their different values, which are the merged actions.
    groups
        Merged action of each action in each row of the table, (n, K).
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    groups: Ints

    @staticmethod
    def of(table: DecisionTable, features: Sequence[str]) -> MergedActions:
        """Merged actions of a table by features of its actions; "brand" stands for "brand=x" and others, too.

        Raises
        ------
        ValueError
            If a feature is unknown, or there are too many different values.
        """
        columns = _columns(table, features)
        cube = table.contexts.actions
        assert cube is not None  # features of actions have names where there are some
        values, groups = _groups(_without_ineligible(cube[:, :, columns], table.contexts.eligible))
        if len(values) > max(_MOST_VALUES, table.n_actions):
            raise ValueError(
                f"{', '.join(features)} has {len(values):,} different values, too many to have rows in "
                "common; give features with few values, such as a category."
            )
        names = [table.action_features[column] for column in columns]
        return MergedActions(tuple(features), _labels(names, values), groups)

    def rows(self, rows: EvaluatedRows) -> EvaluatedRows:
        """Rows whose actions are merged, with sums of probabilities; those must be known."""
        kept = rows.known
        n_left_out = len(kept) - int(kept.sum())
        if rows.distribution is None or n_left_out == len(kept):
            raise ValueError(
                "marginalised values need the probabilities of all actions, and no row has them; log "
                "distributions, or leave marginalise out."
            )
        places = rows.places[kept]
        shares = self.sums(rows.distribution[kept], places)
        table = self._merged(rows.table.take(kept), shares, places)
        set_aside = {**rows.set_aside, **({_NO_DISTRIBUTION: n_left_out} if n_left_out else {})}
        return replace(rows, table=table, places=places, set_aside=set_aside, distribution=shares)

    def sums(self, values: Floats, places: Ints) -> Floats:
        """Sums of numbers of single actions over those that are merged, for rows at these places."""
        n, n_groups = len(values), len(self.labels)
        cells = np.arange(n)[:, np.newaxis] * n_groups + self.groups[places]
        sums = np.bincount(cells.ravel(), weights=values.ravel(), minlength=n * n_groups)
        return sums.reshape(n, n_groups).astype(np.float64, copy=False)

    @property
    def caution(self) -> str:
        """What the values presume, as a sentence."""
        return (
            f"{self.groups.shape[1]} actions count as {len(self.labels)}, by {', '.join(self.features)}: "
            "values are right as far as rewards depend on actions through these features alone; compare them "
            "with values of single actions."
        )

    def _merged(self, table: DecisionTable, shares: Floats, places: Ints) -> DecisionTable:
        rows = np.arange(len(table))
        action = self.groups[places, table.action]
        eligible = self.sums(table.eligible.astype(np.float64), places) > 0.0
        return replace(
            table,
            actions=self.labels,
            contexts=Contexts(table.contexts.shared, None, None if eligible.all() else eligible),
            action=action,
            propensity=np.minimum(shares[rows, action], 1.0),
            distribution=shares,
            action_features=(),
        )


def _columns(table: DecisionTable, features: Sequence[str]) -> list[int]:
    """Places of features of actions, and of indicators of a category by its name."""
    if isinstance(features, str) or not features:
        raise ValueError(f"marginalise is {short_repr(features)}; give a list of features of actions.")
    known = table.action_features
    found: list[int] = []
    for name in features:
        columns = [place for place, one in enumerate(known) if one == name or one.startswith(f"{name}=")]
        if not columns:
            hint = suggestion(name, known) if known else "its actions have no features."
            raise ValueError(f"the log has no feature of actions {short_repr(name)}; {hint}")
        found += columns
    return found


def _without_ineligible(cube: Floats, eligible: Bools | None) -> Floats:
    """Features, with those of an eligible action in place of ones that a log does not have."""
    if eligible is None:
        return cube
    first = cube[np.arange(len(cube)), eligible.argmax(axis=1)]
    return np.where(eligible[:, :, np.newaxis], cube, first[:, np.newaxis])


def _groups(cube: Floats) -> tuple[Floats, Ints]:
    """Different rows of features, and which of them each action has, (n, K)."""
    n, n_actions, q = cube.shape
    alike = n > 1 and np.array_equal(cube[1:], np.broadcast_to(cube[0], cube[1:].shape), equal_nan=True)
    flat = (cube[:1] if alike else cube).reshape(-1, q)
    # A nan is equal to no other: a column says where features are unknown.
    unknown = np.isnan(flat)
    keys = np.column_stack([unknown, np.where(unknown, 0.0, flat)])
    _, first, places = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    groups = places.reshape(-1, n_actions)
    return flat[first], np.broadcast_to(groups, (n, n_actions)) if alike else groups


def _labels(names: Sequence[str], values: Floats) -> tuple[str, ...]:
    """Texts such as "brand=x, price=2" for the values of features."""

    def label(row: Floats) -> str:
        parts = []
        for name, value in zip(names, row.tolist(), strict=True):
            if "=" not in name:
                parts.append(f"{name} unknown" if math.isnan(value) else f"{name}={value:.6g}")
            elif value == 1.0:
                parts.append(name)
        return ", ".join(parts) or f"no {' or '.join(names)}"

    return tuple(label(row) for row in values)
