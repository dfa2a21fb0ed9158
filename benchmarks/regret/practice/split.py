"""The declared split: what constants are chosen on, what is only watched, and what is looked at once.

Constants of learners are chosen on `tuning` alone. `neighbours` are watched while that goes on: other numbers
of actions and features, other noise, other units, other truths. `validation` is played once, when all is
chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from benchmarks.regret.practice.families import (
    LinearSignal,
    LogisticActions,
    LowRankActions,
    OneBetterAction,
    OneHotLevels,
)
from benchmarks.regret.practice.units import AbsurdRewards, InUnits, LognormalEuros
from benchmarks.regret.practice.worlds import ChangingLinear, ItemsByTaste
from gyrfalcon.environments.paper import SensitivityExample, StepExample

REAL = (
    "digits",
    "breast_cancer",
    "wine",
    "letter",
    "satimage",
    "penbased",
    "texture",
    "segment",
    "vowel",
    "vehicle",
    "spambase",
    "magic",
    "ring",
    "banana",
    "led7digit",
    "contraceptive",
)
"""Sets that constants have been chosen on since the beginning."""

_NOISY = LinearSignal(signal_to_noise=0.2, noise="beta")
"""Rewards all over [0, 1], to be put into units."""

WEAK, ONE_BETTER = "weak linear signal", "one action 0.05 better"
LOW_RANK, ITEMS, NULL = "100 actions of low rank", "100 items, not linear", "coin flips"
DRIFTS, NO_DRIFT = ("three abrupt changes", "slow drift", "seasonal drift"), "no drift"

TABLE: dict[str, Any] = {
    WEAK: LinearSignal(),
    ONE_BETTER: OneBetterAction(n_actions=3),
    "50 actions, logistic": LogisticActions(n_actions=50, n_features=10),
    "200 actions, logistic": LogisticActions(n_actions=200, n_features=10),
    LOW_RANK: LowRankActions(),
    "lognormal euros": LognormalEuros(),
    "costs of 0 to 20 in (-1000, 0)": InUnits(
        environment=_NOISY, low=-20.0, high=0.0, reward_range=(-1000.0, 0.0)
    ),
    "latencies of 100 ms in (0, 10000)": InUnits(
        environment=replace(_NOISY, n_features=10, signal_to_noise=0.3),
        low=0.0,
        high=200.0,
        reward_range=(0.0, 10_000.0),
        cost=True,
    ),
    "range 1000 times too wide": InUnits(
        environment=LinearSignal(signal_to_noise=0.1), low=0.0, high=1.0, reward_range=(0.0, 1000.0)
    ),
    "one-hot, 200 + 10 levels": OneHotLevels(),
    "20 absurd rewards": AbsurdRewards(environment=LinearSignal(signal_to_noise=0.1)),
    ITEMS: ItemsByTaste(),
    "clicks of 1%": LogisticActions(rate=0.01, n_features=10, scale=1.0),
    DRIFTS[0]: ChangingLinear(change="abrupt"),
    DRIFTS[1]: ChangingLinear(change="slow", times=1),
    DRIFTS[2]: ChangingLinear(change="seasonal", times=4),
    NO_DRIFT: ChangingLinear(change="none"),
    NULL: OneBetterAction(lead=0.0),
}
"""Where version 0.1.0 lost to its own linear class or to LinUCB, and what was asked for beside."""

PAPER: dict[str, Any] = {
    "section 1.1, long": StepExample(),
    "appendix E, theta 0.05": SensitivityExample(theta=0.05),
    "appendix E, theta 0.02": SensitivityExample(theta=0.02),
}

DIALS: dict[str, Any] = {
    **{
        f"linear, signal-to-noise {ratio:g}": LinearSignal(signal_to_noise=ratio, noise="gaussian")
        for ratio in (10.0, 1.0, 0.1, 0.01)
    },
    "logistic, 2 actions, 2 features": LogisticActions(n_actions=2, n_features=2),
    "logistic, 2 actions, 300 features": LogisticActions(n_actions=2, n_features=300),
    "logistic, 10 actions, 100 features": LogisticActions(n_actions=10, n_features=100),
    "logistic, 20 actions, 5 features": LogisticActions(n_actions=20, n_features=5),
    "one of 5 actions 0.05 better": OneBetterAction(),
    "20 absurd rewards of 1000": AbsurdRewards(environment=LinearSignal(signal_to_noise=0.1), value=1000.0),
    "clicks of 1%, weaker": LogisticActions(rate=0.01, n_features=20, scale=1.0),
    "lognormal euros, sigma 0.5": LognormalEuros(sigma=0.5),
    "lognormal euros, sigma 1.5": LognormalEuros(sigma=1.5),
}
"""The noise, and the numbers of actions and features, from end to end."""

NEIGHBOURS: dict[str, Any] = {
    "weak linear signal, 3 actions, 40 features": LinearSignal(n_actions=3, n_features=40),
    "weak linear signal, 10 actions, 8 features": LinearSignal(
        n_actions=10, n_features=8, signal_to_noise=0.01
    ),
    "one of 10 actions 0.1 better": OneBetterAction(n_actions=10, n_features=10, lead=0.1),
    "30 actions, logistic": LogisticActions(n_actions=30, n_features=15),
    "60 actions of rank 2": LowRankActions(n_actions=60, n_features=12, rank=2),
    "lognormal euros, sigma 1.2": LognormalEuros(sigma=1.2, n_actions=3),
    "costs in (-20, 0)": InUnits(environment=_NOISY, low=-20.0, high=0.0, reward_range=(-20.0, 0.0)),
    "latencies of 30 s in (0, 60000)": InUnits(
        environment=replace(_NOISY, n_actions=3, n_features=8),
        low=29_900.0,
        high=30_100.0,
        reward_range=(0.0, 60_000.0),
        cost=True,
    ),
    "one-hot, 50 + 20 levels": OneHotLevels(levels=(50, 20)),
    "5 absurd rewards of a million": AbsurdRewards(
        environment=LinearSignal(signal_to_noise=0.1), n_absurd=5, value=1e6
    ),
    "50 items without popularity": ItemsByTaste(n_actions=50, popularity=0.0),
    "clicks of 2%": LogisticActions(rate=0.02, n_actions=10, n_features=5, scale=1.0),
    "one abrupt change": ChangingLinear(change="abrupt", times=1),
    "10 seasons": ChangingLinear(change="seasonal", times=10),
    "coin flips, 3 actions, 5 features": OneBetterAction(lead=0.0, n_actions=3, n_features=5),
}

VALIDATION: dict[str, Any] = {
    **{f"{name}, other truths": one for name, one in TABLE.items() if name != NULL},
    "weak linear signal, 8 actions, 30 features": LinearSignal(
        n_actions=8, n_features=30, signal_to_noise=0.015
    ),
    "linear, signal-to-noise 0.3": LinearSignal(
        n_actions=4, n_features=12, signal_to_noise=0.3, noise="gaussian"
    ),
    "one of 3 actions 0.03 better": OneBetterAction(n_actions=3, n_features=30, lead=0.03),
    "120 actions, logistic": LogisticActions(n_actions=120, n_features=8),
    "logistic, 4 actions, 150 features": LogisticActions(n_actions=4, n_features=150),
    "80 actions of rank 4": LowRankActions(n_actions=80, n_features=16, rank=4),
    "lognormal euros, sigma 0.8": LognormalEuros(sigma=0.8, n_actions=8),
    "costs of 0 to 5 in (-5000, 0)": InUnits(
        environment=replace(_NOISY, n_actions=8, n_features=12),
        low=-5.0,
        high=0.0,
        reward_range=(-5000.0, 0.0),
    ),
    "one-hot, 120 + 30 levels": OneHotLevels(levels=(120, 30), n_actions=4),
    "10 absurd rewards": AbsurdRewards(
        environment=LinearSignal(signal_to_noise=0.1, n_features=8), n_absurd=10, value=200.0
    ),
    "150 items, popular": ItemsByTaste(n_actions=150, popularity=0.8, width=0.6),
    "clicks of 0.5%": LogisticActions(rate=0.005, n_features=6, scale=1.2),
    "two abrupt changes": ChangingLinear(change="abrupt", times=2, n_actions=4),
    "half a turn": ChangingLinear(change="slow", times=2),
    "6 seasons": ChangingLinear(change="seasonal", times=6),
    "coin flips, 10 actions, 30 features": OneBetterAction(lead=0.0, n_actions=10, n_features=30),
}

ENVIRONMENTS = {**TABLE, **PAPER, **DIALS, **NEIGHBOURS, **VALIDATION}
NULLS = tuple(name for name, one in ENVIRONMENTS.items() if isinstance(one, OneBetterAction) and not one.lead)
"""Nothing can be captured where all actions are the same."""

_ROUNDS = dict.fromkeys(PAPER, 100_000) | dict.fromkeys((LOW_RANK, f"{LOW_RANK}, other truths"), 10_000)
ROUNDS = 20_000
"""How long runs are, but for those above."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An environment of the split, or a data set: with rows replayed, or each row once."""

    label: str
    n_rounds: int | None = ROUNDS
    """None: each row once."""
    dataset: str | None = None


