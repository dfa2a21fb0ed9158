"""Policies of a user's own learner, checked where they enter: at the first decisions of an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.policies.limited import FixedAction, LimitedPolicy
from gyrfalcon.core.policies.validation import check_probabilities


def checked_epoch(epoch: Epoch, rounds: Ints, actions: Sequence[object], learner: object) -> Epoch:
    """The epoch with policies that check the probabilities of these rounds as they are computed.

    Nothing is computed twice, and decisions are those of the epoch itself.

    Parameters
    ----------
    epoch
        The epoch in play.
    rounds
        (n,) rounds that are decided next, together.
    actions
        Names of the actions.
    learner
        The learner that the epoch comes from.
    """
    name = type(learner).__name__

    def checked(policy: Policy, own_rounds: Ints) -> Policy:
        return _Checked(policy, own_rounds, actions, name)

    if isinstance(epoch.policy, Mixture):
        bases = tuple(
            replace(
                base,
                policy=checked(base.policy, rounds),
                passive_policy=checked(base.passive_policy, rounds),
            )
            for base in epoch.policy.bases
        )
        return replace(epoch, policy=Mixture(epoch.policy.weights, bases))
    if isinstance(limited := epoch.policy, LimitedPolicy):
        control = limited.control
        if control is not None and not isinstance(control, FixedAction):
            control = checked(control, rounds)
        return replace(
            epoch,
            policy=replace(limited, policy=checked(limited.policy, rounds), control=control),
            passive_policy=checked(epoch.passive_policy, rounds),
        )
    if epoch.passive_share == 0.0:
        return replace(epoch, policy=checked(epoch.policy, rounds))
    active = passive = rounds
    if epoch.passive_design is PassiveDesign.TAIL:
        tail = epoch.passive_rates(rounds) > 0.0  # whose contexts the policy does not see
        active, passive = rounds[~tail], rounds[tail]
    return replace(
        epoch, policy=checked(epoch.policy, active), passive_policy=checked(epoch.passive_policy, passive)
    )


@dataclass(frozen=True, slots=True)
class _Checked:
    """A policy that checks its probabilities."""

    policy: Policy
    rounds: Ints
    actions: Sequence[object]
    learner: str

    def probabilities(self, contexts: Contexts) -> Floats:
        """The probabilities of the policy, (n, K); ValueError unless each row is a distribution."""
        probabilities = self.policy.probabilities(contexts)
        self._check(probabilities, contexts)
        return probabilities

    def row(self, contexts: Contexts) -> list[float]:
        """The probabilities of the first row; ValueError unless they are a distribution."""
        quick = getattr(self.policy, "row", None)
        if not callable(quick):
            row: list[float] = self.probabilities(contexts)[0].tolist()
            return row
        given = quick(contexts)
        self._check(np.array([given], dtype=np.float64), contexts)
        return list(given)

    def _check(self, probabilities: Floats, contexts: Contexts) -> None:
        check_probabilities(probabilities, contexts, self.actions, learner=self.learner, rounds=self.rounds)
