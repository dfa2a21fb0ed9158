"""Policies that an experiment compares: a single action, and the policy that a learner has learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.greedy import greedy_policy_of
from gyrfalcon.core.policies.kernel_policy import Policy, UniformPolicy
from gyrfalcon.learners.adaptive.safe_return import running_policy


@dataclass(frozen=True, slots=True)
class SingleAction:
    """One action wherever it is eligible, and another policy elsewhere.

    Parameters
    ----------
    action : int
        Position of the action.
    otherwise : Policy
        The policy of contexts in which it is not eligible.
    n_actions : int
        Number of actions K.

    Examples
    --------
    >>> SingleAction(1, UniformPolicy(3), 3).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.0, 1.0, 0.0]]
    """

    action: int
    otherwise: Policy
    n_actions: int

    def probabilities(self, contexts: Contexts) -> Floats:
        """1 for the action, (n, K)."""
        alone = np.zeros((len(contexts), self.n_actions))
        alone[:, self.action] = 1.0
        eligible = contexts.eligible
        if eligible is None or eligible[:, self.action].all():
            return alone
        may = eligible[:, [self.action]]
        return np.where(may, alone, self.otherwise.probabilities(contexts))


def learned_policy(policy: Policy) -> Policy | None:
    """What a learner's policy has learned, without its exploration; None for uniform play."""
    running = running_policy(policy)
    return None if isinstance(running, UniformPolicy) else greedy_policy_of(running)
