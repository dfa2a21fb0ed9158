"""No call waits for all events that are open: outcomes become final in portions, and files are made aside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit.outcomes import PORTION
from gyrfalcon.bandit.snapshot import Snapshot
from tests.bandit.helpers import Clock, Recorder, bytes_of, check_books

N = 3000


def after_a_quiet_hour(default: float | None = 0.0) -> tuple[Bandit, Recorder, list[str], Clock]:
    clock, learner = Clock(0.0), Recorder(4)
    bandit = Bandit(
        ["a", "b", "c"],
        learner=learner,
        features=["x"],
        seed=1,
        reward_timeout=60.0,
        default_reward=default,
        clock=clock,
    )
    ids = list(bandit.decide_many(np.arange(N, dtype=np.float64)[:, np.newaxis]).event_id)
    clock.now = 3600.0
    return bandit, learner, ids, clock


def test_a_decision_makes_a_portion_of_outcomes_final_and_all_count_as_over() -> None:
    """Before, the first visitor after a quiet hour waited until 90,000 outcomes were final."""
    bandit, _, _, _ = after_a_quiet_hour()
    assert (bandit.n_pending, bandit.status().n_pending) == (0, 0)
    bandit.decide([0.0])
    assert bandit.status().n_final == PORTION
    assert (bandit.n_pending, bandit.status().n_pending) == (1, 1)
    check_books(bandit)
    bandit.decide_many([[0.0]] * 500)
    assert bandit.status().n_final == PORTION + 1000


def test_a_fit_waits_for_the_whole_backlog() -> None:
    bandit, learner, _, _ = after_a_quiet_hour()
    for _ in range(N // PORTION + 2):
        bandit.decide([0.0])
    assert bandit.status().n_final == N
    assert [len(log) for log in learner.logs] == [N]
    check_books(bandit)


@pytest.mark.parametrize("default", [0.0, None])
def test_a_reward_whose_time_is_up_is_refused_before_its_turn(default: float | None) -> None:
    bandit, _, ids, _ = after_a_quiet_hour(default)
    with pytest.raises(ValueError, match="expired without a reward"):
        bandit.reward(ids[-1], 1.0)
    status = bandit.status()
    assert status.n_late == 1
    assert status.n_expired + status.n_dropped == PORTION + 1
    check_books(bandit)


def test_room_is_made_whatever_the_portion() -> None:
    bandit = Bandit(["a", "b"], learner=Recorder(4), features=["x"], seed=1, max_pending=N)
    bandit.decide_many(np.zeros((N, 1)))
    bandit.change_rules(max_pending=10)
    with pytest.warns(RuntimeWarning, match="max_pending = 10"):
        bandit.decide([0.0])
    assert bandit.n_pending == 10
    check_books(bandit)


def _decide(bandit: Bandit) -> None:
    bandit.decide([0.5])


def _add(bandit: Bandit) -> None:
    bandit.add_actions(["d"])


def _retire(bandit: Bandit) -> None:
    bandit.retire_actions(["a"])


@pytest.mark.parametrize("change", [_decide, _add, _retire])
def test_a_snapshot_is_of_the_moment_at_which_it_was_begun(change: Callable[[Bandit], object]) -> None:
    bandit, _, ids, clock = after_a_quiet_hour()
    clock.now = 30.0
    bandit.reward_many(dict.fromkeys(ids[:700], 0.5), final=True)
    engine = bandit._live.engine
    expected, begun = Snapshot.of(engine, "inline"), Snapshot.begun(engine, "inline")
    change(bandit)
    bandit.reward_many(dict.fromkeys(ids[1000:1100], 1.0))
    made = begun()
    for name in ("live", "ended"):
        one, other = getattr(expected, name), getattr(made, name)
        assert one.ids == other.ids
        assert np.array_equal(one.numbers, other.numbers)
        assert np.array_equal(one.measures, other.measures, equal_nan=True)
    assert np.array_equal(expected.contexts.shared, made.contexts.shared)


@pytest.mark.parametrize("change", [_add, _retire])
def test_ended_and_open_events_keep_their_actions(change: Callable[[Bandit], object], tmp_path: Path) -> None:
    bandit, _, ids, clock = after_a_quiet_hour()
    clock.now = 30.0
    bandit.reward_many(dict.fromkeys(ids[:700], 0.5), final=True)
    before = {one: bandit.problem.actions[bandit._live.engine.ledger.find(one).action] for one in ids}  # type: ignore[union-attr]
    change(bandit)
    ledger = bandit._live.engine.ledger
    for one, label in before.items():
        event = ledger.find(one)
        assert event is not None
        assert event.action < 0 if label not in bandit.problem.actions else True
        assert event.action < 0 or bandit.problem.actions[event.action] == label
    check_books(bandit)
    bandit.save(tmp_path / "bandit", classes=[Recorder])
    assert bytes_of(Bandit.load(tmp_path / "bandit", [Recorder], clock)) == bytes_of(bandit)
