"""Logs of other problems: actions matched by label, other units refused, unknown propensities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.alignment import aligned
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.baselines.epoch_greedy import EpochGreedy
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from tests.bandit.helpers import batches, refused

HERE = Problem(["a", "b", "c"], features=["x"], action_features=["price"])
ELSEWHERE = Problem(["c", "a", "b"], features=["x"], action_features=["price"])
MANY = np.linspace(-1.0, 1.0, 50)[:, np.newaxis]


def rows_of(problem: Problem, n: int = 60, propensities: Any = "uniform", seed: int = 0) -> Log:
    """The same decisions for every problem with these labels, whatever their order."""
    rng = np.random.default_rng(seed)
    labels = sorted(problem.actions, key=str)
    x, prices = rng.normal(size=(n, 1)), rng.random((n, len(labels)))
    chosen = rng.integers(0, len(labels), n)
    eligible = rng.random((n, len(labels))) < 0.7
    eligible[np.arange(n), chosen] = True
    actions = None
    if problem.action_features.columns:
        actions = [{label: [row[labels.index(label)]] for label in labels} for row in prices]
    names = [[label for label, may in zip(labels, row, strict=True) if may] for row in eligible]
    contexts = problem.contexts(x, actions, names)
    rewards = np.where(x[:, 0] > 0.0, chosen / len(labels), 0.3)
    return problem.log(contexts, [labels[one] for one in chosen], rewards, propensities)


def answers(bandit: Bandit) -> list[tuple[object, float]]:
    prices = {"a": [0.1], "b": [0.5], "c": [0.9]}
    batch = bandit.decide_many(MANY, actions=prices, event_ids=[str(row) for row in range(50)])
    return list(zip(batch.action, batch.propensity.tolist(), strict=True))


def test_a_log_carries_its_problem_through_rows_and_parts() -> None:
    log = rows_of(HERE)
    assert log.problem is HERE
    assert log.take(slice(0, 5)).problem is HERE
    assert log.where(log.action == 1).problem is HERE
    assert Log.concat([log, log], 3).problem is HERE
    assert Log.concat([log, replace(log, problem=None)], 3).problem is None
    with pytest.raises(ValueError, match="the logs are of different problems"):
        Log.concat([log, rows_of(ELSEWHERE)], 3)


def test_actions_masks_and_features_are_matched_by_label() -> None:
    expected, moved = rows_of(HERE), aligned(rows_of(ELSEWHERE), HERE)
    assert moved.problem is None
    for part in ("shared", "actions", "eligible"):
        assert getattr(moved.contexts, part).tobytes() == getattr(expected.contexts, part).tobytes()
    for column in ("action", "reward", "propensity", "epoch", "round", "component"):
        assert getattr(moved, column).tobytes() == getattr(expected, column).tobytes()


@pytest.mark.parametrize("learner", [AdaptiveFalcon(), EpsilonFalcon(), LinUCB(), batches(4)])
@pytest.mark.parametrize("propensities", ["uniform", "unknown"])
def test_a_log_in_another_order_of_labels_trains_the_same_bandit(learner: Learner, propensities: str) -> None:
    plays = []
    for problem in (HERE, ELSEWHERE):
        bandit = Bandit(
            learner=learner, problem=HERE, initial_log=rows_of(problem, propensities=propensities), seed=3
        )
        bandit.update(rows_of(problem, 300, propensities, seed=1))
        plays.append(answers(bandit))
    assert plays[0] == plays[1]


def test_actions_that_a_log_lacks_were_not_eligible_in_its_rows() -> None:
    fewer = Problem(["c", "a"], features=["x"], action_features=["price"])
    given = rows_of(fewer)
    log = aligned(given, HERE)
    contexts = log.contexts
    assert contexts.eligible is not None
    assert contexts.actions is not None
    assert given.contexts.actions is not None
    assert not contexts.eligible[:, 1].any()
    assert not contexts.actions[:, 1].any()
    np.testing.assert_array_equal(contexts.actions[:, [2, 0]], given.contexts.actions)
    assert set(log.action.tolist()) == {0, 2}
    bandit = Bandit(learner=AdaptiveFalcon(), problem=HERE, initial_log=given, seed=1)
    assert len(answers(bandit)) == 50


def test_a_subset_in_the_same_places_has_a_mask_too() -> None:
    two, three = Problem(["a", "b"]), Problem(["a", "b", "c"])
    log = aligned(two.log(two.contexts(n=1), ["b"], [1], "uniform"), three)
    assert log.contexts.eligible is not None
    assert log.contexts.eligible.tolist() == [[True, True, False]]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"actions": ["a", "b", "d", "e"]},
            "the log has the actions 'd', 'e', and this problem only 'a', 'b'",
        ),
        ({"reward_range": (0, 5)}, "rewards from 0.0 to 5.0 and this problem rewards from 0.0 to 1.0; make"),
        ({"cost": True}, "the log has costs from 0.0 to 1.0 and this problem rewards from 0.0 to 1.0; make"),
        ({"features": ["y"]}, "the log has the features 'y' and this problem 'x'; make the log with"),
        (
            {"features": {"x": "boolean"}},
            r"'x' is Boolean\(.*\) in the log and Numeric\(.*\) in this problem",
        ),
    ],
)
def test_logs_that_mean_something_else_are_refused(settings: dict[str, Any], told: str) -> None:
    bandit = Bandit(["a", "b"], learner=batches(4), features=["x"], seed=1)
    other = Problem(**{"actions": ["b", "a"], "features": ["x"], **settings})
    log = other.log(other.contexts([[1]]), ["a"], [1], "uniform")
    with refused(bandit, told):
        bandit.update(log)
    with pytest.raises(ValueError, match=told):
        Bandit(["a", "b"], features=["x"], initial_log=log)


def test_action_features_that_differ_are_refused_by_name() -> None:
    other = Problem(["a", "b", "c"], features=["x"], action_features=["weight"])
    with pytest.raises(ValueError, match="has the action features 'weight' and this problem 'price'"):
        aligned(rows_of(other), HERE)
    with pytest.raises(ValueError, match="this problem none; declare the action features in this problem"):
        aligned(rows_of(HERE), Problem(["a", "b", "c"], features=["x"]))


def test_rewards_out_of_range_that_only_the_log_accepts_are_refused() -> None:
    bandit = Bandit(["a", "b"], learner=batches(4), features=["x"], seed=1)
    wide = Problem(["b", "a"], features=["x"], out_of_range="accept")
    with refused(bandit, r"row 0 of the log has the reward 1\.5"):
        bandit.update(wide.log(wide.contexts([[1.0]]), ["a"], [1.5], "uniform"))
    clipped = Problem(["b", "a"], features=["x"], out_of_range="clip")
    bandit.update(clipped.log(clipped.contexts([[1.0]]), ["a"], [1.5], "uniform"))


def test_a_broken_log_is_refused_before_its_numbers_are_moved() -> None:
    bandit = Bandit(["a", "b"], learner=batches(4), features=["x"], seed=1)
    other = Problem(["b", "a"], features=["x"])
    fine = other.log(other.contexts([[1.0]]), ["a"], [1], "uniform")
    with refused(bandit, "row 0 of the log has the action 2"):
        bandit.update(replace(fine, action=np.array([2])))
    with refused(bandit, "contexts.eligible is bool of shape"):
        masked = Contexts(np.ones((1, 1)), None, np.ones((1, 3), dtype=np.bool_))
        bandit.update(replace(fine, contexts=masked))
    with refused(bandit, "passive play without a propensity"):
        bandit.update(replace(fine, propensity=np.array([np.nan])))


def test_rows_without_a_problem_are_in_the_bandits_own_order() -> None:
    bandits = [Bandit(learner=batches(4), problem=HERE, seed=1) for _ in range(2)]
    log = rows_of(HERE)
    bandits[0].update(log)
    bandits[1].update(replace(log, problem=None))
    assert answers(bandits[0]) == answers(bandits[1])


def test_unknown_propensities_are_nan_and_never_passive() -> None:
    log = rows_of(HERE, propensities="unknown")
    assert np.isnan(log.propensity).all()
    assert not log.passive.any()
    assert not log.has_propensity.any()
    assert repr(log).endswith("0% passive, 100% of unknown propensity)")
    assert "unknown" not in repr(rows_of(HERE))


@pytest.mark.parametrize("learner", [AdaptiveFalcon(), EpsilonFalcon(), EpochGreedy()])
def test_a_warm_start_from_unknown_rows_counts_none_as_passive(learner: Learner) -> None:
    plain = Problem(["a", "b", "c"], features=["x"])
    bandit = Bandit(
        learner=learner, problem=plain, initial_log=rows_of(plain, propensities="unknown"), seed=1
    )
    report = bandit.epoch.report
    assert report is not None
    assert report.n_passive == 0.0
    bandit.update(rows_of(plain, 400, "unknown", seed=2))
    bandit.update(rows_of(plain, 400, "uniform", seed=3))
    assert np.isfinite(bandit.decide_many(MANY).propensity).all()
