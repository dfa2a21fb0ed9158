from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.records import Log
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.synthetic.families import SinusoidEnvironment
from gyrfalcon.estimates.misspecification.nearest_pairs import residual_products
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate, NotEstimableError
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.protocol import ModelClass
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from tests.estimates.rows import (
    Rng,
    coverage,
    drawn,
    line_log,
    mean_and_deviation,
    passive_log,
    repeated,
    step_log,
)


def estimate(log: Log, model_class: ModelClass = Linear(), n_actions: int = 2) -> MisspecificationEstimate:
    return residual_products(log, model_class.oracle(log.contexts, n_actions), n_actions=n_actions)


def test_section_1_1_with_a_thousand_rows() -> None:
    # Known for plain products, 300 repetitions: mean .03064, deviation .00226, coverage .973; b is .03125.
    # Fits without the pair take off most of the bias that plain products have (-.0003), so the mean is
    # between: 4 standard errors of .00013 to either side, once in 16,000 runs. A coverage of 97% leaves 94 to
    # 99.7% once in 200 runs.
    found = repeated(lambda rng: estimate(step_log(rng)), 300)
    mean, spread = mean_and_deviation(found)
    assert 0.03064 - 0.0005 < mean < 0.03125 + 0.0005
    assert spread == pytest.approx(0.00226, rel=0.15)
    assert np.mean([one.standard_error for one in found]) == pytest.approx(0.00285, rel=0.05)
    assert 0.94 <= coverage(found, 1 / 32) <= 0.997


def test_rewards_of_zero_and_one() -> None:
    # b = .6^2 / 32, and noise of .24: at a coverage of 95%, outside 90 to 99% once in 1,000 runs.
    found = repeated(lambda rng: estimate(step_log(rng, 600, height=0.6, noise=None)), 300)
    assert 0.90 <= coverage(found, 0.36 / 32) <= 0.99
    mean, spread = mean_and_deviation(found)
    assert abs(mean - 0.36 / 32) < 4 * spread / np.sqrt(300)


@pytest.mark.parametrize("noise", [0.1, None])
def test_a_true_class_is_seldom_found_wrong(noise: float | None) -> None:
    # 2.5% of 300 are expected; more than 17 once in 1,000 runs.
    found = repeated(lambda rng: estimate(line_log(rng, 200, noise=noise)), 300)
    assert sum(one.lower > 0.0 for one in found) <= 17
    mean, spread = mean_and_deviation(found)
    assert abs(mean) < 4 * spread / np.sqrt(300)


def test_many_coefficients_leave_it_unbiased() -> None:
    # 22 coefficients for 120 rows: the products of plain residuals would be a fifth of the noise too small.
    found = repeated(lambda rng: estimate(line_log(rng, 120), Linear(basis=Polynomial(degree=10))), 300)
    mean, spread = mean_and_deviation(found)
    assert abs(mean) < 4 * spread / np.sqrt(300)
    assert sum(one.lower > 0.0 for one in found) <= 17


@pytest.mark.parametrize(
    ("n_features", "n", "noise"), [(2, 800, 0.3), pytest.param(3, 1500, 0.2, marks=pytest.mark.long)]
)
def test_sinusoids_in_a_few_dimensions(n_features: int, n: int, noise: float) -> None:
    # Neighbours differ a little: coverage is near 94% and leaves 88 to 99% of 150 once in 500 runs. Noise is
    # small enough that estimates are above 0: those below it have intervals that are wider than needed.
    environment = SinusoidEnvironment(
        n_features=n_features, misspecification=0.5, noise=noise, n_actions=2, frequency=2.0
    )
    b = misspecification(environment.population, Linear()).b

    def one(rng: Rng) -> MisspecificationEstimate:
        x = rng.uniform(-1.0, 1.0, (n, n_features))
        return estimate(drawn(rng, x, environment.means(x), noise))

    assert 0.88 <= coverage(repeated(one, 150), b) <= 0.99


def step_feature(x: Floats) -> Floats:
    return np.column_stack([x, x > 0.5])


def test_with_the_true_feature_nothing_is_left() -> None:
    rng = np.random.default_rng(0)
    log = step_log(rng, 2000)
    told = passive_log(step_feature(log.contexts.shared[:, 0]), log.action, log.reward)
    assert estimate(log).lower > 0.02
    found = estimate(told)
    assert found.lower == 0.0
    assert abs(found.untruncated) < 3 * found.standard_error < 0.002


def test_it_scales_with_the_square_of_rewards() -> None:
    log = step_log(np.random.default_rng(1), 100)
    larger = passive_log(log.contexts.shared, log.action, 3.0 * log.reward)
    one, nine = estimate(log), estimate(larger)
    for name in ("b_hat", "lower", "upper", "standard_error", "untruncated"):
        assert getattr(nine, name) == pytest.approx(9.0 * getattr(one, name), rel=1e-9)


def test_other_classes_are_fitted_by_folds() -> None:
    # The class of stumps holds the step, so b = 0 but for where exactly stumps are cut.
    log = step_log(np.random.default_rng(2), 600)
    hull = estimate(log, Regressor(StumpHull(budget=2.0)))
    assert hull.b_hat < 0.003
    assert estimate(log).b_hat > 0.02
    assert hull.n_pairs == estimate(log).n_pairs


def test_folds_agree_with_leaving_pairs_out() -> None:
    from sklearn.linear_model import LinearRegression

    log = step_log(np.random.default_rng(3), 800)
    by_folds, exact = estimate(log, Regressor(LinearRegression())), estimate(log)
    assert by_folds.untruncated == pytest.approx(exact.untruncated, abs=0.2 * exact.standard_error)


def test_what_is_told_beside_the_number() -> None:
    found = estimate(step_log(np.random.default_rng(4), 101), n_actions=4)
    assert found.method == "residual_products"
    assert found.n_rows == 2 * found.n_pairs == 100
    assert found.assumption.startswith("Mean rewards hardly change between nearest neighbours")
    assert found.notes == ("Nothing is said of 2 of 4 actions: none of their rows could be used.",)
    assert found.interval == (found.lower, found.upper)


def test_an_action_with_as_many_rows_as_coefficients_says_nothing() -> None:
    log = step_log(np.random.default_rng(5), 60)
    action = log.action.copy()
    action[:2] = 2
    found = estimate(passive_log(log.contexts.shared, action, log.reward), n_actions=3)
    assert "1 pairs were left out" in found.notes[1]
    assert found.notes[0].startswith("Nothing is said of 1 of 3 actions")


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(NotEstimableError, match=r"12 rows make \d pairs .*wait for at least 10"):
        estimate(step_log(np.random.default_rng(6), 12))
