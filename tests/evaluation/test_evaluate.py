from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import (
    always,
    check_log,
    contrast,
    diagnose,
    doubly_robust,
    estimated_propensities,
    evaluate,
)
from gyrfalcon.evaluation.evaluation import Evaluation
from gyrfalcon.evaluation.intervals.by_name import INTERVALS, IntervalRow
from gyrfalcon.evaluation.intervals.inputs import IntervalInputs
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.predictions.past_rows import past_predictions
from tests.evaluation.logs import MEANS, log_of, relabelled

POLICIES = {"uniform": "uniform", "blue": "always blue"}
SHARES = np.array([0.5, 0.3, 0.2])


def known_answer() -> DecisionTable:
    """The four rows of which every estimate is known by hand."""
    distribution = np.array([[0.5, 0.5], [0.8, 0.2], [0.8, 0.2], [0.5, 0.5]])
    return DecisionTable(
        actions=("a", "b"),
        contexts=Contexts(np.zeros((4, 0))),
        action=np.array([0, 1, 0, 1]),
        reward=np.array([1.0, 0.0, 0.0, 1.0]),
        propensity=np.array([0.5, 0.2, 0.8, 0.5]),
        distribution=distribution,
        reward_range=(0.0, 1.0),
    )


TARGET = np.tile([0.25, 0.75], (4, 1))


@pytest.mark.parametrize(
    ("estimator", "value"),
    [("dr", 0.2421875), ("ips", 0.5), ("snips", 0.32989691), ("dm", 0.5), ("sndr", 0.32989691)],
)
def test_known_answers_with_given_predictions(estimator: str, value: float) -> None:
    found = evaluate(
        known_answer(),
        {"new": TARGET},
        estimator=estimator,
        interval="normal",
        predictions=np.full((4, 2), 0.5),
    )
    assert found["new"].plain_value == pytest.approx(value, abs=1e-8)
    assert found["new"].value == pytest.approx(value, abs=1e-8)
    assert found["logged"].value == 0.5
    assert found.n_rows == 4


def test_switch_by_hand() -> None:
    found = evaluate(
        known_answer(),
        {"new": TARGET},
        estimator="switch",
        max_weight=2.0,
        predictions=np.full((4, 2), 0.5),
    )
    assert found["new"].plain_value == pytest.approx(0.7109375)


def test_values_are_those_of_the_estimators_on_the_rows_used() -> None:
    table = log_of(500, propensities=SHARES)
    found = evaluate(table, POLICIES, interval="normal")
    rows = table.take(slice(1, None))
    logged = rows.reward, rows.action, rows.propensity
    predictions = past_predictions(table)[1:]
    blue = doubly_robust(*logged, np.tile([0.0, 1.0, 0.0], (499, 1)), predictions)
    even = doubly_robust(*logged, np.full((499, 3), 1 / 3), predictions)
    assert found["blue"].value == pytest.approx(blue.value)
    assert found["blue"].interval.low == pytest.approx(normal_interval(blue.contributions).low)
    assert found["blue"].standard_error == pytest.approx(blue.standard_error)
    against = evaluate(table, POLICIES, interval="normal", baseline="uniform")
    gain = contrast(blue, even)
    assert against["blue"].difference == pytest.approx(gain.value)
    assert against["blue"].difference_error == pytest.approx(gain.standard_error)
    assert against["uniform"].difference is None
    assert [policy.name for policy in against.policies] == ["uniform", "blue"]


def test_the_logged_play_has_the_mean_reward_as_its_value() -> None:
    table = log_of(300, propensities=SHARES)
    found = evaluate(table, {}, estimator="ips")
    assert found["logged"].value == pytest.approx(table.reward.mean())
    assert found["logged"].verdict.level == "trust"
    same = evaluate(table, {"same": table.distribution}, estimator="ips")
    assert same["same"].plain_value == pytest.approx(table.reward.mean())


