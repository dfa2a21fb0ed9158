"""Settings that change while a bandit runs: rules, range policy and learner, with a history of them all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gyrfalcon
from gyrfalcon import AdaptiveFalcon, Bandit, EpsilonGreedy, FixedBatch, Learner, LinUCB, Softmax
from gyrfalcon.bandit.journal import replay
from gyrfalcon.bandit.learner_changes import LaterLearner
from gyrfalcon.core.schedules import Doubling
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.exploration_settings import _FREE, differ_in_exploration_alone
from gyrfalcon.storage.content_hash import content_hash
from tests.bandit.helpers import Clock, Recorder, bytes_of, check_books, refused
from tests.bandit.test_journal import kept_journal, state_of


def play(bandit: Bandit, n: int, seed: int = 0) -> list[str]:
    rng, ids = np.random.default_rng(seed), []
    for _ in range(n):
        ids.append(bandit.decide(rng.normal(size=2)).event_id)
        bandit.reward(ids[-1], float(rng.random()))
    return ids


def bandit_with(learner: Learner, **settings: Any) -> Bandit:
    return Bandit(["a", "b", "c"], learner=learner, features=2, seed=3, clock=Clock(), **settings)


def test_a_learner_with_other_exploration_goes_on_from_the_fits_so_far() -> None:
    before, after = AdaptiveFalcon(), AdaptiveFalcon(bonus=3.0, epsilon=0.2)
    bandit = bandit_with(before)
    play(bandit, 100)
    epoch, n_ready = bandit.epoch, bandit._live.engine.ledger.n_ready
    expected = after.next_epoch(epoch, bandit._live.engine.ledger.rows(n_ready, 0))
    bandit.change_learner(after)
    assert n_ready > 0
    assert bandit.epoch.index == epoch.index + 1
    assert content_hash(bandit.epoch.policy) == content_hash(expected.policy)
    assert content_hash(bandit.epoch.state) == content_hash(expected.state)
    assert bandit.epoch.passive_share == expected.passive_share
    play(bandit, 100, seed=1)
    check_books(bandit)
    assert bandit.status().n_learned > 150


@pytest.mark.parametrize("after", [EpsilonFalcon(schedule=Doubling(20)), LinUCB(), AdaptiveFalcon(ridge=9.0)])
def test_another_learner_starts_anew_from_the_rows_held_and_counts_its_own_epochs(after: Learner) -> None:
    bandit = bandit_with(AdaptiveFalcon())
    ids = play(bandit, 400)
    pending = bandit.decide([0.0, 1.0])
    index, engine = bandit.epoch.index, bandit._live.engine
    n_ready = engine.ledger.n_ready
    rows = engine.ledger.rows(n_ready, 0)
    bandit.change_learner(after)
    assert bandit.epoch.index == index + 1
    fresh = after.start(bandit.problem, replace(rows, epoch=np.zeros_like(rows.epoch)) if n_ready else None)
    assert content_hash(bandit.epoch.policy) == content_hash(fresh.policy)
    assert (bandit.epoch.start, bandit.epoch.n_rounds) == (401, fresh.n_rounds)
    assert bandit.decide([0.0, 1.0], event_id=pending.event_id).propensity == pending.propensity
    bandit.reward(pending.event_id, 1.0)
    play(bandit, 100, seed=2)
    assert index + 1 < bandit.epoch.index < index + 30
    assert bandit.status().learner == type(after).__name__
    assert repr(after)[:6] in repr(bandit)
    assert len(set(ids)) == 400
    check_books(bandit)


def test_a_change_of_learner_is_saved_and_rebuilt_from_the_journal(tmp_path: Path) -> None:
    bandit = bandit_with(AdaptiveFalcon(), reward_timeout=60.0, default_reward=0.0)
    journal = kept_journal(bandit)
    play(bandit, 60)
    bandit.change_learner(EpsilonFalcon(schedule=FixedBatch(15)))
    play(bandit, 30, seed=1)
    bandit.change_learner(EpsilonFalcon(schedule=FixedBatch(15), c_gamma=3.0))  # goes on
    bandit.add_actions(["d"])
    play(bandit, 30, seed=2)
    bandit.change_rules(reward_timeout=30.0, out_of_range="clip")
    play(bandit, 30, seed=3)
    again = bandit_with(AdaptiveFalcon(), reward_timeout=60.0, default_reward=0.0)
    replay(again._live.engine, journal)
    assert state_of(again) == state_of(bandit)
    bandit.save(tmp_path / "bandit")
    loaded = Bandit.load(tmp_path / "bandit", clock=bandit._live.engine.clock.source)
    assert bytes_of(loaded) == bytes_of(bandit)
    assert loaded.decide([1.0, 2.0], event_id="both") == bandit.decide([1.0, 2.0], event_id="both")
    assert loaded.status().history == bandit.status().history != ()
    assert isinstance(loaded._live.engine.learner, LaterLearner)


def test_a_learner_may_change_before_the_first_context_has_shown_the_features() -> None:
    bandit = Bandit(["a", "b"], seed=1)
    bandit.change_learner(LinUCB(schedule=FixedBatch(4)))
    bandit.change_rules(out_of_range="clip", unknown_features="ignore")
    bandit.decide({"age": 3.0})
    assert bandit.problem.features.names == ("age",)
    assert bandit.decide({"age": 3.0, "more": 1}).epoch == 2
    settings = [change.setting for change in bandit.status().history]
    assert settings == ["learner", "out_of_range", "unknown_features", "features"]


def test_a_learner_that_can_not_start_leaves_everything_as_it_was() -> None:
    class Unwilling(Recorder):
        def start(self, problem: Any, log: Any = None) -> Any:
            raise ValueError("not with me.")

    bandit = bandit_with(EpsilonGreedy(schedule=FixedBatch(50)))
    play(bandit, 60)
    with refused(bandit, "not with me"):
        bandit.change_learner(Unwilling())
    with refused(bandit, "learner is the class LinUCB", TypeError):
        bandit.change_learner(LinUCB)  # type: ignore[arg-type]
    play(bandit, 60, seed=1)
    check_books(bandit)


def test_the_learner_changes_while_a_refit_is_computed() -> None:
    bandit = Bandit(["a", "b", "c"], features=2, refit="background")
    for seed in range(6):
        play(bandit, 40, seed)
        bandit.change_learner(AdaptiveFalcon() if seed % 2 else LinUCB(schedule=FixedBatch(10)))
    bandit.wait()
    check_books(bandit)
    assert len(bandit.status().history) == 6


@pytest.mark.parametrize("name", sorted(_FREE))
def test_settings_of_exploration_change_no_fit(name: str) -> None:
    """The claim of the table: states after the same rows are the same, whatever these settings are."""
    cls, rng = getattr(gyrfalcon, name), np.random.default_rng(5)
    others: dict[str, Any] = {
        "epsilon": 0.2, "decay": 0.7, "floor": 0.01, "c_gamma": 3.0, "bonus": 2.0, "delta": 0.2,
        "class_size": 7.0, "c_error": 0.5, "rho": 0.5, "rho_prime": 0.5, "comp": 9.0, "gamma": "scheduled",
        "gamma_scale": 3.0, "gamma_exponent": 0.3, "horizon": 5000, "misspecification": 0.2,
        "weighting": "log_barrier", "alpha": 3.0, "mixing": 0.1, "scale": 2.0, "noise": 2.0,
        "temperature": 5.0, "omega": 1.0,
    }  # fmt: skip
    schedule = FixedBatch(60)
    plain = cls(schedule=schedule)
    problem = gyrfalcon.Problem(["a", "b", "c"], features=2)
    changed = cls(schedule=schedule, **{setting: others[setting] for setting in _FREE[name]})
    assert differ_in_exploration_alone(plain, changed)
    epochs = [plain.start(problem), changed.start(problem)]
    for _ in range(6):
        contexts = problem.contexts(rng.normal(size=(60, 2)))
        log = problem.log(contexts, rng.choice(["a", "b", "c"], size=60), rng.random(60), "uniform")
        epochs = [one.next_epoch(epoch, log) for one, epoch in zip((plain, changed), epochs, strict=True)]
    assert content_hash(epochs[0].state) == content_hash(epochs[1].state)
    assert not differ_in_exploration_alone(plain, cls(schedule=FixedBatch(61)))
    assert not differ_in_exploration_alone(plain, Softmax() if name != "Softmax" else LinUCB())


def test_what_becomes_of_rewards_outside_the_range_may_change() -> None:
    bandit = Bandit(["a", "b"], learner=Recorder(100), seed=1, out_of_range="accept")
    journal = kept_journal(bandit)
    ids = bandit.decide_many(n=6).event_id
    bandit.reward_many({ids[0]: 3.0, ids[1]: 0.5})
    assert bandit.status().mean_reward == 1.75
    bandit.change_rules(out_of_range="clip")
    assert bandit.status().mean_reward == 0.75  # no fit has used it yet
    bandit.reward(ids[2], -4.0)
    assert bandit.status().mean_reward == 0.5
    bandit.change_rules(out_of_range="error")
    assert bandit.status().mean_reward == 0.5  # what counted as 0 stays 0
    with refused(bandit, "outside"):
        bandit.reward(ids[3], 2.0)
    ledger = bandit._live.engine.ledger
    assert ledger.rows(3, 0).reward.tolist() == [1.0, 0.5, 0.0]
    again = Bandit(["a", "b"], learner=Recorder(100), seed=1, out_of_range="accept")
    replay(again._live.engine, journal)
    assert state_of(again) == state_of(bandit)
    check_books(bandit)


def test_rules_that_do_not_fit_are_refused_as_a_whole() -> None:
    bandit = Bandit(["a", "b"], seed=1, default_reward=2.0, out_of_range="accept", reward_timeout=9.0)
    with refused(bandit, "2.0 is outside"):
        bandit.change_rules(out_of_range="error", reward_timeout=3.0)
    with refused(bandit, "reward_range.* is no rule that can change", TypeError):
        bandit.change_rules(reward_range=(0, 2))
    with refused(bandit, "choose 'error' or 'ignore'"):
        bandit.change_rules(reward_timeout=3.0, unknown_features="drop")
    with refused(bandit, "give 'error', 'clip' or 'accept'"):
        bandit.change_rules(out_of_range="drop")
    bandit.change_rules(default_reward=1.0, out_of_range="error")
    assert bandit.problem.out_of_range == "error"


def test_the_history_says_when_what_changed_from_what_to_what() -> None:
    clock = Clock(50.0)
    bandit = Bandit(["a", "b"], seed=1, clock=clock)
    bandit.decide({"age": 3.0})
    clock.now = 60.0
    bandit.add_actions(["c", "d"])
    bandit.retire_actions(["a"])
    bandit.decide({"age": 3.0})
    bandit.change_rules(reward_timeout=9.0, on_duplicate="sum")
    bandit.change_rules(on_duplicate="sum")  # no change
    bandit.change_learner(AdaptiveFalcon(bonus=3.0))
    status = bandit.status()
    found = [(one.time, one.round, one.setting, one.before, one.after) for one in status.history]
    assert found == [
        (50.0, 0, "features", "", "'age'"),
        (60.0, 1, "actions", "", "'c', 'd'"),
        (60.0, 1, "actions", "'a'", ""),
        (60.0, 2, "reward_timeout", "None", "9.0"),
        (60.0, 2, "on_duplicate", "'error'", "'sum'"),
        (60.0, 2, "learner", "AdaptiveFalcon()", "AdaptiveFalcon(bonus=3.0)"),
    ]
    assert json.loads(status.to_json())["history"][0]["setting"] == "features"
    assert "changed      round 1: actions 'a' -> none" in str(status)
