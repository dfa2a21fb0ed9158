"""Rewards that take their time: what is quick must not look better than what pays."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from tests.bandit.helpers import Clock, check_books

TIMEOUT, CLICK, N = 300.0, 5.0, 1200
OFTEN, RARE = (0.5, 10.0), (0.05, 50.0)  # 5 euros a visit against 2.5


def played(learner: Learner | None, seed: int, *, final: bool) -> list[str]:
    """Banners shown to one visit a second, most of which are never clicked on."""
    clock, rng = Clock(0.0), np.random.default_rng([seed, 77])
    bandit = Bandit(
        ["often", "rare"],
        learner=learner,
        features=1,
        reward_range=(0, 50),
        seed=seed,
        reward_timeout=TIMEOUT,
        default_reward=0.0,
        clock=clock,
    )
    clicks: list[tuple[float, str, float]] = []
    shown = []
    for visit in range(N):
        clock.now = float(visit)
        while clicks and clicks[0][0] <= clock.now:
            _, event_id, euros = heapq.heappop(clicks)
            bandit.reward(event_id, euros, final=final)
        decision = bandit.decide([float(rng.random())])
        shown.append(str(decision.action))
        rate, euros = OFTEN if decision.action == "often" else RARE
        if rng.random() < rate:
            heapq.heappush(clicks, (clock.now + rng.exponential(CLICK), decision.event_id, euros))
    check_books(bandit)
    return shown


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("learner", [LinUCB(schedule=FixedBatch(50)), None], ids=["linucb", "default"])
def test_the_banner_that_pays_is_shown_although_clicks_alone_come_early(
    learner: Learner | None, seed: int, final: bool
) -> None:
    """Clicks alone say 10 euros against 50, and fits on them show the rare one nine times in ten."""
    is_better = np.array([action == "often" for action in played(learner, seed, final=final)])
    assert is_better[100:400].mean() > 0.3  # before the first timeouts nothing is known
    assert is_better[800:].mean() > 0.7