def test_predictions_of_a_row_come_from_earlier_rows() -> None:
    table = log_of(200)
    changed = table.reward.copy()
    changed[120:] = 1.0 - changed[120:]
    before, after = past_predictions(table), past_predictions(replace(table, reward=changed))
    assert np.array_equal(before[:121], after[:121])
    assert not np.array_equal(before[160:], after[160:])
    assert before[1].tolist() == [table.reward[0]] * 3
    few = past_predictions(table.take(slice(0, 5)))
    assert np.allclose(few[1:, 0], np.cumsum(table.reward)[:4] / np.arange(1, 5))


def test_missing_features_do_not_spoil_predictions() -> None:
    table = log_of(300)
    shared = table.contexts.shared.copy()
    shared[::7] = np.nan
    found = evaluate(replace(table, contexts=Contexts(shared)), POLICIES)
    assert np.isfinite(found["blue"].value)


def numbers(found: Evaluation, name: str) -> list[float]:
    policy = found[name]
    assert policy.sequence is not None
    assert policy.difference is not None
    return [
        policy.value,
        policy.interval.low,
        policy.interval.high,
        policy.sequence.low,
        policy.sequence.high,
    ]


@given(
    st.floats(-1000.0, 1000.0),
    st.floats(0.001, 1000.0),
    st.sampled_from(["dr", "sndr", "dros", "switch", "sub_gaussian_dr"]),
    st.sampled_from(["minvar", "minvar_expected", "stablevar", "normal"]),
)
@settings(max_examples=15)
def test_values_follow_the_unit_and_the_zero_of_rewards(
    shift: float, scale: float, estimator: str, interval: str
) -> None:
    table = log_of(240, propensities=SHARES)
    moved = replace(table, reward=shift + scale * table.reward, reward_range=(shift, shift + scale))
    methods: dict[str, Any] = {"estimator": estimator, "interval": interval}
    plain, other = evaluate(table, POLICIES, **methods), evaluate(moved, POLICIES, **methods)
    expected = [shift + scale * number for number in numbers(plain, "blue")]
    assert numbers(other, "blue") == pytest.approx(expected, rel=1e-6, abs=1e-6 * (abs(shift) + scale))
    assert other["blue"].verdict.level == plain["blue"].verdict.level
    assert plain["blue"].difference is not None
    assert other["blue"].difference == pytest.approx(
        scale * plain["blue"].difference, rel=1e-5, abs=1e-9 * (abs(shift) + scale)
    )


@given(st.permutations([0, 1, 2]))
@settings(max_examples=6)
def test_the_order_of_actions_does_not_matter(order: list[int]) -> None:
    table = log_of(240, propensities=SHARES)
    plain, other = evaluate(table, POLICIES), evaluate(relabelled(table, order), POLICIES)
    assert numbers(other, "blue") == pytest.approx(numbers(plain, "blue"), rel=1e-8)
    levels = [policy.verdict.level for policy in plain.policies]
    assert [policy.verdict.level for policy in other.policies] == levels


def test_a_better_policy_is_found_to_be_better() -> None:
    found = evaluate(log_of(4000), POLICIES)
    blue = found["blue"]
    assert found.verdict.level == "trust"
    assert blue.difference_interval is not None
    assert blue.sequence is not None
    assert blue.difference_interval.low > 0.0
    assert MEANS[1] in blue.interval
    assert MEANS[1] in blue.sequence
    assert blue.sequence.width > blue.interval.width


def test_costs_keep_their_unit_and_their_sign() -> None:
    found = evaluate(log_of(500, cost=True), POLICIES)
    assert found.cost
    assert "cost per decision" in str(found)


