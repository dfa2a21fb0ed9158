"""Clocks that jump: forward, time is up for all that waits; back, no time has passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyrfalcon import Bandit
from tests.bandit.helpers import Clock, Recorder, check_books

YEAR = 365 * 86_400.0


def waiting_bandit(clock: Clock, default: float | None) -> tuple[Bandit, list[str], Recorder]:
    learner = Recorder(4)
    bandit = Bandit(
        ["a", "b"], learner=learner, seed=1, reward_timeout=60.0, default_reward=default, clock=clock
    )
    ids = list(bandit.decide_many(n=6).event_id)
    bandit.reward(ids[0], 1.0)
    return bandit, ids, learner


@pytest.mark.parametrize("default", [0.0, None])
def test_after_a_jump_forward_all_that_waited_is_final_at_once_and_later_rewards_are_late(
    default: float | None,
) -> None:
    clock = Clock()
    bandit, ids, learner = waiting_bandit(clock, default)
    clock.now += YEAR
    assert bandit.n_pending == 0
    bandit.decide()
    status = bandit.status()
    assert (status.n_expired, status.n_dropped) == ((5, 0) if default is not None else (0, 5))
    assert [len(log) for log in learner.logs] == [6 if default is not None else 1]
    with pytest.raises(ValueError, match="expired without a reward"):
        bandit.reward(ids[1], 1.0)
    assert bandit.status().n_late == 1
    check_books(bandit)


def test_when_the_clock_is_corrected_time_goes_on_from_the_jump(tmp_path: Path) -> None:
    clock = Clock()
    bandit, _, _ = waiting_bandit(clock, 0.0)
    clock.now += YEAR
    first = bandit.decide().event_id
    clock.now -= YEAR  # the time was wrong
    bandit.save(tmp_path / "bandit", classes=[Recorder, type(bandit.epoch)])
    loaded = Bandit.load(tmp_path / "bandit", classes=[Recorder, type(bandit.epoch)], clock=clock)
    for one in (bandit, loaded):
        one.decide(event_id="second")
        assert one.n_pending == 2  # no time has passed
    clock.now += 59.0
    assert (bandit.n_pending, loaded.n_pending) == (2, 2)
    clock.now += 1.0
    for one in (bandit, loaded):
        assert one.n_pending == 0
        with pytest.raises(ValueError, match="expired"):
            one.reward(first, 1.0)
        check_books(one)
