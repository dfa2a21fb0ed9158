"""Values by what actions have in common: marginalised estimates, right where single actions were rare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import (
    embedding_likelihoods,
    evaluate,
    inverse_propensity,
    marginalised_inverse_propensity,
)
from gyrfalcon.evaluation.policies.targets import FixedTarget
from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from gyrfalcon.evaluation.rows.merged_actions import MergedActions

K, BRANDS = 12, np.arange(12) % 3


def log(n: int = 600, seed: int = 0, *, varying: bool = False, restricted: bool = False) -> DecisionTable:
    """Decisions among 12 items of three brands and two sizes, whose rewards depend on the brand alone."""
    rng = np.random.default_rng(seed)
    brands = rng.integers(0, 3, (n, K)) if varying else np.tile(BRANDS, (n, 1))
    eligible = rng.random((n, K)) < 0.6 if restricted else np.ones((n, K), dtype=bool)
    eligible[:, 0] = True
    shares = np.where(eligible, rng.exponential(size=(n, K)), 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    action = (shares.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    brand = brands[np.arange(n), action]
    indicators = [(brands == one).astype(float) for one in range(3)]
    return DecisionTable(
        actions=tuple(f"item {place}" for place in range(K)),
        contexts=Contexts(
            rng.normal(size=(n, 1)), np.stack([*indicators, rng.random((n, K))], axis=2), eligible
        ),
        action=action,
        reward=(rng.random(n) < 0.2 + 0.2 * brand).astype(float),
        propensity=shares[np.arange(n), action],
        distribution=shares,
        features=("age",),
        action_features=("brand=a", "brand=b", "brand=c", "price"),
        reward_range=(0.0, 1.0),
    )


def some_target(table: DecisionTable, seed: int = 1) -> Any:
    shares = np.where(table.eligible, np.random.default_rng(seed).exponential(size=(len(table), K)), 0.0)
    return shares / shares.sum(axis=1, keepdims=True)


def test_actions_that_were_not_eligible_are_no_further_kind() -> None:
    """Logs of bandits have zeros for the features of actions that could not be chosen."""
    table = log(restricted=True)
    cube = table.contexts.actions
    assert cube is not None
    blank = np.where(table.eligible[:, :, np.newaxis], cube, 0.0)
    empty = replace(table, contexts=replace(table.contexts, actions=blank))
    merged, expected = (MergedActions.of(one, ["brand"]) for one in (empty, table))
    assert merged.labels == expected.labels == ("brand=c", "brand=b", "brand=a")
    assert (merged.groups == expected.groups)[table.eligible].all()


@pytest.mark.parametrize("varying", [False, True])
@pytest.mark.parametrize("restricted", [False, True])
def test_ips_of_merged_actions_is_marginalised_ips(varying: bool, restricted: bool) -> None:
    table = log(varying=varying, restricted=restricted)
    target = some_target(table)
    found = evaluate(table, {"new": target}, estimator="ips", marginalise=["brand"])["new"]
    assert table.contexts.actions is not None
    brands = table.contexts.actions[:, :, :3].argmax(axis=2)
    likelihoods = (brands == brands[np.arange(len(table)), table.action][:, np.newaxis]).astype(float)
    assert table.distribution is not None
    expected = marginalised_inverse_propensity(table.reward, table.distribution, target, likelihoods)
    assert found.plain_value == pytest.approx(expected.value, abs=1e-14)
    np.testing.assert_allclose(found.contributions, expected.contributions, atol=1e-13)


def test_known_categories_of_actions_are_embeddings_without_noise() -> None:
    table = log()
    target = some_target(table)
    found = evaluate(table, {"new": target}, estimator="ips", marginalise=["brand"])["new"]
    likelihoods = embedding_likelihoods(BRANDS[table.action], np.eye(3)[BRANDS])
    assert table.distribution is not None
    expected = marginalised_inverse_propensity(table.reward, table.distribution, target, likelihoods)
    assert found.plain_value == pytest.approx(expected.value, abs=1e-14)


def test_features_that_tell_all_actions_apart_change_nothing() -> None:
    table = log(40)
    prices = np.broadcast_to(np.arange(K, dtype=float)[:, np.newaxis], (40, K, 1)).copy()
    table = replace(table, contexts=replace(table.contexts, actions=prices), action_features=("price",))
    target = some_target(table)
    found = evaluate(table, {"new": target}, estimator="ips", marginalise=["price"])["new"]
    estimate = inverse_propensity(table.reward, table.action, table.propensity, target)
    assert found.plain_value == pytest.approx(estimate.value, abs=1e-14)


def test_values_vary_less_and_hold_for_an_action_that_was_never_logged() -> None:
    """The brand of item 5 has the mean reward 0.6; of 100 intervals at 95%, 88 or more hold it."""
    held, errors = 0, []
    for seed in range(100):
        table = log(400, seed)
        assert table.distribution is not None
        shares = table.distribution.copy()
        shares[:, 5] = 0.0
        shares /= shares.sum(axis=1, keepdims=True)
        kept = table.action != 5
        table = replace(table, distribution=shares, propensity=shares[np.arange(400), table.action]).take(
            kept
        )
        found = evaluate(table, {"item 5": "always item 5"}, marginalise=["brand"])["item 5"]
        held += 0.6 in found.interval
        errors.append(found.value - 0.6)
    assert held >= 88
    assert abs(np.mean(errors)) < 3.0 * np.std(errors) / 10.0
    assert found.weights.unsupported == pytest.approx(0.0, abs=1e-12)


def test_the_verdict_names_what_is_presumed_and_the_report_has_the_setting() -> None:
    found = evaluate(log(), {"new": FixedTarget(some_target(log()))}, marginalise=["brand"])
    reasons = {reason.check: reason.text for reason in found["new"].verdict.objections}
    assert "12 actions count as 3, by brand" in reasons["marginalisation"]
    assert found.settings["marginalise"] == "brand"


def test_rows_whose_other_probabilities_are_unknown_are_set_aside() -> None:
    table = log()
    assert table.distribution is not None
    shares = table.distribution.copy()
    shares[:50] = np.nan
    found = evaluate(replace(table, distribution=shares), {"even": "uniform"}, marginalise=["brand"])
    assert found.set_aside["unknown probabilities of other actions"] == 50
    with pytest.raises(ValueError, match="no row has them; log distributions"):
        evaluate(replace(table, distribution=None), {"even": "uniform"}, marginalise=["brand"])


def test_unknown_features_are_the_same_value() -> None:
    table = log(30)
    assert table.contexts.actions is not None
    cube = table.contexts.actions.copy()
    cube[:, ::2, 3] = np.nan
    cube[:, 1::2, 3] = 1.0
    table = replace(table, contexts=replace(table.contexts, actions=cube))
    merged = MergedActions.of(table, ["price"])
    assert merged.labels == ("price=1", "price unknown")
    assert merged.rows(evaluated_rows(table)).table.n_actions == 2


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["colour"], "no feature of actions 'colour'; known are 'brand=a'"),
        ("brand", r"marginalise is 'brand'; give a list of features of actions"),
        ([], "give a list of features of actions"),
        (["price"], "price has 7,200 different values, too many"),
    ],
)
def test_what_cannot_be_merged_is_refused(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(log(), {"even": "uniform"}, marginalise=features)


def test_without_features_of_actions_there_is_nothing_to_merge() -> None:
    plain = DecisionTable.of(actions=["a", "b"], action=["a", "b"], reward=[0, 1], propensity=[0.5, 0.5])
    with pytest.raises(ValueError, match="its actions have no features"):
        evaluate(plain, {"even": "uniform"}, marginalise=["brand"])
