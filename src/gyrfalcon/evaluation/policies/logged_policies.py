"""Policies that decided in a log, on the contexts of all its rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.policies.targets import TargetPolicy, UniformTarget
from gyrfalcon.evaluation.rows.evaluated_rows import EvaluatedRows
from gyrfalcon.evaluation.rows.weighting import EpochProxies, bounded_proxies, planned_uniform

_SAME = 1e-6
"""How far a recomputed propensity may be from the logged one."""


@dataclass(frozen=True, slots=True, eq=False)
class LoggedPolicies:
    """What each epoch's policy would have done in the rows of other epochs, as far as policies are known.

    Parameters
    ----------
    rows
        The evaluated rows.
    epochs
        Number of the policy in play in each row, (n,); None where unknown.
    by_model
        Policies by the content hashes in the table's `model` column.
    computed
        Distributions of epochs' policies on earlier contexts, so far.
    """

    rows: EvaluatedRows
    epochs: Ints | None
    by_model: Mapping[Hashable, TargetPolicy]
    computed: dict[int, Floats | None] = field(default_factory=dict)

    def of_epochs(self) -> list[TargetPolicy | None]:
        """The policy of each epoch number; None where it is unknown."""
        models = self.rows.table.model
        if self.epochs is None:
            return []
        even = planned_uniform(self.rows)
        first = np.unique(self.epochs, return_index=True)[1].tolist()
        return [
            UniformTarget() if even[row] else self.by_model.get(None if models is None else models[row])
            for row in first
        ]

    def proxies_under(self, target: Floats) -> EpochProxies | None:
        """Variance proxies of the target under the policy of an epoch, on the contexts of other rows."""
        policies = self.of_epochs()

        def under(epoch: int, places: Ints) -> Floats | None:
            policy = policies[epoch]
            if policy is None:
                return None
            # The same contexts come up for each target.
            if epoch not in self.computed:
                self.computed[epoch] = _distribution(policy, self.rows.table.take(places))
            chances = self.computed[epoch]
            return None if chances is None else bounded_proxies(target[places], chances)

        return under if any(policy is not None for policy in policies) else None

    def on_all_rows(self) -> Callable[[], Iterator[Floats]] | None:
        """Distributions in every row under each epoch's policy, if all of them are known."""
        found = self.of_epochs()
        known = [policy for policy in found if policy is not None]
        if not known or len(known) < len(found):
            return None
        return lambda: (self._on_rows(epoch, policy) for epoch, policy in enumerate(known))

    def refuse_unknown(self, title: str) -> None:
        """Refuse an interval of this title if it lacks a policy that decided."""
        found = self.of_epochs()
        n_unknown = sum(policy is None for policy in found)
        if found and not n_unknown:
            return
        what = f"{n_unknown} of {len(found)} are not given" if found else "the log names no policies"
        raise ValueError(
            f"{title} intervals need every policy that decided, on the contexts of all rows, and {what}; "
            "give logged_policies=stored_policies(folder) if a folder stores them, or interval='minvar'."
        )

    def _on_rows(self, epoch: int, policy: TargetPolicy) -> Floats:
        """Probabilities of all actions in every row, (n, K), refused where they are not the logged ones."""
        table = self.rows.table
        chances = np.asarray(policy(table), dtype=np.float64)
        own = np.flatnonzero(self.epochs == epoch)
        logged, found = table.propensity[own], chances[own, table.action[own]]
        wrong = np.flatnonzero(np.abs(found - logged) > _SAME)
        if len(wrong):
            row = int(wrong[0])
            raise ValueError(
                f"row {table.rows[own[row]]}: its policy takes the logged action with probability "
                f"{found[row]:.6g}, and the logged propensity is {logged[row]:.6g}; give the policies that "
                "decided, or interval='minvar'."
            )
        return chances


def _distribution(policy: TargetPolicy, table: DecisionTable) -> Floats | None:
    """What a logged policy would have done in these rows; None if it does not know their actions."""
    try:
        return np.asarray(policy(table), dtype=np.float64)
    except ValueError:
        return None
