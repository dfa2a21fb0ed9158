"""LinUCB with a bonus for misspecification."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.linear.linear import Linear
from tests.contracts.environments import Lines, started, uniform_log
from tests.learners.test_ridge_learner import model_of

RAW = Linear(intercept=False, standardise=False)


@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
def test_without_misspecification_it_is_linucb(layout: Any) -> None:
    environment, model_class = Lines(n_action_features=2), Linear(layout=layout)
    ours = started(
        EnlargedLinUCB(misspecification=0.0, alpha=0.4, model_class=model_class), environment
    ).until(500)
    theirs = started(LinUCB(alpha=0.4, model_class=model_class), environment).until(500)
    contexts = environment.draw(0, 200, seed=1).contexts
    one, other = model_of(ours.epoch.policy), model_of(theirs.epoch.policy)
    assert np.array_equal(one.scores(contexts), other.scores(contexts))
    for mine, its in zip(ours.decisions, theirs.decisions, strict=True):
        assert np.array_equal(mine.action, its.action)


def test_one_row_by_hand() -> None:
    play = started(EnlargedLinUCB(misspecification=0.2, model_class=RAW), Lines(n_actions=2))
    play.learn(
        Problem(["a", "b"], 2).log(Contexts(np.array([[1.0, 0.0]])), ["a"], [1.0], propensities="uniform")
    )
    scores = model_of(play.epoch.policy).scores(Contexts(np.eye(2)))
    # One row for one action, and none for the other, whose estimate is the best of the others'.
    np.testing.assert_allclose(scores[0], [0.5 + 1.2 * math.sqrt(0.5), 1.5], rtol=1e-15)
    np.testing.assert_allclose(scores[1], [1.2, 1.0], rtol=1e-15)


@pytest.mark.parametrize(("layout", "own"), [("per_action", True), ("shared", False), ("hybrid", False)])
def test_the_bonus_counts_the_rows_of_the_same_matrix(layout: Any, own: bool) -> None:
    environment = Lines(n_action_features=2)
    log = uniform_log(environment, 200)
    play = started(EnlargedLinUCB(misspecification=0.1, model_class=Linear(layout=layout)), environment)
    play.learn(log)
    rows = np.bincount(log.action, minlength=3) if own else np.array([200])
    np.testing.assert_allclose(model_of(play.epoch.policy).bonus, 1.0 + 0.1 * np.sqrt(rows), rtol=1e-15)


def test_the_bonus_covers_what_misspecification_can_do() -> None:
    environment = Lines()
    log = uniform_log(environment, 300)
    rng = np.random.default_rng(3)
    error = 0.1 * rng.uniform(-1.0, 1.0, 300)
    for rewards in (error, 0.1 * np.sign(error)):
        # Expected rewards are 0 but for the error, so that the estimate is all its doing.
        play = started(
            EnlargedLinUCB(misspecification=0.1, alpha=0.0, ridge=1e-9, model_class=RAW), environment
        )
        play.learn(replace(log, reward=rewards))
        model, spread = model_of(play.epoch.policy), fitted_state(play.epoch).scale.reward_unit
        reach = model.bonus * model.widths(log.contexts)
        assert (np.abs(model.means(log.contexts)) * spread <= reach).all()
    for action in range(3):
        own = log.contexts.shared[log.action == action]
        inverse = np.linalg.inv(own.T @ own)
        exact = 0.1 * np.abs(log.contexts.shared @ inverse @ own.T).sum(axis=1)
        assert (exact <= (model.bonus * model.widths(log.contexts))[:, action] * (1.0 + 1e-6)).all()


def test_actions_that_stay_keep_their_bonus_and_a_new_one_has_no_rows() -> None:
    play = started(EnlargedLinUCB(), Lines()).until(500)
    before = model_of(play.epoch.policy).bonus
    adapted = play.learner.adapt(
        play.epoch, Problem(["action 2", "new", "action 0"], 2, out_of_range="accept")
    )
    assert isinstance(before, np.ndarray)
    assert np.array_equal(model_of(adapted.policy).bonus, [before[2], 1.0, before[0]])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"misspecification": -0.1}, "misspecification is -0.1"),
        ({"misspecification": math.nan}, "misspecification is nan"),
        ({"alpha": -1.0}, "alpha is -1.0"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        EnlargedLinUCB(**settings)
