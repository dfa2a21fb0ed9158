"""Silent actions: chosen often, and never rewarded while others are, as when their tracking is broken.

A learner takes an action without rewards for one that it knows nothing of, and tries it. If no reward ever
comes, it would try it for good. A silent action is left to passive rounds, and to one stretch of rounds in
fifty, until a reward shows that it can have one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture
from gyrfalcon.core.policies.kernel_policy import Policy

STRETCH = 64
"""Decisions after which silence is looked for again."""
N_POWERS = 24
_CERTAIN = 20.0
"""Rewards that a silent action would have been expected to have: none would come by chance once in 1e8."""
_ONE_IN = 50


def milestone(n_decided: int) -> int | None:
    """The power k of a decision that is the 2^k-th for an action, else None.

    >>> milestone(8), milestone(9)
    (3, None)
    """
    is_power = n_decided & (n_decided - 1) == 0
    power = n_decided.bit_length() - 1
    return power if is_power and power < N_POWERS else None


def silent_actions(decided: Ints, rewarded: Ints, milestones: Ints, longest_delay: int, now: int) -> Bools:
    """Actions that would have been rewarded by now if they were as the others are, (K,).

    Parameters
    ----------
    decided
        How often each action was decided, (K,).
    rewarded
        How many of these decisions have a reward, (K,).
    milestones
        (K, k): the number of the decision that was the action's 2^k-th, or -1.
    longest_delay
        Number of decisions that the latest reward so far has taken.
    now
        Number of decisions.
    """
    silent = (rewarded == 0) & (decided > 0)
    others = rewarded > 0
    if not silent.any() or not others.any():
        return np.zeros(len(decided), dtype=np.bool_)
    rate = rewarded[others].sum() / decided[others].sum()
    is_old = (milestones >= 0) & (milestones + 2 * longest_delay + STRETCH <= now)
    n_missing = np.where(is_old, 2.0 ** np.arange(N_POWERS), 0.0).max(axis=1)
    found: Bools = silent & (n_missing * rate >= _CERTAIN)
    return found


def is_tried(now: int) -> bool:
    """Whether silent actions have their turn in this stretch of decisions."""
    return now // STRETCH % _ONE_IN == 0


def without_silent(epoch: Epoch, silent: Bools | None) -> Epoch:
    """The epoch with a policy that leaves out silent actions, but for a mixture, whose bases know of none."""
    if silent is None or isinstance(epoch.policy, Mixture):
        return epoch
    return replace(epoch, policy=WithoutSilent(epoch.policy, silent))


def silent_in(epoch: Epoch) -> Bools | None:
    """The actions that the policy of an epoch leaves out, (K,), if there are any."""
    return epoch.policy.silent if isinstance(epoch.policy, WithoutSilent) else None


@dataclass(frozen=True, slots=True)
class WithoutSilent:
    """A policy among the actions that are not silent; among all eligible ones where no other is left."""

    policy: Policy
    silent: Bools

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities of actions, (n, K)."""
        eligible = contexts.eligible
        mask = np.ones((len(contexts), len(self.silent)), dtype=np.bool_) if eligible is None else eligible
        others = mask & ~self.silent
        mask = np.where(others.any(axis=1, keepdims=True), others, mask)
        return self.policy.probabilities(Contexts(contexts.shared, contexts.actions, mask))
