"""SWITCH and the choice of its limit, and that of shrinkage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats
from tests.evaluation.estimators.direct import Rows, random_rows

limits = st.sampled_from([0.0, 0.3, 1.0, 3.0, math.inf])


def with_distribution(seed: int, n: int, n_actions: int) -> tuple[Rows, Floats]:
    """Rows whose propensities are those of a full distribution."""
    rows = random_rows(seed, n, n_actions)
    distribution = np.random.default_rng(seed).dirichlet(np.ones(n_actions), n)
    propensities = distribution[np.arange(n), rows.actions]
    return Rows(rows.rewards, rows.actions, propensities, rows.target, rows.predictions), distribution


some = st.builds(with_distribution, st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 5))


def plain(rows: Rows, distribution: Floats, limit: float) -> float:
    """The formula in plain Python."""
    total = 0.0
    for i, action in enumerate(rows.actions.tolist()):
        for a in range(distribution.shape[1]):
            weight = rows.target[i, a] / distribution[i, a]
            if weight > limit:
                total += rows.target[i, a] * rows.predictions[i, a]
            elif a == action:
                total += weight * rows.rewards[i]
    return total / len(rows.rewards)


@given(some, limits)
def test_switch_follows_its_formula(log: tuple[Rows, Floats], limit: float) -> None:
    rows, distribution = log
    found = ev.switch(
        rows.rewards, rows.actions, distribution, rows.target, rows.predictions, max_weight=limit
    )
    assert found.value == pytest.approx(plain(rows, distribution, limit), rel=1e-9, abs=1e-9)


@given(some)
def test_switch_leads_from_the_direct_method_to_ips(log: tuple[Rows, Floats]) -> None:
    rows, distribution = log
    arguments = rows.rewards, rows.actions, distribution, rows.target, rows.predictions
    ips = ev.inverse_propensity(*rows.log).contributions
    dm = ev.direct_method(rows.target, rows.predictions).contributions
    np.testing.assert_allclose(ev.switch(*arguments, max_weight=math.inf).contributions, ips, atol=1e-9)
    np.testing.assert_allclose(ev.switch(*arguments, max_weight=0.0).contributions, dm, atol=1e-9)


def test_an_action_that_the_log_never_takes_is_modelled() -> None:
    log = [1.0], [0], [[1.0, 0.0]], [[0.5, 0.5]], [[0.2, 0.6]]
    assert ev.switch(*log, max_weight=10.0).value == pytest.approx(0.5 + 0.5 * 0.6)
    assert ev.switch(*log, max_weight=math.inf).value == pytest.approx(0.5 + 0.5 * 0.6)


def test_the_known_value_of_four_rows() -> None:
    distribution = [[0.5, 0.5], [0.8, 0.2], [0.8, 0.2], [0.5, 0.5]]
    log = [1, 0, 0, 1], [0, 1, 0, 1], distribution, [[0.25, 0.75]] * 4, [[0.5, 0.5]] * 4
    assert ev.switch(*log, max_weight=2.0).value == pytest.approx(0.6875, rel=1e-12)


def skewed(n: int) -> tuple[Rows, Floats]:
    """A target that leans on an action of propensity 0.002, and a model that is right."""
    rng = np.random.default_rng(1)
    actions = (rng.random(n) < 0.002).astype(int)
    actions[0] = 1
    means = np.array([0.3, 0.6])
    rewards = (rng.random(n) < means[actions]).astype(float)
    distribution = np.tile([0.998, 0.002], (n, 1))
    propensities = distribution[np.arange(n), actions]
    target = np.tile([0.97, 0.03], (n, 1))
    return Rows(rewards, actions, propensities, target, np.tile(means, (n, 1))), distribution


def test_large_weights_are_left_to_the_model_while_rows_are_few() -> None:
    few, distribution = skewed(40)
    bounded: Any = {"distribution": distribution, "reward_range": 1.0}
    assert ev.select_max_weight(*few.all, **bounded) < 15.0
    many, distribution = skewed(100_000)
    assert ev.select_max_weight(*many.all, distribution=distribution, reward_range=1.0) == math.inf


def test_estimated_bias_leaves_large_weights_to_a_model_that_is_right_and_not_to_a_wrong_one() -> None:
    rows, _ = skewed(20_000)
    assert ev.select_max_weight(*rows.all) < 15.0
    wrong = np.tile([0.3, 0.1], (20_000, 1))
    assert ev.select_max_weight(*rows.log, wrong) == math.inf
    assert ev.select_shrinkage(*rows.all) < 100.0 < ev.select_shrinkage(*rows.log, wrong)


def test_the_choice_minimises_variance_plus_squared_bias_bound() -> None:
    rows, distribution = with_distribution(2, 400, 4)
    weights = rows.target / distribution
    limits = [0.0, 1.0, 2.0, 5.0, 9.0, math.inf]

    def error(limit: float) -> float:
        variance = ev.switch_doubly_robust(*rows.all, max_weight=limit).standard_error ** 2
        lost = np.where(weights > limit, rows.target, 0.0).sum(axis=1)
        return float(variance + (0.3 * lost.mean()) ** 2)

    bounded: Any = {"distribution": distribution, "reward_range": 0.3}
    chosen = ev.select_max_weight(*rows.all, **bounded, candidates=limits)
    assert chosen == min(limits, key=error) < math.inf

    def error_of_shrinkage(shrinkage: float) -> float:
        variance = ev.shrunk_doubly_robust(*rows.all, shrinkage=shrinkage).standard_error ** 2
        lost = 0.0 if shrinkage == math.inf else rows.target * (1.0 - shrinkage / (weights**2 + shrinkage))
        return float(variance + (0.3 * np.sum(lost) / 400) ** 2)

    several = [0.1, 1.0, 10.0, 100.0, 1e4, math.inf]
    chosen = ev.select_shrinkage(*rows.all, **bounded, candidates=several)
    assert chosen == min(several, key=error_of_shrinkage) < math.inf


def test_default_candidates_suit_each_estimator() -> None:
    rows, distribution = with_distribution(2, 400, 4)
    bounded: Any = {"distribution": distribution, "reward_range": 0.3}
    clipped = ev.select_max_weight(*rows.log, **bounded, clipped=True)
    assert 0.0 < clipped < math.inf
    assert ev.clipped_inverse_propensity(*rows.log, max_weight=clipped).standard_error > 0.0
    low, high = (
        ev.select_shrinkage(*rows.all, distribution=distribution, reward_range=wide) for wide in (1e-9, 1e9)
    )
    assert low < 1.0 < high == math.inf


def test_impossible_settings_are_refused() -> None:
    rows, distribution = with_distribution(2, 4, 2)
    with pytest.raises(ValueError, match="candidates is empty; give at least one"):
        ev.select_max_weight(*rows.all, candidates=[])
    with pytest.raises(ValueError, match="reward_range is 0"):
        ev.select_shrinkage(*rows.all, distribution=distribution, reward_range=0.0)
    with pytest.raises(ValueError, match="distribution and reward_range bound the bias together; give both"):
        ev.select_shrinkage(*rows.all, reward_range=1.0)
    with pytest.raises(ValueError, match="max_weight is -1"):
        ev.select_max_weight(*rows.all, candidates=[-1.0])
