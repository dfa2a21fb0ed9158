"""FALCON: ordinary regression and inverse gap weighting."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import inverse_gap_weighting
from gyrfalcon.core.schedules import Doubling
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.steps import fitted_state
from tests.contracts.environments import Lines, Play, epochs_of, started, uniform_log
from tests.learners.spreads import spread_of


def lstsq_scores(x: Any, action: Any, reward: Any, at: Any) -> Any:
    """Scores by one least-squares fit per action, (n, K)."""
    design = np.column_stack([np.ones(len(x)), x])
    fits = [np.linalg.lstsq(design[action == k], reward[action == k])[0] for k in range(3)]
    return np.column_stack([np.ones(len(at)), at]) @ np.array(fits).T


@pytest.mark.parametrize("data", ["last_epoch", "all"])
def test_it_plays_inverse_gap_weighting_on_least_squares(data: Any) -> None:
    learner = Falcon(data=data)
    environment = Lines()
    first, second = uniform_log(environment, 100), uniform_log(environment, 150, seed=1)
    play = started(learner, environment)
    play.learn(first)
    play.learn(second)
    logs = [second] if data == "last_epoch" else [first, second]
    x, action, reward = (
        np.concatenate(columns)
        for columns in zip(*((log.contexts.shared, log.action, log.reward) for log in logs), strict=True)
    )
    contexts = environment.draw(0, 50, seed=2).contexts
    gamma = 10 * math.sqrt(3 * 150 / (9 * math.log(2 / 0.05)))
    spread = spread_of(np.concatenate([first.reward, second.reward]))
    expected = inverse_gap_weighting(lstsq_scores(x, action, reward, contexts.shared) / spread, gamma)
    np.testing.assert_allclose(play.epoch.policy.probabilities(contexts), expected, rtol=1e-10)


def test_gamma_grows_by_the_root_of_two_up_to_its_logarithm() -> None:
    epochs = epochs_of(Falcon(), StepExample(), 6400)
    gammas = [epoch.report.gamma for epoch in epochs if epoch.report is not None]
    logs = [math.log(m / 0.05) for m in range(1, len(gammas) + 1)]
    for m in range(1, len(gammas) - 1):
        ratio = math.sqrt(2 * logs[m] / logs[m + 1])
        assert gammas[m + 1] / gammas[m] == pytest.approx(ratio, rel=1e-12)


def test_it_has_no_passive_rounds_and_no_constraint() -> None:
    play = started(Falcon(), Lines()).until(800)
    assert all((decisions.component == 0).all() for decisions in play.decisions)
    assert play.epoch.report is not None
    assert play.epoch.report.slack == math.inf
    assert play.epoch.report.n_passive == 0


def test_an_action_without_rows_in_the_last_epoch_keeps_its_line() -> None:
    environment = Lines()
    play = started(Falcon(), environment)
    play.learn(uniform_log(environment, 300))
    contexts = environment.draw(0, 50, seed=2).contexts
    before = rewards_of(play, contexts)
    log = uniform_log(environment, 100, seed=1)
    play.learn(log.where(log.action != 1))
    after = rewards_of(play, contexts)
    np.testing.assert_allclose(after[:, 1], before[:, 1], rtol=0, atol=1e-12)
    assert np.abs(after[:, 0] - before[:, 0]).min() > 1e-6


@pytest.mark.parametrize(
    ("settings", "value"),
    [({"c_gamma": 0.0}, "0.0"), ({"delta": 0.5}, "0.5"), ({"data": "recent"}, "recent")],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        Falcon(**settings)


def test_settings_survive_replace() -> None:
    learner = Falcon(c_gamma=3.0, schedule=Doubling(8))
    assert replace(replace(learner, data="all"), data="last_epoch") == learner


def test_a_finite_class_has_the_published_gamma_of_all_rows() -> None:
    play = started(Falcon(class_size=1000, c_gamma=1 / 30, data="all"), Lines())
    play.learn(uniform_log(play.environment, 100))
    play.learn(uniform_log(play.environment, 300, seed=1))
    assert play.epoch.report is not None
    # sqrt(3 400 / ln(1000 400 / .05)) / 30 = sqrt(1200 / 15.895) / 30
    assert play.epoch.report.gamma == pytest.approx(0.28963, abs=1e-5)
    with pytest.raises(ValueError, match=r"class_size is 0\.5"):
        Falcon(class_size=0.5)


def rewards_of(play: Play, contexts: Contexts) -> Floats:
    """Estimates of the played model in units of its fits."""
    assert isinstance(play.epoch.policy, KernelPolicy)
    scale = fitted_state(play.epoch).scale
    return scale.center + scale.spread * play.epoch.policy.scorer.scores(contexts)
