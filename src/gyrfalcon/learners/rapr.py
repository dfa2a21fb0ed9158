"""RAPR (Krishnamurthy, Zhan, Athey, Brunskill 2023): risk-adjusted proportional response."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.action_columns import best_and_gaps
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.proportional_response import LARGEST_RISK, ProportionalResponse
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import Doubling, Schedule
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_choice, check_delta, check_parts, is_number
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.policy_error import policy_error
from gyrfalcon.learners.reward_scale import in_spreads
from gyrfalcon.learners.steps import Data
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import AnyOracle, ModelClass, RewardModel, Summary

_HALVINGS = 50
"""Steps of the search for eta: below 1e-13 of its range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RAPR:
    """Plays uniformly on all actions that might be best, by a model's error on rows that it has not seen.

    Of each epoch's rows every other one is held out of the fit, and bounds the error e of the model's greedy
    policy. Actions within a gap of eta e are in every set of actions that might be best, and those within
    eta e / b in the sets of risk b or less; play is uniform on the set of risk min(b, 1/2), for a b that is
    uniform on (0, 1). eta is the largest number that keeps the sets of risk 1/2 below K / (2 eta) actions on
    average, so that the more contexts have a clear best action, the more all others are explored.

    Sets, play and eta are those of the authors' code; the error is bounded by other rows and by other
    adversaries, and epochs begin otherwise: docs/decisions/0029 has the differences.

    It is for experiments that end: with `omega` "K" the final policy is to be as good as can be, at some cost
    while it is learned.

    Parameters
    ----------
    omega
        How much larger cumulative regret may get for a smaller simple regret, from 1 on: eta is at most
        sqrt(omega). 1 aims at cumulative regret, "K", the number of actions, at simple regret.
    delta
        Confidence (delta), in (0, 0.49]: limits after epoch m are at delta / m^2.
    data
        Rows that are fitted beside the epoch's own half: "all" earlier ones, or none, with "last_epoch".
    schedule
        When epochs end and the model is refitted.
    model_class
        The class of reward models, with its features, basis and ridge.

    Examples
    --------
    >>> RAPR(omega=1)
    RAPR(omega=1)
    """

    omega: float | Literal["K"] = "K"
    delta: float = 0.05
    data: Data = "all"
    schedule: Schedule = Doubling(100)
    model_class: ModelClass = Linear()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        omega = self.omega
        if omega != "K" and not (is_number(omega) and 1.0 <= omega < math.inf):
            raise ValueError(f"omega is {omega!r}; give a number of at least 1, or 'K'.")
        check_delta(self.delta)
        check_choice("data", self.data, ("last_epoch", "all"))
        check_parts(self.model_class, self.schedule)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, uniform unless a log warms it up."""
        return steps.warm_started(self, steps.first_epoch(problem, self.schedule, self.model_class), log)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The next epoch: a fit, its error on rows held out of it, and how far play responds to that."""
        if len(log) == 0:
            return steps.carried_over(epoch, self.schedule)
        state = steps.fitted_state(epoch)
        scale, rows = state.scale.converted(log)
        oracle = steps.oracle_for(state, self.model_class, rows)
        held_out = (np.arange(len(rows)) % 2 == 1) & rows.has_propensity
        active = self._fitted_rows(oracle, state, rows.where(~held_out))
        model, report = oracle.fit(active, oracle.empty(), previous=state.model)
        error = policy_error(model, oracle, rows.where(held_out), self.delta / epoch.index**2)
        adjustment = self.risk_adjustment(_gaps(model, rows), error)
        kernel = ProportionalResponse(adjustment * error / scale.spread)
        detail = f"error bound {error / scale.spread:.4g} spreads of rewards, eta {adjustment:.4g}"
        return epoch.successor(
            self.schedule,
            policy=KernelPolicy(in_spreads(model, scale), TryingKernel(kernel, model.known)),
            state=replace(
                state,
                oracle=oracle,
                active=active,
                passive=steps.summed(oracle, rows.where(held_out), None, penalised=True),
                model=model,
                scale=scale,
            ),
            report=steps.in_units_of_log(replace(report, details=(*report.details, detail)), scale),
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired."""
        return action_changes.adapted(epoch, problem)

    def risk_adjustment(self, gaps: Floats, error: float) -> float:
        """eta: the largest number from 1 to sqrt(omega) whose sets of risk 1/2 are below K / (2 eta).

        Sets have K / sqrt(n) more actions than were counted, for what n contexts leave open.

        Parameters
        ----------
        gaps
            (n, K) gaps of estimated rewards to the best one; nan for actions that are not eligible.
        error
            The error bound, in units of the gaps.
        """
        n = len(gaps)
        sizes = np.sort(gaps[~np.isnan(gaps)])
        n_actions = len(sizes) / n
        most = math.sqrt(gaps.shape[1] if self.omega == "K" else self.omega)

        def suits(eta: float) -> bool:
            reach = eta * error / LARGEST_RISK
            size = float(np.searchsorted(sizes, reach, side="right")) / n + n_actions / math.sqrt(n)
            return min(size, n_actions) <= (1.0 - LARGEST_RISK) * n_actions / eta

        if most <= 1.0 or suits(most):
            return most
        low, high = 1.0, most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if suits(middle) else (low, middle)
        return low

    def _fitted_rows(self, oracle: AnyOracle, state: steps.Fitted, rows: Log) -> Summary:
        """The rows to fit: these, and all before them, also those held out of the fit before."""
        before = None
        if self.data == "all":
            parts = [part for part in (state.active, state.passive) if part is not None]
            before = parts[0] + parts[1] if len(parts) == 2 else next(iter(parts), None)
        return steps.summed(oracle, rows, before, penalised=True)


def _gaps(model: RewardModel, rows: Log) -> Floats:
    """(n, K) gaps of estimated rewards to the best one; nan for actions that are not eligible."""
    eligible = rows.contexts.eligible
    mask = None if eligible is None else eligible.T
    _, gaps = best_and_gaps(model.scores(rows.contexts).T, mask)
    return (gaps if mask is None else np.where(mask, gaps, np.nan)).T
