"""Faults that no single row shows: propensities, traffic, features and rewards that disagree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log
from tests.evaluation.checks.logs import ENVIRONMENTS, LEARNERS, experiment, played

N = 4000
CLEAN = replace(experiment(N, 1), late=None, defaulted=None)
SPLIT = 3000
Plant = Callable[[DecisionTable], DecisionTable]


def fixed_shares(shares: list[float], drawn: list[float] | None = None, n: int = N) -> DecisionTable:
    """An experiment with fixed shares, of which only propensities are logged."""
    random = np.random.default_rng(3)
    action = random.choice(len(shares), n, p=shares if drawn is None else drawn)
    return DecisionTable.of(
        actions=range(len(shares)),
        action=action.tolist(),
        reward=random.random(n),
        propensity=np.array(shares)[action],
        shared=random.normal(size=(n, 2)),
    )


def distribution(change: Callable[[Any], Any]) -> Plant:
    """Other probabilities are logged than actions were drawn with."""

    def plant(table: DecisionTable) -> DecisionTable:
        assert table.distribution is not None
        chances = change(table.distribution) * table.eligible
        chances = chances / chances.sum(axis=1, keepdims=True)
        own = chances[np.arange(len(table)), table.action]
        return replace(table, distribution=chances, propensity=own)

    return plant


def from_row(change: Callable[[Any], Any], start: int = SPLIT) -> Callable[[Any], Any]:
    def changed(chances: Any) -> Any:
        return np.concatenate([chances[:start], change(chances[start:])])

    return changed


def propensities(change: Callable[[Any], Any]) -> Plant:
    """Only propensities of logged actions are known, and these are wrong."""
    return lambda table: replace(table, distribution=None, propensity=change(table.propensity))


def feature(values: Callable[[DecisionTable], Any]) -> Plant:
    """The second feature is something else."""

    def plant(table: DecisionTable) -> DecisionTable:
        shared = table.contexts.shared.copy()
        shared[:, 1] = values(table)
        return replace(table, contexts=replace(table.contexts, shared=shared))

    return plant


def reward(change: Callable[[DecisionTable, Any], Any]) -> Plant:
    def plant(table: DecisionTable) -> DecisionTable:
        return replace(table, reward=change(table, table.reward.copy()), reward_range=None)

    return plant


def lost(table: DecisionTable, rewards: Any) -> Any:
    """Rewards of blue are lost three times as often."""
    rewards[(table.action == 2) & (np.random.default_rng(5).random(len(table)) < 0.1)] = np.nan
    return rewards


def later(table: DecisionTable, rewards: Any) -> Any:
    rewards[SPLIT:] += 0.15 * (table.action[SPLIT:] == 1)
    return rewards


def turned(table: DecisionTable, rewards: Any) -> Any:
    rewards[SPLIT + 500 :] *= -1.0
    return rewards


def cents(table: DecisionTable, rewards: Any) -> Any:
    rewards[1500:2100] *= 100.0
    return rewards


def some_cents(table: DecisionTable, rewards: Any) -> Any:
    rewards = 0.5 + rewards / 2.0
    rewards[[17, 170, 1700, 1701]] *= 100.0
    return rewards


def scattered_cents(table: DecisionTable, rewards: Any) -> Any:
    rewards[::200] *= 100.0
    return rewards


def certain(table: DecisionTable) -> DecisionTable:
    """Some rows of an epoch of uniform play say what was done, not how likely that was."""
    assert table.distribution is not None
    chances = table.distribution.copy()
    rows = np.array([30, 90, 400])
    chances[rows] = np.eye(3)[table.action[rows]]
    return replace(table, distribution=chances, propensity=chances[np.arange(N), table.action], passive=None)


def dropped(table: DecisionTable) -> DecisionTable:
    """Most of green is lost in the last part of the log, as by a filter."""
    keep = (table.action != 1) | (np.arange(len(table)) < SPLIT) | (np.arange(len(table)) % 5 == 0)
    return replace(table.take(keep), source_row=None, round=None)


def greedy(table: DecisionTable) -> DecisionTable:
    one_hot = np.eye(3)[table.action]
    return replace(table, distribution=one_hot, propensity=np.ones(len(table)))


FAULTS: dict[str, tuple[str, Plant]] = {
    "sharpened": ("propensity_calibration", distribution(lambda p: p**1.5)),
    "tempered": ("propensity_calibration", distribution(lambda p: p**0.7)),
    "another action's column": ("propensity_calibration", distribution(lambda p: p[:, [1, 2, 0]])),
    "the row before": ("propensity_calibration", distribution(lambda p: np.roll(p, 1, axis=0))),
    "one epoch": ("propensity_calibration", distribution(from_row(lambda p: p * [1.0, 2.0, 1.0]))),
    "uniform where it is not": ("propensity_calibration", distribution(np.ones_like)),
    "halved, alone": ("propensity_calibration", propensities(lambda p: p / 1.3)),
    "too high, alone": ("propensity_too_high", propensities(lambda p: np.minimum(1.5 * p, 1.0))),
    "lost actions": ("sample_ratio", dropped),
    "greedy": ("deterministic", greedy),
    "constant 1": ("deterministic", lambda t: replace(t, distribution=None, propensity=np.ones(len(t)))),
    "two digits": ("propensity_rounded", propensities(lambda p: p.round(2))),
    "the reward": (
        "feature_is_reward",
        feature(lambda t: np.where(np.isnan(t.reward), 0.0, 3.0 - 2.0 * t.reward)),
    ),
    "nearly the reward": ("feature_predicts_reward", feature(lambda t: np.nan_to_num(t.reward) ** 3)),
    "the action": ("feature_is_action", feature(lambda t: np.array([5.0, 1.0, 7.0])[t.action])),
    "after the action": (
        "feature_imbalance",
        feature(lambda t: t.contexts.shared[:, 1] + 0.3 * (t.action == 1)),
    ),
    "lost rewards of one action": ("reward_missing_by_action", reward(lost)),
    "rewards rise": ("reward_drift", reward(later)),
    "rewards turn": ("reward_drift_within_epoch", reward(turned)),
    "features shift": (
        "feature_drift",
        feature(lambda t: t.contexts.shared[:, 1] + (np.arange(N) > SPLIT) * 0.3),
    ),
    "cents in between": ("reward_unit", reward(cents)),
    "cents now and then": ("reward_unit", reward(scattered_cents)),
    "one-hot": ("one_hot", certain),
    "some in cents": ("reward_unit", reward(some_cents)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_whole_is_found(name: str) -> None:
    kind, plant = FAULTS[name]
    assert not {one.kind for one in check_log(CLEAN).findings} - {"reward_missing"}
    check = check_log(plant(CLEAN))
    (finding,) = check.of_kind(kind)
    assert not finding.sets_aside
    assert finding.n_rows > 0


def test_a_fault_of_one_epoch_is_found_in_its_rows() -> None:
    for name in ("one epoch", "lost actions"):
        planted = FAULTS[name][1](CLEAN)
        (finding,) = check_log(planted).of_kind("propensity_calibration")
        assert finding.rows.tolist() == list(range(SPLIT, len(planted)))


def test_the_stretch_with_another_unit_is_found_row_by_row() -> None:
    planted = FAULTS["cents in between"][1](CLEAN)
    (finding,) = check_log(planted).of_kind("reward_unit")
    truly = set(range(1500, 2100)) & set(np.flatnonzero(planted.reward > 5.0).tolist())
    assert truly <= set(finding.rows.tolist()) <= set(range(1500, 2100))
    assert finding.details["factor"] == pytest.approx(100.0, rel=0.2)
    few = FAULTS["some in cents"][1](CLEAN)
    assert check_log(few).of_kind("reward_unit")[0].rows.tolist() == [17, 170, 1700, 1701]


def test_one_hot_rows_are_named() -> None:
    (finding,) = check_log(FAULTS["one-hot"][1](CLEAN)).of_kind("one_hot")
    assert finding.rows.tolist() == [30, 90, 400]


def test_heavy_tails_are_no_other_unit() -> None:
    random = np.random.default_rng(6)
    for seed in range(50):
        size = random.pareto(1.1, 1000) if seed % 2 else random.lognormal(0.0, 2.0, 1000)
        table = replace(fixed_shares([0.5, 0.5], n=1000), reward=size)
        assert not check_log(table).of_kind("reward_unit")


def test_drift_is_dated() -> None:
    (finding,) = check_log(FAULTS["features shift"][1](CLEAN)).of_kind("feature_drift")
    assert abs(finding.details["change"] - SPLIT) < 150
    assert finding.details["features"] == ["'income'"]


def test_traffic_is_compared_with_the_shares_that_were_logged_or_planned() -> None:
    even = fixed_shares([0.5, 0.3, 0.2])
    assert not check_log(even).of_kind("sample_ratio")
    assert not check_log(even, shares={0: 5, 1: 3, 2: 2}).of_kind("sample_ratio")
    assert check_log(even, shares={0: 1, 1: 1, 2: 1}).of_kind("sample_ratio")
    biased = fixed_shares([0.5, 0.3, 0.2], drawn=[0.46, 0.34, 0.2])
    (finding,) = check_log(biased).of_kind("sample_ratio")
    assert finding.details["expected"]["0"] == pytest.approx(0.5 * N)


def test_experiments_are_compared_with_their_planned_shares() -> None:
    names = np.where(np.random.default_rng(4).random(N) < 0.9, "learned", "control").astype(object)
    table = replace(fixed_shares([0.5, 0.5]), experiment=names)
    assert not check_log(table, shares={"learned": 0.9, "control": 0.1}).of_kind("sample_ratio")
    assert check_log(table, shares={"learned": 0.8, "control": 0.2}).of_kind("sample_ratio")
    with pytest.raises(ValueError, match="neither an action nor an experiment"):
        check_log(table, shares={"treated": 0.9})


@pytest.mark.parametrize("learner", LEARNERS)
def test_probabilities_of_the_next_epoch_are_found_in_the_logs_of_learners(learner: str) -> None:
    table = played(LEARNERS[learner], ENVIRONMENTS["linear"], 2000, 8)
    assert not check_log(table).findings
    skewed = distribution(lambda p: np.sqrt(p) * [1.0, 1.0, 1.6])(table)
    assert check_log(skewed).of_kind("propensity_calibration")


def test_wrong_probabilities_are_found_where_some_rows_have_none() -> None:
    """Row numbers are those of the whole log."""
    random, shares = np.random.default_rng(0), np.array([0.5, 0.3, 0.2])
    action = random.choice(3, N, p=[0.4, 0.3, 0.3])
    chances = np.tile(shares, (N, 1))
    chances[: N // 4] = np.nan
    table = DecisionTable.of(
        actions=range(3),
        action=action.tolist(),
        reward=random.random(N),
        propensity=shares[action],
        distribution=chances,
    )
    (found,) = [one for one in check_log(table).findings if one.kind == "propensity_calibration"]
    assert found.rows[0] == N // 4
    assert found.rows[-1] == N - 1
