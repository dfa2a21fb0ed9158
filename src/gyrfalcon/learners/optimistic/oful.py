"""OFUL (Abbasi-Yadkori, Pal, Szepesvari 2011): optimism with the radius of a confidence ellipsoid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.untried import trying
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_delta, check_not_negative
from gyrfalcon.learners import steps
from gyrfalcon.learners.optimistic import ridge_learner
from gyrfalcon.learners.optimistic.ridge_learner import PooledRows, check_settings
from gyrfalcon.learners.steps import Fitted
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.solvers.moments import Moments


@dataclass(frozen=True, slots=True)
class Refreshed(Fitted):
    """State with the rows of the last refresh of the policy."""

    rows: Moments | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OFUL:
    """The action with the largest f(x, a) + radius ||phi||, refreshed when det V has grown enough.

    The radius is R sqrt(ln(det V / ridge^d) + 2 ln(1 / delta)) + sqrt(ridge) S over one V for the
    coefficients of all actions. With one fixed regulariser, that is with `Linear(standardise=False)`, it
    holds for all rounds at once with probability 1 - delta if rewards are linear. By default features are
    standardised anew at each batch, the regulariser changes with them, and the anytime bound is not proved.
    With the safe defaults the radius is a large bonus, which takes many rounds to pay; LinUCB's is free.

    Parameters
    ----------
    noise
        R: rewards are this sub-Gaussian around the model, in multiples of their spread, twice the standard
        deviation of all rewards so far. The proof needs a bound that was known before.
    norm
        S: a bound on the length of the coefficients, of standardised features where the class standardises.
    delta
        Confidence (delta), in (0, 0.49].
    ridge
        Regularises every coefficient, the intercept too.
    growth
        C: the policy is refreshed when det V has grown by more than 1 + C since the last time; 0 refreshes
        it at every batch.
    mixing
        Share of rounds with uniform play, without which propensities are 0 and 1.
    schedule
        When batches end; the first one is uniform.
    model_class
        A linear class, with its features and basis.

    Examples
    --------
    >>> round(OFUL().radius(0.0), 3)
    2.224
    """

    noise: float = 0.5
    norm: float = 1.0
    delta: float = 0.05
    ridge: float = 1.0
    growth: float = 1.0
    mixing: float = 0.0
    schedule: Schedule = FixedBatch(100)
    model_class: Linear = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_settings("OFUL", self.model_class, self.schedule, self.ridge, self.mixing)
        check_delta(self.delta)
        check_not_negative("noise", self.noise)
        check_not_negative("norm", self.norm)
        check_not_negative("growth", self.growth)

    def radius(self, information: float) -> float:
        """The radius of the confidence ellipsoid when ln(det V / ridge^d) is `information`."""
        spread = math.sqrt(information + 2.0 * math.log(1.0 / self.delta))
        return self.noise * spread + math.sqrt(self.ridge) * self.norm

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Batch 1, uniform unless a log warms it up."""
        return steps.warm_started(self, steps.first_epoch(problem, self.schedule, self.model_class), log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The next epoch: a ridge regression of all rows, if det V has grown enough."""
        if len(log) == 0:
            return steps.carried_over(epoch, self.schedule)
        given = ridge_learner.pooled_rows(epoch, log, self.model_class, self.ridge)
        before = epoch.state.rows if isinstance(epoch.state, Refreshed) else None
        information = _information(given, given.rows)
        if before is not None and self.growth > 0.0:
            # In one scale, today's: features are standardised anew with every batch.
            gained = information - _information(given, before)
            if gained <= math.log1p(self.growth):
                return self._kept(epoch, given, gained)
        return self._refreshed(epoch, given, information)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired; the next rows refresh its policy in any case."""
        moved, model = ridge_learner.adapted(epoch, problem, ridge_learner.optimistic_model(epoch.policy))
        if model is None or not isinstance(moved.state, Refreshed):
            return moved
        state = replace(moved.state, rows=None)
        policy = ridge_learner.optimistic_policy(model, model.bonus, self.mixing)
        return replace(moved, policy=trying(policy, model.known), state=state)

    def _refreshed(self, epoch: Epoch, given: PooledRows, information: float) -> Epoch:
        fit, radius = ridge_learner.ridge_fit(given), self.radius(information)
        note = f"radius {radius:.4g}; the policy was refreshed"
        return epoch.successor(
            self.schedule,
            policy=trying(ridge_learner.optimistic_policy(fit.model, radius, self.mixing), fit.model.known),
            state=Refreshed(
                fit.state.problem,
                fit.oracle,
                active=fit.rows,
                model=fit.state.model,
                scale=fit.state.scale,
                rows=fit.rows,
            ),
            report=replace(fit.report, details=(note,)),
        )

    def _kept(self, epoch: Epoch, given: PooledRows, gained: float) -> Epoch:
        state = steps.fitted_state(epoch)
        model = ridge_learner.optimistic_model(epoch.policy)
        radius = 0.0 if model is None else model.bonus
        note = (
            f"radius {radius:.4g}; the policy was not refreshed: det V has grown by a factor of "
            f"{math.exp(gained):.4g}, {1.0 + self.growth:.4g} are needed"
        )
        return epoch.successor(
            self.schedule,
            policy=epoch.policy,
            state=replace(state, active=given.rows, scale=given.state.scale),
            report=replace(given.report, details=(note,)),
        )


def _information(given: PooledRows, rows: Moments) -> float:
    """ln(det V / ridge^d) of some of the rows, in the scale of all of them."""
    return float(given.oracle.log_determinants(rows, given.rows).sum())
