"""Replications of a learner as one array program, split off where their fits need more care."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.ridge_learner import FitContext, RidgeLearner
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.regression_learner import RegressionLearner
from gyrfalcon.learners.reward_scale import RewardScale
from gyrfalcon.learners.steps import Fitted, SampleSize, gamma_of
from gyrfalcon.oracles.features.bases import Identity, IdentityMap
from gyrfalcon.oracles.linear.batched import StackedFit, StackedOptimist, StackedOracle, stackable
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.solvers.moments import Moments

LONGEST_BATCH = 1024
"""Longest epoch to batch; longer ones are efficient one by one."""


def supports_batching(learner: Learner) -> bool:
    """Whether replications of a learner can be computed as one batch.

    They need a linear fit of all rows after each of many short epochs, and no other state than the fit.
    """
    if isinstance(learner, RegressionLearner):
        usual = type(learner).next_epoch is RegressionLearner.next_epoch and learner.fitted_data == "all"
    else:
        usual = isinstance(learner, RidgeLearner) and type(learner).next_epoch is RidgeLearner.next_epoch
    if not usual or not isinstance(learner, RegressionLearner | RidgeLearner):
        return False
    schedule, model_class = learner.schedule, learner.model_class
    short = isinstance(schedule, FixedBatch) and schedule.size <= LONGEST_BATCH
    return short and isinstance(model_class, Linear) and isinstance(model_class.basis, Identity)


@dataclass(frozen=True, slots=True)
class ReplicationBatch:
    """Sufficient statistics of R replications, stacked."""

    learner: RegressionLearner | RidgeLearner
    problem: Problem
    oracles: tuple[LinearOracle, ...]
    rows: Moments  # of R K blocks, without a root
    scales: tuple[RewardScale, ...]

    def __len__(self) -> int:
        return len(self.oracles)

    @property
    def n(self) -> float:
        """Number of rows of each replication."""
        return self.rows.n / len(self)

    def summed(self, shared: Floats, action: Ints, reward: Floats) -> tuple[ReplicationBatch, Bools]:
        """The batch with (R, n) more rows, and which replications' sums are well conditioned."""
        seen = [scale.seen(own) for scale, own in zip(self.scales, reward, strict=True)]
        units = np.stack([own for _, own in seen])
        rows, enough = StackedOracle.of(self.oracles).summed(shared, action, units, self.rows)
        return replace(self, rows=rows, scales=tuple(scale for scale, _ in seen)), enough

    def fit(self) -> StackedFit:
        """Fits of all replications, of rewards above their means in multiples of their spreads."""
        fit = StackedOracle.of(self.oracles).fit(self.rows, widths=isinstance(self.learner, RidgeLearner))
        return replace(
            fit, models=fit.models.rescaled(*np.array([scale.of_scores for scale in self.scales]).T)
        )

    def take(self, places: Sequence[int]) -> ReplicationBatch:
        """A batch of some of the replications."""
        if list(places) == list(range(len(self))):
            return self
        blocks = np.arange(len(self.rows.weight)).reshape(len(self), -1)[list(places)].reshape(-1)
        return replace(
            self,
            oracles=tuple(self.oracles[place] for place in places),
            rows=self.rows.take(blocks),
            scales=tuple(self.scales[place] for place in places),
        )

    def extended(self, states: Sequence[Fitted]) -> ReplicationBatch:
        """The batch with further replications at its end."""
        rows, oracles = [self.rows], list(self.oracles)
        for state in states:
            assert isinstance(state.active, Moments)
            assert isinstance(state.oracle, LinearOracle)
            rows.append(state.active)
            oracles.append(state.oracle)
        scales = *self.scales, *(state.scale for state in states)
        return replace(self, oracles=tuple(oracles), rows=_concatenated(rows), scales=scales)

    def epoch_of(self, place: int, clock: Epoch) -> Epoch:
        """The epoch of one replication, split off from the batch."""
        rows, scale = self.take([place]).rows, self.scales[place]
        state = Fitted(self.problem, self.oracles[place], active=rows, scale=scale)
        return replace(clock, state=state)


