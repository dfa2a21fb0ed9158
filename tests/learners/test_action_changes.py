"""Actions that come and go: what the other rows said stays said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.reindex import reindexed_moments
from gyrfalcon.oracles.solvers.least_squares import least_squares
from gyrfalcon.oracles.solvers.moments import Moments
from tests.contracts.environments import Lines, started, uniform_log

ENVIRONMENT = Lines(n_action_features=2)
HYBRID = Linear(layout="hybrid")
SOURCE = np.array([2, -1, 0])  # action 1 retired, the second is new


def hybrid_moments(keep_root: bool) -> tuple[Moments, Moments, Floats]:
    """Moments before and after, and the coefficients before."""
    log = uniform_log(ENVIRONMENT, 200)
    oracle = HYBRID.oracle(log.contexts, 3)
    rows, _ = oracle.design.rows(log)
    before = Moments.of(rows, log.reward, keep_root=keep_root)
    coefficients: Floats = np.linalg.lstsq(rows, log.reward)[0].astype(np.float64)
    return before, reindexed_moments(before, SOURCE, oracle.design), coefficients


@pytest.mark.parametrize("keep_root", [False, True])
def test_a_retired_action_of_a_hybrid_model_leaves_the_fit_of_the_others_alone(keep_root: bool) -> None:
    before, after, coefficients = hybrid_moments(keep_root)
    joint, own = coefficients[:6], coefficients[6:].reshape(3, 3)
    fit = least_squares(after)
    np.testing.assert_allclose(fit.coefficients[0, :6], joint, atol=1e-10)
    np.testing.assert_allclose(fit.coefficients[0, 6:].reshape(3, 3)[[0, 2]], own[[2, 0]], atol=1e-10)
    assert (fit.coefficients[0, 6:].reshape(3, 3)[1] == 0.0).all()
    np.testing.assert_allclose(fit.residual_squares, least_squares(before).residual_squares, rtol=1e-9)


@pytest.mark.parametrize("layout", ["per_action", "hybrid"])
def test_cumulative_passive_rows_and_their_scatter_stay_together(layout: str) -> None:
    model_class = Linear(layout="hybrid") if layout == "hybrid" else Linear(layout="per_action")
    learner = EpsilonFalcon(slack="sandwich", passive_data="all", epsilon=0.3, model_class=model_class)
    play = started(learner, ENVIRONMENT).until(800)
    state = fitted_state(learner.adapt(play.epoch, Problem(["action 2", "new", "action 0"], 2, 2)))
    assert isinstance(state.passive, Moments)
    assert state.scatter is not None
    assert state.scatter.shape == state.passive.gram.shape
    # Noise of standard deviation .1: the scatter is about .01 times the Gram matrix, action by action.
    squares = state.scale.unit**2 * np.trace(state.scatter, axis1=1, axis2=2)
    ratio = squares / np.maximum(np.trace(state.passive.gram, axis1=1, axis2=2), 1e-300)
    assert ((ratio == 0.0) | (np.abs(ratio - 0.01) < 0.005)).all()
    assert ratio.any()


@pytest.mark.parametrize("model_class", [HYBRID, Linear(layout="per_action")])
def test_greedy_play_gives_an_action_without_rows_its_share_and_no_more(model_class: Linear) -> None:
    log = uniform_log(ENVIRONMENT, 300)
    play = started(EpsilonGreedy(epsilon=0.0, model_class=model_class), ENVIRONMENT)
    play.learn(log.where(log.action != 0))
    probabilities = play.epoch.policy.probabilities(log.contexts)
    scores = scores_of(play.epoch.policy, log)
    np.testing.assert_allclose(probabilities[:, 0], 1 / 3)
    np.testing.assert_allclose(probabilities[np.arange(300), 1 + scores[:, 1:].argmax(axis=1)], 2 / 3)


@pytest.mark.parametrize("model_class", [HYBRID, Linear(layout="per_action")])
def test_an_action_without_rows_in_the_last_epoch_keeps_what_is_its_own(model_class: Linear) -> None:
    log = uniform_log(ENVIRONMENT, 300)
    play = started(EpsilonGreedy(model_class=model_class, data="last_epoch"), ENVIRONMENT)
    play.learn(log)
    before, scale = scores_of(play.epoch.policy, log), fitted_state(play.epoch).scale
    play.learn(log.where(log.action != 0))
    after, later = scores_of(play.epoch.policy, log), fitted_state(play.epoch).scale
    moved = scale.unit * (after * later.spread + later.center - before * scale.spread - scale.center)
    assert np.abs(moved[:, 0]).max() < 0.05
    assert np.abs(after[:, 0] - after[:, 1:].max(axis=1)).max() > 0.1


def scores_of(policy: object, log: Log) -> Floats:
    assert isinstance(policy, KernelPolicy)
    return policy.scorer.scores(replace(log.contexts, eligible=None))
