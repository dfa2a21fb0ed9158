"""Every estimator with every interval that suits it, through `evaluate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon import AdaptiveFalcon, simulate
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.environments.synthetic.families import SinusoidEnvironment
from gyrfalcon.evaluation import evaluate, select_max_weight, select_shrinkage
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS
from gyrfalcon.evaluation.estimators.inputs import EstimatorInputs
from gyrfalcon.evaluation.intervals.by_name import INTERVALS
from gyrfalcon.evaluation.intervals.cadr import cadr_interval
from gyrfalcon.evaluation.intervals.contextual_weights import contextual_interval
from gyrfalcon.evaluation.intervals.epoch_policies import EpochPolicies
from gyrfalcon.evaluation.intervals.inputs import IntervalInputs
from gyrfalcon.evaluation.predictions.past_rows import past_predictions
from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from gyrfalcon.evaluation.rows.weighting import TargetWeights, epochs_of
from gyrfalcon.logs import read_log, stored_policies
from tests.cli.terminal import invoke, refusal
from tests.evaluation.logs import MEANS, log_of

SHARES = np.array([0.5, 0.3, 0.2])
BLUE = {"blue": "always blue"}
SELF_NORMALISED = {"snips", "sndr"}
NEEDS_POLICIES = {"contextual", "cadr"}
"""Intervals that ask what other epochs' policies would have done."""


def by_one_policy(n: int) -> tuple[DecisionTable, dict[str, object]]:
    """A log of a known policy, and the policies that decided in it."""
    table = log_of(n, propensities=SHARES, seed=2, model=np.full(n, "abc", dtype=object))
    return table, {"abc": lambda rows: np.tile(SHARES, (len(rows), 1))}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("interval", INTERVALS)
def test_every_estimator_has_every_interval_that_suits_it(estimator: str, interval: str) -> None:
    table, policies = by_one_policy(3000)
    methods: dict[str, Any] = {"estimator": estimator, "interval": interval, "logged_policies": policies}
    refused = {
        "empirical_bernstein": estimator in SELF_NORMALISED,
        "contextual": estimator not in ("dr", "ips"),
        "cadr": estimator not in ("dr", "ips"),
    }
    if refused.get(interval, False):
        with pytest.raises(ValueError, match="choose estimator='dr' or 'ips', or interval='minvar'"):
            evaluate(table, BLUE, **methods)
        return
    blue = evaluate(table, BLUE, **methods)["blue"]
    assert blue.interval.low <= blue.value <= blue.interval.high
    assert blue.value == pytest.approx(MEANS[1], abs=0.08)
    cautions = {reason.check for reason in blue.verdict.reasons}
    assert ("estimator" in cautions) == bool(ESTIMATORS[estimator].caution)
    assert ("limit of weights" in cautions) == (ESTIMATORS[estimator].limit is not None)


