"""Replications of a learner that advance as one array program, and go on alone where they need more care."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, TryingKernel
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.ridge_learner import Confident, Known
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.regression_learner import Regressing
from gyrfalcon.learners.steps import Fitted, Size, gamma_of
from gyrfalcon.oracles.features.bases import Identity, IdentityMap
from gyrfalcon.oracles.linear.batched import StackedFit, StackedOptimist, StackedOracle, stackable
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.solvers.moments import Moments

LONGEST_BATCH = 1024
"""Longer epochs are efficient one by one."""


def can_march(learner: Learner) -> bool:
    """Whether replications of a learner can advance together.

    They need a linear fit of all rows so far after each of many short batches, and nothing of their own
    beside what the fit is played by.
    """
    if isinstance(learner, Regressing):
        usual = type(learner).next_epoch is Regressing.next_epoch and learner.fitted_data == "all"
    else:
        usual = isinstance(learner, Confident) and type(learner).next_epoch is Confident.next_epoch
    if not usual or not isinstance(learner, Regressing | Confident):
        return False
    schedule, model_class = learner.schedule, learner.model_class
    short = isinstance(schedule, FixedBatch) and schedule.size <= LONGEST_BATCH
    return short and isinstance(model_class, Linear) and isinstance(model_class.basis, Identity)


@dataclass(frozen=True, slots=True)
class Formation:
    """The rows so far of R replications, in one stack."""

    learner: Regressing | Confident
    problem: Problem
    oracles: tuple[LinearOracle, ...]
    rows: Moments  # of R K blocks, without a root

    def __len__(self) -> int:
        return len(self.oracles)

    @property
    def n(self) -> float:
        """The rows of each replication."""
        return self.rows.n / len(self)

    def summed(self, shared: Floats, action: Ints, reward: Floats) -> tuple[Formation, Bools]:
        """The formation with (R, n) more rows, and which replications' sums have digits enough for it."""
        rows, enough = StackedOracle.of(self.oracles).summed(shared, action, reward, self.rows)
        return replace(self, rows=rows), enough

    def fit(self) -> StackedFit:
        """The fits of these rows."""
        return StackedOracle.of(self.oracles).fit(self.rows, widths=isinstance(self.learner, Confident))

    def take(self, places: Sequence[int]) -> Formation:
        """Some of the replications."""
        if list(places) == list(range(len(self))):
            return self
        blocks = np.arange(len(self.rows.weight)).reshape(len(self), -1)[list(places)].reshape(-1)
        return replace(
            self, oracles=tuple(self.oracles[place] for place in places), rows=self.rows.take(blocks)
        )

    def joined_by(self, states: Sequence[Fitted]) -> Formation:
        """The formation with replications that were alone, behind the others."""
        rows, oracles = [self.rows], list(self.oracles)
        for state in states:
            assert isinstance(state.active, Moments)
            assert isinstance(state.oracle, LinearOracle)
            rows.append(state.active)
            oracles.append(state.oracle)
        return replace(self, oracles=tuple(oracles), rows=_concatenated(rows))

    def epoch_of(self, place: int, clock: Epoch) -> Epoch:
        """The epoch of one replication, to go on alone with."""
        state = Fitted(self.problem, self.oracles[place], active=self.take([place]).rows)
        return replace(clock, state=state)


@dataclass(frozen=True, slots=True)
class Marching:
    """What a formation plays in an epoch: the policy of all its replications, and that of each."""

    formation: Formation
    fit: StackedFit
    size: Size
    policy: Policy

    @staticmethod
    def of(formation: Formation, fit: StackedFit, n_new: int, index: int) -> Marching:
        """The policy of epoch `index` by a fit of all rows so far, n_new of them new."""
        oracle, problem = formation.oracles[0], formation.problem
        size = Size(formation.n, n_new, problem.n_actions, oracle.n_parameters, index)
        learner = formation.learner
        if isinstance(learner, Regressing):
            return Marching(formation, fit, size, KernelPolicy(fit.lines, learner.kernel(size)))
        known = _known(formation, size, formation.rows.weight.reshape(len(formation), -1))
        return Marching(formation, fit, size, learner.policy_of(_optimist(formation, fit), known))

    def report(self, place: int) -> FitReport:
        """How the fit of one replication went."""
        learner, gamma = self.formation.learner, 0.0
        details: tuple[str, ...] = ()
        if isinstance(learner, Regressing):
            gamma = gamma_of(learner.kernel(self.size))
        else:
            details = learner.details(_known(self.formation, self.size, self._weights(place)))
        return FitReport(
            n_active=self.size.n,
            n_passive=0.0,
            gamma=gamma,
            condition=float(self.fit.conditions[place]),
            accurate=True,
            details=details,
        )

    def policy_alone(self, place: int) -> Policy:
        """The policy of one replication."""
        learner, oracle = self.formation.learner, self.formation.oracles[place]
        if isinstance(learner, Regressing):
            model = self.fit.lines.alone(place, IdentityMap(len(oracle.design.center)))
            kernel = learner.kernel(self.size)
            return KernelPolicy(model, TryingKernel(kernel, None) if learner.tries_unknown else kernel)
        optimist = _optimist(self.formation, self.fit).alone(place)
        return learner.policy_of(optimist, _known(self.formation, self.size, self._weights(place)))

    def _weights(self, place: int) -> Floats:
        """The rows of each action of one replication."""
        n_actions = self.size.n_actions
        return self.formation.rows.weight[place * n_actions : (place + 1) * n_actions]


def can_join(learner: Learner, epoch: Epoch) -> bool:
    """Whether a replication that was alone can march: every action has data, and the sums digits enough."""
    state = epoch.state
    if not isinstance(state, Fitted) or not stackable(state.oracle) or not isinstance(state.active, Moments):
        return False
    return can_march(learner) and state.active.root is None and bool((state.active.weight > 0.0).all())


def _known(formation: Formation, size: Size, weights: Floats) -> Known:
    return Known(formation.problem, weights, size.n, size.n_parameters, size.index - 1)


def _optimist(formation: Formation, fit: StackedFit) -> StackedOptimist:
    assert fit.factors is not None  # a confident learner's fit has them
    centers = np.stack([oracle.design.center for oracle in formation.oracles])
    return StackedOptimist(fit.lines, formation.oracles[0].design, centers, fit.factors, 0.0)


def _concatenated(rows: Sequence[Moments]) -> Moments:
    return Moments(
        np.concatenate([one.gram for one in rows]),
        np.concatenate([one.cross for one in rows]),
        np.concatenate([one.squares for one in rows]),
        np.concatenate([one.weight for one in rows]),
    )