def test_ineligible_actions_and_action_features() -> None:
    table = log_of(600)
    eligible = np.ones((600, 3), dtype=np.bool_)
    eligible[::2, 2] = False
    random = np.random.default_rng(5)
    action = np.where(eligible[:, 2], table.action, table.action % 2)
    distribution = eligible / eligible.sum(axis=1, keepdims=True)
    cube = random.normal(size=(600, 3, 2))
    masked = replace(
        table,
        contexts=Contexts(table.contexts.shared, cube, eligible),
        action_features=("size", "price"),
        action=action,
        propensity=distribution[np.arange(600), action],
        distribution=distribution,
    )
    found = evaluate(masked, {"uniform": "uniform", "green": always("green", otherwise="uniform")})
    assert np.isfinite(found["green"].value)
    with pytest.raises(
        ValueError, match=r"row 2: policy 'green' takes 'green' with probability 1, which is n"
    ):
        evaluate(masked, {"green": np.tile([0.0, 0.0, 1.0], (600, 1))})


def test_a_log_without_distributions_is_evaluated_with_caution() -> None:
    table = log_of(3000, propensities=SHARES, distribution=None)
    table.propensity[-1] *= 1.01  # shares that are fixed would be known
    found = evaluate(table, POLICIES)
    assert found["blue"].verdict.level == "caution"
    assert MEANS[1] in found["blue"].interval
    assert np.isnan(found["blue"].weights.drawn_share)


def test_the_direct_method_needs_no_propensities() -> None:
    table = log_of(400, propensity=np.full(400, np.nan), distribution=None)
    found = evaluate(table, POLICIES, estimator="dm")
    assert found["blue"].verdict.level == "caution"
    assert found["blue"].sequence is None
    with pytest.raises(ValueError, match="400 of 400 rows have no propensity"):
        evaluate(table, POLICIES)


def test_json_has_the_verdict_and_plain_numbers() -> None:
    found = json.loads(evaluate(log_of(200), POLICIES).to_json())
    assert next(iter(found)) == "verdict"
    assert [policy["name"] for policy in found["policies"]] == ["logged", "uniform", "blue"]
    assert found["policies"][2]["interval"]["method"] == "MinVar"
    assert found["set_aside"] == {"first row, from which predictions start": 1}


def test_progress_is_reported_for_each_policy() -> None:
    seen: list[tuple[int, int, str]] = []
    evaluate(log_of(100), POLICIES, on_progress=lambda done, total, name: seen.append((done, total, name)))
    assert seen == [(1, 3, "logged"), (2, 3, "uniform"), (3, 3, "blue")]


