"""Content hashes of the policy and of the learner's state: two values, each known by what it holds."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gyrfalcon import AdaptiveFalcon, Bandit, LinUCB
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.protocol import Learner
from tests.bandit.helpers import Recorder


def about(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read("manifest.json"))["about"]
    return found


def play(bandit: Bandit, n: int) -> str | None:
    """The policy's hash in the last of n decisions, all of which are rewarded."""
    model = None
    for row in range(n):
        decision = bandit.decide([row / n], event_id=f"{bandit.epoch.index} {row}")
        bandit.reward(decision.event_id, row / n)
        model = decision.model
    return model


@pytest.mark.parametrize("learner", [LinUCB(schedule=FixedBatch(20)), AdaptiveFalcon()], ids=repr)
def test_a_state_has_one_hash_in_status_and_file_and_after_loading(learner: Learner, tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], learner=learner, features=["x"], seed=1)
    first = bandit.status()
    assert first.learner_state is not None
    play(bandit, 50)
    status = bandit.status()
    bandit.save(tmp_path / "bandit")
    assert bandit.decide([0.5]).model == status.model
    assert status.learner_state not in (None, first.learner_state, status.model)
    written = about(tmp_path / "bandit")
    assert (written["model"], written["learner_state"]) == (status.model, status.learner_state)
    loaded = Bandit.load(tmp_path / "bandit").status()
    assert (loaded.model, loaded.learner_state) == (status.model, status.learner_state)
    assert f"learner's state {status.learner_state}" in str(status)
    assert json.loads(status.to_json())["learner_state"] == status.learner_state


def test_another_row_makes_another_state() -> None:
    states = set()
    for reward in (0.25, 0.5):
        bandit = Bandit(["a", "b"], learner=LinUCB(schedule=FixedBatch(2)), features=["x"], seed=1)
        for row in range(2):
            bandit.reward(bandit.decide([float(row)]).event_id, reward if row else 1.0)
        states.add(bandit.status().learner_state)
    assert len(states) == 2


def test_decisions_do_not_compute_the_hash_of_the_state() -> None:
    bandit = Bandit(["a", "b"], learner=LinUCB(schedule=FixedBatch(5)), features=["x"], seed=1)
    play(bandit, 20)
    rules = bandit._live.engine.decision_rules
    assert rules._latest_state == (None, None)
    assert bandit.status().learner_state == bandit.status().learner_state
    assert rules._latest_state[0] is bandit.epoch.state


@dataclass(frozen=True)
class OwnState:
    rows: int


def test_a_state_of_a_class_that_is_not_named_has_no_hash(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], learner=Recorder(4), features=["x"], seed=1)
    epoch = bandit._live.engine.epoch
    bandit._live.engine.epoch = type(epoch)(
        index=1,
        start=0,
        stop=4,
        policy=epoch.policy,
        passive_policy=epoch.passive_policy,
        state=OwnState(3),
    )
    assert bandit.status().learner_state is None
    bandit.save(tmp_path / "bandit", classes=[OwnState, Recorder])
    assert about(tmp_path / "bandit")["learner_state"] is not None
