"""Greedy policies: the best action by a policy's reward estimates, without bonus and exploration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.elimination import EliminationPolicy
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.policies.limited import LimitedPolicy
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.policies.untried import TryingKernel, TryingPolicy
from gyrfalcon.core.settings import shapes_repr

if TYPE_CHECKING:
    from gyrfalcon.core.inputs.problem import Problem


@dataclass(frozen=True, slots=True)
class GreedyPolicy:
    """The action with the highest estimated reward, with probability 1.

    Optimism bonuses and draws of a posterior are left out. An action without data is chosen only where no
    other is eligible. Of equal estimates the first wins.

    Parameters
    ----------
    scorer
        What the policy that this one is greedy on scores with: estimates are its `means`, or its `scores`.
    known
        Which actions there are data on, (K,); None for all.
    problem
        The problem whose actions and features the scorer knows, if it is known.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> scorer = SimpleNamespace(scores=lambda contexts: np.array([[0.1, 0.3, 0.2]]))
    >>> GreedyPolicy(scorer).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.0, 1.0, 0.0]]
    """

    scorer: Any
    known: Bools | None = None
    problem: Problem | None = None

    __repr__ = shapes_repr

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probability 1 for the eligible action of the highest estimate, (n, K)."""
        estimates = _estimator(self.scorer)
        assert estimates is not None
        scores = estimates(contexts)
        eligible = contexts.eligible
        if self.known is not None:
            mask = np.ones(scores.shape, dtype=np.bool_) if eligible is None else eligible
            certain = mask & self.known
            eligible = np.where(certain.any(axis=1, keepdims=True), certain, mask)
        return EpsilonGreedyKernel(0.0).probabilities(scores, eligible)


@dataclass(frozen=True, slots=True)
class LikeliestPolicy:
    """The likeliest action of another policy; equally likely ones share the probability.

    Parameters
    ----------
    policy
        A policy without reward estimates, such as a mixture of several.
    problem
        The problem whose actions and features the policy knows, if it is known.

    Examples
    --------
    >>> from gyrfalcon.core.policies.kernel_policy import UniformPolicy
    >>> LikeliestPolicy(UniformPolicy(2)).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.5, 0.5]]
    """

    policy: Policy
    problem: Problem | None = None

    __repr__ = shapes_repr

    def probabilities(self, contexts: Contexts) -> Floats:
        """Equal shares for the likeliest actions, (n, K)."""
        shares = self.policy.probabilities(contexts)
        best = shares == shares.max(axis=1, keepdims=True, initial=0.0)
        return np.asarray(best / best.sum(axis=1, keepdims=True, dtype=np.float64))


def greedy_policy_of(policy: Policy, problem: Problem | None = None) -> GreedyPolicy | LikeliestPolicy:
    """The policy that is greedy on the reward estimates of another one.

    Of a policy that shares rounds between a running policy and a reference, the running one counts; a policy
    without estimates gives its likeliest action.
    """
    known: list[Bools] = []
    inner = policy
    while True:
        if isinstance(inner, TryingPolicy):
            known.append(inner.known)
            inner = inner.policy
        elif isinstance(inner, LimitedPolicy):
            inner = inner.policy
        elif hasattr(inner, "running") and hasattr(inner, "reference"):
            inner = inner.running
        else:
            break
    if isinstance(inner, KernelPolicy) and isinstance(inner.kernel, TryingKernel):
        known += [] if inner.kernel.known is None else [inner.kernel.known]
    scorer = _scorer(inner)
    if scorer is None or _estimator(scorer) is None:
        return LikeliestPolicy(inner, problem)
    for part in (scorer, getattr(scorer, "model", None)):
        own = getattr(part, "known", None)
        known += [own] if isinstance(own, np.ndarray) else []
    return GreedyPolicy(scorer, np.logical_and.reduce(known) if known else None, problem)


def _scorer(policy: Policy) -> Any:
    """What a policy scores with; None if it is none of the package's policies that score."""
    if isinstance(policy, KernelPolicy | ThompsonPolicy | EliminationPolicy):
        return policy.scorer
    return policy.scorers if isinstance(policy, SampledPolicy) else None


def _estimator(scorer: Any) -> Callable[[Contexts], Floats] | None:
    """The function of contexts that gives estimates of rewards, without any bonus."""
    for part in (scorer, getattr(scorer, "model", None)):
        means: Callable[[Contexts], Floats] | None = getattr(part, "means", None)
        if means is not None:
            return means
    scores: Callable[[Contexts], Floats] | None = getattr(scorer, "scores", None)
    return scores
