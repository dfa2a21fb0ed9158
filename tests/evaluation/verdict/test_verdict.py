"""Each reason for a verdict appears on a log that was made for it, and not on a fair one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.policies.greedy import GreedyPolicy
from gyrfalcon.evaluation import Reason, Verdict, evaluate, of_policy
from gyrfalcon.evaluation.verdict.limits import Limits
from tests.evaluation.logs import log_of

SHARES = np.array([0.5, 0.3, 0.2])
BLUE = {"blue": "always blue"}


def levels(table: DecisionTable, policies: dict[str, Any] | None = None, **settings: Any) -> dict[str, str]:
    """The worst level of each check, for the first policy but the logged play."""
    evaluation = evaluate(table, BLUE if policies is None else policies, **settings)
    worst: dict[str, str] = {}
    for reason in evaluation.policies[1].verdict.reasons:
        worst.setdefault(reason.check, reason.level)
    return worst


def without_distributions(table: DecisionTable) -> DecisionTable:
    """The log with the propensities of logged actions alone, one of which is not that of its action."""
    propensity = table.propensity.copy()
    propensity[-1] *= 1.01
    return replace(table, propensity=propensity, distribution=None)


def contextual_log(n: int = 4000, seed: int = 0) -> DecisionTable:
    """A log whose probabilities depend on the feature."""
    table, random = log_of(n, seed=seed), np.random.default_rng([seed, 1])
    scores = table.contexts.shared * np.array([0.0, 1.5, -1.5])
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    action = (random.random((n, 1)) > chances.cumsum(axis=1)).sum(axis=1).clip(max=2)
    reward = (random.random(n) < np.array([0.3, 0.5, 0.4])[action]).astype(float)
    return replace(
        table, action=action, reward=reward, distribution=chances, propensity=chances[np.arange(n), action]
    )


def test_a_fair_log_has_no_objections() -> None:
    for seed in range(5):
        found = levels(log_of(2000, seed=seed, propensities=SHARES))
        assert set(found.values()) == {"trust"}
        assert {"mean weight", "expected effective rows", "rare rows drawn", "calibration"} <= set(found)


def test_small_fair_logs_are_not_blamed_for_chance() -> None:
    """Of 60 logs of 150 rows, in which 75 rows match, the mean weight objects to few."""
    blamed = [
        levels(log_of(150, seed=seed, propensities=np.array([0.25, 0.5, 0.25])))["mean weight"] != "trust"
        for seed in range(60)
    ]
    assert sum(blamed) <= 3


def test_wrong_propensities_are_noticed_by_the_mean_weight() -> None:
    table = log_of(2000, propensities=SHARES)
    for factor, level in ((1.0, "trust"), (0.8, "caution"), (0.5, "do not trust")):
        wrong = replace(table, propensity=table.propensity * factor, distribution=None)
        found = levels(wrong)["mean weight"]
        assert found == level if factor != 0.8 else found in ("caution", "do not trust")


def test_few_effective_rows() -> None:
    rare = np.array([0.97, 0.01, 0.02])
    assert levels(log_of(1000, propensities=rare))["expected effective rows"] == "do not trust"
    assert levels(log_of(3500, propensities=rare))["expected effective rows"] == "caution"
    assert levels(log_of(9000, propensities=rare))["expected effective rows"] == "trust"


def test_propensities_that_are_right_on_average_alone_are_noticed() -> None:
    """Shares of actions add up, and the mean weight of uniform play is 1: features show what is wrong."""
    table = contextual_log()
    assert levels(table, {"even": "uniform"})["calibration"] == "trust"
    assert table.distribution is not None
    average = table.distribution.mean(axis=0)
    wrong = replace(table, distribution=np.tile(average, (len(table), 1)), propensity=average[table.action])
    assert levels(wrong, {"even": "uniform"})["mean weight"] == "trust"
    assert levels(wrong, {"even": "uniform"})["calibration"] == "do not trust"
    alone = replace(wrong, distribution=None)
    assert levels(alone, {"even": "uniform"})["calibration"] == "do not trust"


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_propensities_of_another_temperature_are_noticed(temperature: float) -> None:
    table = contextual_log()
    assert table.distribution is not None
    chances = table.distribution ** (1.0 / temperature)
    chances /= chances.sum(axis=1, keepdims=True)
    own = chances[np.arange(len(table)), table.action]
    wrong = replace(table, distribution=chances, propensity=own)
    assert levels(wrong, {"even": "uniform"})["calibration"] == "do not trust"
    alone = evaluate(replace(wrong, distribution=None), {"even": "uniform"})
    assert alone["even"].verdict.level == "do not trust"


def test_right_propensities_are_seldom_doubted() -> None:
    """Of 100 logs of 400 rows, more than one is in doubt with a probability below 0.005."""
    doubted = 0
    for seed in range(50):
        table = contextual_log(400, seed)
        for one in (table, replace(table, distribution=None)):
            doubted += levels(one, {"even": "uniform"})["calibration"] != "trust"
    assert doubted <= 1


def test_few_matching_rows() -> None:
    rare = np.array([0.97, 0.01, 0.02])
    assert levels(log_of(1000, propensities=rare))["rows the value rests on"] == "do not trust"
    assert levels(log_of(9000, propensities=rare))["rows the value rests on"] == "trust"


def test_rare_rows_that_were_not_drawn() -> None:
    """Without the rows of a rare action, squared weights and spread are far below what is expected."""
    table = log_of(3000, propensities=np.array([0.6, 0.38, 0.02]))
    policies = {"even": "uniform"}
    undrawn = table.take(table.action != 2)
    found = levels(undrawn, policies)
    assert found["rare rows drawn"] == "do not trust"
    assert found["expected spread"] == "do not trust"
    fair = levels(table, policies)
    assert fair["rare rows drawn"] == "trust"
    assert fair["expected spread"] == "trust"


def test_rows_too_rare_to_be_drawn_are_no_reason_for_distrust_where_they_are_few() -> None:
    """Most of the expected error is a bias that rows of a tiny probability may add, and seldom do."""
    table = log_of(4000, propensities=np.array([0.98999, 0.01, 0.00001]))
    table = table.take(table.action != 2)
    target = {"mostly red": np.tile([0.965, 0.01, 0.025], (len(table), 1))}
    value = evaluate(table, target)["mostly red"]
    (reason,) = [one for one in value.verdict.reasons if one.check == "expected spread"]
    assert reason.level == "caution"
    assert "see the interval 'minvar_expected'" in reason.text
    green = {"mostly green": np.tile([0.09, 0.01, 0.9], (len(table), 1))}
    assert levels(table, green)["expected spread"] == "do not trust"


def test_one_row_of_a_large_weight() -> None:
    table = log_of(1000, propensities=SHARES)
    propensity = table.propensity.copy()
    propensity[np.flatnonzero(table.action == 1)[7]] = 1e-3
    found = levels(replace(table, propensity=propensity, distribution=None), interval="normal")
    assert found["weight tails"] == "do not trust"
    assert found["heavy tails"] == "caution"  # the interval is wide with that row
    assert levels(table, interval="normal")["weight tails"] == "trust"


def test_one_reward_far_from_all_others() -> None:
    table = log_of(1000, propensities=SHARES)
    reward = table.reward.copy()
    reward[np.flatnonzero(table.action == 1)[99]] = 500.0
    found = levels(replace(table, reward=reward, reward_range=None))
    assert found["heavy tails"] == "do not trust"
    assert levels(table)["heavy tails"] == "trust"


def test_actions_that_could_not_be_logged() -> None:
    table = log_of(1000, propensities=np.array([0.5, 0.5, 0.0]))
    mostly_blue = {"new": np.tile([0.0, 0.995, 0.005], (1000, 1))}
    assert levels(table, mostly_blue)["support"] == "caution"
    assert levels(table, {"even": "uniform"})["support"] == "do not trust"
    assert levels(table, BLUE)["support"] == "trust"
    unknown = replace(table, distribution=None)
    assert levels(unknown, {"even": "uniform"})["support"] == "do not trust"
    even = evaluate(table, {"even": "uniform"})["even"]
    assert even.sequence is not None
    assert even.sequence.high - even.sequence.low > 1 / 3  # nothing is known of a third of the play


def test_actions_drawn_more_often_than_their_propensities_say() -> None:
    table = log_of(2000, propensities=SHARES)
    wrong = np.array([0.42, 0.36, 0.22])
    lying = replace(table, distribution=np.tile(wrong, (2000, 1)), propensity=wrong[table.action])
    assert levels(lying)["calibration"] == "do not trust"
    assert levels(table)["calibration"] == "trust"


@pytest.mark.parametrize(("n_missing", "level"), [(0, "trust"), (60, "caution"), (500, "do not trust")])
def test_missing_rewards(n_missing: int, level: str) -> None:
    table = log_of(2000, propensities=SHARES)
    reward = table.reward.copy()
    reward[:n_missing] = np.nan
    assert levels(replace(table, reward=reward))["missing rewards"] == level


def test_rewards_outside_of_their_range_are_refused() -> None:
    table = log_of(500, propensities=SHARES)
    reward, n_paid = table.reward * 2.0, int(table.reward.sum())
    first = int(reward.argmax())
    message = f"row {first + 7}: the reward 2 is outside .* from 0 to 1, as are {n_paid} of 500 rewards"
    outside = replace(table, reward=reward, source_row=np.arange(7, 507))
    for estimator in ("dr", "ips", "dm"):
        with pytest.raises(ValueError, match=message):
            evaluate(outside, BLUE, estimator=estimator)
    assert evaluate(outside, BLUE, reward_range=(0.0, 2.0))["blue"].sequence is not None
    assert levels(table)["reward range"] == "trust"
    observed = evaluate(replace(table, reward_range=None), BLUE)["blue"]
    assert observed.sequence is not None
    assert "no reward lies outside of those observed, from 0 to 1" in observed.sequence_note


def test_unknown_and_estimated_propensities() -> None:
    table = log_of(2000, propensities=SHARES)
    some = table.propensity.copy()
    some[:100] = np.nan
    assert levels(replace(table, propensity=some))["propensities"] == "caution"
    assert levels(without_distributions(table))["propensities"] == "caution"
    assert levels(replace(table, distribution=None))["propensities"] == "trust"  # shares are fixed
    assert levels(table, estimated_propensities=True)["propensities"] == "caution"


def test_rewards_that_are_all_alike_and_logs_of_few_rows() -> None:
    table = log_of(400, propensities=SHARES, reward=np.zeros(400))
    assert levels(table)["expected spread"] == "caution"
    assert evaluate(table, BLUE)["logged"].verdict.level == "caution"
    assert evaluate(log_of(12), BLUE)["logged"].verdict.level == "do not trust"
    assert evaluate(log_of(400), BLUE)["logged"].verdict.level == "trust"


def test_policies_learned_from_the_log() -> None:
    class Scores:
        def scores(self, contexts: Any) -> Any:
            return np.tile([0.0, 1.0, 0.5], (len(contexts), 1))

    greedy = GreedyPolicy(Scores())
    table = log_of(2000, propensities=SHARES)
    assert levels(table, {"greedy": greedy})["dependence on the log"] == "caution"
    assert "dependence on the log" not in levels(table, {"greedy": of_policy(greedy, held_out=True)})


def test_intervals_that_need_independent_rows_carry_a_caution_on_adaptive_logs() -> None:
    table = log_of(2000, propensities=SHARES, epoch=np.repeat([1, 2], 1000))
    for interval in ("normal", "bootstrap", "stablevar"):
        assert levels(table, interval=interval)["interval"] == "caution"
        assert levels(replace(table, epoch=None), interval=interval)["interval"] == "trust"
    assert "interval" not in levels(table)


def test_values_that_change_over_time() -> None:
    table = log_of(4000, propensities=SHARES)
    reward = table.reward.copy()
    reward[2000:] = 1.0
    changed = replace(table, reward=reward)
    assert levels(changed)["change over time"] == "do not trust"
    assert levels(table)["change over time"] == "trust"
    from_nothing = replace(table, reward=(np.arange(4000) >= 2000).astype(float))
    assert levels(from_nothing)["confidence sequence"] == "caution"
    assert levels(table)["confidence sequence"] == "trust"
    doubled = replace(table, propensity=table.propensity / 2.0, distribution=None)
    assert levels(doubled)["confidence sequence"] == "caution"


def test_objections_say_what_to_do() -> None:
    rare = log_of(1000, propensities=np.array([0.97, 0.01, 0.02]))
    objections = evaluate(rare, BLUE)["blue"].verdict.objections
    assert len(objections) > 1
    for one in objections:
        assert re.search("collect more|compare with|see the interval", one.text)


def test_objections_that_are_not_shown_are_named() -> None:
    wrong = replace(log_of(400, propensities=SHARES), distribution=None)
    wrong = replace(wrong, propensity=wrong.propensity / 20.0, reward=np.arange(400) / 400.0)
    found = evaluate(wrong, BLUE)
    others = [one.check for one in found["blue"].verdict.objections[3:]]
    assert f"and objections to {', '.join(dict.fromkeys(others))}" in str(found)


def test_a_range_far_wider_than_the_rewards_is_pointed_out() -> None:
    wide = evaluate(log_of(500), BLUE, reward_range=(-1000.0, 1000.0))["blue"]
    assert "of a range from -1000 to 1000" in wide.sequence_note
    assert evaluate(log_of(500), BLUE)["blue"].sequence_note == ""


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.1])
def test_equal_rewards_are_no_disagreement_of_intervals(reward: float) -> None:
    """Rounding alone makes contributions differ."""
    found = evaluate(log_of(500, reward=np.full(500, reward)), BLUE)
    for policy in found.policies:
        assert [one.check for one in policy.verdict.objections] == ["expected spread"]
        assert "give" not in policy.verdict.objections[0].text


def test_limits_and_verdicts() -> None:
    assert [Limits(0.2, 0.5).level(value) for value in (0.1, 0.2, 0.5)] == [
        "trust",
        "caution",
        "do not trust",
    ]
    assert [Limits(50, 20).level(value) for value in (60, 50, 20)] == ["trust", "caution", "do not trust"]
    assert Verdict.of([]).level == "trust"
    verdict = Verdict.of([Reason("trust", "a", "A."), Reason("do not trust", "b", "B.")])
    assert (verdict.level, [reason.check for reason in verdict.objections]) == ("do not trust", ["b"])
