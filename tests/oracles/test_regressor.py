"""Any weighted regressor as a model class: constraint kept, exact solver matched, files without pickle."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, PoissonRegressor, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.reports import FitReport
from gyrfalcon.core.types import Floats
from gyrfalcon.learners.epochwise import fitted_state
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.fitted import FittedRegressor, RegressorModel, accepting_refits
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.models import PerActionModel
from gyrfalcon.oracles.oracle import ModelClass
from gyrfalcon.oracles.regressor import Regressor
from gyrfalcon.oracles.rows import RowSummary
from gyrfalcon.oracles.stumps import StumpHull
from gyrfalcon.storage import files

CONVEX = {
    "least squares": LinearRegression(),
    "ridge": Ridge(alpha=1.0),
    "lasso": Lasso(alpha=0.002, tol=1e-10),
    "non-negative": LinearRegression(positive=True),
    "kernel ridge": KernelRidge(kernel="rbf", alpha=0.1),
    "isotonic": IsotonicRegression(out_of_bounds="clip"),
    "stumps": StumpHull(budget=1.0),
}
NON_CONVEX = {
    "tree": DecisionTreeRegressor(max_depth=3),
    "forest": RandomForestRegressor(n_estimators=5, max_depth=4),
    "extra trees": ExtraTreesRegressor(n_estimators=5, max_depth=4),
    "boosting": GradientBoostingRegressor(n_estimators=10),
    "network": MLPRegressor(hidden_layer_sizes=(6,), max_iter=100, solver="lbfgs", tol=1e-3),
}


def make_log(rng: np.random.Generator, n: int, p: int, k: int = 2, tilt: float = 0.0, q: int = 0) -> Log:
    """Bent rewards with noise; `tilt` makes actions depend on x, so that the best fits of two logs differ."""
    x = rng.uniform(-1.0, 1.0, (n, p))
    v = rng.uniform(-1.0, 1.0, (n, k, q)) if q else None
    towards = 1.0 / (1.0 + np.exp(-tilt * x[:, 0]))
    action = np.where(rng.random(n) < towards, 0, rng.integers(0, k, n))
    bend = (x[:, 0] > 0.3) * 0.6 + 0.2 * x.sum(axis=1) * (action - 0.5)
    reward = bend + (0.0 if v is None else v[np.arange(n), action].sum(axis=1)) + 0.1 * rng.standard_normal(n)
    zero = np.zeros(n, dtype=np.int64)
    return Log(Contexts(x, v), action, reward, np.full(n, 0.5), zero, np.arange(n), zero)


def fitted(
    model_class: ModelClass, active: Log, passive: Log, slack: float, k: int = 2
) -> tuple[Any, FitReport, Floats]:
    """Model, report, and its scores at the active rows."""
    oracle = model_class.oracle(active.contexts, k)
    model, report = oracle.fit(oracle.summarise(active), oracle.summarise(passive), slack=slack)
    return model, report, model.scores(active.contexts)


def two_logs(seed: int, p: int, q: int = 0) -> tuple[Log, Log]:
    rng = np.random.default_rng(seed)
    return make_log(rng, 300, p, tilt=6.0, q=q), make_log(rng, 60, p, q=q)


def binding_slack(model_class: ModelClass, active: Log, passive: Log, share: float = 0.3) -> float:
    """A part of what the unconstrained fit would use."""
    report = fitted(model_class, active, passive, 0.0)[1]
    oracle = model_class.oracle(active.contexts, 2)
    free = oracle.fit(oracle.summarise(active), oracle.empty())[0].scores(passive.contexts)
    residual = passive.reward - free[np.arange(len(passive)), passive.action]
    return share * max(float(np.mean(residual**2)) - report.alpha, 0.0)


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


@pytest.mark.parametrize("name", CONVEX)
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


@pytest.mark.parametrize("name", NON_CONVEX)
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


@pytest.mark.parametrize("name", [*CONVEX, *NON_CONVEX])
def test_a_row_has_the_same_bits_alone_and_in_any_batch(name: str) -> None:
    active, passive = two_logs(2, p=1)
    model_class = Regressor((CONVEX | NON_CONVEX)[name])
    model, _, scores = fitted(model_class, active, passive, 0.01)
    for rows in (slice(0, 1), slice(3, 10), slice(7, 8), slice(50, 217)):
        assert np.array_equal(model.scores(active.contexts.take(rows)), scores[rows])
    assert model.scores(active.contexts.take(slice(0, 0))).shape == (0, 2)


def test_lines_are_kept_as_lines_and_bent_ones_are_not() -> None:
    active, passive = two_logs(0, p=2)
    active, passive = (replace(log, reward=np.exp(log.reward)) for log in (active, passive))
    assert isinstance(fitted(Regressor(Ridge()), active, passive, 0.1)[0], PerActionModel)
    model, _, scores = fitted(Regressor(PoissonRegressor(alpha=0.01)), active, passive, 0.1)
    assert isinstance(model, RegressorModel)
    assert (scores > 0.0).all()


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


def test_an_action_without_rows_keeps_its_regressor_or_scores_beside_the_best() -> None:
    active, _ = two_logs(0, p=2)
    oracle = Regressor(DecisionTreeRegressor(max_depth=3)).oracle(active.contexts, 3)
    empty = oracle.empty()
    first, _ = oracle.fit(oracle.summarise(active), empty)
    scores = first.scores(active.contexts)
    np.testing.assert_allclose(scores[:, 2], scores[:, :2].max(axis=1), atol=1e-12)
    assert first.known is not None
    assert first.known.tolist() == [True, True, False]
    only_0 = active.where(active.action == 0)
    second, _ = oracle.fit(oracle.summarise(only_0), empty, previous=first)
    assert np.array_equal(second.scores(active.contexts)[:, 1], scores[:, 1])


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


def bare_passive(k: int = 4) -> tuple[Log, Log]:
    """Active rows of k actions, passive rows of action 0 alone."""
    rng = np.random.default_rng(0)
    active, passive = make_log(rng, 400, 2, k=k), make_log(rng, 60, 2, k=k)
    return active, passive.where(passive.action == 0)


@pytest.mark.parametrize("regressor", [LinearRegression(), DecisionTreeRegressor(max_depth=2)])
def test_an_action_without_passive_rows_keeps_its_active_fit_at_any_multiplier(regressor: Any) -> None:
    active, passive = bare_passive()
    oracle = Regressor(regressor).oracle(active.contexts, 4)
    rows = oracle.summarise(active), oracle.summarise(passive)
    alone = oracle.fit(rows[0], oracle.empty())[0].scores(active.contexts)
    for slack in (0.0, 1e-6, 1e-2):
        scores = oracle.fit(*rows, slack=slack)[0].scores(active.contexts)
        np.testing.assert_allclose(scores[:, 1:], alone[:, 1:], atol=1e-12)
    exact = Linear().oracle(active.contexts, 4)
    if isinstance(regressor, LinearRegression):
        model, _ = exact.fit(exact.summarise(active), exact.summarise(passive), slack=0.0)
        scores = oracle.fit(*rows, slack=0.0)[0].scores(active.contexts)
        np.testing.assert_allclose(scores, model.scores(active.contexts), atol=1e-9)


@pytest.mark.parametrize(
    "model_class", [Linear(), Regressor(DecisionTreeRegressor()), Regressor(StumpHull(budget=1.0))]
)
def test_rare_rewards_do_not_shut_the_constraint(model_class: ModelClass) -> None:
    active, passive = two_logs(0, p=2)
    rare = replace(active, reward=(np.arange(len(active)) % 50 == 0).astype(np.float64))
    none = replace(passive, reward=np.zeros(len(passive)))
    oracle = model_class.oracle(active.contexts, 2)
    rows = oracle.summarise(rare), oracle.summarise(none)
    learner = EpsilonFalcon(model_class=model_class)
    assert oracle.passive_risk(rows[1]) == 0.0
    assert learner.slack_value(0.0, oracle, *rows, index=2) > 1e-4


def test_few_passive_rows_per_action_leave_room_too() -> None:
    active, passive = bare_passive(k=8)
    few = passive.where(np.arange(len(passive)) < 1)
    model_class = Regressor(DecisionTreeRegressor(max_depth=2))
    oracle = model_class.oracle(active.contexts, 8)
    rows = oracle.summarise(active), oracle.summarise(few)
    assert EpsilonFalcon(model_class=model_class).slack_value(0.0, oracle, *rows, index=1) > 0.0


class Careless(LinearRegression):  # type: ignore[misc]
    """Centres its input in place, as fits without a copy do."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        X -= X.mean(axis=0)
        return super().fit(X, y, sample_weight)


