"""LinTS (Agrawal, Goyal 2013): an action is played as often as a draw from the posterior finds it best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.policies.untried import trying, without_trying
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_delta, check_not_negative, check_whole
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.optimistic import ridge_learner
from gyrfalcon.learners.optimistic.ridge_learner import FitContext, RidgeLearner, check_settings
from gyrfalcon.oracles.features.design import Layout
from gyrfalcon.oracles.linalg.batch_invariant import inner_products
from gyrfalcon.oracles.linear.batched import AnyOptimist, StackedOptimist
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel


@dataclass(frozen=True, slots=True)
class CoefficientDraws:
    """M draws of coefficients that actions share, as deviations from the posterior's mean."""

    model: OptimisticModel
    scale: float  # v
    joint: Floats  # (n_joint, M): with draws last, sums run over long contiguous rows
    own: Floats | None  # (K, n_own, M) in the hybrid layout

    def draws(self, contexts: Contexts) -> Floats:
        """The scores under each draw, (M, n, K)."""
        design = self.model.design
        cube = design.cube(contexts)
        scores = inner_products(cube.reshape(-1, design.n_joint), self.joint.T)
        scores = scores.reshape(len(contexts), design.n_actions, -1)
        if self.own is not None:
            x = np.broadcast_to(
                design.own(design.shared(contexts)), (len(self.own), len(contexts), design.n_own)
            )
            scores += inner_products(x, self.own.mT).swapaxes(0, 1)
        scores += self.model.means(contexts)[:, :, np.newaxis]
        return np.moveaxis(scores, -1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinTS(RidgeLearner):
    """Draws coefficients from N(mu, v^2 V^-1) and plays the best action of the draw; propensities are exact.

    Actions with coefficients of their own have independent scores, and the probability that one is the
    largest is integrated. Where coefficients are shared, `n_draws` of them are drawn once per epoch, and an
    action is played with its share of the draws: that is then its propensity, 0 if it has none.

    Parameters
    ----------
    scale
        v: the deviation of rewards around the model in multiples of their spread, twice the standard
        deviation of all rewards: 0.5 is safe where the model explains nothing. Or "theory",
        R sqrt(9 d ln(n / delta)) after n rows, with which play stays close to uniform for very long.
    noise, delta
        R and delta of "theory".
    ridge
        The prior: coefficients of standardised features have variance v^2 / ridge.
    mixing
        Share of rounds with uniform play.
    n_draws, seed
        How many draws where coefficients are shared, and what they follow from, with the epoch and its rows.
    schedule
        When batches end; the first one is uniform.
    model_class
        A linear class, with its features and basis.

    Examples
    --------
    >>> LinTS(scale=0.1).scale_after(n_rows=100, n_parameters=6)
    0.1
    >>> round(LinTS(scale="theory").scale_after(n_rows=100, n_parameters=6), 2)
    10.13
    """

    scale: float | Literal["theory"] = 0.5
    noise: float = 0.5
    delta: float = 0.05
    ridge: float = 1.0
    mixing: float = 0.0
    n_draws: int = 1000
    seed: int = 0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_settings("LinTS", self.model_class, self.schedule, self.ridge, self.mixing)
        if isinstance(self.scale, str) and self.scale != "theory":
            raise ValueError(f"scale is {self.scale!r}; give a number of at least 0, or 'theory'.")
        if not isinstance(self.scale, str):
            check_not_negative("scale", self.scale)
        check_not_negative("noise", self.noise)
        check_delta(self.delta)
        check_whole("n_draws", self.n_draws)
        check_whole("seed", self.seed, least=0)

    def scale_after(self, n_rows: float, n_parameters: int) -> float:
        """The posterior's v after n rows, for d coefficients of all actions."""
        if not isinstance(self.scale, str):
            return self.scale
        return self.noise * math.sqrt(9.0 * n_parameters * math.log(max(n_rows, 1.0) / self.delta))

    def policy_of(self, model: AnyOptimist, context: FitContext) -> Policy:
        """The posterior given every row so far."""
        scale = self.scale_after(context.n, context.n_parameters)
        return self._policy(model, scale, [self.seed, context.index, int(context.n)])

    def details(self, context: FitContext) -> tuple[str, ...]:
        """The scale of the posterior."""
        return (f"scale {self.scale_after(context.n, context.n_parameters):.4g}",)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired; the draws of the others stay."""
        policy = without_trying(epoch.policy)
        moved, model = ridge_learner.adapted(epoch, problem, _played(policy))
        if model is None:
            return moved
        if isinstance(policy, ThompsonPolicy):
            policy = replace(policy, scorer=model)
        else:
            source = action_changes.sources(steps.fitted_state(epoch).problem, problem)
            policy = self._redrawn(policy, epoch.index, model, source)
        return replace(moved, policy=trying(policy, model.known))

    def _policy(self, model: AnyOptimist, scale: float, entropy: list[int]) -> Policy:
        if isinstance(model, StackedOptimist) or model.design.layout is Layout.PER_ACTION:
            return ThompsonPolicy(model, scale, self.mixing)
        return SampledPolicy(self._draws(model, scale, 0, entropy), self.mixing)

    def _redrawn(self, policy: Policy, index: int, model: OptimisticModel, source: Ints) -> Policy:
        """Draws for the coefficients of new actions beside those of the others, which stay."""
        before = _drawn(policy)
        if before is None:
            return policy
        first = before.model.factors.shape[1]
        new = self._draws(model, before.scale, first, [self.seed, index, first])
        own = None
        if before.own is not None and new.own is not None:
            own = before.own[source] * (source >= 0)[:, np.newaxis, np.newaxis] + new.own
        return SampledPolicy(replace(new, joint=before.joint, own=own), self.mixing)

    def _draws(
        self, model: OptimisticModel, scale: float, first: int, entropy: list[int]
    ) -> CoefficientDraws:
        """M draws of N(0, v^2 F'F), of what the factor's rows from `first` on say."""
        design, factor = model.design, model.factors[0, first:]
        normal = np.random.default_rng(entropy).standard_normal((len(factor), self.n_draws))
        joint, own = np.split(scale * (factor.T @ normal), [design.n_joint])
        if design.layout is not Layout.HYBRID:
            return CoefficientDraws(model, scale, joint, None)
        shape = design.n_actions, design.n_own, self.n_draws
        return CoefficientDraws(model, scale, joint, own.reshape(shape))


def _drawn(policy: Policy) -> CoefficientDraws | None:
    draws = policy.scorers if isinstance(policy, SampledPolicy) else None
    return draws if isinstance(draws, CoefficientDraws) else None


def _played(policy: Policy) -> OptimisticModel | None:
    drawn = _drawn(policy)
    if drawn is not None:
        return drawn.model
    scorer = policy.scorer if isinstance(policy, ThompsonPolicy) else None
    return scorer if isinstance(scorer, OptimisticModel) else None
