"""Bad input is refused with a sentence that says the value and the remedy, and changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from tests.bandit.helpers import Clock, Recorder, refused


def running() -> Bandit:
    bandit = Bandit(
        learner=Recorder(4), actions=["a", "b"], features=2, seed=1, reward_timeout=5.0, clock=Clock()
    )
    for row in range(6):
        decision = bandit.decide([float(row), 1.0])
        if row % 2:
            bandit.reward(decision.event_id, 0.5)
    return bandit


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ([math.nan, 1.0], "x0"),
        ([1.0, math.inf], "inf"),
        (np.array([1.0, -math.inf]), "inf"),
        ([1.0], "1 value"),
        ([1.0, 2.0, 3.0], "3 values"),
        (np.zeros((2, 2)), "2 rows"),
        (np.zeros((1, 2, 2)), "array"),
        ({"x0": 1.0}, "x1"),
        ({"x0": 1.0, "x1": 2.0, "y": 3.0}, "y"),
        ({"x0": 1.0, "x1": "tall"}, "tall"),
        ({"x0": 1.0, "x1": 2**60}, "2\\*\\*53"),
        ("text", "text"),
        (None, "None|x0"),
        (3.0, "3.0"),
    ],
)
def test_a_bad_context_is_refused(context: object, told: str) -> None:
    bandit = running()
    with refused(bandit, told):
        bandit.decide(context)
    with refused(bandit, "."):
        bandit.decide_many(context if np.ndim(context) == 3 else [context])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("eligible", "told"),
    [
        ([], "no eligible action"),
        (np.zeros(2, dtype=np.bool_), "no eligible action"),
        (["c"], "there is no action 'c'"),
        ("a", "collection"),
        ([True, False], "True"),
        (np.ones(3, dtype=np.bool_), "True"),
    ],
)
def test_bad_eligible_actions_are_refused(eligible: object, told: str) -> None:
    bandit = running()
    with refused(bandit, told):
        bandit.decide([0.0, 0.0], eligible=eligible)


def test_bad_event_ids_are_refused() -> None:
    bandit = running()
    for event_id in (5.0, True, b"x", ["x"]):
        with refused(bandit, "give text", TypeError):
            bandit.decide([0.0, 0.0], event_id=event_id)  # type: ignore[arg-type]
    with refused(bandit, "Unicode"):
        bandit.decide([0.0, 0.0], event_id="\ud800")
    with refused(bandit, "'x' is there twice"):
        bandit.decide_many(np.zeros((3, 2)), event_ids=["x", "y", "x"])
    with refused(bandit, "1 event ids for 3 contexts"):
        bandit.decide_many(np.zeros((3, 2)), event_ids="xyz")
    with refused(bandit, "the numbers of contexts differ"):
        bandit.decide_many(np.zeros((3, 2)), n=2)


def test_an_unknown_event_is_refused() -> None:
    bandit = running()
    with refused(bandit, "'visit 7' is unknown.*event_id of a Decision"):
        bandit.reward("visit 7", 1.0)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"actions": ["a"]}, "1 action"),
        ({"actions": []}, "0 actions"),
        ({"actions": ["a", "a"]}, "'a' and 'a'"),
        ({"actions": "ab"}, "'ab'"),
        ({"reward_range": (1.0, 1.0)}, "1, 1"),
        ({"reward_range": (0.0, math.inf)}, "inf"),
        ({"out_of_range": "ignore"}, "'ignore'"),
        ({"features": -1}, "-1"),
        ({"seed": 2**64}, "18446744073709551616.*64 bits"),
        ({"seed": 0.5}, "0.5.*whole number"),
        ({"seed": "one"}, "'one'"),
        ({"reward_timeout": 0.0}, "reward_timeout is 0.0"),
        ({"reward_timeout": math.nan}, "reward_timeout is nan"),
        ({"reward_timeout": "1 h"}, "reward_timeout is '1 h'"),
        ({"default_reward": 2.0}, "2.0 is outside"),
        ({"default_reward": math.nan}, "nan"),
        ({"max_pending": 0}, "max_pending is 0"),
        ({"max_pending": 1e5}, "max_pending is 100000.0"),
        ({"on_duplicate": "mean"}, "on_duplicate is 'mean'"),
        ({"max_overtime": -0.5}, "max_overtime is -0.5"),
        ({"max_overtime": math.nan}, "max_overtime is nan"),
        ({"max_overtime": None}, "max_overtime is None"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Bandit(**({"actions": ["a", "b"]} | settings))  # type: ignore[arg-type]


def test_actions_or_a_class_in_place_of_the_learner_are_refused() -> None:
    with pytest.raises(TypeError, match=r"learner is \['a', 'b'\]; give one such as AdaptiveFalcon\(\)"):
        Bandit(learner=["a", "b"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="learner is the class EpsilonFalcon"):
        Bandit(learner=EpsilonFalcon, actions=["a", "b"])  # type: ignore[arg-type]


def test_seeds_may_be_any_64_bits() -> None:
    for seed in (-(2**63), 2**63 - 1, np.int64(3), np.uint8(3)):
        assert Bandit(actions=["a", "b"], seed=seed).decide().propensity == 0.5  # type: ignore[arg-type]
