"""Contexts of a table as a policy knows them: features and actions found by name, whatever their order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import enumeration, short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyNames:
    """Labels of actions and names of features in the order in which a policy takes them.

    Parameters
    ----------
    actions
        Labels of the policy's actions; None if they are those of the table.
    features
        Names of the shared features; None if they are those of the table.
    action_features
        Names of the features of actions; None if they are those of the table.
    """

    actions: tuple[Hashable, ...] | None = None
    features: tuple[str, ...] | None = None
    action_features: tuple[str, ...] | None = None

    def places(self, table: DecisionTable) -> Ints:
        """Column of each of the policy's actions in the table, (K,); -1 where the table lacks it."""
        if self.actions is None:
            return np.arange(table.n_actions)
        columns: dict[Hashable, int] = {label: place for place, label in enumerate(table.actions)}
        # A log has labels that are neither text nor numbers as text.
        found = [columns.get(label, columns.get(str(label), -1)) for label in self.actions]
        return np.array(found, dtype=np.int64)

    def contexts(self, table: DecisionTable, places: Ints) -> Contexts:
        """The table's contexts with the policy's features and actions; actions it lacks are not eligible."""
        shared = _columns(table.contexts.shared, table.features, self.features, "feature")
        eligible = table.contexts.eligible
        cube = table.contexts.actions
        if cube is not None:
            cube = _columns(cube, table.action_features, self.action_features, "feature of actions")
        if np.array_equal(places, np.arange(table.n_actions)):
            return Contexts(shared, cube, eligible)
        present = places >= 0
        mask = np.zeros((len(table), len(places)), dtype=np.bool_)
        mask[:, present] = table.eligible[:, places[present]]
        if cube is not None:
            arranged = np.zeros((len(table), len(places), cube.shape[2]))
            arranged[:, present] = cube[:, places[present]]
            cube = arranged
        self._check_eligible(mask, table)
        return Contexts(shared, cube, None if mask.all() else mask)

    def _check_eligible(self, mask: Bools, table: DecisionTable) -> None:
        without = np.flatnonzero(~mask.any(axis=1))
        if len(without):
            row = int(without[0])
            labels = [label for label, may in zip(table.actions, table.eligible[row], strict=True) if may]
            raise ValueError(
                f"row {table.rows[row]}: none of the eligible actions, {enumeration(labels)}, is one of the "
                f"policy's, which are {enumeration(self.actions or ())}; evaluate a policy that has them, or "
                "leave the row out."
            )


def spread_out(probabilities: Floats, places: Ints, n_actions: int) -> Floats:
    """Probabilities of a policy's actions (n, K) in the columns of a table, (n, n_actions)."""
    if np.array_equal(places, np.arange(n_actions)):
        return probabilities
    table = np.zeros((len(probabilities), n_actions))
    present = places >= 0
    table[:, places[present]] = probabilities[:, present]
    return table


def _columns(values: Floats, has: Sequence[str], needs: Iterable[str] | None, noun: str) -> Floats:
    """The columns with these names, in their order."""
    if needs is None:
        return values
    wanted = tuple(needs)
    if tuple(has) == wanted:
        return values
    positions = {name: place for place, name in enumerate(has)}
    missing = [name for name in wanted if name not in positions]
    if missing:
        raise ValueError(
            f"the policy needs the {noun} {short_repr(missing[0])}, which the log does not have: its are "
            f"{enumeration(tuple(has))}; give a log of decisions with the policy's features."
        )
    return np.ascontiguousarray(values[..., [positions[name] for name in wanted]])