def test_a_regressor_can_not_spoil_the_rows_of_the_next_one() -> None:
    active, passive = two_logs(0, p=2)
    slack = binding_slack(Linear(), active, passive)
    with pytest.raises(ValueError, match="read-only"):
        fitted(Regressor(Careless()), active, passive, slack)
    in_place = fitted(Regressor(LinearRegression(copy_X=False)), active, passive, slack)[2]
    np.testing.assert_allclose(in_place, fitted(Linear(), active, passive, slack)[2], atol=1e-6)


class Odd(LinearRegression):  # type: ignore[misc]
    """Predicts what no learner could use."""

    def __init__(self, kind: str = "nan") -> None:
        super().__init__()
        self.kind = kind

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.nan) if self.kind == "nan" else np.zeros((len(X), 2))


@pytest.mark.parametrize(("kind", "message"), [("nan", "Odd predicts nan"), ("two", r"shape \(\d+, 2\)")])
def test_predictions_that_are_none_are_refused_by_name(kind: str, message: str) -> None:
    active, passive = two_logs(0, p=2)
    with pytest.raises(ValueError, match=message):
        fitted(Regressor(Odd(kind)), active, passive, 0.1)


@pytest.mark.parametrize(
    "regressor",
    [
        KernelRidge(kernel="rbf"),
        MLPRegressor(max_iter=30, solver="lbfgs", tol=1.0),
        GradientBoostingRegressor(n_estimators=3, init=Ridge()),
    ],
)
def test_few_rows_do_not_fake_exact_bits(regressor: Any) -> None:
    rng = np.random.default_rng(0)
    log = make_log(rng, 8, 6)
    model, _, _ = fitted(Regressor(regressor), log, log.where(np.zeros(8, dtype=np.bool_)), math.inf)
    contexts = make_log(rng, 200, 6).contexts
    together = model.scores(contexts)
    for row in range(0, 200, 3):
        assert np.array_equal(model.scores(contexts.take(slice(row, row + 1)))[0], together[row])


