"""Actions without data: each is tried with probability 1 / K, and a policy plays among the others.

A learner that takes such an action for the best would play nothing else until it has learned from the first
of its rows, and with late rewards that can take an hour; one that takes it for the worst would never try it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import Kernel


@dataclass(frozen=True, slots=True)
class TryingKernel:
    """Each eligible action without data with probability 1 / K, and the kernel among the others.

    >>> from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
    >>> kernel = TryingKernel(EpsilonGreedyKernel(0.0), known=np.array([True, True, True, False]))
    >>> kernel.probabilities(np.array([[0.1, 0.3, 0.2, 0.0]])).tolist()
    [[0.0, 0.75, 0.0, 0.25]]
    """

    kernel: Kernel
    known: Bools | None  # (K,); None: all

    def probabilities(self, scores: Floats, eligible: Bools | None = None) -> Floats:
        """Probabilities of all actions in each context, (n, K)."""
        if self.known is None:
            return self.kernel.probabilities(scores, eligible)
        mask = np.ones(scores.shape, dtype=np.bool_) if eligible is None else eligible
        return _tried(mask, self.known, lambda playable: self.kernel.probabilities(scores, playable))


@dataclass(frozen=True, slots=True)
class TryingPolicy:
    """Each eligible action without data with probability 1 / K, and a policy among the others.

    >>> from gyrfalcon.core.policies.kernel_policy import UniformPolicy
    >>> policy = TryingPolicy(UniformPolicy(4), known=np.array([True, True, True, False]))
    >>> policy.probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    policy: Policy
    known: Bools  # (K,)

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities of all actions in each context, (n, K)."""
        shape, eligible = (len(contexts), len(self.known)), contexts.eligible
        mask = np.ones(shape, dtype=np.bool_) if eligible is None else eligible
        return _tried(mask, self.known, lambda playable: self._among(contexts, playable))

    def _among(self, contexts: Contexts, playable: Bools) -> Floats:
        return self.policy.probabilities(Contexts(contexts.shared, contexts.actions, playable))


def trying(policy: Policy, known: Bools | None) -> Policy:
    """The policy that tries actions without data; itself where there is none."""
    if known is None:
        return policy
    if isinstance(policy, KernelPolicy):
        return replace(policy, kernel=TryingKernel(policy.kernel, known))
    return TryingPolicy(policy, known)


def without_trying(policy: Policy) -> Policy:
    """The policy inside one that `trying` has made."""
    if isinstance(policy, TryingPolicy):
        return policy.policy
    if isinstance(policy, KernelPolicy) and isinstance(policy.kernel, TryingKernel):
        return replace(policy, kernel=policy.kernel.kernel)
    return policy


def _tried(mask: Bools, known: Bools, among: Callable[[Bools], Floats]) -> Floats:
    """1 / K for eligible actions without data, and probabilities `among` the others for the rest of 1."""
    others = mask & known
    # A row without any known action is left to chance; the policy must still have something to choose.
    playable = np.where(others.any(axis=-1, keepdims=True), others, mask)
    n_eligible = mask.sum(axis=-1, keepdims=True, dtype=np.float64)
    tried: Floats = (mask & ~known) / n_eligible
    rest = others.sum(axis=-1, keepdims=True) / n_eligible
    return np.asarray(tried + rest * among(playable))
