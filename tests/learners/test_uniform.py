"""Uniform play learns nothing, on purpose."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.baselines.uniform import Uniform
from tests.contracts.environments import Lines, started, uniform_log


def test_every_eligible_action_is_as_likely_as_the_others() -> None:
    play = started(Uniform(), Lines(masked=True)).until(400)
    for decisions in play.decisions:
        drawn = play.environment.draw(int(decisions.round[0]), int(decisions.round[-1]) + 1, play.seed)
        assert drawn.contexts.eligible is not None
        assert np.array_equal(decisions.propensity, 1.0 / drawn.contexts.eligible.sum(axis=1))


def test_neither_rewards_nor_a_warm_start_change_it() -> None:
    environment = Lines()
    cold, warm = (
        Uniform().start(environment.problem),
        Uniform().start(environment.problem, uniform_log(environment, 50)),
    )
    assert warm.policy == cold.policy
    play = started(Uniform(schedule=FixedBatch(30)), environment).until(90)
    assert play.epoch.policy == cold.policy
    assert [len(decisions) for decisions in play.decisions] == [30, 30, 30]