def test_fitted_models_can_be_sent_to_other_processes() -> None:
    # Only between processes of one program: files hold no pickle.
    active, passive = two_logs(0, p=1)
    for regressor in (DecisionTreeRegressor(), KernelRidge(kernel="rbf"), SVR()):
        model, _, scores = fitted(Regressor(regressor), active, passive, 0.1)
        assert np.array_equal(pickle.loads(pickle.dumps(model)).scores(active.contexts), scores)


def test_a_column_that_is_constant_up_to_rounding_is_not_blown_up() -> None:
    x = np.column_stack([np.linspace(-1.0, 1.0, 50), np.where(np.arange(50) % 2, 0.3, 0.1 + 0.2)])
    oracle = Regressor(Ridge()).oracle(Contexts(x), 2)
    assert oracle.scale[1] == 1.0
    assert oracle.scale[0] == pytest.approx(np.std(x[:, 0]))
    assert Regressor(Ridge()).oracle(Contexts(1e-9 * x[:, :1]), 2).scale[0] == pytest.approx(
        1e-9 * oracle.scale[0]
    )


def test_without_a_constraint_one_regression_is_enough_for_every_class() -> None:
    active, passive = two_logs(0, p=1)
    for regressor in (*CONVEX.values(), DecisionTreeRegressor()):
        assert fitted(Regressor(regressor), active, passive, math.inf)[1].n_regressions == 1


def test_isotonic_regression_scores_contexts_beyond_those_seen() -> None:
    active, passive = two_logs(0, p=1)
    model, _, _ = fitted(Regressor(IsotonicRegression()), active, passive, 0.1)
    assert np.isfinite(model.scores(Contexts(np.array([[-9.0], [9.0]])))).all()


