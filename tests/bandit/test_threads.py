"""Eight threads decide and reward at once, and the books balance."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from gyrfalcon import Bandit, Decision
from tests.bandit.helpers import Recorder, batches, check_books, waiting_ids

N_THREADS, N_EVENTS = 8, 2000


def test_no_event_is_lost_and_every_row_is_learned_from_once() -> None:
    learner = Recorder(500)
    bandit = Bandit(learner=learner, actions=["a", "b", "c"], features=2, seed=1)
    barrier = threading.Barrier(N_THREADS)

    def play(thread: int) -> list[Decision]:
        rng = np.random.default_rng(thread)
        barrier.wait()
        made: list[Decision] = []
        for _ in range(N_EVENTS // 4):
            three = list(bandit.decide_many(rng.normal(size=(3, 2))))
            made += [*three, bandit.decide(rng.normal(size=2))]
            bandit.reward_many({one.event_id: 0.5 for one in three[:2]})
            bandit.reward(made[-1].event_id, 1.0)
            bandit.reward(three[2].event_id, 0.0)
        return made

    with ThreadPoolExecutor(N_THREADS) as pool:
        decisions = [one for made in pool.map(play, range(N_THREADS)) for one in made]
    n = N_THREADS * N_EVENTS
    assert bandit.n_pending == 0
    assert sorted(one.round for one in decisions) == list(range(n))
    assert len({one.event_id for one in decisions}) == n
    _check_rows(bandit, learner, decisions)
    check_books(bandit)


def _check_rows(bandit: Bandit, learner: Recorder, decisions: list[Decision]) -> None:
    """Each row learned from is a decision as it was answered, and those not learned from are settled."""
    answered = {one.round: one for one in decisions}
    learned = [number for log in learner.logs for number in log.round.tolist()]
    assert max(Counter(learned).values()) == 1
    assert len(learned) + bandit._live.engine.ledger.n_ready == len(decisions)
    for log in learner.logs:
        for number, action, propensity, epoch in zip(
            log.round.tolist(), log.action.tolist(), log.propensity.tolist(), log.epoch.tolist(), strict=True
        ):
            one = answered[number]
            assert (bandit.problem.actions[action], propensity, one.epoch) == (
                one.action,
                one.propensity,
                epoch,
            )
    assert bandit.epoch.index == len(learner.logs) + 1


def test_a_bandit_may_be_saved_while_others_decide(tmp_path: Path) -> None:
    bandit = Bandit(learner=batches(50), actions=["a", "b"], features=1, seed=1)

    def play(_: int) -> None:
        for _ in range(200):
            bandit.reward(bandit.decide([1.0]).event_id, 0.5)

    def save(_: int) -> None:
        for _ in range(20):
            bandit.save(tmp_path / "bandit")
            loaded = Bandit.load(tmp_path / "bandit")
            check_books(loaded)
            engine = loaded._live.engine
            assert len(waiting_ids(loaded)) <= 4
            assert engine.ledger.counts.round - engine.epoch.start <= len(engine.ledger.live)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda number: (save if number == 4 else play)(number), range(5)))
    assert (bandit.n_pending, bandit.decide([1.0]).round) == (0, 800)
