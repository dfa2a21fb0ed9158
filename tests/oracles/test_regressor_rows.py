"""What a regressor is fitted on and predicts: rows, noise, bits, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import PerActionModel
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.oracles.regressors.fitted import RegressorModel
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.oracles.regressors.rows import RowSummary
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from tests.oracles.regressions import CONVEX, NON_CONVEX, binding_slack, fitted, make_log, two_logs


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


@pytest.mark.parametrize(
    "model_class",
    [Linear(), Regressor(DecisionTreeRegressor(), complexity=2), Regressor(IsotonicRegression())],
)
def test_rewards_that_are_fitted_without_error_do_not_shut_it_either(model_class: ModelClass) -> None:
    # The one rewarded passive row is the only one of its action.
    rng = np.random.default_rng(0)
    active, passive = make_log(rng, 200, 1, k=3), make_log(rng, 40, 1, k=3)
    action = np.where(np.arange(40) == 7, 2, passive.action % 2)
    passive = replace(passive, action=action, reward=(action == 2).astype(np.float64))
    active = replace(active, reward=(np.arange(200) % 50 == 0).astype(np.float64))
    oracle = model_class.oracle(active.contexts, 3)
    rows = oracle.summarise(active), oracle.summarise(passive)
    alpha = oracle.passive_risk(rows[1])
    assert alpha < 1e-20
    assert EpsilonFalcon(model_class=model_class).slack_value(alpha, oracle, *rows, index=2) > 1e-4


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
        BaggingRegressor(Ridge(), n_estimators=3),
        PoissonRegressor(alpha=0.1),
    ],
)
def test_few_rows_do_not_fake_exact_bits(regressor: Any) -> None:
    rng = np.random.default_rng(0)
    log = make_log(rng, 8, 6)
    log = replace(log, reward=np.abs(log.reward))
    model, _, _ = fitted(Regressor(regressor), log, log.where(np.zeros(8, dtype=np.bool_)), math.inf)
    contexts = make_log(rng, 200, 6).contexts
    together = model.scores(contexts)
    for row in range(0, 200, 3):
        assert np.array_equal(model.scores(contexts.take(slice(row, row + 1)))[0], together[row])


def test_a_column_that_is_constant_up_to_rounding_is_not_blown_up() -> None:
    x = np.column_stack([np.linspace(-1.0, 1.0, 50), np.where(np.arange(50) % 2, 0.3, 0.1 + 0.2)])
    oracle = Regressor(Ridge()).oracle(Contexts(x), 2)
    assert oracle.scale[1] == 1.0
    assert oracle.scale[0] == pytest.approx(np.std(x[:, 0]))
    assert Regressor(Ridge()).oracle(Contexts(1e-9 * x[:, :1]), 2).scale[0] == pytest.approx(
        1e-9 * oracle.scale[0]
    )


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


@pytest.mark.parametrize("n_logs", [40, pytest.param(200, marks=pytest.mark.long)])
def test_halves_of_the_rows_tell_noise_and_degrees_of_freedom(n_logs: int) -> None:
    # Kernel ridge with a linear kernel and next to no penalty is least squares: 3 coefficients per action.
    line = Regressor(KernelRidge(kernel="linear", alpha=1e-9))
    found = []
    for seed in range(n_logs):
        rng = np.random.default_rng(seed)
        x, action = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
        zero = np.zeros(200, dtype=np.int64)
        log = Log(Contexts(x), action, 0.1 * rng.normal(size=200), np.full(200, 0.5), zero, zero, zero)
        oracle = line.oracle(log.contexts, 2)
        rows = oracle.summarise(log)
        noise = oracle.noise(oracle.passive_risk(rows), oracle.empty(), rows)
        found.append((noise.variance, noise.degrees))
    variance, degrees = np.mean(found, axis=0)
    # Standard errors over 200 logs are about 7e-5 and .25: five of them.
    wider = np.sqrt(200 / n_logs)
    assert variance == pytest.approx(0.01, abs=4e-4 * wider)
    assert degrees == pytest.approx(6.0, abs=1.2 * wider)


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
    with pytest.raises(ValueError, match="the log holds a reward of nan; drop or fill"):
        oracle.summarise(replace(log, reward=np.full(5, np.nan)))
    with pytest.raises(ValueError, match=r"weights holds -1\.0; a weight is a finite number of at least 0"):
        oracle.summarise(log, np.array([1.0, 1.0, -1.0, 1.0, 1.0]))
