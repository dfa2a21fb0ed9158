"""Save and load: the same bandit in the middle of its epoch, whose next decisions are identical."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.storage import files
from tests.bandit.helpers import Clock, Recorder, bytes_of, waiting_ids
from tests.bandit.test_decisions import LEARNERS

MANY: dict[str, Learner] = LEARNERS | {
    f"epsilon-falcon, {basis}": EpsilonFalcon(tau_1=16, model_class=Linear(basis=basis, ridge=1.0))
    for basis in (Polynomial(2), RandomFourier(6), Splines(4))
}


def play_on(bandit: Bandit, n: int, seed: int) -> list[Any]:
    """Decisions, alone and in batches, with rewards for most of them, some late."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for row in range(n):  # with ids of our own, as a loaded bandit makes others
        ids = [f"{seed} {row} {which}" for which in "abc"]
        made.append(bandit.decide(rng.normal(size=2), event_id=ids[0]))
        made += bandit.decide_many(rng.normal(size=(2, 2)), event_ids=ids[1:])
        waiting = waiting_ids(bandit)
        for event_id in rng.choice(waiting, size=min(3, len(waiting)), replace=False).tolist():
            bandit.reward(event_id, float(rng.random()))
    return made


@pytest.mark.parametrize("name", MANY)
def test_a_loaded_bandit_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    bandit = Bandit(learner=MANY[name], actions=["a", "b", "c"], features=2, seed=5, clock=Clock())
    for step in range(4):
        play_on(bandit, 7, step)
        bandit.save(tmp_path / "bandit")
        bandit, original = Bandit.load(tmp_path / "bandit", clock=Clock()), bandit
        assert bytes_of(bandit) == bytes_of(original)
        assert bandit.epoch.index == original.epoch.index
        assert play_on(bandit, 9, 10 + step) == play_on(original, 9, 10 + step)
        assert bytes_of(bandit) == bytes_of(original)
    assert bandit.epoch.index > 2


def test_features_of_actions_masks_and_updates_are_restored(tmp_path: Path) -> None:
    learner = EpsilonFalcon(tau_1=16, model_class=Linear(layout="hybrid", ridge=1.0))
    bandit = Bandit(learner=learner, actions=["a", "b"], features=1, action_features=2, seed=5, clock=Clock())
    rng = np.random.default_rng(0)

    def play(one: Bandit, rng: np.random.Generator) -> list[Any]:
        made = []
        for row in range(20):
            mask = ["a"] if row % 3 == 0 else None
            features = rng.normal(size=(2, 2))
            made.append(one.decide([1.0], actions=features, eligible=mask, event_id=repr(features.tolist())))
            if row % 4:
                one.reward(made[-1].event_id, float(rng.random()))
        return made

    play(bandit, rng)
    contexts = bandit.problem.contexts(np.ones((3, 1)), actions=np.ones((3, 2, 2)))
    bandit.update(bandit.problem.log(contexts, ["a", "b", "a"], [0, 1, 1], propensities="uniform"))
    bandit.save(tmp_path / "bandit")
    loaded = Bandit.load(tmp_path / "bandit", clock=Clock())
    assert play(loaded, np.random.default_rng(1)) == play(bandit, np.random.default_rng(1))
    assert bytes_of(loaded) == bytes_of(bandit)


def test_a_bandit_that_awaits_its_features_still_does(tmp_path: Path) -> None:
    Bandit(actions=["a", "b"], seed=1).save(tmp_path / "bandit")
    assert Bandit.load(tmp_path / "bandit").decide({"age": 3.0}).round == 0


def test_rules_defaults_and_expired_events_are_restored(tmp_path: Path) -> None:
    clock = Clock()
    bandit = Bandit(
        learner=Recorder(50),
        actions=["a", "b"],
        seed=1,
        reward_timeout=10,
        default_reward=0.5,
        max_pending=20,
        clock=clock,
    )
    gone = bandit.decide()
    clock.now += 10
    waiting = bandit.decide()
    bandit.save(tmp_path / "bandit", classes=[Recorder])
    loaded = Bandit.load(tmp_path / "bandit", classes=[Recorder], clock=clock)
    with pytest.raises(ValueError, match="earned the default one"):
        loaded.reward(gone.event_id, 1.0)
    clock.now -= 500
    assert loaded.n_pending == 1
    loaded.decide()
    clock.now += 10
    assert loaded.n_pending == 0
    with pytest.raises(ValueError, match="earned the default one"):
        loaded.reward(waiting.event_id, 1.0)


class Size(Enum):
    SMALL = 1
    LARGE = 2


@dataclass(frozen=True)
class Offer:
    price: float
    size: Size


def test_labels_come_back_as_they_were_also_own_classes_that_are_named(tmp_path: Path) -> None:
    offers = [Offer(0.5, Size.SMALL), Offer(0.5, Size.LARGE)]
    labels = [
        "a",
        ("b", 1, None),
        None,
        True,
        2**70,
        0.25,
        b"\x00\xff",
        np.int64(9),
        np.float32(0.1),
        *offers,
    ]
    bandit = Bandit(actions=labels, seed=1)
    with pytest.raises(TypeError, match=r"Offer is not a known class.*classes="):
        bandit.save(tmp_path / "bandit")
    bandit.save(tmp_path / "bandit", classes=[Offer, Size])
    loaded = Bandit.load(tmp_path / "bandit", classes=[Offer, Size])
    assert loaded.problem.actions == bandit.problem.actions
    assert [type(label) for label in loaded.problem.actions] == [type(label) for label in labels]
    with pytest.raises(ValueError, match=r"holds a Offer, which is not a known class.*classes="):
        Bandit.load(tmp_path / "bandit")


@pytest.mark.parametrize("label", [object(), frozenset({1}), 1j, np.datetime64("2024-01-01"), range(3)])
def test_a_label_that_no_file_can_hold_is_refused_at_save_and_leaves_files_alone(
    label: Any, tmp_path: Path
) -> None:
    path = tmp_path / "bandit"
    Bandit(actions=["a", "b"], seed=1).save(path)
    before = path.read_bytes()
    bandit = Bandit(actions=["a", label], seed=1)
    with pytest.raises(TypeError, match=r"can't be stored"):
        bandit.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["bandit"]
    assert bandit.decide().round == 0


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    files.save(tmp_path / "problem", Problem(["a", "b"]))
    with pytest.raises(ValueError, match="holds a Problem, not a saved Bandit"):
        Bandit.load(tmp_path / "problem")


def test_a_full_disk_leaves_the_bandit_and_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    bandit.save(tmp_path / "bandit")
    before = (tmp_path / "bandit").read_bytes()
    bandit.decide([1.0])
    state = bytes_of(bandit)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*save again"):
        bandit.save(tmp_path / "bandit")
    monkeypatch.undo()
    assert (tmp_path / "bandit").read_bytes() == before
    assert bytes_of(bandit) == state
    assert len(list(tmp_path.iterdir())) == 1


def test_a_context_that_its_owner_changes_later_does_not_change_the_bandit() -> None:
    bandit = Bandit(actions=["a", "b"], features=1, seed=1)
    x = np.array([1.0])
    decision = bandit.decide(x)
    before = bytes_of(bandit)
    x[0] = 7.0
    assert bytes_of(bandit) == before
    bandit.reward(decision.event_id, 1.0)
    assert bytes_of(bandit) != before
