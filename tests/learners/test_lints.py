"""LinTS: propensities are the probabilities that a draw from the posterior finds an action best."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.core.records import Log
from gyrfalcon.learners.optimistic.lints import CoefficientDraws, LinTS
from gyrfalcon.oracles.linear.linear import Linear
from tests.contracts.environments import Lines, started, uniform_log
from tests.learners.spreads import in_spreads
from tests.learners.test_ridge_learner import model_of

RAW = Linear(intercept=False, standardise=False)
TEXTBOOK = LinTS(model_class=RAW)
SHARED = LinTS(model_class=replace(RAW, layout="shared"), n_draws=4000)
HYBRID = LinTS(model_class=replace(RAW, layout="hybrid"), n_draws=4000)
WITH_FEATURES = Lines(n_action_features=2)


def policy_after(learner: LinTS, environment: Lines, n: int = 60) -> Policy:
    play = started(learner, environment)
    play.learn(uniform_log(environment, n))
    return play.epoch.policy


def draws_of(policy: Policy) -> CoefficientDraws:
    policy = without_trying(policy)
    assert isinstance(policy, SampledPolicy)
    assert isinstance(policy.scorers, CoefficientDraws)
    return policy.scorers


def ridge_posterior(phi: Floats, rewards: Floats) -> tuple[Floats, Floats]:
    """The textbook's mu and V^-1 for ridge 1."""
    inverse: Floats = np.linalg.inv(np.eye(phi.shape[1]) + phi.T @ phi).astype(np.float64)
    return inverse @ phi.T @ rewards, inverse


def interacted(contexts: Contexts) -> Floats:
    """[x, v, x v] of every action, (n, K, 8): the shared layout by hand."""
    assert contexts.actions is not None
    x = np.repeat(contexts.shared[:, np.newaxis], contexts.actions.shape[1], axis=1)
    v = contexts.actions
    products = [x[..., i : i + 1] * v[..., j : j + 1] for i in range(2) for j in range(2)]
    return np.concatenate([x, v, *products], axis=2)


def shared_posterior(log: Log) -> tuple[Floats, Floats]:
    return ridge_posterior(interacted(log.contexts)[np.arange(len(log)), log.action], log.reward)


