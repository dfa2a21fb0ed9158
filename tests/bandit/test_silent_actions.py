"""Actions that are never rewarded: named, and left out only where no outcome ever comes."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit.silence import Tallies
from gyrfalcon.bandit.status import ActionStatus
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from tests.bandit.helpers import Clock, check_books

LEARNERS = [None, LinUCB(schedule=FixedBatch(50))]


def status_of(bandit: Bandit, label: str) -> ActionStatus:
    return next(one for one in bandit.status().actions if one.label == label)


def notes_on(bandit: Bandit, label: str) -> list[str]:
    return [note for note in bandit.status().notes if repr(label) in note]


@pytest.mark.parametrize("timeout", [30.0, 600.0])
@pytest.mark.parametrize(("cost", "default", "complaint"), [(True, 0.0, 1.0), (False, 1.0, 0.0)])
def test_the_action_without_complaints_is_played_where_only_complaints_are_reported(
    cost: bool, default: float, complaint: float, timeout: float
) -> None:
    """Before, it was shown in 0.000 of the rounds: that no complaint came was taken for broken tracking."""
    clock, rng = Clock(0.0), random.Random(1)
    bandit = Bandit(
        ["good", "bad", "worse"],
        features=[],
        cost=cost,
        reward_timeout=timeout,
        default_reward=default,
        seed=1,
        clock=clock,
    )
    shown = []
    for visit in range(2000):
        clock.now = float(visit)
        decision = bandit.decide()
        shown.append(decision.action == "good")
        if rng.random() < {"good": 0.0, "bad": 0.3, "worse": 0.5}[str(decision.action)]:
            bandit.reward(decision.event_id, complaint)
    assert np.mean(shown[:500]) > 0.25
    assert np.mean(shown[1000:]) > 0.9
    good = status_of(bandit, "good")
    assert good.n_rewarded == 0 < good.n_final
    assert all("default rewards count" in note for note in notes_on(bandit, "good"))
    check_books(bandit)


@pytest.mark.parametrize("learner", LEARNERS, ids=["default", "linucb"])
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_an_action_whose_rewards_never_arrive_is_named_and_its_share_is_bounded(
    learner: Learner | None, timeout: float | None
) -> None:
    clock, rng = Clock(0.0), random.Random(2)
    bandit = Bandit(
        ["fine", "mute"], learner=learner, features=["x"], seed=2, reward_timeout=timeout, clock=clock
    )
    shown = []
    for visit in range(3000):
        clock.now = float(visit)
        decision = bandit.decide([rng.random()])
        shown.append(decision.action == "mute")
        if decision.action == "fine":
            bandit.reward(decision.event_id, rng.random())
    assert np.mean(shown[1000:]) < 0.05
    mute = status_of(bandit, "mute")
    assert (mute.silent, mute.n_rewarded, mute.n_final) == (True, 0, 0)
    assert notes_on(bandit, "mute") == [
        f"action 'mute' was decided {mute.n_decided} times and never rewarded; check its tracking."
    ]
    assert not status_of(bandit, "fine").silent


def test_a_first_reward_brings_a_silent_action_back() -> None:
    bandit, rng = Bandit(["fine", "mute"], features=["x"], seed=2), random.Random(2)
    last = ""
    for _ in range(600):
        decision = bandit.decide([rng.random()])
        if decision.action == "fine":
            bandit.reward(decision.event_id, 0.1)
        else:
            last = decision.event_id
    assert status_of(bandit, "mute").silent
    bandit.reward(last, 1.0)
    assert not status_of(bandit, "mute").silent
    assert not notes_on(bandit, "mute")
    assert bandit._live.engine.ledger.silent is None


@pytest.mark.parametrize("shown", [None, "fine"], ids=["withdrawn", "overridden"])
def test_decisions_without_effect_do_not_make_an_action_silent(shown: str | None) -> None:
    """Before, an action that was out of stock now and then looked like one with broken tracking."""
    bandit, rng = Bandit(["fine", "rare", "third"], features=["x"], seed=3), random.Random(3)
    for _ in range(1500):
        decision = bandit.decide([rng.random()])
        if decision.action == "rare":
            bandit.withdraw(decision.event_id, shown=shown)
        else:
            bandit.reward(decision.event_id, rng.random())
    rare = status_of(bandit, "rare")
    assert (rare.n_decided, rare.silent) == (0, False)
    assert not notes_on(bandit, "rare")
    assert bandit._live.engine.ledger.silent is None
    check_books(bandit)


def test_a_default_outcome_counts_after_the_rules_have_changed() -> None:
    clock = Clock(0.0)
    bandit = Bandit(["a", "b"], features=[], seed=1, reward_timeout=5.0, default_reward=0.0, clock=clock)
    _play(bandit, clock, 100, lambda action: action == "a")
    bandit.change_rules(default_reward=None)
    _play(bandit, clock, 400, lambda action: action == "a")
    tallies = bandit._live.engine.ledger.tallies
    assert tallies.final[1] > 0 == tallies.rewarded[1]
    assert bandit._live.engine.ledger.silent is None


def _play(bandit: Bandit, clock: Clock, n: int, is_rewarded: Callable[[object], bool]) -> None:
    for _ in range(n):
        clock.now += 1.0
        decision = bandit.decide()
        if is_rewarded(decision.action):
            bandit.reward(decision.event_id, 1.0)


def test_milestones_of_withdrawn_decisions_do_not_count() -> None:
    tallies = Tallies.none(2)
    for now in range(1, 65):
        tallies.write(tallies.of(0, 1, 0, 0), now)
    for now in range(65, 129):
        tallies.write(tallies.of(1, 1, 1, 1), now)
    assert tallies.silent(0, 500).tolist() == [True, False]
    for _ in range(60):
        tallies.write(tallies.of(0, -1, 0, 0), 500)
    assert tallies.silent(0, 1000).tolist() == [False, False]
