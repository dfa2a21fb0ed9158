"""LinUCB: ridge regression with a bonus."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel
from tests.contracts.environments import Lines, started, uniform_log
from tests.learners.spreads import in_spreads

TEXTBOOK = LinUCB(model_class=Linear(intercept=False, standardise=False))
UNIT_VECTORS = Contexts(np.eye(2))


def scorer_of(epoch: Epoch) -> OptimisticModel:
    assert isinstance(epoch.policy, KernelPolicy)
    assert isinstance(epoch.policy.scorer, OptimisticModel)
    return epoch.policy.scorer


def learned(learner: LinUCB, log: Log, n_actions: int = 2) -> OptimisticModel:
    problem = Problem(list(range(n_actions)), log.contexts.shared.shape[1], out_of_range="accept")
    return scorer_of(learner.next_epoch(learner.start(problem), log))


def one_row(x: Floats, reward: float) -> Log:
    problem = Problem(["a", "b"], 2)
    return problem.log(Contexts(x), ["a"], [reward], propensities="uniform")


def test_one_row_by_hand() -> None:
    scorer = learned(TEXTBOOK, one_row(np.array([[1.0, 0.0]]), 1.0))
    np.testing.assert_allclose(scorer.model.scores(UNIT_VECTORS)[:, 0], [0.5, 0.0], atol=1e-15)
    np.testing.assert_allclose(scorer.widths(UNIT_VECTORS)[:, 0], [math.sqrt(0.5), 1.0], rtol=1e-15)
    np.testing.assert_allclose(scorer.widths(UNIT_VECTORS)[:, 1], [1.0, 1.0], rtol=1e-15)
    # The other action has no data: it borrows the best estimate, .5, and has a bonus of its own.
    np.testing.assert_allclose(scorer.scores(UNIT_VECTORS)[0], [0.5 + math.sqrt(0.5), 1.5], rtol=1e-15)


@pytest.mark.parametrize("untried", [0, 1])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 1.0])
def test_an_action_without_data_is_tried_beside_the_others(alpha: float, untried: int) -> None:
    problem = Problem([0, 1], 0)
    log = problem.log(problem.contexts(n=100), [1 - untried] * 100, [0.9] * 100, [0.5] * 100)
    learner = LinUCB(alpha=alpha)
    epoch = learner.next_epoch(learner.start(problem), log)
    assert epoch.policy.probabilities(problem.contexts(n=1)).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_scores_are_the_ridge_closed_form(alpha: float, ridge: float) -> None:
    log = uniform_log(Lines(), 200)
    learner = replace(TEXTBOOK, alpha=alpha, ridge=ridge)
    scores = learned(learner, log, n_actions=3).scores(log.contexts)
    log = in_spreads(log, intercept=False)
    x = log.contexts.shared
    for action in range(3):
        own = log.action == action
        gram = ridge * np.eye(2) + x[own].T @ x[own]
        theta = np.linalg.solve(gram, x[own].T @ log.reward[own])
        widths = np.sqrt(np.sum(x * np.linalg.solve(gram, x.T).T, axis=1))
        np.testing.assert_allclose(scores[:, action], x @ theta + alpha * widths, rtol=1e-10)


@pytest.mark.parametrize("learner", [LinUCB(), TEXTBOOK])
def test_a_batch_teaches_what_its_parts_teach_one_after_the_other(learner: LinUCB) -> None:
    environment = Lines()
    log = uniform_log(environment, 120)
    whole = started(learner, environment)
    whole.learn(log)
    parts = started(learner, environment)
    # The first part fixes the centre of the features, which no score may depend on.
    for row in range(0, 120, 20):
        parts.learn(log.where((np.arange(120) >= row) & (np.arange(120) < row + 20)))
    contexts = environment.draw(0, 50, seed=1).contexts
    np.testing.assert_allclose(
        scorer_of(parts.epoch).scores(contexts), scorer_of(whole.epoch).scores(contexts), rtol=1e-10
    )


def test_widths_do_not_depend_on_rewards_and_shrink_with_rows() -> None:
    log = uniform_log(Lines(), 200)
    one = learned(LinUCB(), log, 3).widths(log.contexts)
    other = learned(LinUCB(), replace(log, reward=1.0 - log.reward**2), 3).widths(log.contexts)
    assert np.array_equal(one, other)
    fewer = learned(TEXTBOOK, log.where(np.arange(200) < 100), 3).widths(log.contexts)
    assert (learned(TEXTBOOK, log, 3).widths(log.contexts) < fewer).all()


def test_it_plays_the_largest_score_and_mixes_uniform_play_in_if_asked() -> None:
    environment = Lines()
    for mixing, least in ((0.0, 0.0), (0.3, 0.1)):
        play = started(LinUCB(mixing=mixing), environment).until(300)
        contexts = environment.draw(0, 100, seed=1).contexts
        probabilities = play.epoch.policy.probabilities(contexts)
        best = scorer_of(play.epoch).scores(contexts).argmax(axis=1)
        assert np.array_equal(probabilities.argmax(axis=1), best)
        np.testing.assert_allclose(probabilities.min(axis=1), least, atol=1e-15)


def test_the_first_batch_is_uniform() -> None:
    play = started(LinUCB(), Lines())
    assert (play.decide().propensity == 1 / 3).all()
    assert play.epoch.n_rounds == 100


@pytest.mark.parametrize("layout", ["per_action", "hybrid", "shared"])
def test_a_new_action_has_the_width_of_no_data(layout: Any) -> None:
    environment = Lines(n_action_features=2)
    play = started(LinUCB(model_class=Linear(layout=layout)), environment).until(300)
    adapted = play.learner.adapt(
        play.epoch, Problem(["action 2", "action 0", "new"], 2, 2, out_of_range="accept")
    )
    contexts = environment.draw(0, 100, seed=1).contexts
    widths = scorer_of(adapted).widths(contexts)
    if layout != "shared":
        assert (widths[:, 2] > 2 * widths[:, :2].max(axis=1)).all()
        assert (widths[:, 2] >= 1.0).all()
    assert np.isfinite(widths).all()


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"alpha": -1.0}, "-1.0"),
        ({"ridge": 0.0}, "0.0"),
        ({"mixing": 1.0}, "1.0"),
        ({"alpha": math.inf}, "inf"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        LinUCB(**settings)
