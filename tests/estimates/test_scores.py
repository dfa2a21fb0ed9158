from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import dr_scores, ips_scores, paired_gains
from gyrfalcon.estimates.tally import Tally


def log_of(action: Any, reward: Any, propensity: Any) -> Log:
    actions, n = np.asarray(action, dtype=np.int64), len(action)
    rewards, chances = np.asarray(reward, dtype=np.float64), np.asarray(propensity, dtype=np.float64)
    zeros = np.zeros(n, dtype=np.int64)
    return Log(Contexts(np.zeros((n, 0))), actions, rewards, chances, zeros, np.arange(n), zeros)


FOUR_ROWS = log_of([0, 1, 0, 1], [1, 0, 0, 1], [0.5, 0.2, 0.8, 0.5])
TARGET = np.tile([0.25, 0.75], (4, 1))
MODEL = np.full((4, 2), 0.5)


def test_inverse_propensity_scores_of_four_rows() -> None:
    scores = ips_scores(TARGET, FOUR_ROWS)
    np.testing.assert_allclose(scores, [0.5, 0.0, 0.0, 1.5])
    assert Tally.of(scores).mean == 0.5


def test_doubly_robust_scores_of_four_rows() -> None:
    scores = dr_scores(TARGET, MODEL, FOUR_ROWS)
    np.testing.assert_allclose(scores, [0.75, -1.375, 0.34375, 1.25])
    tally = Tally.of(scores)
    assert tally.mean == pytest.approx(0.2421875, rel=1e-12)
    # The known answer divides by n; ours is the sample's, by n - 1.
    assert tally.standard_error * np.sqrt(3 / 4) == pytest.approx(0.49365790, abs=1e-8)


def random_tables(seed: int, *shape: int) -> Floats:
    return np.asarray(np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), shape[:-1]))


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 10**6))
def test_means_are_unbiased_over_all_that_could_have_been_played(n: int, K: int, seed: int) -> None:
    play, target = random_tables(seed, n, K), random_tables(seed + 1, n, K)
    model = np.random.default_rng(seed).normal(size=(n, K))
    rewards = np.random.default_rng(seed + 2).normal(size=(n, K))
    rows, expected_ips, expected_dr = np.arange(n), np.zeros(n), np.zeros(n)
    for actions in product(range(K), repeat=n):
        chosen = np.array(actions)
        log = log_of(chosen, rewards[rows, chosen], play[rows, chosen])
        chance = float(np.prod(log.propensity))
        expected_ips += chance * ips_scores(target, log)
        expected_dr += chance * dr_scores(target, model, log)
    value = (target * rewards).sum(axis=1)
    np.testing.assert_allclose(expected_ips, value, atol=1e-9)
    np.testing.assert_allclose(expected_dr, value, atol=1e-9)


@given(st.integers(0, 20), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_candidates_at_once_are_candidates_one_by_one(n: int, K: int, C: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    log = log_of(rng.integers(0, K, n), rng.random(n), rng.uniform(0.1, 1.0, n))
    targets, incumbent = random_tables(seed, C, n, K), random_tables(seed + 1, n, K)
    models = rng.random((C, n, K))
    together = dr_scores(targets, models, log)
    assert together.shape == (C, n)
    for one in range(C):
        np.testing.assert_allclose(together[one], dr_scores(targets[one], models[one], log))
    gains = paired_gains(targets, incumbent, models[0], log)
    difference = dr_scores(targets, models[0], log) - dr_scores(incumbent, models[0], log)
    np.testing.assert_allclose(gains, difference, atol=1e-10)
    np.testing.assert_allclose(dr_scores(targets, np.zeros((n, K)), log), ips_scores(targets, log))


@given(st.integers(1, 20), st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    log = log_of(rng.integers(0, 3, n), rng.random(n), rng.uniform(0.1, 1.0, n))
    target, model, order = random_tables(seed, n, 3), rng.random((n, 3)), rng.permutation(n)
    scores = dr_scores(target, model, log)
    np.testing.assert_allclose(dr_scores(target[order], model[order], log.take(order)), scores[order])


def test_an_exact_model_leaves_no_doubt() -> None:
    rng = np.random.default_rng(0)
    model, action = rng.random((50, 3)), rng.integers(0, 3, 50)
    log = log_of(action, model[np.arange(50), action], np.full(50, 1 / 3))
    target = random_tables(1, 50, 3)
    np.testing.assert_allclose(dr_scores(target, model, log), (target * model).sum(axis=1))


def test_playing_the_target_itself_scores_the_rewards() -> None:
    rng = np.random.default_rng(2)
    play, action = random_tables(3, 30, 4), rng.integers(0, 4, 30)
    log = log_of(action, rng.random(30), play[np.arange(30), action])
    np.testing.assert_allclose(ips_scores(play, log), log.reward)


def test_a_policy_gains_nothing_on_itself() -> None:
    gains = paired_gains(np.stack([TARGET, TARGET[:, ::-1]]), TARGET, MODEL, FOUR_ROWS)
    tally = Tally.of(gains)
    assert gains[0].tolist() == [0.0] * 4
    assert (tally.mean[0], tally.standard_error[0], tally.z[0]) == (0.0, 0.0, 0.0)
    assert tally.z[1] != 0.0


def test_what_a_model_says_of_actions_that_are_never_taken_does_not_matter() -> None:
    log = log_of([0, 1], [1.0, 0.0], [0.5, 0.5])
    target = np.array([[1.0, 0.0], [1.0, 0.0]])
    model = np.array([[0.3, -np.inf], [0.3, np.nan]])
    np.testing.assert_allclose(dr_scores(target, model, log), [0.3 + 2 * 0.7, 0.3])
    with pytest.raises(ValueError, match="not finite where the target may act"):
        dr_scores(target[:, ::-1], model, log)


@pytest.mark.parametrize("propensity", [0.0, -0.1, 1.5, np.inf])
def test_a_played_action_has_a_propensity(propensity: float) -> None:
    log = log_of([0, 1], [1.0, 0.0], [0.5, propensity])
    with pytest.raises(
        ValueError, match=r"row 1: the played action has a propensity of .* in \(0, 1\]; give"
    ):
        ips_scores(TARGET[:2], log)
    with pytest.raises(ValueError, match=r"row 1: the played action has a propensity"):
        dr_scores(TARGET[:2], MODEL[:2], log)


def test_rows_of_unknown_propensity_are_refused_and_can_be_left_out() -> None:
    log = log_of([0, 1], [1.0, 0.0], [0.5, np.nan])
    told = r"row 1: the propensity is unknown, and 1 of 2 are; .* leave these rows out"
    with pytest.raises(ValueError, match=told):
        ips_scores(TARGET[:2], log)
    with pytest.raises(ValueError, match=told):
        dr_scores(TARGET[:2], MODEL[:2], log)
    assert ips_scores(TARGET[:1], log.where(log.has_propensity)).shape == (1,)


def test_rewards_are_finite() -> None:
    with pytest.raises(ValueError, match="row 0: the reward is nan; give a finite one"):
        ips_scores(TARGET[:1], log_of([0], [np.nan], [0.5]))


@pytest.mark.parametrize("shape", [(3, 2), (4, 1), (4,), (2, 5, 2)])
def test_tables_fit_the_log(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"target has shape .*give \(..., n, K\) for n = 4 rows"):
        ips_scores(np.ones(shape), FOUR_ROWS)
    with pytest.raises(ValueError, match="model_scores has shape"):
        dr_scores(TARGET, np.ones(shape), FOUR_ROWS)
