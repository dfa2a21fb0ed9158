"""Finality of outcomes: when one is final, and that fits read whole cohorts of decisions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon import Bandit, simulate
from gyrfalcon.core.arrays import Bools, Ints
from gyrfalcon.engine.finality import final_prefix, final_time
from gyrfalcon.environments.delayed import Delayed, Distribution
from tests.bandit.helpers import Clock, Recorder
from tests.contracts.environments import Lines

times = st.floats(0.0, 1e9)


@given(times, st.none() | times, st.none() | times, st.booleans())
def test_an_outcome_is_final_when_nothing_can_change_it(
    decided: float, waited: float | None, timeout: float | None, said_final: bool
) -> None:
    rewarded = None if waited is None else decided + waited
    final = final_time(decided, rewarded, timeout, said_final=said_final)
    assert final >= decided
    if timeout is None:
        assert final == (math.inf if rewarded is None else rewarded)
    else:
        assert final <= decided + timeout
        if not said_final or rewarded is None:
            assert final == decided + timeout


@given(times, times, times)
def test_under_a_timeout_finality_says_nothing_of_the_reward(
    decided: float, waited: float, timeout: float
) -> None:
    assert final_time(decided, decided + waited, timeout) == final_time(decided, None, timeout)


@given(arrays(np.bool_, st.integers(0, 40)))
def test_a_prefix_is_all_final_and_ends_before_an_open_row(is_final: Bools) -> None:
    n = final_prefix(is_final)
    assert is_final[:n].all()
    assert n == len(is_final) or not is_final[n]


@given(arrays(np.int64, st.integers(0, 30), elements=st.integers(0, 40)), st.integers(0, 45))
def test_fits_read_a_row_once_none_before_it_is_open(final: Ints, now: int) -> None:
    readable = np.maximum.accumulate(final) <= now
    assert final_prefix(final <= now) == readable.sum()


@pytest.mark.parametrize("distribution", ["fixed", "geometric"])
def test_a_live_bandit_and_a_simulation_fit_the_same_rounds(distribution: Distribution) -> None:
    n, size, timeout = 400, 40, 10
    environment = Delayed(Lines(), mean=7, distribution=distribution, timeout=timeout)
    simulated, live, clock = Recorder(size), Recorder(size), Clock(0.0)
    simulate(simulated, environment, n + 1, seed=1)
    bandit = Bandit(
        problem=environment.problem,
        learner=live,
        seed=1,
        reward_timeout=timeout + 0.5,  # at the end of the round, before the next one is decided
        default_reward=0.0,
        max_overtime=0.0,
        clock=clock,
    )
    outcomes = environment.draw(0, n + 1, seed=1)
    assert outcomes.reward_round is not None
    arriving: dict[int, dict[str, float]] = {}
    for round_ in range(n + 1):
        clock.now = float(round_)
        decision = bandit.decide(outcomes.contexts.shared[round_])
        due = int(outcomes.reward_round[round_])
        if due < round_ + timeout:
            arriving.setdefault(due, {})[decision.event_id] = 0.5
        clock.now = round_ + 0.75
        bandit.reward_many(arriving.pop(round_, {}))
    found = [[log.round.tolist() for log in learner.logs] for learner in (simulated, live)]
    assert found[0] == found[1]
    assert [len(rounds) for rounds in found[0]] == [size - timeout, *[size] * 9]