def test_rows_that_add_up_stay_in_few_parts_and_in_order() -> None:
    rng = np.random.default_rng(0)
    log = make_log(rng, 1000, 2)
    oracle = Regressor(Ridge()).oracle(log.contexts, 2)
    total = oracle.empty()
    for start in range(0, 1000, 10):
        total = total + oracle.summarise(
            log.where((np.arange(1000) >= start) & (np.arange(1000) < start + 10))
        )
    assert len(total.parts) <= 10
    assert total.n == 1000.0
    whole = oracle.summarise(log)
    assert all(map(np.array_equal, total.of_block(1), whole.of_block(1)))
    assert total.reward_variance == pytest.approx(np.var(log.reward))


def test_weights_of_rows_count_as_repetitions() -> None:
    rng = np.random.default_rng(1)
    log = make_log(rng, 40, 2)
    twice = Log.concat([log, log], 2)
    oracle = Regressor(Ridge()).oracle(log.contexts, 2)
    weighted, _ = oracle.fit(oracle.summarise(log, np.full(40, 2.0)), oracle.empty())
    repeated, _ = oracle.fit(oracle.summarise(twice), oracle.empty())
    np.testing.assert_allclose(weighted.scores(log.contexts), repeated.scores(log.contexts), atol=1e-12)
    assert oracle.summarise(log).scaled(0.5).n == 20.0
    with pytest.raises(ValueError, match=r"factor is -1.*at least 0"):
        RowSummary().scaled(-1.0)


def test_halves_of_the_rows_tell_noise_and_degrees_of_freedom() -> None:
    # Kernel ridge with a linear kernel and next to no penalty is least squares: 3 coefficients per action.
    line = Regressor(KernelRidge(kernel="linear", alpha=1e-9))
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, action = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
        zero = np.zeros(200, dtype=np.int64)
        log = Log(Contexts(x), action, 0.1 * rng.normal(size=200), np.full(200, 0.5), zero, zero, zero)
        oracle = line.oracle(log.contexts, 2)
        rows = oracle.summarise(log)
        noise = oracle.noise(oracle.passive_risk(rows), oracle.empty(), rows)
        found.append((noise.variance, noise.degrees))
    variance, degrees = np.mean(found, axis=0)
    # Standard errors over the 200 logs are about 7e-5 and .25.
    assert variance == pytest.approx(0.01, abs=4e-4)
    assert degrees == pytest.approx(6.0, abs=1.2)


def test_a_tree_that_interpolates_does_not_shut_the_constraint() -> None:
    active, passive = two_logs(0, p=2)
    oracle = Regressor(DecisionTreeRegressor()).oracle(active.contexts, 2)
    rows = oracle.summarise(active), oracle.summarise(passive)
    assert oracle.passive_risk(rows[1]) == 0.0
    noise = oracle.noise(0.0, *rows)
    assert noise.degrees == len(passive)
    assert 0.1**2 / 3.0 < noise.variance < 0.3**2
    learner = EpsilonFalcon(model_class=Regressor(DecisionTreeRegressor()))
    assert learner.slack_value(0.0, oracle, *rows, index=3) > noise.variance


BANDITS = {
    "tree": Regressor(DecisionTreeRegressor(max_depth=3)),
    "forest": Regressor(RandomForestRegressor(n_estimators=3, max_depth=3)),
    "kernel ridge": Regressor(KernelRidge(kernel="rbf", alpha=1.0)),
    "stumps": Regressor(StumpHull(budget=1.0)),
    "lasso": Regressor(Lasso(alpha=0.001)),
}


def played(bandit: Bandit, rng: np.random.Generator, n: int) -> list[tuple[object, float]]:
    seen: list[tuple[object, float]] = []
    for _ in range(n):
        x = float(rng.random())
        decision = bandit.decide({"x": x})
        seen.append((decision.action, decision.propensity))
        bandit.reward(decision.event_id, float(x > 0.5) if decision.action == "a" else 0.5)
    return seen


