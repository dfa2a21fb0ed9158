"""Epsilon-greedy: the best estimate and a share of uniform play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from tests.contracts.environments import Lines, started, uniform_log


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_the_best_action_gets_what_exploration_leaves(epsilon: float) -> None:
    environment = Lines()
    play = started(EpsilonGreedy(epsilon=epsilon), environment).until(300)
    contexts = environment.draw(0, 100, seed=1).contexts
    assert isinstance(play.epoch.policy, KernelPolicy)
    best = play.epoch.policy.scorer.scores(contexts).argmax(axis=1)
    expected = np.full((100, 3), epsilon / 3)
    expected[np.arange(100), best] += 1.0 - epsilon
    np.testing.assert_allclose(play.epoch.policy.probabilities(contexts), expected, atol=1e-15)


@pytest.mark.parametrize(("data", "n_rows"), [("all", 350.0), ("last_epoch", 250.0)])
def test_it_fits_all_rows_or_those_of_the_last_epoch(data: Any, n_rows: float) -> None:
    play = started(EpsilonGreedy(data=data), Lines())
    play.learn(uniform_log(play.environment, 100))
    play.learn(uniform_log(play.environment, 250, seed=1))
    assert play.epoch.report is not None
    assert play.epoch.report.n_active == n_rows


@pytest.mark.parametrize(
    ("settings", "value"), [({"epsilon": 1.1}, "1.1"), ({"epsilon": -0.1}, "-0.1"), ({"data": "new"}, "new")]
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        EpsilonGreedy(**settings)


def test_the_share_decays_with_the_rows_and_is_at_most_1() -> None:
    environment = Lines()
    contexts = environment.draw(0, 50, seed=1).contexts
    for n, share in ((1, 1.0), (1000, 0.2), (8000, 0.1)):
        play = started(EpsilonGreedy(epsilon=2.0, decay=1 / 3), environment)
        play.learn(uniform_log(environment, n))
        rest = 1.0 - play.epoch.policy.probabilities(contexts).max(axis=1)
        np.testing.assert_allclose(rest, share * 2 / 3, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "value"), [({"epsilon": 2.0}, "epsilon is 2.0"), ({"decay": -0.5}, "decay is -0.5")]
)
def test_a_share_above_1_needs_decay(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        EpsilonGreedy(**settings)
