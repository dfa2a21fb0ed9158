"""Any weighted regressor meets the constraint: exactly where that is known, always feasibly."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from tests.oracles.regressions import CONVEX, NON_CONVEX, binding_slack, fitted, make_log, two_logs


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("q", [0, 2])
def test_least_squares_through_the_search_is_the_exact_solver(seed: int, q: int) -> None:
    active, passive = two_logs(seed, p=3, q=q)
    slack = binding_slack(Linear(), active, passive)
    exact, report, scores = fitted(Linear(), active, passive, slack)
    assert report.binding
    model, found, through_search = fitted(Regressor(LinearRegression()), active, passive, slack)
    assert type(model) is type(exact)
    np.testing.assert_allclose(through_search, scores, rtol=0, atol=1e-6)
    assert found.multiplier == pytest.approx(report.multiplier, rel=1e-5)
    assert found.alpha == pytest.approx(report.alpha, rel=1e-9)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name == "kernel ridge" else ()) for name in CONVEX]
)
def test_convex_classes_keep_the_constraint_and_use_it_up(name: str) -> None:
    counts = []
    for seed in range(6):
        active, passive = two_logs(seed, p=1)
        model_class = Regressor(CONVEX[name])
        slack = binding_slack(model_class, active, passive)
        if slack == 0.0:
            continue
        _, report, _ = fitted(model_class, active, passive, slack)
        assert report.binding
        assert report.accurate
        assert slack * (1.0 - 1e-6) <= report.excess <= slack
        assert report.notes == ()
        counts.append(report.n_regressions)
        loose = fitted(model_class, active, passive, 1e3 * slack)[1]
        assert loose.multiplier == 0.0
        assert not loose.binding
    assert len(counts) >= 4
    assert np.median(counts) <= 20


def test_isotonic_regression_is_the_constrained_optimum_of_a_general_solver() -> None:
    rng = np.random.default_rng(3)
    active, passive = make_log(rng, 14, 1, tilt=6.0), make_log(rng, 8, 1)
    model_class = Regressor(IsotonicRegression(out_of_bounds="clip"))
    slack = binding_slack(model_class, active, passive, 0.5)
    model, report, _ = fitted(model_class, active, passive, slack)
    # The same problem over increasing values at all points, one chain per action, by a general solver.
    x = np.concatenate([active.contexts.shared[:, 0], passive.contexts.shared[:, 0]])
    a = np.concatenate([active.action, passive.action])
    r = np.concatenate([active.reward, passive.reward])
    n = len(active)
    order = np.lexsort((x, a))
    steps = [(i, j) for i, j in pairwise(order.tolist()) if a[i] == a[j]]
    solver: Any = minimize
    result = solver(
        lambda f: np.mean((f[:n] - r[:n]) ** 2),
        np.full(len(r), r.mean()),
        jac=lambda f: np.concatenate([2.0 * (f[:n] - r[:n]) / n, np.zeros(len(r) - n)]),
        constraints=[
            {"type": "ineq", "fun": lambda f: np.array([f[j] - f[i] for i, j in steps])},
            {"type": "ineq", "fun": lambda f: report.alpha + slack - np.mean((f[n:] - r[n:]) ** 2)},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert report.binding
    chosen = model.scores(active.contexts)[np.arange(n), active.action]
    assert float(np.mean((chosen - r[:n]) ** 2)) == pytest.approx(result.fun, rel=1e-5)


def test_non_negative_least_squares_is_the_constrained_optimum_of_a_general_solver() -> None:
    active, passive = two_logs(1, p=3)
    model_class = Regressor(LinearRegression(positive=True), standardise=False)
    slack = binding_slack(model_class, active, passive, 0.5)
    model, report, _ = fitted(model_class, active, passive, slack)

    def rows(log: Log) -> Floats:
        design = np.zeros((len(log), 8))
        for action in (0, 1):
            mine = log.action == action
            design[mine, 4 * action] = 1.0
            design[np.ix_(mine, range(4 * action + 1, 4 * action + 4))] = log.contexts.shared[mine]
        return design

    def risk(log: Log, theta: Floats) -> float:
        return float(np.mean((rows(log) @ theta - log.reward) ** 2))

    solver: Any = minimize
    result = solver(
        lambda theta: risk(active, theta),
        np.full(8, 0.1),
        bounds=[(None, None), *[(0.0, None)] * 3] * 2,
        constraints=[{"type": "ineq", "fun": lambda theta: report.alpha + slack - risk(passive, theta)}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert report.binding
    chosen = model.scores(active.contexts)[np.arange(len(active)), active.action]
    assert float(np.mean((chosen - active.reward) ** 2)) == pytest.approx(result.fun, rel=1e-6)


def test_kernel_ridge_is_the_constrained_optimum_of_a_general_solver() -> None:
    rng = np.random.default_rng(5)
    active, passive = make_log(rng, 14, 1, tilt=6.0), make_log(rng, 8, 1)
    model_class = Regressor(KernelRidge(kernel="rbf", alpha=0.3, gamma=0.5))
    slack = binding_slack(model_class, active, passive, 0.5)
    model, report, _ = fitted(model_class, active, passive, slack)
    # Weights of all rows' kernels, one space per action, with the penalty that the regressor has.
    x = np.concatenate([active.contexts.shared[:, 0], passive.contexts.shared[:, 0]])
    x = x / active.contexts.shared[:, 0].std()
    a = np.concatenate([active.action, passive.action])
    r = np.concatenate([active.reward, passive.reward])
    kernel = np.exp(-0.5 * np.subtract.outer(x, x) ** 2) * (a[:, np.newaxis] == a)
    n = len(active)

    def objective(dual: Floats) -> float:
        f = kernel @ dual
        return float(np.mean((f[:n] - r[:n]) ** 2) + 0.3 * (dual @ f) / n)

    solver: Any = minimize
    result = solver(
        objective,
        np.zeros(len(r)),
        constraints=[
            {"type": "ineq", "fun": lambda d: report.alpha + slack - np.mean((kernel[n:] @ d - r[n:]) ** 2)}
        ],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert report.binding
    chosen = model.scores(active.contexts)[np.arange(n), active.action]
    np.testing.assert_allclose(chosen, kernel[:n] @ result.x, atol=2e-5)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("tree", "forest") else pytest.mark.long) for name in NON_CONVEX],
)
def test_non_convex_regressors_keep_the_constraint_and_the_report_says_what_is_lost(name: str) -> None:
    active, passive = two_logs(0, p=2)
    model_class = Regressor(NON_CONVEX[name])
    slack = max(binding_slack(model_class, active, passive), 1e-3)
    model, report, scores = fitted(model_class, active, passive, slack)
    assert report.excess <= slack
    assert any("guarantee does not apply" in note for note in report.notes)
    assert report.n_regressions <= 20
    chosen = model.scores(passive.contexts)[np.arange(len(passive)), passive.action]
    assert float(np.mean((chosen - passive.reward) ** 2)) <= (report.alpha + slack) * (1.0 + 1e-9)
    assert np.isfinite(scores).all()
    vouched = fitted(replace(model_class, convex=True), active, passive, slack)[1]
    assert not any("guarantee" in note for note in vouched.notes)


def test_without_passive_rows_it_is_one_ordinary_regression() -> None:
    active, _ = two_logs(0, p=2)
    oracle = Regressor(DecisionTreeRegressor(max_depth=3)).oracle(active.contexts, 2)
    model, report = oracle.fit(oracle.summarise(active), oracle.empty(), slack=lambda alpha: 1e-9 * alpha)
    assert (report.n_regressions, report.multiplier, report.slack) == (1, 0.0, math.inf)
    x = active.contexts.shared - active.contexts.shared.mean(axis=0)
    mine = active.action == 1
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(
        (x / active.contexts.shared.std(axis=0))[mine], active.reward[mine]
    )
    np.testing.assert_allclose(
        model.scores(active.contexts)[:, 1], tree.predict(x / active.contexts.shared.std(axis=0)), atol=1e-12
    )


def test_without_active_rows_it_is_the_passive_fit() -> None:
    _, passive = two_logs(0, p=2)
    oracle = Regressor(Ridge()).oracle(passive.contexts, 2)
    rows = oracle.summarise(passive)
    model, report = oracle.fit(oracle.empty(), rows, slack=0.1)
    alone, _ = oracle.fit(rows, oracle.empty())
    np.testing.assert_allclose(model.scores(passive.contexts), alone.scores(passive.contexts), atol=1e-12)
    assert report.multiplier == 0.0
    assert report.excess == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("name", ["lasso", "stumps"])
def test_a_warm_start_changes_the_work_and_not_the_answer(name: str) -> None:
    active, passive = two_logs(4, p=1)
    model_class = Regressor(CONVEX[name])
    slack = binding_slack(model_class, active, passive)
    oracle = model_class.oracle(active.contexts, 2)
    rows = oracle.summarise(active), oracle.summarise(passive)
    warm = oracle._regression(*rows)
    cold = oracle._regression(*rows, warm=False)
    assert warm.is_warm
    for multiplier in (0.0, 0.3, 1.0, 10.0):
        one, other = warm.solve(multiplier), cold.solve(multiplier)
        assert one.passive_risk == pytest.approx(other.passive_risk, rel=1e-5)
    model, report = oracle.fit(*rows, slack=slack)
    assert report.excess <= slack
    assert np.isfinite(model.scores(active.contexts)).all()


def test_an_earlier_multiplier_shortens_the_next_search() -> None:
    active, passive = two_logs(5, p=1)
    model_class = Regressor(IsotonicRegression(out_of_bounds="clip"))
    slack = binding_slack(model_class, active, passive)
    oracle = model_class.oracle(active.contexts, 2)
    rows = oracle.summarise(active), oracle.summarise(passive)
    model, first = oracle.fit(*rows, slack=slack)
    _, second = oracle.fit(*rows, slack=slack, previous=model)
    assert second.n_regressions < first.n_regressions
    assert second.multiplier == pytest.approx(first.multiplier, rel=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "regressor",
    [
        MLPRegressor(hidden_layer_sizes=(3,), max_iter=1),
        Lasso(alpha=1e-9, max_iter=1, tol=1e-12),
        StumpHull(budget=5.0, max_iter=0),
    ],
)
def test_a_fit_that_was_cut_short_is_in_the_report(regressor: Any) -> None:
    active, passive = two_logs(0, p=2)
    _, report, _ = fitted(Regressor(regressor), active, passive, math.inf)
    assert any(type(regressor).__name__ in note and "max_iter" in note for note in report.notes)


def test_without_a_constraint_one_regression_is_enough_for_every_class() -> None:
    active, passive = two_logs(0, p=1)
    for regressor in (*CONVEX.values(), DecisionTreeRegressor()):
        assert fitted(Regressor(regressor), active, passive, math.inf)[1].n_regressions == 1
