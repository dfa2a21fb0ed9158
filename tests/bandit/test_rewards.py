"""Rewards: in any order, late, twice, never; what the learner gets is one row per settled decision."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit.reward_rules import OnDuplicate
from tests.bandit.helpers import Clock, Recorder, refused


def test_rewards_in_any_order_give_the_same_next_epoch() -> None:
    rewards = [0.1, 0.9, 0.4, 0.6]
    logs = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        learner = Recorder(4)
        bandit = Bandit(learner=learner, actions=["a", "b"], features=1, seed=1)
        decisions = [bandit.decide([float(row)]) for row in range(4)]
        for row in order:
            assert bandit.epoch.index == 1
            bandit.reward(decisions[row].event_id, rewards[row])
        assert bandit.epoch.index == 2
        logs.append(learner.logs[0])
        assert logs[-1].reward.tolist() == rewards
        assert logs[-1].contexts.shared.tolist() == [[0.0], [1.0], [2.0], [3.0]]
        assert logs[-1].propensity.tolist() == [decision.propensity for decision in decisions]
    assert logs[0].action.tolist() == logs[1].action.tolist()


def test_a_reward_that_comes_epochs_later_counts_in_the_fit_after_it() -> None:
    learner = Recorder(4)
    bandit = Bandit(learner=learner, actions=["a", "b"], seed=1, max_overtime=0.0)
    late = bandit.decide(event_id="late")
    for _ in range(7):
        bandit.reward(bandit.decide().event_id, 0.5)
    assert bandit.epoch.index == 3
    bandit.reward("late", 1.0)
    for _ in range(4):
        bandit.reward(bandit.decide().event_id, 0.5)
    assert [log.round.tolist() for log in learner.logs] == [[1, 2, 3], [4, 5, 6, 7], [0, 8, 9, 10, 11]]
    assert learner.logs[2].epoch.tolist() == [late.epoch, 3, 3, 3, 3]
    assert learner.logs[2].reward.tolist() == [1.0, 0.5, 0.5, 0.5, 0.5]


def test_costs_are_flipped_and_scaled_for_the_learner() -> None:
    learner = Recorder(2)
    bandit = Bandit(learner=learner, actions=["a", "b"], reward_range=(0, 50), cost=True, seed=1)
    for cost in (10, 50):
        bandit.reward(bandit.decide().event_id, cost)
    assert learner.logs[0].reward.tolist() == [0.8, 0.0]


@pytest.mark.parametrize(("outside", "units"), [("clip", [0.0, 1.0]), ("accept", [-1.0, 2.5])])
def test_rewards_outside_the_range_follow_the_rule(outside: str, units: list[float]) -> None:
    learner = Recorder(2)
    bandit = Bandit(learner=learner, actions=["a", "b"], reward_range=(0, 2), out_of_range=outside, seed=1)  # type: ignore[arg-type]
    for reward in (-2.0, 5.0):
        bandit.reward(bandit.decide().event_id, reward)
    assert learner.logs[0].reward.tolist() == units


def test_numbers_of_any_kind_are_rewards() -> None:
    learner = Recorder(5)
    bandit = Bandit(learner=learner, actions=["a", "b"], seed=1)
    for reward in (1, True, np.float32(0.5), np.int64(0), Decimal("0.25")):
        bandit.reward(bandit.decide().event_id, reward)  # type: ignore[arg-type]
    assert learner.logs[0].reward.tolist() == [1.0, 1.0, 0.5, 0.0, 0.25]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.5, -0.1, None, "much", [1.0], 10**400])
def test_a_reward_that_is_no_number_in_the_range_is_refused(value: object) -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    decision = bandit.decide()
    with refused(bandit, "reward"):
        bandit.reward(decision.event_id, value)  # type: ignore[arg-type]
    bandit.reward(decision.event_id, 1.0)


def test_of_many_rewards_all_are_credited_or_none() -> None:
    bandit = Bandit(learner=Recorder(3), actions=["a", "b"], seed=1)
    ids = bandit.decide_many(n=3).event_id
    with refused(bandit, "outside"):
        bandit.reward_many({ids[0]: 1.0, ids[1]: 7.0})
    with refused(bandit, "'nobody' is unknown"):
        bandit.reward_many({ids[0]: 1.0, "nobody": 1.0})
    with refused(bandit, "mapping", TypeError):
        bandit.reward_many([(ids[0], 1.0)])  # type: ignore[arg-type]
    bandit.reward_many({})
    bandit.reward_many(dict.fromkeys(ids, 1.0))
    assert (bandit.n_pending, bandit.epoch.index) == (0, 2)


@pytest.mark.parametrize("event_id", [0.5, True, None, ["a"], b"a"])
def test_an_id_that_is_neither_text_nor_a_whole_number_is_refused(event_id: object) -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    with refused(bandit, "give text", TypeError):
        bandit.reward(event_id, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rule", "earned"), [("error", 0.25), ("first", 0.25), ("last", 0.5), ("sum", 0.75)])
def test_a_second_reward_follows_the_rule(rule: OnDuplicate, earned: float) -> None:
    learner = Recorder(2)
    bandit = Bandit(learner=learner, actions=["a", "b"], seed=1, on_duplicate=rule)
    twice, once = bandit.decide(), bandit.decide()
    bandit.reward(twice.event_id, 0.25)
    if rule == "error":
        with refused(bandit, r"has a reward already \(0.25\)"):
            bandit.reward(twice.event_id, 0.5)
    else:
        bandit.reward(twice.event_id, 0.5)
        with refused(bandit, "nan|missing"):
            bandit.reward(twice.event_id, math.nan)
    assert bandit.n_pending == 1
    bandit.reward(once.event_id, 0.0)
    assert learner.logs[0].reward.tolist() == [earned, 0.0]


@pytest.mark.parametrize("rule", ["error", "last", "sum"])
def test_a_second_reward_after_the_first_was_learned_from_is_refused(rule: OnDuplicate) -> None:
    bandit = Bandit(learner=Recorder(1), actions=["a", "b"], seed=1, on_duplicate=rule)
    decision = bandit.decide()
    bandit.reward(decision.event_id, 0.25)
    assert bandit.epoch.index == 2
    with refused(bandit, "has been rewarded and learned from"):
        bandit.reward(decision.event_id, 0.5)


def test_under_first_a_second_reward_is_ignored_for_good() -> None:
    bandit = Bandit(learner=Recorder(1), actions=["a", "b"], seed=1, on_duplicate="first")
    decision = bandit.decide()
    for reward in (0.25, 0.5, 0.75):
        bandit.reward(decision.event_id, reward)
    assert bandit.epoch.index == 2
    with refused(bandit, "outside"):
        bandit.reward(decision.event_id, 7.0)


def test_a_sum_must_stay_in_the_range_or_is_clipped_as_a_whole() -> None:
    bandit = Bandit(learner=Recorder(1), actions=["a", "b"], seed=1, on_duplicate="sum", max_overtime=5.0)
    waiting, decision = bandit.decide(), bandit.decide()
    bandit.reward(decision.event_id, 0.75)
    with refused(bandit, "1.5 is outside"):
        bandit.reward(decision.event_id, 0.75)
    learner = Recorder(2)
    bandit = Bandit(learner=learner, actions=["a", "b"], seed=1, on_duplicate="sum", out_of_range="clip")
    decision, waiting = bandit.decide(), bandit.decide()
    bandit.reward(decision.event_id, 3.0)
    bandit.reward(decision.event_id, -2.5)
    bandit.reward(waiting.event_id, 0.0)
    assert learner.logs[0].reward.tolist() == [0.5, 0.0]


def test_an_event_expires_when_its_time_is_up_and_is_dropped() -> None:
    clock = Clock()
    bandit = Bandit(learner=Recorder(), actions=["a", "b"], seed=1, reward_timeout=10.0, clock=clock)
    early = bandit.decide()
    clock.now += 9.75
    later = bandit.decide()
    assert bandit.n_pending == 2
    clock.now += 0.25
    assert bandit.n_pending == 1
    with pytest.raises(ValueError, match=r"expired without a reward and was dropped"):
        bandit.reward(early.event_id, 1.0)
    bandit.reward(later.event_id, 1.0)
    assert bandit.n_pending == 1  # its reward is not final before its time is up
    clock.now += 9.75
    assert bandit.n_pending == 0


@pytest.mark.parametrize("rule", ["error", "first", "last", "sum"])
def test_an_expired_event_earns_the_default_reward_and_no_other(rule: OnDuplicate) -> None:
    clock, learner = Clock(), Recorder(2)
    bandit = Bandit(
        learner=learner,
        actions=["a", "b"],
        seed=1,
        on_duplicate=rule,
        reward_timeout=10,
        default_reward=0.25,
        clock=clock,
    )
    gone = bandit.decide()
    clock.now += 10.0
    waiting = bandit.decide()
    with pytest.raises(ValueError, match="expired without a reward and earned the default one"):
        bandit.reward(gone.event_id, 1.0)
    bandit.reward(waiting.event_id, 1.0, final=True)
    assert learner.logs[0].reward.tolist() == [0.25, 1.0]
    with pytest.raises(ValueError, match="expired without a reward and earned the default one"):
        bandit.reward(gone.event_id, 1.0)
    assert bandit._live.engine.ledger.counts.n_late == 2


def test_expiry_alone_turns_the_epoch_over_at_the_next_decision() -> None:
    clock, learner = Clock(), Recorder(2)
    bandit = Bandit(
        learner=learner, actions=["a", "b"], reward_timeout=10, default_reward=0, clock=clock, seed=1
    )
    bandit.decide_many(n=2)
    clock.now += 10.0
    assert bandit.decide().epoch == 2
    assert learner.logs[0].reward.tolist() == [0.0, 0.0]


def test_beyond_the_cap_the_oldest_expire_with_one_warning() -> None:
    bandit = Bandit(learner=Recorder(100), actions=["a", "b"], seed=1, max_pending=3)
    early = bandit.decide_many(n=1)
    first = bandit.decide_many(n=2)
    with pytest.warns(RuntimeWarning, match="More than max_pending = 3 events are open") as caught:
        second = bandit.decide_many(n=2)
    assert [one.filename for one in caught] == [__file__]
    first.event_id.insert(0, early.event_id[0])  # type: ignore[attr-defined]
    assert bandit.n_pending == 3
    assert bandit._live.engine.ledger.counts.n_crowded == 2
    for event_id in first.event_id[:2]:
        with pytest.raises(ValueError, match="was dropped, because more than max_pending = 3 events were"):
            bandit.reward(event_id, 1.0)
    bandit.reward_many(dict.fromkeys([first.event_id[2], *second.event_id], 1.0))
    with refused(bandit, "4 contexts at once are more than the 3"):
        bandit.decide_many(n=4)


def test_a_clock_that_is_set_back_breaks_nothing() -> None:
    clock = Clock(1000.0)
    bandit = Bandit(learner=Recorder(100), actions=["a", "b"], seed=1, reward_timeout=10.0, clock=clock)
    before = bandit.decide()
    clock.now = 0.0
    after = bandit.decide()
    assert bandit.n_pending == 2
    clock.now = 9.0
    bandit.reward(after.event_id, 1.0)
    clock.now = 10.0
    assert bandit.n_pending == 0
    with pytest.raises(ValueError, match="expired"):
        bandit.reward(before.event_id, 1.0)


def test_a_clock_that_once_ran_far_ahead_does_not_keep_events_for_ever() -> None:
    clock = Clock(0.0)
    bandit = Bandit(learner=Recorder(100), actions=["a", "b"], seed=1, reward_timeout=10.0, clock=clock)
    clock.now = 1e9
    bandit.decide()
    clock.now = 1.0
    bandit.decide()
    clock.now = 11.0
    assert bandit.n_pending == 0


def test_the_status_shows_what_was_learned_from() -> None:
    """A sum is clipped as a whole in fits and in the mean, and a withdrawn event leaves both."""
    learner = Recorder(3)
    bandit = Bandit(["a", "b"], learner=learner, seed=1, on_duplicate="sum", out_of_range="clip")
    ids = bandit.decide_many(n=3).event_id
    bandit.reward(ids[0], 0.75)
    bandit.reward(ids[0], 0.75)
    assert bandit.status().mean_reward == 1.0
    bandit.reward(ids[0], -0.75)  # 0.75 in all, not 1 less 0.75
    assert bandit.status().mean_reward == 0.75
    bandit.reward(ids[1], 7.0)
    assert (bandit.status().n_final, bandit.status().mean_reward) == (2, 0.875)
    bandit.withdraw(ids[0])
    assert (bandit.status().n_final, bandit.status().mean_reward) == (1, 1.0)
    assert math.isinf(bandit.status().reward_interval[1])
    bandit.reward(ids[2], 0.5)
    assert [sorted(log.reward.tolist()) for log in learner.logs] == [[0.5, 1.0]]
    assert bandit.status().mean_reward == 0.75
