from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from gyrfalcon.evaluation.rows.expected_spread import ExpectedSpread, expected_spread
from gyrfalcon.evaluation.rows.weighting import TargetWeights
from tests.evaluation.logs import log_of


def spread_of(table: DecisionTable, target: Floats, share: Floats | None = None) -> ExpectedSpread:
    rows = evaluated_rows(table)
    even = np.full(len(table), 1.0 / len(table))
    return expected_spread(TargetWeights.of(target, rows), rows, even if share is None else share)


def always(action: int, n: int, k: int = 3) -> Floats:
    return np.tile(np.eye(k)[action], (n, 1))


def with_spread(table: DecisionTable) -> DecisionTable:
    """Rewards whose mean square around their mean is 1 for every action."""
    reward = np.ones(len(table))
    for action in range(table.n_actions):
        places = np.flatnonzero(table.action == action)
        reward[places[::2]] = -1.0
        reward[places[len(places) - len(places) % 2 :]] = 0.0
    return replace(table, reward=reward)


def test_without_rare_rows_it_is_the_root_of_the_mean_squared_weight() -> None:
    n = 2_000
    table = with_spread(log_of(n, propensities=np.array([0.5, 0.3, 0.2])))
    found = spread_of(table, always(2, n))
    assert found.limit == math.inf
    assert found.bias == 0.0
    assert found.seen == pytest.approx(5.0 / n)
    assert found.error == pytest.approx(math.sqrt(5.0 / n), rel=0.01)


def test_rows_too_rare_to_be_drawn_are_a_bias_and_no_spread() -> None:
    """Ten rows of propensity 1e-8 among 2,000 would multiply the variance by a million."""
    n, n_rare, tiny = 2_000, 10, 1e-8
    common = np.array([0.5, 0.3, 0.2])
    table = with_spread(log_of(n, propensities=common))
    assert table.distribution is not None
    chances = table.distribution.copy()
    rare = np.flatnonzero(table.action != 2)[:n_rare]
    chances[rare] = np.array([0.5 - tiny, 0.5, tiny])
    table = replace(table, distribution=chances, propensity=chances[np.arange(n), table.action])
    found = spread_of(table, always(2, n))
    assert found.seen == pytest.approx((n - n_rare) * 5.0 / n**2)
    assert found.bias == pytest.approx(n_rare / n, rel=0.02)
    assert found.variance == pytest.approx(found.seen, rel=0.02)
    assert found.limit < 1.0 / (n * tiny)


@given(st.integers(0, 10_000), st.floats(0.1, 3.0))
def test_no_other_limit_has_a_smaller_error(seed: int, decay: float) -> None:
    """The second way: all cells in turn as the limit. Bins of a quarter of an octave cost little."""
    random = np.random.default_rng(seed)
    n = 60
    chances = random.dirichlet(np.full(3, 0.5), n) + 10.0 ** -(random.uniform(0, 9, (n, 1)) ** (1 / decay))
    chances /= chances.sum(axis=1, keepdims=True)
    action = np.array([random.choice(3, p=p) for p in chances])
    table = with_spread(log_of(n, propensities=np.full(3, 1 / 3)))
    table = replace(table, action=action, distribution=chances, propensity=chances[np.arange(n), action])
    target = random.dirichlet(np.ones(3), n)
    share = random.dirichlet(np.full(n, 3.0))
    found = spread_of(table, target, share)
    residual = (table.reward - table.reward.mean()) ** 2
    counts = np.bincount(action, minlength=3)
    variances = np.bincount(action, residual, 3) + 10.0 * residual.mean()
    deviations = np.sqrt(variances / (counts + 10.0))
    mass = share[:, np.newaxis] * target
    weight = mass / chances
    errors = []
    for limit in [*weight.ravel(), np.inf, 0.0]:
        within = weight <= limit
        variance = (mass * weight * deviations**2)[within].sum()
        bias = np.broadcast_to(deviations, mass.shape)[~within] @ mass[~within]
        errors.append(math.hypot(math.sqrt(variance), bias))
    assert min(errors) * (1 - 1e-9) <= found.error <= 1.1 * min(errors)
    assert found.error <= errors[-2] * (1 + 1e-9)


def test_it_scales_with_the_unit_of_reward_and_ignores_its_origin() -> None:
    n = 500
    table = log_of(n, propensities=np.array([0.6, 0.3, 0.1]))
    cents = replace(table, reward=100.0 * table.reward + 7_000.0)
    first, second = (spread_of(one, always(2, n)) for one in (table, cents))
    assert second.error == pytest.approx(100.0 * first.error, rel=1e-9)
    assert (second.limit, second.seen) == (first.limit, first.seen)


def test_rows_of_unknown_distribution_count_as_drawn() -> None:
    n = 99  # too few for shares that are fixed to count as known
    table = replace(with_spread(log_of(n, propensities=np.array([0.5, 0.3, 0.2]))), distribution=None)
    rows = evaluated_rows(table)
    weights = TargetWeights.of(always(2, n), rows)
    found = expected_spread(weights, rows, np.full(n, 1.0 / n))
    assert not weights.exact.any()
    assert found.seen == pytest.approx(float((weights.weights**2).sum()) / n**2)
    assert found.bias == 0.0
