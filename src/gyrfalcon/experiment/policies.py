"""Policies that an experiment compares: a single action, and the policy that a learner has learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.action_columns import best_and_gaps
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, Scorer, UniformPolicy
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.learners.adaptive.safe_return import running_policy
from gyrfalcon.learners.reward_scale import estimated_rewards


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


@dataclass(frozen=True, slots=True)
class GreedyPolicy:
    """The action with the largest estimated reward, without any bonus, among those there are data on.

    Parameters
    ----------
    scorer : Scorer
        The reward model of a learner's policy.
    known : array of bool, optional
        (K,) which actions there are data on; None for all.
    """

    scorer: Scorer
    known: Bools | None = None

    def probabilities(self, contexts: Contexts) -> Floats:
        """1 for the best action, (n, K)."""
        estimates, mask = self.estimates(contexts), contexts.eligible
        if self.known is not None:
            all_ = np.ones(estimates.shape, dtype=np.bool_) if mask is None else mask
            known = all_ & self.known
            mask = np.where(known.any(axis=1, keepdims=True), known, all_)
        best, _ = best_and_gaps(estimates.T, None if mask is None else mask.T)
        return _one_hot(best, estimates.shape)

    def estimates(self, contexts: Contexts) -> Floats:
        """Estimated rewards in the log's units, (n, K)."""
        return estimated_rewards(self.scorer, contexts)


@dataclass(frozen=True, slots=True)
class MostProbable:
    """The action that another policy plays most often in a context.

    Parameters
    ----------
    policy : Policy
        The other policy.
    """

    policy: Policy

    def probabilities(self, contexts: Contexts) -> Floats:
        """1 for the most probable action, the first of several, (n, K)."""
        played = self.policy.probabilities(contexts)
        return _one_hot(played.argmax(axis=1), played.shape)


def learned_policy(policy: Policy) -> Policy | None:
    """What a learner's policy has learned, without its exploration; None for uniform play."""
    running = running_policy(policy)
    if isinstance(running, UniformPolicy):
        return None
    if not isinstance(running, KernelPolicy):
        return MostProbable(running)
    kernel = running.kernel
    return GreedyPolicy(running.scorer, kernel.known if isinstance(kernel, TryingKernel) else None)


def _one_hot(best: np.ndarray[tuple[int, ...], np.dtype[np.int64]], shape: tuple[int, ...]) -> Floats:
    table = np.zeros(shape)
    table[np.arange(shape[0]), best] = 1.0
    return table