def _entries(environments: dict[str, Any]) -> tuple[Entry, ...]:
    return tuple(Entry(name, _ROUNDS.get(name, ROUNDS)) for name in environments)


def replayed(*names: str) -> tuple[Entry, ...]:
    """Data sets whose rows come again and again."""
    return tuple(Entry(name, dataset=name) for name in names)


def once(*names: str) -> tuple[Entry, ...]:
    """Data sets of which each row is seen once."""
    return tuple(Entry(once_label(name), None, name) for name in names)


def once_label(name: str) -> str:
    """What a data set is called where each row is seen once."""
    return f"{name}, each row once"


WATCHED = ("marketing", "mushroom")
UNSEEN = ("optdigits", "twonorm", "splice", "chess", "phoneme", "german", "titanic", "pima", "australian")

GROUPS: dict[str, tuple[Entry, ...]] = {
    "table": _entries(TABLE),
    "paper": _entries(PAPER),
    "dials": _entries(DIALS),
    "real": replayed(*REAL),
    "once": once(*REAL),
    "neighbours": (*_entries(NEIGHBOURS), *once(*WATCHED)),
    "validation": (*_entries(VALIDATION), *replayed(*UNSEEN), *once(*UNSEEN)),
}
SPLIT = {
    "tuning": ("table", "paper", "dials", "real", "once"),
    "neighbours": ("neighbours",),
    "validation": ("validation",),
}
FIRST_SEED = {"tuning": 0, "neighbours": 100, "validation": 1000}
"""Seeds are those of truths, of rounds and of learners' draws; those of the parts do not overlap."""


def seeded(environment: Any, seed: int, n_rounds: int) -> Any:
    """The environment with the truth of this seed, for this many rounds; so for the one that it holds."""
    changed: dict[str, Any] = {"environment_seed": seed, "n_rounds": n_rounds}
    if hasattr(environment, "environment"):
        changed["environment"] = seeded(environment.environment, seed, n_rounds)
    own = {field.name for field in fields(environment)}
    return replace(environment, **{name: value for name, value in changed.items() if name in own})
