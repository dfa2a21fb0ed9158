"""Slowest calls of a live bandit: decisions beside a refit in the background, and rewards in a long epoch."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from benchmarks.rows import Pause, Quantity, Row, peer
from gyrfalcon import AdaptiveFalcon, Bandit, EpsilonFalcon
from gyrfalcon.core.arrays import Floats

N_ACTIONS, N_FEATURES = 10, 20
N_VISITS = 4000
BREAK = 0.0003
"""Seconds between a reward and the next visit."""
N_AT_ONCE, N_REWARDS = 20_000, 5_000
EPOCH_END = 819_200
"""Rounds after which an epoch of `EpsilonFalcon` ends that has 409,600 of them."""


@dataclass(slots=True)
class Waits:
    """Seconds that calls have taken, beside a refit and otherwise."""

    beside: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)

    def note(self) -> str:
        parts = [("beside refits", self.beside), ("between", self.between)]
        return "; ".join(
            f"{len(seconds):,} {name}: 99.9% {1e3 * np.quantile(seconds, 0.999):.2f} ms, "
            f"slowest {1e3 * max(seconds):.2f} ms"
            for name, seconds in parts
            if seconds
        )


def chances(X: Floats, slopes: Floats) -> Floats:
    """Chances of a reward that are far from linear, so that a wide class comes into play, (n, K)."""
    return np.asarray(0.5 + 0.5 * np.sin(4.0 * (X @ slopes) / np.sqrt(N_FEATURES)))


def visits(classes: str) -> Waits:
    """Decide and reward visit by visit, with refits in the background, and time every decision."""
    rng = np.random.default_rng(8)
    X, slopes = rng.standard_normal((N_VISITS, N_FEATURES)), rng.standard_normal((N_FEATURES, N_ACTIONS))
    uniforms, chance = rng.random(N_VISITS), chances(X, slopes)
    learner = AdaptiveFalcon(classes=classes)
    bandit = Bandit(range(N_ACTIONS), learner=learner, features=N_FEATURES, seed=1, refit="background")
    waits = Waits()
    for x, uniform, own in zip(X, uniforms, chance, strict=True):
        time.sleep(BREAK)
        is_beside = bandit._live.engine.job is not None
        start = time.perf_counter()
        decision = bandit.decide(x)
        (waits.beside if is_beside else waits.between).append(time.perf_counter() - start)
        bandit.reward(decision.event_id, float(uniform < own[int(str(decision.action))]))
    return waits


def long_epoch() -> Waits:
    """Time single rewards of `EpsilonFalcon`, whose epochs double, before and after the end of a long one."""
    rng = np.random.default_rng(9)
    bandit = Bandit(range(N_ACTIONS), learner=EpsilonFalcon(), features=N_FEATURES, seed=1, refit="inline")
    n_before, n_played = EPOCH_END - N_REWARDS // 2, 0
    while n_played < n_before:
        n = min(N_AT_ONCE, n_before - n_played, bandit.epoch.stop - n_played)
        n_played += n
        made = bandit.decide_many(rng.standard_normal((n, N_FEATURES)))
        rewards = (rng.random(n) < 0.5).astype(float).tolist()
        bandit.reward_many(dict(zip(made.event_id, rewards, strict=True)))
    index = bandit.epoch.index
    assert bandit.epoch.stop == EPOCH_END
    made = bandit.decide_many(rng.standard_normal((N_REWARDS, N_FEATURES)))
    waits = Waits()
    for event_id in made.event_id:
        start = time.perf_counter()
        bandit.reward(event_id, 1.0)
        waits.between.append(time.perf_counter() - start)
    assert bandit.epoch.index == index + 1  # the slowest one has refitted
    return waits


def slowest(play: Callable[[], Waits]) -> Pause:
    def sample() -> tuple[float, str]:
        gc.collect()  # of what other rows have left
        waits = play()
        return max(waits.beside or waits.between), waits.note()

    return Pause(sample)


def with_trees() -> Pause:
    with peer("scikit-learn"):
        import sklearn.ensemble  # noqa: F401  # not among what is timed
    return slowest(partial(visits, "auto_trees"))


ROWS = [
    Row(
        key="slowest decide beside a refit: auto",
        ours="Bandit.decide beside refits, K = 10, 20 features, classes 'auto'",
        theirs="",
        prepare=partial(slowest, partial(visits, "auto")),
        limit=0.010,
        quantity=Quantity.SECONDS,
        most_pairs=5,
    ),
    Row(
        key="slowest decide beside a refit: auto_trees",
        ours="the same with classes 'auto_trees'",
        theirs="",
        prepare=with_trees,
        limit=0.050,
        quantity=Quantity.SECONDS,
        most_pairs=5,
    ),
    Row(
        key="slowest reward at the end of 819,200 events",
        ours="Bandit.reward across the end of a long epoch of EpsilonFalcon, 5,000 rewards",
        theirs="",
        prepare=partial(slowest, long_epoch),
        limit=0.020,
        quantity=Quantity.SECONDS,
        most_pairs=1,
    ),
]