def test_one_row_by_hand() -> None:
    play = started(replace(TEXTBOOK, scale=0.1), Lines(n_actions=2))
    play.learn(
        Problem(["a", "b"], 2).log(Contexts(np.array([[1.0, 0.0]])), ["a"], [1.0], propensities="uniform")
    )
    model = model_of(play.epoch.policy)
    np.testing.assert_allclose(model.means(Contexts(np.eye(2)))[:, 0], [0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(model.widths(Contexts(np.eye(2)))[:, 0], [math.sqrt(0.5), 1.0], rtol=1e-15)
    # The action without data is tried as often as every other: a fair coin.
    assert play.epoch.policy.probabilities(Contexts(np.eye(2))).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_two_actions_of_their_own_have_a_closed_form() -> None:
    environment = Lines(n_actions=2)
    log = in_spreads(uniform_log(environment, 60), intercept=False)
    x = log.contexts.shared
    means, variances = np.empty((60, 2)), np.empty((60, 2))
    for action in range(2):
        mu, inverse = ridge_posterior(x[log.action == action], log.reward[log.action == action])
        means[:, action], variances[:, action] = x @ mu, 0.25 * np.einsum("ni,ij,nj->n", x, inverse, x)
    expected = ndtr((means[:, 0] - means[:, 1]) / np.sqrt(variances.sum(axis=1)))
    policy = policy_after(TEXTBOOK, environment)
    assert isinstance(policy, ThompsonPolicy)
    np.testing.assert_allclose(policy.probabilities(log.contexts)[:, 0], expected, rtol=0, atol=1e-10)


def test_three_actions_agree_with_independent_draws() -> None:
    environment, rng = Lines(), np.random.default_rng(5)
    log = in_spreads(uniform_log(environment, 60), intercept=False)
    x, n_draws = log.contexts.shared[:20], 100_000
    scores = np.empty((n_draws, 20, 3))
    for action in range(3):
        mu, inverse = ridge_posterior(
            log.contexts.shared[log.action == action], log.reward[log.action == action]
        )
        scores[:, :, action] = rng.multivariate_normal(mu, 0.25 * inverse, n_draws) @ x.T
    shares = np.stack([(scores.argmax(axis=2) == action).mean(axis=0) for action in range(3)], axis=1)
    # A share has a deviation of at most .5 / sqrt(n_draws); 60 of them exceed five once in 29,000 times.
    found = policy_after(TEXTBOOK, environment).probabilities(Contexts(x))
    np.testing.assert_allclose(found, shares, rtol=0, atol=5 * 0.5 / math.sqrt(n_draws))


def test_two_actions_with_shared_coefficients_agree_with_their_closed_form() -> None:
    environment = replace(WITH_FEATURES, n_actions=2)
    log = in_spreads(uniform_log(environment, 60), intercept=False)
    mu, inverse = shared_posterior(log)
    phi = interacted(log.contexts)
    difference = phi[:, 0] - phi[:, 1]
    spread = 0.5 * np.sqrt(np.einsum("ni,ij,nj->n", difference, inverse, difference))
    found = policy_after(SHARED, environment).probabilities(log.contexts)[:, 0]
    # 60 shares of 4,000 draws: one exceeds five deviations once in 29,000 times.
    np.testing.assert_allclose(found, ndtr(difference @ mu / spread), rtol=0, atol=5 * 0.5 / math.sqrt(4000))


def test_more_actions_with_shared_coefficients_agree_with_independent_draws() -> None:
    log, n_draws = in_spreads(uniform_log(WITH_FEATURES, 60), intercept=False), 20_000
    mu, inverse = shared_posterior(log)
    theta = np.random.default_rng(5).multivariate_normal(mu, 0.25 * inverse, n_draws)
    contexts = log.contexts.take(slice(0, 20))
    scores = np.einsum("md,nkd->mnk", theta, interacted(contexts))
    shares = np.stack([(scores.argmax(axis=2) == action).mean(axis=0) for action in range(3)], axis=1)
    found = policy_after(SHARED, WITH_FEATURES).probabilities(contexts)
    # Both sides are shares: deviations add up as squares. Five of them: once in 29,000 times.
    np.testing.assert_allclose(found, shares, rtol=0, atol=5 * 0.5 * math.sqrt(1 / 4000 + 1 / n_draws))


@pytest.mark.parametrize(
    "learner", [SHARED, HYBRID, LinTS(model_class=Linear(layout="hybrid"), n_draws=4000)]
)
def test_draws_have_the_means_and_widths_of_the_posterior(learner: LinTS) -> None:
    draws = draws_of(policy_after(learner, WITH_FEATURES))
    contexts = WITH_FEATURES.draw(0, 20, seed=1).contexts
    scores, model = draws.draws(contexts), draws.model
    assert scores.shape == (4000, 20, 3)
    spread = 0.5 * model.widths(contexts)
    standard = (scores.mean(axis=0) - model.means(contexts)) / spread * math.sqrt(4000)
    # 60 standard normal numbers, and 60 chi-square ones that are nearly so: five deviations are exceeded
    # once in 14,000 times.
    assert np.abs(standard).max() < 5.0
    assert np.abs(scores.std(axis=0) / spread - 1.0).max() < 5.0 / math.sqrt(2 * 4000)


@pytest.mark.parametrize("learner", [TEXTBOOK, SHARED, HYBRID])
def test_a_small_scale_is_greedy_play(learner: LinTS) -> None:
    environment = WITH_FEATURES if learner.model_class.layout else Lines()
    contexts = environment.draw(0, 100, seed=1).contexts
    for scale in (0.0, 1e-9):
        policy = policy_after(replace(learner, scale=scale, n_draws=50), environment)
        best = model_of(policy).means(contexts).argmax(axis=1)
        assert np.array_equal(policy.probabilities(contexts) == 1.0, np.eye(3, dtype=np.bool_)[best])


def test_a_large_scale_is_uniform_play_where_all_actions_have_the_same_rows() -> None:
    problem = Problem([0, 1, 2], 2, out_of_range="accept")
    x = np.repeat(np.random.default_rng(1).normal(size=(30, 2)), 3, axis=0)
    log = problem.log(Contexts(x), [0, 1, 2] * 30, np.linspace(0.0, 1.0, 90).tolist(), propensities="uniform")
    play = started(replace(TEXTBOOK, scale=1e9), Lines())
    play.learn(log)
    np.testing.assert_allclose(play.epoch.policy.probabilities(log.contexts), 1 / 3, atol=1e-8)


def test_draws_follow_from_the_seed_and_the_epoch() -> None:
    contexts = WITH_FEATURES.draw(0, 30, seed=1).contexts
    once, again, other = (
        draws_of(policy_after(replace(SHARED, seed=seed), WITH_FEATURES)).draws(contexts)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)
    play = started(SHARED, WITH_FEATURES)
    log = uniform_log(WITH_FEATURES, 60)
    normals = []
    for _ in range(2):
        play.learn(log)
        drawn = draws_of(play.epoch.policy)
        normals.append(np.linalg.inv(drawn.model.factors[0].T) @ drawn.joint)
    assert np.abs(np.corrcoef(normals[0].ravel(), normals[1].ravel())[0, 1]) < 0.1


def test_an_action_is_played_with_its_share_of_the_draws() -> None:
    learner = replace(HYBRID, n_draws=40)
    play = started(learner, WITH_FEATURES)
    play.learn(uniform_log(WITH_FEATURES, 60))
    contexts = WITH_FEATURES.draw(0, 200, seed=1).contexts
    best = draws_of(play.epoch.policy).draws(contexts).argmax(axis=2)
    made = decide(play.epoch, np.arange(200), contexts, np.random.default_rng(2).random((200, 3)))
    shares = (best == made.action).mean(axis=0)
    np.testing.assert_allclose(made.propensity, shares, rtol=0, atol=1e-15)
    assert (made.propensity >= 1 / 40 - 1e-15).all()


@pytest.mark.parametrize("learner", [SHARED, HYBRID])
def test_a_row_has_the_same_draws_alone_and_in_any_batch(learner: LinTS) -> None:
    draws = draws_of(policy_after(replace(learner, n_draws=50), WITH_FEATURES))
    contexts = WITH_FEATURES.draw(0, 33, seed=1).contexts
    together = draws.draws(contexts)
    for size in (1, 2, 7):
        parts = [draws.draws(contexts.take(slice(i, i + size))) for i in range(0, 33, size)]
        assert np.array_equal(np.concatenate(parts, axis=1), together)


def test_a_new_action_of_a_hybrid_model_is_drawn_from_the_prior() -> None:
    learner = replace(HYBRID, scale=0.1)
    play = started(learner, WITH_FEATURES)
    play.learn(uniform_log(WITH_FEATURES, 300))
    problem = Problem(["action 2", "new", "action 0", "newer"], 2, 2, out_of_range="accept")
    adapted = draws_of(learner.adapt(play.epoch, problem).policy)
    before = draws_of(play.epoch.policy)
    assert before.own is not None
    assert adapted.own is not None
    assert np.array_equal(adapted.own[[0, 2]], before.own[[2, 0]])
    assert np.array_equal(adapted.joint, before.joint)
    # With ridge 1 and raw features the prior's deviation is the scale; a deviation of 4,000 draws is off by
    # 1.1%, so four numbers are within 5.6% but for once in 400,000 times.
    np.testing.assert_allclose(adapted.own[[1, 3]].std(axis=2), 0.1, rtol=0.056)
    assert abs(np.corrcoef(adapted.own[1, 0], adapted.own[3, 0])[0, 1]) < 0.1
    again = learner.adapt(play.epoch, problem)
    assert np.array_equal(draws_of(again.policy).own, adapted.own)  # type: ignore[arg-type]


def test_the_theory_scale_grows_with_rows_and_coefficients() -> None:
    learner = LinTS(scale="theory", noise=0.2, delta=0.1)
    assert learner.scale_after(50, 6) == 0.2 * math.sqrt(9 * 6 * math.log(500))
    policy = policy_after(learner, Lines())
    assert isinstance(policy, ThompsonPolicy)
    assert policy.scale == learner.scale_after(60, 9)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"scale": -0.5}, "scale is -0.5"),
        ({"scale": "theorem"}, "scale is 'theorem'; give a number of at least 0, or 'theory'"),
        ({"noise": math.nan}, "noise is nan"),
        ({"delta": 0.7}, "delta is 0.7"),
        ({"n_draws": 0}, "n_draws is 0"),
        ({"n_draws": 10.0}, "n_draws is 10.0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LinTS(**settings)