@pytest.mark.parametrize("name", BANDITS)
def test_a_bandit_is_stored_in_mid_run_and_goes_on_alike(name: str, tmp_path: Path) -> None:
    learner = EpsilonFalcon(model_class=BANDITS[name], tau_1=20, epsilon=0.2)
    bandit = Bandit(learner, ["a", "b"], features=["x"], seed=1)
    played(bandit, np.random.default_rng(0), 70)
    bandit.save(tmp_path / "bandit")
    assert b"pickle" not in (tmp_path / "bandit").read_bytes()
    again = Bandit.load(tmp_path / "bandit")
    one, other = (played(this, np.random.default_rng(1), 60) for this in (bandit, again))
    assert one == other


def stored_regressor(tmp_path: Path) -> FittedRegressor:
    active, passive = two_logs(0, p=2)
    model = fitted(Regressor(DecisionTreeRegressor(max_depth=3)), active, passive, 0.01)[0]
    first = model.regressors[0]
    assert isinstance(first, FittedRegressor)
    files.save(tmp_path / "model", first)
    back = files.load(tmp_path / "model")
    assert isinstance(back, FittedRegressor)
    assert np.array_equal(back.predict(passive.contexts.shared), first.predict(passive.contexts.shared))
    return back


def test_a_regressor_that_predicts_otherwise_after_loading_is_refused(tmp_path: Path) -> None:
    back = stored_regressor(tmp_path)
    assert back.probe is not None
    with pytest.raises(
        ValueError, match=r"fitted again by sklearn .* does not predict what it did when sklearn"
    ):
        replace(back, probe=back.probe + 1e-3)
    replace(back, probe=back.probe + 1e-12)
    with accepting_refits():
        accepted = replace(back, probe=back.probe + 1e-3)
    assert accepted.probe is not None
    assert np.array_equal(accepted.probe, back.probe)


def test_a_bandit_whose_regressor_comes_out_otherwise_loads_if_it_may(tmp_path: Path) -> None:
    learner = EpsilonFalcon(model_class=BANDITS["tree"], tau_1=20, epsilon=0.2)
    bandit = Bandit(learner, ["a", "b"], features=["x"], seed=1)
    played(bandit, np.random.default_rng(0), 70)
    state = fitted_state(bandit.epoch)
    assert isinstance(state.model, RegressorModel)
    for regressor in state.model.regressors:
        assert regressor is not None
        assert regressor.probe is not None
        regressor.probe[0] += 0.5  # as if another version had fitted it
    bandit.save(tmp_path / "bandit")
    with pytest.raises(ValueError, match=r"bandit is whole, but sklearn.*accept_refits=True"):
        Bandit.load(tmp_path / "bandit")
    again = Bandit.load(tmp_path / "bandit", accept_refits=True)
    one, other = (played(this, np.random.default_rng(1), 40) for this in (bandit, again))
    assert one == other


def test_problems_that_a_regressor_can_not_take_are_refused_at_once() -> None:
    learner = EpsilonFalcon(model_class=Regressor(IsotonicRegression()))
    with pytest.raises(ValueError, match=r"IsotonicRegression takes one feature, and the problem has 2"):
        learner.start(Problem(["a", "b"], features=2))
    with pytest.raises(ValueError, match="sandwich"):
        EpsilonFalcon(model_class=Regressor(Ridge()), slack="sandwich")
    with pytest.raises(ValueError, match="complexity is 0"):
        Regressor(Ridge(), complexity=0)
    with pytest.raises(ValueError, match="layout is 'hybrid'"):
        Regressor(Ridge(), layout="hybrid")  # type: ignore[arg-type]
    for name, value in (("seed", -1), ("seed", None), ("complexity", 2.5), ("convex", "no")):
        with pytest.raises(ValueError, match=f"{name} is"):
            Regressor(Ridge(), **{name: value})  # type: ignore[arg-type]
    oracle = Regressor(Ridge()).oracle(Contexts(np.zeros((2, 1))), 2)
    log = make_log(np.random.default_rng(0), 5, 1)
    with pytest.raises(ValueError, match="not finite"):
        oracle.summarise(replace(log, reward=np.full(5, np.nan)))
