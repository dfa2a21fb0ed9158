"""Whether a model class is wrong, where, what it costs in reward, and what to do, from a log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.misspecification.crossfit import check_rows_for_folds, cross_fitted
from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
from gyrfalcon.estimates.misspecification.one_step import learnable, richer_cross_fit
from gyrfalcon.estimates.misspecification.passive_rows import folds
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate, NotEstimableError
from gyrfalcon.estimates.misspecification.row_choice import (
    RowChoice,
    evenly_spread,
    residual_rows,
    uniform_rows,
)
from gyrfalcon.estimates.misspecification.specification_result import SpecificationTests
from gyrfalcon.estimates.misspecification.specification_tests import specification_test
from gyrfalcon.evaluation.diagnosis.attempts import Attempts
from gyrfalcon.evaluation.diagnosis.misfit import Misfits
from gyrfalcon.evaluation.diagnosis.profiles import most_telling_region
from gyrfalcon.evaluation.diagnosis.recommendation import Evidence, recommendations, verdict_of
from gyrfalcon.evaluation.diagnosis.result import Diagnosis
from gyrfalcon.evaluation.diagnosis.reward_cost import RewardCost, default_candidates, reward_cost
from gyrfalcon.evaluation.diagnosis.risk_by_epoch import EpochRisk, risks_by_epoch
from gyrfalcon.evaluation.diagnosis.usable_rows import UsableRows, usable_rows
from gyrfalcon.evaluation.rows.table import is_deterministic
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.protocol import ModelClass

N_FOLDS = 5
MOST_ROWS = 20_000
"""Most rows of the estimate of b and of the map, evenly spread."""
MOST_COMPARED = 200_000
"""Most rows on which policies are compared, evenly spread."""


def diagnose(
    log: DecisionTable | Log,
    problem: Problem | None = None,
    model_class: ModelClass = Linear(),
    *,
    rows: RowChoice = "auto",
    richer: ModelClass | None = None,
    level: float = 0.95,
    reports: Mapping[int, FitReport] | None = None,
    reward_unit: str = "reward units",
    on_progress: Callable[[int, int, str], None] | None = None,
) -> Diagnosis:
    """Whether a model class is wrong, where, what that costs in reward, and what to do about it.

    Parameters
    ----------
    log : DecisionTable or Log
        Logged decisions, such as `gyrfalcon.logs.read_log` gives.
    problem : Problem, optional
        The problem of a `Log` that has none.
    model_class : ModelClass, default Linear()
        The model class in question.
    rows : {'auto', 'passive', 'all'}, default 'auto'
        Which rows stand for uniform play, as in `misspecification_estimate`.
    richer : ModelClass, optional
        The richer class that shows where this one is wrong; by default random Fourier features are added.
    level : float, default 0.95
        Confidence level of intervals.
    reports : Mapping, optional
        Reports of stored epochs by their number, whose multipliers are then shown.
    reward_unit : str, default 'reward units'
        What rewards are counted in, for texts.
    on_progress : callable, optional
        Function of the number of finished parts, of that of all, and the name of the last one.

    Raises
    ------
    NotEstimableError
        If no row can be used.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> outcomes = StepExample().draw(0, 1000, seed=1)
    >>> action = np.arange(1000) % 2
    >>> reward = outcomes.rewards[np.arange(1000), action]
    >>> log = StepExample().problem.log(outcomes.contexts, action + 1, reward, propensities="uniform")
    >>> found = diagnose(log)
    >>> print(found.region)
    action 1, x from 0.387 to 0.494: rewards are 0.395 +- 0.013 below the class's predictions
    """
    usable = usable_rows(log, problem)
    labels, names = usable.table.actions, usable.feature_names
    attempts = Attempts(on_progress)
    estimate = attempts.of("b", lambda: _estimate(usable, model_class, richer, rows, level))
    tests = attempts.of("Specification tests", lambda: _tests(usable, model_class, rows))
    epochs = attempts.of("Risk by epoch", lambda: _epochs(usable, model_class, rows, reports))
    where = attempts.of("Where it is wrong", lambda: _misfits(usable, model_class, richer, rows))
    cost = attempts.of("What it costs", lambda: _cost(usable, model_class, richer, level))
    K = len(labels)
    profiles = () if where is None else where.feature_profiles(names, K)
    pair = None if where is None else where.most_telling_pair(profiles, names, K)
    found = Evidence(
        misspecification=estimate,
        tests=tests,
        cost=cost,
        epochs=epochs or (),
        n_actions=K,
        n_rows=len(usable.log),
        n_known=int(usable.log.has_propensity.sum()),
        is_deterministic=is_deterministic(usable.table),
        constant_reward=_constant_reward(usable),
        reward_span=_span(usable),
        reward_unit=reward_unit,
    )
    return Diagnosis(
        verdict=verdict_of(found),
        recommendations=recommendations(found),
        actions=labels,
        n_rows=len(usable.log),
        model_class=short_repr(model_class),
        misspecification=found.misspecification,
        tests=found.tests,
        epochs=found.epochs,
        by_action=() if where is None else where.by_action(labels),
        profiles=profiles,
        pair=pair,
        region=most_telling_region(profiles, pair, labels),
        misfit_rows="" if where is None else where.rows,
        cost=found.cost,
        reward_unit=reward_unit,
        costs=usable.table.cost,
        set_aside=usable.set_aside,
        open_questions=attempts.open_questions,
    )


def _estimate(
    usable: UsableRows, model_class: ModelClass, richer: ModelClass | None, rows: RowChoice, level: float
) -> MisspecificationEstimate:
    n_actions = usable.table.n_actions
    chosen = uniform_rows(usable.log, n_actions, rows)
    used = evenly_spread(chosen, MOST_ROWS)
    found = misspecification_estimate(
        used.log,
        n_actions,
        model_class,
        richer=richer,
        level=level,
        rows="passive" if used.weights is None else "all",
    )
    return replace(found, rows=used.description, notes=tuple(dict.fromkeys(found.notes + chosen.notes)))


def _tests(usable: UsableRows, model_class: ModelClass, rows: RowChoice) -> SpecificationTests:
    return specification_test(usable.log, usable.table.n_actions, model_class, rows=rows)


def _epochs(
    usable: UsableRows, model_class: ModelClass, rows: RowChoice, reports: Mapping[int, FitReport] | None
) -> tuple[EpochRisk, ...]:
    used = uniform_rows(usable.log, usable.table.n_actions, rows)
    oracle = model_class.oracle(usable.log.contexts, usable.table.n_actions)
    if not isinstance(oracle, LinearOracle):
        raise NotEstimableError(
            "constrained fits by epoch are of linear classes; give one, such as Linear()."
        )
    if usable.log.passive.all():
        raise NotEstimableError("all rows are uniform play, so that the fit to all rows is the best one.")
    places = np.flatnonzero(usable.log.passive if used.weights is None else usable.log.has_propensity)
    return risks_by_epoch(usable.log, oracle, places, used.weights, reports)


def _misfits(
    usable: UsableRows, model_class: ModelClass, richer: ModelClass | None, rows: RowChoice
) -> Misfits:
    """Residuals of both classes by rows that their fits have not seen."""
    n_actions = usable.table.n_actions
    used = evenly_spread(residual_rows(usable.log, n_actions, rows), MOST_ROWS)
    kept = learnable(used.log, n_actions)
    log = used.log.where(kept)
    weights = None if used.weights is None else used.weights[kept]
    check_rows_for_folds(log, N_FOLDS)
    oracle, fold = model_class.oracle(log.contexts, n_actions), folds(log, N_FOLDS)
    own = cross_fitted(oracle, log, fold, weights)
    wide = richer_cross_fit(oracle, log, fold, n_actions, richer, weights)
    given = np.ones(len(log)) if weights is None else weights
    return Misfits(log, given, own, wide, used.description)


def _cost(usable: UsableRows, model_class: ModelClass, richer: ModelClass | None, level: float) -> RewardCost:
    if is_deterministic(usable.table):
        raise NotEstimableError("every action was certain, so that no row says what another one earns.")
    n_features = usable.log.contexts.shared.shape[1]
    candidates = (
        default_candidates(model_class, n_features) if richer is None else {"the richer class": richer}
    )
    n, given = len(usable.log), usable.table.distribution
    places = np.unique(np.linspace(0, n - 1, min(n, MOST_COMPARED)).astype(np.int64))
    return reward_cost(
        usable.log.take(places),
        usable.table.n_actions,
        model_class,
        candidates=candidates,
        distribution=None if given is None else given[places],
        level=level,
    )


def _constant_reward(usable: UsableRows) -> float | None:
    """The reward or cost of all rows, if it is the same in all of several."""
    reward = usable.table.reward
    return float(reward[0]) if len(reward) > 1 and np.ptp(reward) == 0.0 else None


def _span(usable: UsableRows) -> float:
    """Highest less lowest reward: the declared range, or else what was seen."""
    given = usable.table.reward_range
    span = float(np.ptp(usable.log.reward)) if given is None else float(given[1] - given[0])
    return span if span > 0.0 else 1.0