@pytest.mark.parametrize("interval", sorted(NEEDS_POLICIES))
def test_intervals_of_logged_policies_follow_the_unit_and_the_zero_of_rewards(interval: str) -> None:
    table, policies = by_one_policy(400)
    plain = evaluate(table, BLUE, interval=interval, logged_policies=policies)["blue"]
    for shift, scale in ((1e6, 1.0), (-3.0, 1e-9), (1e9, 1e3)):
        moved = replace(table, reward=shift + scale * table.reward, reward_range=(shift, shift + scale))
        other = evaluate(moved, BLUE, interval=interval, logged_policies=policies)["blue"]
        assert (other.value - shift) / scale == pytest.approx(plain.value, rel=1e-3)
        assert other.interval.width / scale == pytest.approx(plain.interval.width, rel=1e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a learner, with its policies."""
    kept = tmp_path_factory.mktemp("log") / "kept"
    simulate(AdaptiveFalcon(), SinusoidEnvironment(noise="bernoulli"), 700, seed=5, keep_log=kept)
    return kept


def test_intervals_by_policies_of_a_learner_are_those_of_their_functions(folder: Path) -> None:
    """The second way: the functions of arrays, with distributions of all epochs put together by hand."""
    table = read_log(folder)
    policies = stored_policies(folder)
    rows = evaluated_rows(table).without_first()
    predictions = past_predictions(table)[1:]
    epochs = epochs_of(rows)
    assert epochs is not None
    k = table.n_actions
    even = np.full((len(epochs), k), 1.0 / k)
    first = np.unique(epochs, return_index=True)[1]
    assert rows.table.passive is not None
    assert rows.table.model is not None
    played = [
        even
        if rows.table.passive[row] and np.allclose(rows.distribution[row], 1 / k)  # type: ignore[index]
        else policies[rows.table.model[row]](rows.table)
        for row in first
    ]
    target = np.tile(np.eye(k)[1], (len(epochs), 1))
    known = EpochPolicies.of(played, epochs, rows.table.action, target)
    center = float(rows.table.reward.mean())
    log = rows.table.reward - center, rows.table.action, target, predictions - center
    always = {"second": target[:1].repeat(len(table), axis=0)}
    cadr = evaluate(table, always, interval="cadr", logged_policies=policies)["second"]
    expected = cadr_interval(*log, known)
    assert cadr.interval.low == pytest.approx(center + expected.low, rel=1e-9)
    assert cadr.interval.high == pytest.approx(center + expected.high, rel=1e-9)
    contextual = evaluate(table, always, interval="contextual", logged_policies=policies)["second"]
    expected = contextual_interval(cadr.contributions - center, known)
    assert contextual.interval.low == pytest.approx(center + expected.low, rel=1e-9)
    assert contextual.difference_interval is not None
    assert contextual.difference_error is not None
    assert contextual.difference_error > 0.0
    assert "caution" in {reason.level for reason in contextual.verdict.reasons if reason.check == "interval"}


def test_the_command_has_every_method(folder: Path) -> None:
    for methods in (
        ("--interval", "cadr"),
        ("--interval", "contextual"),
        ("--estimator", "dros", "--shrinkage", "tuned"),
        ("--estimator", "sub_gaussian", "--shrinkage", "0.2"),
        ("--estimator", "clipped", "--max-weight", "tuned"),
    ):
        result = invoke("evaluate", folder, "--policy", "uniform", *methods)
        assert result.exit_code == 0, result.output
    for methods, sentence in (
        (("--shrinkage", "0.2"), "shrinkage is 0.2, which estimator='dr' does not have; leave it out, or"),
        (("--estimator", "dros", "--shrinkage", "much"), "--shrinkage is 'much'; give a number such as 10"),
        (("--estimator", "sub_gaussian", "--shrinkage", "tuned"), "shrinkage is 'tuned'; give a number, or"),
    ):
        assert sentence in refusal(invoke("evaluate", folder, *methods))


@pytest.mark.parametrize("interval", sorted(NEEDS_POLICIES))
def test_without_the_right_policies_they_are_refused(interval: str) -> None:
    table, policies = by_one_policy(200)
    with pytest.raises(ValueError, match="the log names no policies; give logged_policies=stored_policies"):
        evaluate(replace(table, model=None), BLUE, interval=interval)
    with pytest.raises(ValueError, match="1 of 1 are not given"):
        evaluate(table, BLUE, interval=interval)
    with pytest.raises(
        ValueError, match=r"row 1: its policy takes the logged action with probability 0\.333"
    ):
        evaluate(table, BLUE, interval=interval, logged_policies={"abc": "uniform"})
    assert evaluate(table, {}, interval=interval, logged_policies=policies)["logged"].interval.width > 0.0


def test_limits_of_weights_are_the_default_a_number_or_tuned() -> None:
    table = log_of(600, propensities=np.array([0.9, 0.08, 0.02]), seed=4)
    predictions = np.tile([0.3, 0.5, 0.4], (600, 1))
    even = np.full((600, 3), 1 / 3)
    logged = table.reward, table.action, table.propensity, even
    bound: dict[str, Any] = {"distribution": table.distribution, "reward_range": 1.0}
    for estimator, setting, tuned in (
        ("switch", "max_weight", select_max_weight(*logged, predictions, **bound)),
        ("clipped", "max_weight", select_max_weight(*logged, clipped=True, **bound)),
        ("dros", "shrinkage", select_shrinkage(*logged, predictions, **bound)),
    ):
        given: dict[str, Any] = {"estimator": estimator, "predictions": predictions}
        found = evaluate(table, {"even": even}, **given | {setting: "tuned"})["even"]
        same = evaluate(table, {"even": even}, **given | {setting: tuned})["even"]
        default = evaluate(table, {"even": even}, **given)["even"]
        assert found.plain_value == same.plain_value
        texts = [
            reason.text
            for one in (found, same, default)
            for reason in one.verdict.reasons
            if reason.check == "limit of weights"
        ]
        assert texts == [
            f"{setting} is {tuned:.4g}, that of the least estimated squared error.",
            f"{setting} is {tuned:.4g}, as given.",
            f"{setting} is {600 if estimator == 'dros' else 24.49}, the default.",
        ]


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"max_weight": 3.0}, "max_weight is 3.0, which estimator='dr' does not have; leave it out"),
        ({"estimator": "switch", "shrinkage": 1.0}, "choose one of 'dros', 'sub_gaussian_dr', 'sub_gauss"),
        ({"estimator": "switch", "max_weight": "best"}, "max_weight is 'best'; give a number or 'tuned'"),
        ({"estimator": "sub_gaussian", "shrinkage": "tuned"}, "shrinkage is 'tuned'; give a number, or None"),
    ],
)
def test_limits_that_an_estimator_lacks_are_refused(methods: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(log_of(50), BLUE, **methods)


@given(st.integers(0, 10_000), st.sampled_from([name for name, row in ESTIMATORS.items() if row.reweighting]))
@settings(max_examples=40)
def test_bounds_of_contributions_hold_for_all_draws_and_are_reached(seed: int, estimator: str) -> None:
    """The second way: contributions themselves, for every action and both ends of the range of rewards."""
    random = np.random.default_rng(seed)
    n, k = 6, 3
    low, high = sorted(random.normal(scale=10.0, size=2))
    chances = random.dirichlet(np.ones(k), n)
    chances[0, 0] = 0.0
    chances[0] /= chances[0].sum()
    table = replace(log_of(n), distribution=chances, reward=np.full(n, low), action=np.full(n, 1))
    table = replace(table, propensity=chances[:, 1], reward_range=(low, high))
    row, target = ESTIMATORS[estimator], random.dirichlet(np.ones(k), n)
    model = random.uniform(low, high, (n, k)) if row.needs_model else None
    rows = evaluated_rows(table)
    assert row.reweighting is not None
    limit: dict[str, Any] = {} if row.limit is None else {row.limit.name: 0.7}
    inputs = EstimatorInputs(table=rows.table, target=target, predictions=model, **limit)
    found = IntervalInputs(
        contributions=np.zeros(n),
        expected=np.ones(n),
        level=0.95,
        rows=rows,
        weights=TargetWeights.of(target, rows),
        bounds=(low, high),
        predictions=model,
        reweighted=row.reweighting(inputs),
    ).contribution_bounds()
    possible = []
    for action in range(k):
        for reward in (low, high):
            drawn = replace(
                rows.table,
                action=np.full(n, action),
                reward=np.full(n, reward),
                propensity=np.where(chances[:, action] > 0.0, chances[:, action], 1.0),
            )
            scores = row.estimate(replace(inputs, table=drawn)).contributions
            possible += scores[chances[:, action] > 0.0].tolist()
    assert found == pytest.approx((min(possible), max(possible)), rel=1e-9, abs=1e-9)


def test_empirical_bernstein_knows_the_origin_of_rewards() -> None:
    """Weighted rewards reach as far as the largest reward times the largest weight."""
    table = log_of(2000, propensities=SHARES)
    moved = replace(table, reward=10.0 + table.reward, reward_range=(10.0, 11.0))
    methods: dict[str, Any] = {"estimator": "ips", "interval": "empirical_bernstein"}
    found = evaluate(moved, BLUE, **methods)
    assert 10.0 + MEANS[1] in found["blue"].interval
    own = evaluate(table, BLUE, **methods)["logged"].interval
    assert found["logged"].interval.width == pytest.approx(own.width)
    with pytest.raises(ValueError, match="need a reward range and the distribution of every row"):
        evaluate(replace(table, reward_range=None), BLUE, **methods)


@pytest.mark.parametrize("interval", sorted(NEEDS_POLICIES))
def test_a_policy_beyond_what_an_epoch_does_is_refused_with_the_row_of_the_log(interval: str) -> None:
    n = 200
    model = np.repeat(np.array(["abc", "def"], dtype=object), n // 2)
    certain = np.tile([1.0, 0.0, 0.0], (n // 2, 1))
    table, policies = by_one_policy(n // 2)
    later = replace(table, action=np.zeros(n // 2, dtype=np.int64), distribution=certain)
    both = DecisionTable.concat([table, replace(later, propensity=np.ones(n // 2))])
    both = replace(both, model=model, source_row=np.arange(n) + 30)
    policies["def"] = lambda rows: np.tile([1.0, 0.0, 0.0], (len(rows), 1))
    message = "row 31: one of the policies that decided would never take 'blue' there, and the policy in"
    with pytest.raises(ValueError, match=message):
        evaluate(both, BLUE, interval=interval, logged_policies=policies)
    red = evaluate(both, {"red": "always red"}, interval=interval, logged_policies=policies)["red"]
    assert red.value == pytest.approx(MEANS[0], abs=0.15)