@dataclass(frozen=True, slots=True)
class BatchedPolicy:
    """Policy of a batch in an epoch: of all replications at once, and of each."""

    batch: ReplicationBatch
    fit: StackedFit
    size: SampleSize
    policy: Policy

    @staticmethod
    def of(batch: ReplicationBatch, fit: StackedFit, n_new: int, index: int) -> BatchedPolicy:
        """The policy of epoch `index` by a fit of all rows so far, n_new of them new."""
        oracle, problem = batch.oracles[0], batch.problem
        size = SampleSize(batch.n, n_new, problem.n_actions, oracle.n_parameters, index)
        learner = batch.learner
        if isinstance(learner, RegressionLearner):
            return BatchedPolicy(batch, fit, size, KernelPolicy(fit.models, learner.kernel(size)))
        limits = np.array([scale.limits for scale in batch.scales])
        context = _context(batch, size, batch.rows.weight.reshape(len(batch), -1), limits)
        return BatchedPolicy(batch, fit, size, learner.policy_of(_optimistic(batch, fit), context))

    def report(self, place: int) -> FitReport:
        """How the fit of one replication went."""
        learner, gamma = self.batch.learner, 0.0
        details: tuple[str, ...] = ()
        if isinstance(learner, RegressionLearner):
            gamma = gamma_of(learner.kernel(self.size))
        else:
            details = learner.details(self._context(place))
        return FitReport(
            n_active=self.size.n,
            n_passive=0.0,
            gamma=gamma,
            reward_unit=self.batch.scales[place].reward_unit,
            condition=float(self.fit.conditions[place]),
            accurate=True,
            details=details,
        )

    def policy_alone(self, place: int) -> Policy:
        """The policy of one replication."""
        learner, oracle = self.batch.learner, self.batch.oracles[place]
        if isinstance(learner, RegressionLearner):
            model = self.fit.models.alone(place, IdentityMap(len(oracle.design.center)))
            kernel = learner.kernel(self.size)
            return KernelPolicy(model, TryingKernel(kernel, None) if learner.tries_unknown else kernel)
        optimistic = _optimistic(self.batch, self.fit).alone(place)
        return learner.policy_of(optimistic, self._context(place))

    def _context(self, place: int) -> FitContext:
        """What the policy of one replication may depend on beside its fit."""
        n_actions, limits = self.size.n_actions, np.array(self.batch.scales[place].limits)
        weights = self.batch.rows.weight[place * n_actions : (place + 1) * n_actions]
        return _context(self.batch, self.size, weights, limits)


def can_be_batched(learner: Learner, epoch: Epoch) -> bool:
    """Whether a replication can join a batch: every action has data, and the sums are well conditioned."""
    state = epoch.state
    if not isinstance(state, Fitted) or not stackable(state.oracle) or not isinstance(state.active, Moments):
        return False
    return (
        supports_batching(learner) and state.active.root is None and bool((state.active.weight > 0.0).all())
    )


def _context(batch: ReplicationBatch, size: SampleSize, weights: Floats, limits: Floats) -> FitContext:
    return FitContext(batch.problem, weights, size.n, size.n_parameters, size.index - 1, limits)


def _optimistic(batch: ReplicationBatch, fit: StackedFit) -> StackedOptimist:
    assert fit.factors is not None  # a ridge learner's fit has them
    centers = np.stack([oracle.design.center for oracle in batch.oracles])
    return StackedOptimist(fit.models, batch.oracles[0].design, centers, fit.factors, 0.0)


def _concatenated(rows: Sequence[Moments]) -> Moments:
    return Moments(
        np.concatenate([one.gram for one in rows]),
        np.concatenate([one.cross for one in rows]),
        np.concatenate([one.squares for one in rows]),
        np.concatenate([one.weight for one in rows]),
    )
