"""Base of learners that play by a ridge regression of all rows and its confidence widths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.policies.untried import trying
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Schedule
from gyrfalcon.core.validation import check_mixing, check_parts, check_positive
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.steps import Fitted
from gyrfalcon.oracles.linear.batched import AnyOptimist
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.oracles.solvers.moments import Moments


@dataclass(frozen=True, slots=True)
class FitContext:
    """Sample sizes and problem that a policy may depend on beside the fit."""

    problem: Problem
    weights: Floats
    """(B,): number of rows of each block of coefficients; (R, B) for R replications at once."""
    n: float
    """Number of rows of the fit."""
    n_parameters: int
    index: int
    """Index of the last epoch in the fit."""
    limits: Floats
    """(2,): ends of the reward range in multiples of the spread; (R, 2) for R replications at once."""


@dataclass(frozen=True, slots=True)
class PooledRows:
    """Sufficient statistics of all rows before their fit; `state` has no model."""

    rows: Moments
    oracle: LinearOracle
    state: Fitted
    report: FitReport


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """Ridge fit of all rows with its confidence widths; the model has no bonus.

    Its estimates are above the mean reward, in multiples of the spread of rewards.
    """

    model: OptimisticModel
    rows: Moments
    oracle: LinearOracle
    state: Fitted
    report: FitReport


def pooled_rows(epoch: Epoch, log: Log, model_class: Linear, ridge: float) -> PooledRows:
    """Sufficient statistics of all rows up to and with this log."""
    state = steps.fitted_state(epoch)
    oracle = steps.oracle_for(state, replace(model_class, ridge=ridge), log)
    if not isinstance(oracle, LinearOracle) or not isinstance(state.active, Moments | None):
        raise TypeError(f"epoch {epoch.index} has no linear fit; give the learner its own epochs.")
    scale, log = state.scale.converted(log)
    rows = oracle.summed(log, state.active, penalised=True)
    report = FitReport(n_active=rows.n, n_passive=0.0, reward_unit=scale.reward_unit)
    return PooledRows(rows, oracle, Fitted(state.problem, oracle, active=rows, scale=scale), report)


def ridge_fit(given: PooledRows) -> RidgeFit:
    """The ridge fit of these rows."""
    model, report = given.oracle.optimistic(given.rows, 0.0)
    after, scale = replace(given.state, model=model.model), given.state.scale
    played = replace(model, model=model.model.rescaled(*scale.of_scores))
    return RidgeFit(played, given.rows, given.oracle, after, steps.in_units_of_log(report, scale))


class RidgeLearner:
    """Ridge regression of all rows with confidence widths, and a policy by both.

    It implements the protocol `Learner`, which is all that a learner needs; a subclass adds its settings and
    `policy_of`.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def schedule(self) -> Schedule:
            """Schedule of the ends of batches."""

        @property
        def ridge(self) -> float:
            """The penalty of every coefficient."""

        @property
        def model_class(self) -> Linear:
            """The linear class of reward models."""

        def policy_of(self, model: AnyOptimist, context: FitContext) -> Policy:
            """The policy after a fit of these rows."""

    def details(self, context: FitContext) -> tuple[str, ...]:
        """Report lines beside those of the fit."""
        del context
        return ()

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Batch 1, uniform unless a log warms it up."""
        return steps.warm_started(self, steps.first_epoch(problem, self.schedule, self.model_class), log)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The next epoch: ridge regression of all rows, then the policy."""
        if len(log) == 0:
            return steps.carried_over(epoch, self.schedule)
        fit = ridge_fit(pooled_rows(epoch, log, self.model_class, self.ridge))
        context = FitContext(
            fit.state.problem,
            fit.rows.weight,
            fit.rows.n,
            fit.oracle.n_parameters,
            epoch.index,
            np.array(fit.state.scale.limits),
        )
        report = replace(fit.report, details=self.details(context))
        policy = trying(self.policy_of(fit.model, context), fit.model.known)
        return epoch.successor(self.schedule, policy=policy, state=fit.state, report=report)


def adapted(
    epoch: Epoch, problem: Problem, model: OptimisticModel | None
) -> tuple[Epoch, OptimisticModel | None]:
    """The epoch with actions added or retired, and the reindexed model, for a policy by it.

    Nothing is refitted: another standardisation would move the scores of the actions that stay.
    """
    moved, state = action_changes.adapted(epoch, problem), steps.fitted_state(epoch)
    oracle, rows = state.oracle, state.active
    if model is None or not isinstance(oracle, LinearOracle) or not isinstance(rows, Moments):
        return moved, None
    source = action_changes.sources(state.problem, problem)
    after = oracle.reindexed(problem.n_actions)
    factors = np.ascontiguousarray(oracle.reindexed_factors(model.factors, rows, source))
    return moved, replace(
        model,
        model=after.reindexed_model(model.model, source),
        design=after.design,
        factors=factors,
    )


def optimistic_policy(model: AnyOptimist, bonus: float | Floats, mixing: float) -> KernelPolicy:
    """Policy of the largest estimate plus bonus times width, with a share of uniform play."""
    return KernelPolicy(replace(model, bonus=bonus), EpsilonGreedyKernel(mixing))


def optimistic_model(policy: Policy) -> OptimisticModel | None:
    """The model of an optimistic policy; None before the first fit."""
    scorer = policy.scorer if isinstance(policy, KernelPolicy) else None
    return scorer if isinstance(scorer, OptimisticModel) else None


def check_settings(name: str, model_class: object, schedule: object, ridge: float, mixing: float) -> None:
    """Raise ValueError for settings that no ridge learner can work with."""
    check_parts(model_class, schedule)
    own_ridge = model_class.ridge if isinstance(model_class, Linear) else None
    if own_ridge is None:
        raise ValueError(
            f"model_class is {model_class!r}; {name} needs the confidence widths of a linear class, "
            "such as Linear()."
        )
    check_positive("ridge", ridge)
    if own_ridge not in (0.0, ridge):
        raise ValueError(f"ridge is {ridge} and model_class has {own_ridge}; give {name}'s alone.")
    check_mixing(mixing)


class OptimisticLearner(RidgeLearner):
    """Ridge learner that plays the action with the largest f(x, a) + bonus ||phi||."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def mixing(self) -> float:
            """The share of uniform play."""

        def bonus(self, weights: Floats) -> float | Floats:
            """The bonus after this number of rows of each block, one for all actions or one each."""

    def policy_of(self, model: AnyOptimist, context: FitContext) -> KernelPolicy:
        """The policy of the largest estimate plus bonus."""
        return optimistic_policy(model, self.bonus(context.weights), self.mixing)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        moved, model = adapted(epoch, problem, optimistic_model(epoch.policy))
        rows = steps.fitted_state(moved).active
        if model is None or not isinstance(rows, Moments):
            return moved
        policy = optimistic_policy(model, self.bonus(rows.weight), self.mixing)
        return replace(moved, policy=trying(policy, model.known))
