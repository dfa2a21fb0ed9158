"""RegCB (Foster, Agarwal, Dudik, Luo, Schapire 2018): the reward bounds of all models that fit well."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.elimination import EliminationPolicy
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.policies.untried import trying, without_trying
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_choice, check_flag, check_not_negative
from gyrfalcon.learners.optimistic import ridge_learner
from gyrfalcon.learners.optimistic.ridge_learner import FitContext, RidgeLearner, check_settings
from gyrfalcon.oracles.linear.batched import AnyOptimist
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel


@dataclass(frozen=True, slots=True)
class VersionSpace:
    """All linear models whose squared error is within `beta` of the least: an ellipsoid around the fit."""

    model: AnyOptimist  # its bonus is sqrt(beta)
    limits: Floats | None  # (2,): the reward range, or (R, 2) for R replications; None: not clipped

    def scores(self, contexts: Contexts) -> Floats:
        """Largest expected reward over the models in the version space (High), (n, K)."""
        return self.bounds(contexts)[1]

    def bounds(self, contexts: Contexts) -> tuple[Floats, Floats]:
        """Low and High, (n, K) each; within the limits if there are any."""
        means = self.model.means(contexts)
        reach = self.model.bonus * self.model.widths(contexts)
        low, high = means - reach, means + reach
        if self.limits is None:
            return low, high
        ends = self.limits.reshape(-1, 2)
        least, most = np.repeat(ends, len(means) // len(ends), axis=0).T[:, :, np.newaxis]
        return np.clip(low, least, most), np.clip(high, least, most)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegCB(RidgeLearner):
    """Plays what some model that fits nearly as well as the best one finds best, exactly for linear classes.

    High and Low are f(x, a) +- sqrt(beta) ||phi||: the extreme rewards over the models whose sum of squares
    is within beta = c_0 ln(K n) of the least after n rows. "elimination" plays uniformly on the actions with
    High_a >= max_b Low_b, "optimistic" the action with the largest High.

    Parameters
    ----------
    rule
        "elimination" or "optimistic".
    c_0
        Scale of beta, for rewards in multiples of their spread, twice their standard deviation. The theory's
        is far larger; 0.1 is usual in practice.
    clip
        Whether High and Low stay within the reward range; never where the problem accepts rewards outside
        it, or has none.
    ridge
        Small, so that the ellipsoid is that of least squares, yet directions without data are wide open.
    mixing
        Share of rounds with uniform play, without which propensities may be 0.
    schedule
        When batches end; the first one is uniform.
    model_class
        A linear class, with its features and basis.

    Examples
    --------
    >>> round(RegCB(c_0=0.1).beta(n_actions=3, n_rows=100), 3)
    0.57
    """

    rule: Literal["elimination", "optimistic"] = "elimination"
    c_0: float = 0.1
    clip: bool = True
    ridge: float = 1e-6
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_settings("RegCB", self.model_class, self.schedule, self.ridge, self.mixing)
        check_choice("rule", self.rule, ("elimination", "optimistic"))
        check_not_negative("c_0", self.c_0)
        check_flag("clip", self.clip)

    def beta(self, n_actions: int, n_rows: float) -> float:
        """How far above the least sum of squares a model may be, after n rows."""
        return self.c_0 * math.log(max(n_actions * n_rows, 1.0))

    def policy_of(self, model: AnyOptimist, context: FitContext) -> Policy:
        """The version space of every row so far."""
        beta = self.beta(context.problem.n_actions, context.n)
        clipped = self.clip and context.problem.rewards.out_of_range != "accept"
        return self._policy(replace(model, bonus=math.sqrt(beta)), context.limits if clipped else None)

    def details(self, context: FitContext) -> tuple[str, ...]:
        """How far above the least sum of squares its models may be."""
        return (f"beta {self.beta(context.problem.n_actions, context.n):.4g}",)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        space = _space(without_trying(epoch.policy))
        moved, model = ridge_learner.adapted(epoch, problem, _played(space))
        if model is None or space is None:
            return moved
        return replace(moved, policy=trying(self._policy(model, space.limits), model.known))

    def _policy(self, model: AnyOptimist, limits: Floats | None) -> Policy:
        space = VersionSpace(model, limits)
        if self.rule == "elimination":
            return EliminationPolicy(space, self.mixing)
        return KernelPolicy(space, EpsilonGreedyKernel(self.mixing))


def _space(policy: Policy) -> VersionSpace | None:
    space = policy.scorer if isinstance(policy, KernelPolicy | EliminationPolicy) else None
    return space if isinstance(space, VersionSpace) else None


def _played(space: VersionSpace | None) -> OptimisticModel | None:
    model = None if space is None else space.model
    return model if isinstance(model, OptimisticModel) else None
