"""Explore first: uniform rounds, then greedy ones by what those said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.learners.baselines.explore_first import ExploreFirst
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.steps import fitted_state
from tests.contracts.environments import Lines, Play, started, uniform_log


def scores_of(play: Play) -> Any:
    assert isinstance(play.epoch.policy, KernelPolicy)
    scale = fitted_state(play.epoch).scale
    scores = play.epoch.policy.scorer.scores(play.environment.draw(0, 50, seed=2).contexts)
    return scale.anchor + scale.unit * (scale.center + scale.spread * scores)


def active_log(environment: Lines, n: int, seed: int) -> Any:
    return replace(uniform_log(environment, n, seed), component=np.zeros(n, dtype=np.int64))


def test_it_explores_for_as_long_as_it_was_told_and_is_greedy_then() -> None:
    play = started(ExploreFirst(n_explore=120), Lines()).until(1000)
    decisions = play.decisions
    propensity, passive, rounds = (
        np.concatenate(columns)
        for columns in zip(*((one.propensity, one.component, one.round) for one in decisions), strict=True)
    )
    assert np.array_equal(passive == 1, rounds < 120)
    assert (propensity[:120] == 1 / 3).all()
    assert (propensity[120:] == 1.0).all()


def test_mixing_keeps_every_action_possible() -> None:
    play = started(ExploreFirst(n_explore=100, mixing=0.3), Lines()).until(200)
    contexts = play.environment.draw(0, 50, seed=1).contexts
    np.testing.assert_allclose(play.epoch.policy.probabilities(contexts).min(axis=1), 0.1, atol=1e-15)


def test_it_fits_once_unless_it_is_to_refit() -> None:
    once, again = (started(ExploreFirst(n_explore=100, refit=refit), Lines()) for refit in (False, True))
    for play in (once, again):
        play.until(100)
    before = scores_of(once)
    assert np.array_equal(scores_of(again), before)
    for play in (once, again):
        play.until(800)
    assert np.array_equal(scores_of(once), before)
    assert not np.array_equal(scores_of(again), before)
    assert once.epoch.report is not None
    assert once.epoch.report.notes == ("exploration is over; the policy is unchanged",)
    assert again.epoch.report is not None
    assert again.epoch.report.n_active == 800


def test_late_rewards_of_exploration_are_learned_from() -> None:
    environment = Lines()
    play, whole = (
        started(ExploreFirst(n_explore=200), environment),
        started(ExploreFirst(n_explore=200), environment),
    )
    log = play.decide()
    assert np.array_equal(log.action, whole.decide().action)
    early = np.arange(200) % 3 > 0
    play.learn(log.where(early))
    play.learn(log.where(~early))
    whole.learn(log)
    np.testing.assert_allclose(scores_of(play), scores_of(whole), rtol=1e-9)


def test_an_action_without_rows_is_tried_and_then_known() -> None:
    environment = Lines()
    play = started(ExploreFirst(n_explore=100), environment)
    log = uniform_log(environment, 300)
    play.learn(log.where(log.action != 2))
    contexts = environment.draw(0, 50, seed=1).contexts
    np.testing.assert_allclose(play.epoch.policy.probabilities(contexts)[:, 2], 1 / 3)
    before = scores_of(play)
    play.learn(active_log(environment, 200, seed=3))
    after = scores_of(play)
    np.testing.assert_allclose(after[:, :2], before[:, :2], rtol=1e-9)
    assert set(play.epoch.policy.probabilities(contexts).ravel().tolist()) == {0.0, 1.0}
    play.learn(active_log(environment, 200, seed=4))
    assert np.array_equal(scores_of(play), after)


def test_an_action_that_is_added_is_tried_and_then_known() -> None:
    environment = Lines()
    learner = ExploreFirst(n_explore=100)
    play = started(learner, environment).until(100)
    play.epoch = learner.adapt(play.epoch, Problem(["action 2", "new", "action 0"], 2, out_of_range="accept"))
    contexts = environment.draw(0, 50, seed=1).contexts
    np.testing.assert_allclose(play.epoch.policy.probabilities(contexts)[:, 1], 1 / 3)
    before = scores_of(play)
    play.learn(active_log(environment, 200, seed=3))
    np.testing.assert_allclose(scores_of(play)[:, [0, 2]], before[:, [0, 2]], rtol=1e-9)
    assert np.abs(scores_of(play)[:, 1] - before[:, 1]).max() > 0.01


def test_exploration_goes_on_until_there_are_rewards() -> None:
    play = started(ExploreFirst(n_explore=100), Lines())
    play.learn(play.decide().where(np.zeros(100, dtype=np.bool_)))
    assert play.decide().passive.all()


def test_it_needs_its_own_epochs() -> None:
    environment = Lines()
    with pytest.raises(TypeError, match="give ExploreFirst its own epochs"):
        ExploreFirst().adapt(Uniform().start(environment.problem), environment.problem)


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"n_explore": 0}, "n_explore is 0"),
        ({"n_explore": 10.5}, "n_explore is 10.5"),
        ({"n_explore": None}, "n_explore is None"),
        ({"mixing": 1.0}, "mixing is 1.0"),
        ({"model_class": "linear"}, "model_class is 'linear'"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        ExploreFirst(**settings)
