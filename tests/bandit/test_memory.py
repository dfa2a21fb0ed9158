"""Memory: an open event costs little, and events that have ended give theirs back."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner

N = 20_000


def grown(bandit: Bandit) -> int:
    """Bytes that N decisions have added, with their ids."""
    contexts = np.random.default_rng(0).normal(size=(N, 4))
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for first in range(0, N, 500):
            ids = [f"visit {number}" for number in range(first, first + 500)]
            bandit.decide_many(contexts[first : first + 500], event_ids=ids)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("timeout", [None, 3600.0])
@pytest.mark.parametrize("learner", [Uniform(schedule=FixedBatch(1000)), LinUCB(schedule=FixedBatch(1000))])
def test_a_pending_event_with_four_features_costs_under_300_bytes(
    learner: Learner, timeout: float | None
) -> None:
    bandit = Bandit(
        ["a", "b"], learner=learner, features=4, seed=1, reward_timeout=timeout, clock=lambda: 0.0
    )
    assert grown(bandit) / N < 300
    bandit.decide(np.zeros(4))
    assert bandit.n_pending == N + 1
    for number in range(N):
        bandit.withdraw(f"visit {number}")
    assert len(bandit._live.engine.ledger.table._segments) == 1
