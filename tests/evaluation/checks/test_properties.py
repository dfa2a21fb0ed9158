"""Invariants of checks, on logs whose columns hold anything at all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import (
    bets_against_propensities,
    holm,
    two_sided,
)
from tests.evaluation.checks.logs import ENVIRONMENTS, LEARNERS, experiment, played

ODD = [np.nan, np.inf, -np.inf, 0.0, -1.0, 2.0, 1e308, -1e308, 1e-308, 1.7e9, 1.7e12]


def damaged(seed: int, n: int, share: float) -> DecisionTable:
    """A log with odd values in every column, some of which are gone."""
    random = np.random.default_rng(seed)
    clean = experiment(n + 1, seed).take(slice(0, n))

    def odd(column: Any) -> Any:
        values = np.array(column, dtype=np.float64)
        cells = random.random(values.shape) < share
        values[cells] = random.choice(ODD, cells.sum())
        return values

    numbers = ("reward", "propensity", "distribution", "time", "reward_time", "epoch", "round", "action")
    columns: dict[str, Any] = {name: odd(getattr(clean, name)) for name in numbers}
    ids = np.where(random.random(n) < share, random.choice(["", "e1", "e2"], n), np.asarray(clean.event_id))
    columns["event_id"] = ids.astype(object)
    flipped = random.random((5, n)) < share
    for row, name in enumerate(("passive", "defaulted", "late", "overridden", "shadow")):
        columns[name] = np.asarray(getattr(clean, name)) ^ flipped[row]
    eligible = clean.eligible ^ (random.random(clean.eligible.shape) < share)
    for name in random.choice([*columns, "model"], 3):
        if name not in {"reward", "propensity", "action"}:
            columns[name] = None
    contexts = Contexts(odd(clean.contexts.shared), odd(clean.contexts.actions), eligible)
    return replace(clean, contexts=contexts, **columns)


any_log = st.builds(
    damaged, st.integers(0, 10**6), st.integers(0, 150), st.sampled_from([0.0, 0.02, 0.3, 1.0])
)


@given(any_log)
def test_any_log_is_checked(table: DecisionTable) -> None:
    check = check_log(table)
    for one in check.findings:
        rows = one.rows.tolist()
        assert rows == sorted(set(rows))
        assert rows
        assert 0 <= rows[0] <= rows[-1] < len(table)
        assert not check.usable[rows].any() or not one.sets_aside
        assert str(one).endswith(".")
        assert "row" in one.message
    severities = [one.severity for one in check.findings]
    assert severities == sorted(severities)
    assert check.passed == ("error" not in severities)
    machine = json.loads(check.to_json(), parse_constant=pytest.fail)
    assert [one["n_rows"] for one in machine["findings"]] == [one.n_rows for one in check.findings]
    assert str(check).startswith("passed" if check.passed else "FAILED")


@given(any_log)
def test_rows_that_remain_are_not_set_aside_again(table: DecisionTable) -> None:
    check = check_log(table)
    good, bad = check.set_aside(table)
    assert np.array_equal(np.sort(np.concatenate([good.rows, bad.rows])), np.arange(len(table)))
    assert all(check.faults_of(bad.rows.tolist()))
    assert not any(check.faults_of(good.rows.tolist()))
    again = check_log(good)
    assert not any(one.sets_aside for one in again.findings), str(again)


@given(st.integers(0, 100), st.sampled_from([1e-6, 1.0, 1e6]))
def test_the_unit_of_rewards_changes_nothing(seed: int, scale: float) -> None:
    def kinds(table: DecisionTable) -> list[tuple[str, list[int]]]:
        return [(one.kind, one.rows.tolist()) for one in check_log(table).findings]

    assert kinds(experiment(400, seed, scale)) == kinds(experiment(400, seed))


def test_row_numbers_are_those_of_the_source() -> None:
    table = experiment(1000)
    propensity = table.propensity.copy()
    propensity[[600, 900]] = 2.0
    part = replace(table, propensity=propensity, distribution=None).take(slice(500, None))
    check = check_log(part)
    (finding,) = check.of_kind("propensity_above_one")
    assert finding.rows.tolist() == [600, 900]
    assert finding.message.startswith("rows 600 and 900: in the first, the propensity is 2")
    good, bad = check.set_aside(part)
    assert bad.rows.tolist() == [600, 900]
    assert check_log(bad).of_kind("propensity_above_one")[0].rows.tolist() == [600, 900]
    with pytest.raises(ValueError, match="give the table that was checked"):
        check.set_aside(good)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_logs_of_learners_pass(learner: str, environment: str) -> None:
    check = check_log(played(LEARNERS[learner], ENVIRONMENTS[environment], 600, 5))
    assert not check.findings, str(check)
    costs = replace(played(LEARNERS[learner], ENVIRONMENTS[environment], 300, 6), cost=True)
    assert not check_log(costs).findings


def test_the_columns_may_be_of_any_type() -> None:
    table = experiment(300)
    as_objects: dict[str, Any] = {
        name: np.array(getattr(table, name).tolist(), dtype=object)
        for name in ("reward", "propensity", "time", "epoch", "round", "passive", "late", "action")
    }
    as_objects["propensity"][7] = "half"
    check = check_log(replace(table, **as_objects))
    assert [(one.kind, one.rows.tolist()) for one in check.errors] == [("propensity_missing", [7])]


def test_indicators_of_actions_that_stay_empty_are_no_fault() -> None:
    clean = experiment(100, 1)
    actions = np.zeros((100, clean.n_actions, 3))
    contexts = replace(clean.contexts, actions=actions)
    table = replace(clean, contexts=contexts, action_features=("kind=other", "price:missing", "price"))
    found = [one for one in check_log(table).findings if one.kind == "feature_constant"]
    (message,) = (one.message for one in found)
    assert message == "rows 0 to 99: the feature 'price' of actions is 0 in every row"


@pytest.mark.parametrize("name", ["device=other", "age:missing", "city#12", "bias", "i.constant"])
def test_columns_that_may_be_constant_are_no_fault(name: str) -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.random(100), np.zeros(100)])
    table = DecisionTable.of(
        actions=["a", "b"],
        action=rng.choice(["a", "b"], 100),
        reward=rng.random(100),
        propensity=np.full(100, 0.5),
        shared=columns,
        features=["age", name],
    )
    assert "feature_constant" not in {finding.kind for finding in check_log(table).findings}
    renamed = replace(table, features=("age", "income"))
    assert "feature_constant" in {finding.kind for finding in check_log(renamed).findings}


def test_settings_that_make_no_sense_are_refused() -> None:
    table = experiment(50)
    with pytest.raises(ValueError, match="alpha is 2; give a number from 0 to 1"):
        check_log(table, alpha=2)
    with pytest.raises(ValueError, match="the lower one first"):
        check_log(table, reward_range=(1.0, 0.0))
    with pytest.raises(ValueError, match="the share of 'red' is -1"):
        check_log(table, shares={"red": -1})
    with pytest.raises(ValueError, match="shares are all 0"):
        check_log(table, shares={"red": 0})
    with pytest.raises(ValueError, match="the column time has 49 rows and the log 50"):
        check_log(replace(table, time=np.zeros(49)))


@pytest.mark.parametrize("p", [0.002, 0.1, 0.5, 0.9])
def test_p_values_of_counts_are_no_smaller_than_they_should_be(p: float) -> None:
    # 20,000 sums: the share below alpha is within four standard errors of at most alpha.
    counts = np.random.default_rng(8).binomial(500, p, 20_000)
    p_values = two_sided(np.asarray(counts - 500.0 * p, dtype=np.float64), np.full(20_000, 500 * p * (1 - p)))
    for alpha in (0.05, 0.01, 0.001):
        assert (p_values <= alpha).mean() <= 1.2 * alpha + 4.0 * np.sqrt(alpha / 20_000)
    assert (p_values <= 0.2).mean() >= 0.04  # they do get small


@pytest.mark.parametrize("too_low", [True, False])
def test_bets_against_right_propensities_seldom_win(too_low: bool) -> None:
    random = np.random.default_rng(9)
    n_wins = 0
    for _ in range(1000):
        chance = random.choice([0.02, 0.3, 0.7], 200)
        drawn = random.random(200) < chance
        propensity, group = chance[drawn], np.zeros(int(drawn.sum()), dtype=np.int64)
        floor = None if too_low else np.array([0.02])
        (p_value,) = bets_against_propensities(propensity, group, np.array([200]), floor)
        n_wins += bool(p_value <= 0.05)
    assert n_wins <= 71  # three standard errors above 5%


def test_holm_is_between_bonferroni_and_no_correction() -> None:
    p_values = np.random.default_rng(10).random((50, 20)) ** 3
    rejected = np.array([holm(row, 0.05) for row in p_values])
    assert (rejected >= (p_values <= 0.05 / 20)).all()
    assert (rejected <= (p_values <= 0.05)).all()
    assert not holm(np.array([np.nan, np.nan]), 0.05).any()


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "adaptive-falcon"])
def test_false_alarms_are_as_rare_as_they_should_be(learner: str) -> None:
    # At 1% in all, more than 4 of 60 logs would have one by chance once in 5,000 times.
    environments = [ENVIRONMENTS[name] for name in ("linear", "rare", "step")]
    n_alarms = sum(
        any("p_value" in one.details for one in check_log(played(LEARNERS[learner], one, 500, seed)).findings)
        for one in environments
        for seed in range(20)
    )
    assert n_alarms <= 4


@pytest.mark.long
@pytest.mark.parametrize("learner", LEARNERS)
def test_false_alarms_in_many_logs(learner: str) -> None:
    # At 1% in all, more than 12 of 400 logs would have one by chance once in 2,000 times.
    n_alarms = sum(
        any(
            "p_value" in found.details
            for found in check_log(played(LEARNERS[learner], one, 600, seed)).findings
        )
        for one in ENVIRONMENTS.values()
        for seed in range(66)
    )
    assert n_alarms <= 12


def test_a_log_that_two_bandits_share_has_warnings_alone() -> None:
    first, second = (
        played(LEARNERS["adaptive-falcon"], ENVIRONMENTS["linear"], 500, seed) for seed in (3, 4)
    )
    mixed = np.concatenate([first.reward, second.reward])
    order = np.argsort(np.random.default_rng(1).random(1000), kind="stable")

    def both(name: str) -> Any:
        return np.concatenate([getattr(first, name), getattr(second, name)])[order]

    names = ("action", "propensity", "distribution", "epoch", "round", "passive")
    hashes = [
        [f"{who}{epoch}" for epoch in np.asarray(one.epoch)] for who, one in (("a", first), ("b", second))
    ]
    table = replace(
        first,
        contexts=Contexts(np.concatenate([first.contexts.shared, second.contexts.shared])[order]),
        reward=mixed[order],
        model=np.array(hashes[0] + hashes[1], dtype=object)[order],
        **{name: both(name) for name in names},
    )
    kinds = {one.kind for one in check_log(table).findings}
    assert kinds == {"epoch_unsorted", "epochs_interleaved", "rounds_interleaved"}
    assert check_log(table).passed
