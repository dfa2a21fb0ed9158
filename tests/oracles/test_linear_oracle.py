"""The linear oracle against explicit design matrices and `np.linalg.lstsq`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernels import inverse_gap_weighting
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle

K, P, Q = 3, 2, 2


@dataclass(frozen=True)
class Rows:
    """Random rows; rewards that no linear model explains, so that every coefficient matters."""

    x: Floats
    v: Floats | None
    action: Any
    reward: Floats

    @property
    def log(self) -> Log:
        n = len(self.x)
        zeros = np.zeros(n, dtype=np.int64)
        return Log(Contexts(self.x, self.v), self.action, self.reward, np.ones(n), zeros, zeros, zeros)


def rows(n: int = 120, seed: int = 0, has_action_features: bool = True, shift: float = 3.0) -> Rows:
    rng = np.random.default_rng(seed)
    x = shift + rng.normal(size=(n, P)) * [1.0, 5.0]
    v = rng.normal(size=(n, K, Q)) if has_action_features else None
    return Rows(x, v, rng.integers(0, K, n), np.sin(x[:, 0]) + rng.normal(size=n))


def per_action(x: Floats, v: Floats | None, action: int) -> Floats:
    """One block of [1, x, v] for each action."""
    own = np.column_stack([np.ones(len(x)), x, *([] if v is None else [v])])
    blocks = [own if other == action else np.zeros_like(own) for other in range(K)]
    return np.column_stack(blocks)


def shared(x: Floats, v: Floats | None, action: int) -> Floats:
    """[1, x, v, x v]."""
    assert v is not None
    return np.column_stack([np.ones(len(x)), x, v, products(x, v)])


def hybrid(x: Floats, v: Floats | None, action: int) -> Floats:
    """[v, x v] and one block of [1, x] for each action."""
    assert v is not None
    return np.column_stack([v, products(x, v), per_action(x, None, action)])


def products(x: Floats, v: Floats) -> Floats:
    return np.column_stack([x[:, i] * v[:, j] for i in range(P) for j in range(Q)])


Build = Callable[[Floats, Floats | None, int], Floats]
LAYOUTS: list[tuple[Any, bool, Build]] = [
    ("per_action", False, per_action),
    ("per_action", True, per_action),
    ("shared", True, shared),
    ("hybrid", True, hybrid),
]
every_layout = pytest.mark.parametrize(("layout", "has_action_features", "build"), LAYOUTS)


def design_of(data: Rows, build: Build) -> Floats:
    """The regression rows of the actions that were taken."""
    full = np.stack([build(data.x, features(data, action), action) for action in range(K)])
    taken: Floats = full[data.action, np.arange(len(data.x))]
    return taken


def features(data: Rows, action: int) -> Floats | None:
    return None if data.v is None else data.v[:, action]


def expected_scores(data: Rows, at: Rows, build: Build) -> Floats:
    theta = np.linalg.lstsq(design_of(data, build), data.reward)[0]
    return np.column_stack([build(at.x, features(at, action), action) @ theta for action in range(K)])


def fitted_scores(model_class: Linear, data: Rows, at: Rows) -> Floats:
    log = data.log
    oracle = model_class.oracle(log.contexts, K)
    return oracle.fit(oracle.summarise(log), oracle.empty())[0].scores(at.log.contexts)


@every_layout
@pytest.mark.parametrize("standardise", [True, False])
def test_predictions_are_those_of_lstsq(
    layout: Any, has_action_features: bool, build: Build, standardise: bool
) -> None:
    data = rows(has_action_features=has_action_features)
    at = rows(50, seed=1, has_action_features=has_action_features)
    scores = fitted_scores(Linear(layout=layout, standardise=standardise), data, at)
    np.testing.assert_allclose(scores, expected_scores(data, at, build), rtol=0, atol=1e-10)


@every_layout
def test_the_number_of_parameters_is_the_number_of_columns(
    layout: Any, has_action_features: bool, build: Build
) -> None:
    data = rows(has_action_features=has_action_features)
    oracle = Linear(layout=layout).oracle(data.log.contexts, K)
    assert oracle.n_parameters == design_of(data, build).shape[1]


@every_layout
def test_without_ridge_units_and_origins_of_features_do_not_matter(
    layout: Any, has_action_features: bool, build: Build
) -> None:
    data = rows(has_action_features=has_action_features)
    at = rows(50, seed=1, has_action_features=has_action_features)

    def moved(one: Rows) -> Rows:
        return replace(one, x=one.x * [1e-3, 1e4] + [7.0, -2e5], v=None if one.v is None else one.v * 50 - 3)

    before = fitted_scores(Linear(layout=layout), data, at)
    after = fitted_scores(Linear(layout=layout), moved(data), moved(at))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-9)


def test_ridge_acts_on_standardised_features_and_on_intercepts_above_the_mean_reward() -> None:
    data, at, ridge = rows(has_action_features=False), rows(50, seed=1, has_action_features=False), 4.0
    mean, scale = data.x.mean(axis=0), data.x.std(axis=0)
    z = np.column_stack([np.ones(len(data.x)), (data.x - mean) / scale])
    z_at = np.column_stack([np.ones(len(at.x)), (at.x - mean) / scale])
    expected = []
    for action in range(K):
        own = z[data.action == action]
        above = data.reward[data.action == action] - data.reward.mean()
        theta = np.linalg.solve(own.T @ own + ridge * np.eye(3), own.T @ above)
        expected.append(data.reward.mean() + z_at @ theta)
    scores = fitted_scores(Linear(ridge=ridge), data, at)
    np.testing.assert_allclose(scores, np.column_stack(expected), rtol=0, atol=1e-12)


def test_a_ridge_without_standardisation_acts_on_features_about_their_early_means() -> None:
    data, ridge = rows(has_action_features=False), 4.0
    z = np.column_stack([np.ones(len(data.x)), data.x - data.x.mean(axis=0)])
    own = data.action == 1
    mean = data.reward.mean()
    theta = np.linalg.solve(z[own].T @ z[own] + ridge * np.eye(3), z[own].T @ (data.reward[own] - mean))
    scores = fitted_scores(Linear(ridge=ridge, standardise=False), data, data)
    np.testing.assert_allclose(scores[:, 1], mean + z @ theta, rtol=0, atol=1e-12)


@every_layout
def test_a_ridge_makes_units_matter_only_without_standardisation(
    layout: Any, has_action_features: bool, build: Build
) -> None:
    data = rows(has_action_features=has_action_features)
    longer = replace(data, x=data.x * 100.0)
    changes = [
        np.abs(fitted_scores(model_class, longer, longer) - fitted_scores(model_class, data, data)).max()
        for model_class in (
            Linear(layout=layout, ridge=5.0),
            Linear(layout=layout, ridge=5.0, standardise=False),
        )
    ]
    assert changes[0] < 1e-9
    assert changes[1] > 1e-4


@pytest.mark.parametrize("layout", ["shared", "hybrid"])
def test_interactions_can_be_left_out(layout: Any) -> None:
    data, at = rows(), rows(50, seed=1)
    first = 1 + P + Q if layout == "shared" else Q

    def build(x: Floats, v: Floats | None, action: int) -> Floats:
        full = (shared if layout == "shared" else hybrid)(x, v, action)
        return np.delete(full, np.arange(first, first + P * Q), axis=1)

    scores = fitted_scores(Linear(layout=layout, interactions=False), data, at)
    np.testing.assert_allclose(scores, expected_scores(data, at, build), rtol=0, atol=1e-10)


@every_layout
def test_without_intercept_lines_go_through_the_origin(
    layout: Any, has_action_features: bool, build: Build
) -> None:
    data = rows(has_action_features=has_action_features)
    model_class = Linear(layout=layout, intercept=False)
    nothing = replace(data, x=np.zeros_like(data.x), v=None if data.v is None else np.zeros_like(data.v))
    assert (fitted_scores(model_class, data, nothing) == 0.0).all()


@every_layout
def test_weights_count_rows_several_times(layout: Any, has_action_features: bool, build: Build) -> None:
    data = rows(has_action_features=has_action_features)
    oracle = Linear(layout=layout).oracle(data.log.contexts, K)
    twice = np.arange(len(data.x)) % 2 == 0
    weighted = oracle.summarise(data.log, np.where(twice, 2.0, 1.0))
    repeated = oracle.summarise(data.log) + oracle.summarise(data.log.where(twice))
    np.testing.assert_allclose(weighted.gram, repeated.gram, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(weighted.cross, repeated.cross, rtol=1e-12, atol=1e-9)


@every_layout
def test_a_constrained_fit_keeps_its_promise_on_the_rows(
    layout: Any, has_action_features: bool, build: Build
) -> None:
    active = rows(has_action_features=has_action_features)
    passive = rows(80, seed=1, has_action_features=has_action_features)
    oracle = Linear(layout=layout).oracle(active.log.contexts, K)
    model, fit = oracle.fit(oracle.summarise(active.log), oracle.summarise(passive.log), slack=0.01)
    design = design_of(passive, build)
    residuals = passive.reward - design @ np.linalg.lstsq(design, passive.reward)[0]
    predicted = model.scores(passive.log.contexts)[np.arange(80), passive.action]
    risk = np.mean((passive.reward - predicted) ** 2)
    assert fit.alpha == pytest.approx(np.mean(residuals**2), rel=1e-9)
    assert oracle.passive_risk(oracle.summarise(passive.log)) == pytest.approx(fit.alpha, rel=1e-9)
    assert fit.binding
    assert risk == pytest.approx(fit.alpha + 0.01, rel=1e-9)


def without(data: Rows, action: int) -> Log:
    return data.log.where(data.action != action)


@pytest.mark.parametrize(
    ("layout", "has_action_features"), [("per_action", False), ("per_action", True), ("hybrid", True)]
)
def test_an_unknown_action_scores_just_below_the_best_eligible_one(
    layout: Any, has_action_features: bool
) -> None:
    data = rows(has_action_features=has_action_features)
    oracle = Linear(layout=layout).oracle(data.log.contexts, K)
    model, _ = oracle.fit(oracle.summarise(without(data, 1)), oracle.empty())
    contexts = data.log.contexts
    scores = model.scores(contexts)
    assert np.array_equal(scores[:, 1], np.nextafter(np.maximum(scores[:, 0], scores[:, 2]), -np.inf))
    weights = inverse_gap_weighting(scores, 1000.0)
    np.testing.assert_allclose(weights[:, 1], 1.0 / K, rtol=1e-12)
    barred = np.ones((len(contexts), K), dtype=np.bool_)
    barred[:, 0] = False
    masked = model.scores(replace(contexts, eligible=barred))
    assert np.array_equal(masked[:, 1], np.nextafter(scores[:, 2], -np.inf))
    alone = np.zeros_like(barred)
    alone[:, 1] = True
    assert (model.scores(replace(contexts, eligible=alone))[:, 1] == 0.0).all()


def test_shared_coefficients_know_actions_that_were_never_taken() -> None:
    data = rows()
    oracle = Linear(layout="shared").oracle(data.log.contexts, K)
    model, _ = oracle.fit(oracle.summarise(without(data, 1)), oracle.empty())
    assert data.v is not None
    kept = data.action != 1
    seen = Rows(data.x[kept], data.v[kept], data.action[kept], data.reward[kept])
    np.testing.assert_allclose(
        model.scores(data.log.contexts), expected_scores(seen, data, shared), atol=1e-10
    )


def refitted(oracle: LinearOracle, first: Log, second: Log) -> tuple[Any, Any]:
    before, _ = oracle.fit(oracle.summarise(first), oracle.empty())
    return before, oracle.fit(oracle.summarise(second), oracle.empty(), previous=before)[0]


@pytest.mark.parametrize("has_action_features", [False, True])
@pytest.mark.parametrize("shift", [3.0, 1.7e9])
def test_an_action_without_new_rows_keeps_its_previous_line(has_action_features: bool, shift: float) -> None:
    data = rows(has_action_features=has_action_features, shift=shift)
    later = rows(seed=2, has_action_features=has_action_features, shift=shift)
    oracle = Linear(layout="per_action").oracle(data.log.contexts, K)
    before, after = refitted(oracle, data.log, without(later, 1))
    contexts = later.log.contexts
    # A timestamp that large is itself rounded to 2e-7.
    tolerance = 1e-12 if shift < 10 else 1e-6
    np.testing.assert_allclose(after.scores(contexts)[:, 1], before.scores(contexts)[:, 1], atol=tolerance)
    alone, _ = oracle.fit(oracle.summarise(later.log), oracle.empty())
    np.testing.assert_allclose(after.scores(contexts)[:, 0], alone.scores(contexts)[:, 0], atol=tolerance)
    assert after.known is None


def test_a_large_origin_costs_no_digits_of_a_steep_line() -> None:
    data = rows(has_action_features=False, shift=1.7e9)
    near = replace(data, x=data.x - 1.7e9)
    scores = fitted_scores(Linear(), data, data)
    np.testing.assert_allclose(scores, expected_scores(near, near, per_action), rtol=0, atol=1e-10)


@pytest.mark.parametrize("slopes", [(1e-7, 1e-5), (1e-5, 1e-7)])
def test_a_previous_line_is_kept_where_only_one_of_two_models_is_centred(
    slopes: tuple[float, float],
) -> None:
    month = np.random.default_rng(0).uniform(-2.6e6, 2.6e6, (120, P))
    data = [
        replace(rows(has_action_features=False), x=1.7e9 + month, reward=0.5 + slope * month[:, 0])
        for slope in slopes
    ]
    oracle = Linear().oracle(data[0].log.contexts, K)
    before, after = refitted(oracle, data[0].log, without(data[1], 1))
    assert (before.center is None) != (after.center is None)
    contexts = data[0].log.contexts
    np.testing.assert_allclose(after.scores(contexts)[:, 1], before.scores(contexts)[:, 1], rtol=0, atol=1e-9)


def test_an_action_that_was_never_taken_stays_unknown() -> None:
    data, later = rows(has_action_features=False), rows(seed=2, has_action_features=False)
    oracle = Linear().oracle(data.log.contexts, K)
    _, after = refitted(oracle, without(data, 1), without(later, 1))
    assert after.known.tolist() == [True, False, True]
    _, after = refitted(oracle, without(data, 1), without(later, 0))
    assert after.known is None


@every_layout
def test_confidence_widths_are_those_of_the_regularised_gram(
    layout: Any, has_action_features: bool, build: Build
) -> None:
    data = rows(has_action_features=has_action_features)
    model_class = Linear(layout=layout, ridge=2.0, intercept=True, standardise=False)
    log = data.log
    oracle = model_class.oracle(log.contexts, K)
    widths = oracle.optimistic(oracle.summarise(log), 1.0)[0].widths(log.contexts)
    centred = replace(
        data,
        x=data.x - data.x.mean(axis=0),
        v=None if data.v is None else data.v - data.v.mean(axis=(0, 1)),
    )
    design = design_of(centred, build)
    gram = design.T @ design + 2.0 * np.eye(design.shape[1])
    for action in range(K):
        phi = build(centred.x, features(centred, action), action)
        expected = np.sqrt(np.sum(phi * np.linalg.solve(gram, phi.T).T, axis=1))
        np.testing.assert_allclose(widths[:, action], expected, rtol=1e-9)


def test_a_layout_that_shares_needs_features_of_actions() -> None:
    contexts = rows(has_action_features=False).log.contexts
    for layout in ("shared", "hybrid"):
        with pytest.raises(ValueError, match=layout):
            replace(Linear(), layout=layout).oracle(contexts, K)


def test_settings_that_leave_nothing_to_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="intercept is False"):
        Linear(intercept=False).oracle(Contexts(np.zeros((5, 0))), K)
    with pytest.raises(ValueError, match=r"-1\.0"):
        Linear(ridge=-1.0)
