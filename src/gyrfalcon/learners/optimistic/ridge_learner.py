"""Ridge regression on all rows with confidence widths: optimism, posterior draws, elimination share it."""

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
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_mixing, check_parts, check_positive
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.regression_learner import Refitting
from gyrfalcon.learners.steps import Fitted
from gyrfalcon.oracles.linear.batched import AnyOptimist
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.oracles.solvers.moments import Moments


@dataclass(frozen=True, slots=True)
class Known:
    """What a policy may depend on beside the fit."""

    problem: Problem
    weights: Floats
    """(B,): the rows of each block of coefficients; (R, B) for R replications at once."""
    n: float
    """The rows of a fit."""
    n_parameters: int
    index: int
    """The epoch that they end with."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Every row so far, not fitted yet; `state` has no model."""

    rows: Moments
    oracle: LinearOracle
    state: Fitted
    report: FitReport


@dataclass(frozen=True, slots=True)
class Confidence:
    """A ridge fit of every row so far, with its widths; the model has no bonus yet."""

    model: OptimisticModel
    rows: Moments
    oracle: LinearOracle
    state: Fitted
    report: FitReport


def gathered(epoch: Epoch, log: Log, model_class: Linear, ridge: float) -> Gathered:
    """All rows up to and with this log."""
    state = steps.fitted_state(epoch)
    oracle = steps.oracle_for(state, replace(model_class, ridge=ridge), log)
    if not isinstance(oracle, LinearOracle) or not isinstance(state.active, Moments | None):
        raise TypeError(f"epoch {epoch.index} has no linear fit; give the learner its own epochs.")
    rows = oracle.summed(log, state.active, penalised=True)
    report = FitReport(n_active=rows.n, n_passive=0.0)
    return Gathered(rows, oracle, Fitted(state.problem, oracle, active=rows), report)


def fitted(known: Gathered) -> Confidence:
    """The ridge fit of these rows."""
    model, report = known.oracle.optimistic(known.rows, 0.0)
    after = replace(known.state, model=model.model)
    return Confidence(model, known.rows, known.oracle, after, report)


def refitted(epoch: Epoch, log: Log, model_class: Linear, ridge: float) -> Confidence:
    """The ridge fit of all rows up to and with this log."""
    return fitted(gathered(epoch, log, model_class, ridge))


class Confident(Refitting):
    """A ridge fit of every row so far with its widths, and the policy that a learner makes of it."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ridge(self) -> float:
            """The penalty of every coefficient."""

        @property
        def model_class(self) -> Linear:
            """A linear class."""

        def policy_of(self, model: AnyOptimist, known: Known) -> Policy:
            """What is played by a fit of these rows."""

    def details(self, known: Known) -> tuple[str, ...]:
        """What the report says beside the fit."""
        del known
        return ()

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """Ridge regression on every row so far."""
        if len(log) == 0:
            return steps.unchanged(epoch, self.schedule)
        fit = refitted(epoch, log, self.model_class, self.ridge)
        known = Known(fit.state.problem, fit.rows.weight, fit.rows.n, fit.oracle.n_parameters, epoch.index)
        report = replace(fit.report, details=self.details(known))
        policy = self.policy_of(fit.model, known)
        return steps.successor(epoch, self.schedule, policy=policy, state=fit.state, report=report)


def adapted(
    epoch: Epoch, problem: Problem, model: OptimisticModel | None
) -> tuple[Epoch, OptimisticModel | None]:
    """The epoch with actions added or retired, and the model that it played by, to make its policy of.

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


def optimism(model: AnyOptimist, bonus: float | Floats, mixing: float) -> KernelPolicy:
    """The policy of the largest estimate plus bonus times width, with a share of uniform play."""
    return KernelPolicy(replace(model, bonus=bonus), EpsilonGreedyKernel(mixing))


def optimist(policy: Policy) -> OptimisticModel | None:
    """The model that an optimistic policy plays by; None before the first fit."""
    scorer = policy.scorer if isinstance(policy, KernelPolicy) else None
    return scorer if isinstance(scorer, OptimisticModel) else None


def check_settings(name: str, model_class: object, schedule: object, ridge: float, mixing: float) -> None:
    """Refuse what no learner of this family could work with."""
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


class Optimist(Confident):
    """Ridge regression on all rows, and the action with the largest f(x, a) + bonus ||phi||."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def mixing(self) -> float:
            """The share of uniform play."""

        def bonus(self, weights: Floats) -> float | Floats:
            """The bonus after so many rows of each block, one for all actions or one each."""

    def policy_of(self, model: AnyOptimist, known: Known) -> KernelPolicy:
        """The largest estimate plus bonus."""
        return optimism(model, self.bonus(known.weights), self.mixing)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        moved, model = adapted(epoch, problem, optimist(epoch.policy))
        rows = steps.fitted_state(moved).active
        if model is None or not isinstance(rows, Moments):
            return moved
        return replace(moved, policy=optimism(model, self.bonus(rows.weight), self.mixing))