@pytest.mark.parametrize(
    ("changes", "settings", "message"),
    [
        ({}, {"estimator": "drr"}, "estimator is 'drr'"),
        ({}, {"interval": "wald"}, "interval is 'wald'"),
        ({}, {"level": 95}, "level is 95; give a number in"),
        ({}, {"baseline": "red"}, "baseline is 'red'"),
        ({}, {"reward_range": (1, 0)}, r"reward_range is \(1, 0\); give \(low, high\)"),
        (
            {},
            {"reward_range": (0.0, 0.5)},
            r"row 4: the reward 1 is outside of the reward range from 0 to 0.5",
        ),
        ({}, {"predictions": np.zeros((3, 3))}, r"predictions have shape \(3, 3\); give \(50, 3\)"),
        (
            {"propensity": np.ones(50), "distribution": None},
            {},
            "all 50 actions were taken with probability 1",
        ),
    ],
)
def test_refusals_name_the_value_and_the_remedy(
    changes: dict[str, Any], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(log_of(50, **changes), POLICIES, **settings)


def test_policies_that_are_none_are_refused() -> None:
    table = log_of(50)
    for policies, message in (
        ({"wild": np.full((50, 3), 0.5)}, "row 1: policy 'wild' gives the probabilities"),
        ({"logged": "uniform"}, "'logged' is the play as it was"),
        (["uniform"], "give a mapping of names to policies"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate(table, policies)
    with pytest.raises(ValueError, match="there are no policies"):
        evaluate(table, {}, baseline=None)
    with pytest.raises(ValueError, match="one row can be used"):
        evaluate(table.take(slice(0, 1)), POLICIES)


@pytest.mark.parametrize("tiny", [1e-310, 1e-160, 1e-50, 1e-12])
def test_probabilities_that_are_as_good_as_zero_are_no_obstacle(tiny: float) -> None:
    """Softmax policies have such, in some epochs and not in others."""
    n = 900
    chances = np.tile([0.5 - tiny, 0.5, tiny], (n, 1))
    chances[: n // 3] = [0.4, 0.3, 0.3]
    random = np.random.default_rng(0)
    action = (random.random((n, 1)) > chances.cumsum(axis=1)).sum(axis=1).clip(max=2)
    reward = (random.random(n) < MEANS[action]).astype(float)
    table = log_of(n, action=action, distribution=chances, propensity=chances[np.arange(n), action])
    for epoch in (None, np.repeat([1, 2, 3], n // 3)):
        found = evaluate(replace(table, reward=reward, epoch=epoch), POLICIES)
        for policy in found.policies:
            assert policy.interval.low < policy.value < policy.interval.high
            assert len(max((one.text for one in policy.verdict.reasons), key=len)) < 400


def test_policies_that_fail_are_named() -> None:
    """Functions of users, with the name that the policy was given under."""

    class Fixed:
        def probabilities(self, contexts: Any) -> Any:
            return np.full((len(contexts), 3), 1 / 3)

    def broken(_: DecisionTable) -> Any:
        raise KeyError("age")

    for policy, message in (
        (broken, "policy 'mine' failed with KeyError: 'age'; a function gets the table of rows"),
        (lambda: "red", "policy 'mine' failed with TypeError"),
        (lambda _: ["red"] * 3, r"policy 'mine': the policy gives values of shape \(3,\)"),
        (lambda table: ["pink"] * len(table), "policy 'mine': there is no action 'pink'"),
        (Fixed, r"Fixed is a class; give a policy of that class, such as Fixed\(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate(log_of(50), {"mine": policy})
    assert evaluate(log_of(50), {"mine": Fixed()})["mine"].value > 0.0


@pytest.mark.parametrize("table", [{"action": [1]}, "decisions", None])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(ValueError, match=r"the log is .*; give a DecisionTable, from read_log\(path\)"):
        evaluate(table, POLICIES)
    for function in (check_log, diagnose, estimated_propensities):
        with pytest.raises(ValueError, match=r"the log is .*; give a DecisionTable, from read_log\(path\)"):
            function(table)


@pytest.mark.parametrize("n_blocks", [0, 0.5, -3])
def test_numbers_of_blocks_that_are_none_are_refused(n_blocks: Any) -> None:
    with pytest.raises(ValueError, match=f"n_blocks is {n_blocks}; give a whole number of at least 1"):
        evaluate(log_of(50), POLICIES, n_blocks=n_blocks)


def test_intervals_can_ask_what_every_logged_policy_would_have_done(monkeypatch: pytest.MonkeyPatch) -> None:
    models = np.repeat(np.array(["late", "early"], dtype=object), 100)
    table = log_of(200, model=models)
    seen: list[float] = []

    def of_policies(given: IntervalInputs) -> tuple[float, Interval]:
        assert given.policies is not None
        seen.extend(float(one[0, 1]) for one in given.policies())
        assert given.epochs is not None
        assert given.epochs.tolist() == [1] * 99 + [0] * 100
        return 0.5, Interval(0.0, 1.0, given.level, "own")

    monkeypatch.setitem(INTERVALS, "own", IntervalRow("own", interval=of_policies))
    policies = {"late": "uniform", "early": np.full((199, 3), 1 / 3)}
    found = evaluate(
        table, {"green": "always green"}, baseline=None, interval="own", logged_policies=policies
    )
    assert seen == [1 / 3, 1 / 3]
    assert (found["green"].value, found["green"].difference) == (0.5, None)
