"""Impossible input gets a sentence with the value, its row and the remedy."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon import evaluation as ev
from tests.evaluation.estimators.test_point_estimates import FOUR, all_estimates

NAN = float("nan")


def changed(values: Any, where: Any, value: Any) -> Any:
    other = values.copy()
    other[where] = value
    return other


@pytest.mark.parametrize(
    ("column", "where", "value", "words"),
    [
        ("propensities", 2, 0.0, "row 2: the played action has a propensity of 0.0, which is not in (0, 1];"),
        ("propensities", 1, -0.5, "row 1: the played action has a propensity of -0.5"),
        ("propensities", 3, 1.2, "row 3: the played action has a propensity of 1.2"),
        ("propensities", 0, NAN, "row 0: the propensity is unknown, and 1 of 4 are;"),
        ("rewards", 1, NAN, "row 1: the reward is nan; give a finite one"),
        ("rewards", 3, np.inf, "row 3: the reward is inf; give a finite one"),
        ("actions", 2, 2, "row 2: the action is 2, but target has columns for 0 to 1; give positions"),
        ("actions", 0, -1, "row 0: the action is -1, but target has columns for 0 to 1;"),
        ("target", (1, 0), 0.3, "row 1: the probabilities of target sum to 1.05; give those of all actions"),
        ("target", (2, 1), -0.1, "row 2: target gives action 1 a probability of -0.1, which is not in"),
        ("target", 3, (-np.inf, np.inf), "row 3: target gives action 0 a probability of -inf"),
        ("target", (1, 1), np.inf, "row 1: target gives action 1 a probability of inf"),
        ("target", (0, 1), NAN, "row 0: target gives action 1 a probability of nan"),
        ("predictions", (3, 1), NAN, "row 3: the prediction for action 1 is nan, and the target takes it"),
    ],
)
def test_a_bad_value_is_named_with_its_row(column: str, where: Any, value: Any, words: str) -> None:
    rows = replace(FOUR, **{column: changed(getattr(FOUR, column), where, value)})
    with pytest.raises(ValueError, match=re.escape(words)):
        ev.doubly_robust(*rows.all)
    with pytest.raises(ValueError, match=re.escape(words)):
        all_estimates(rows)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("rewards", np.ones((4, 1)), "rewards has shape (4, 1); give one number for each row"),
        ("actions", np.zeros(3, dtype=np.int64), "actions has shape (3,); give one position for each of 4"),
        ("actions", np.zeros(4), "actions holds values of type float64; give whole numbers"),
        ("propensities", np.ones(5), "propensities has shape (5,); give one number for each of 4 rows"),
        ("target", np.full((3, 2), 0.5), "target has shape (3, 2); give (n, K) for n = 4 rows"),
        ("target", np.full(4, 0.5), "target has shape (4,); give (n, K) for n = 4 rows"),
        ("predictions", np.ones((4, 3)), "predictions has shape (4, 3) and target (4, 2); give a column"),
        ("predictions", np.ones((2, 2)), "predictions has shape (2, 2); give (n, K) for n = 4 rows"),
    ],
)
def test_columns_fit_each_other(column: str, values: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        ev.doubly_robust(*replace(FOUR, **{column: values}).all)


def test_a_log_has_rows() -> None:
    with pytest.raises(ValueError, match="rewards has no rows; give at least one"):
        ev.inverse_propensity([], [], [], np.ones((0, 2)))


def test_the_direct_method_checks_its_policy() -> None:
    with pytest.raises(ValueError, match=r"row 1: the probabilities of target sum to 0.9"):
        ev.direct_method([[0.5, 0.5], [0.5, 0.4]], np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"target has shape \(2,\); give \(n, K\) for n rows and K"):
        ev.direct_method([0.5, 0.5], np.ones((2, 2)))


def test_self_normalised_estimates_need_a_row_that_the_target_may_take() -> None:
    never = [1.0, 0.0], [0, 0], [0.5, 0.5], [[0.0, 1.0], [0.0, 1.0]]
    assert ev.inverse_propensity(*never).value == 0.0
    with pytest.raises(ValueError, match="all 2 weights are 0, as the target never takes a logged action"):
        ev.self_normalised_inverse_propensity(*never)
    with pytest.raises(ValueError, match="all 2 weights are 0"):
        ev.self_normalised_doubly_robust(*never, np.ones((2, 2)))


def test_predictions_of_actions_that_the_target_never_takes_do_not_matter() -> None:
    never = FOUR.rewards, FOUR.actions, FOUR.propensities, np.tile([1.0, 0.0], (4, 1))
    other = changed(FOUR.predictions, (slice(None), 1), NAN)
    for estimator in (ev.doubly_robust, ev.self_normalised_doubly_robust):
        assert estimator(*never, other).value == estimator(*never, FOUR.predictions).value


def test_probabilities_in_single_precision_sum_to_one() -> None:
    target = np.random.default_rng(0).dirichlet(np.ones(200), 50).astype(np.float32)
    assert ev.direct_method(target, np.ones((50, 200))).value == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("limit", [0.0, -1.0, NAN, "2"])
def test_weights_are_clipped_at_a_positive_number(limit: Any) -> None:
    with pytest.raises(ValueError, match=r"max_weight is .*; give a positive number"):
        ev.clipped_inverse_propensity(*FOUR.log, max_weight=limit)


@pytest.mark.parametrize("setting", [-0.1, NAN, None])
def test_settings_of_weights_are_in_their_ranges(setting: Any) -> None:
    with pytest.raises(ValueError, match=r"max_weight is .*; give a number of at least 0"):
        ev.switch_doubly_robust(*FOUR.all, max_weight=setting)
    with pytest.raises(ValueError, match=r"shrinkage is .*; give a number of at least 0"):
        ev.shrunk_doubly_robust(*FOUR.all, shrinkage=setting)
    with pytest.raises(ValueError, match=r"shrinkage is .*; give a number from 0 to 1"):
        ev.sub_gaussian_inverse_propensity(*FOUR.log, shrinkage=setting)
    with pytest.raises(ValueError, match=r"shrinkage is .*; give a number from 0 to 1"):
        ev.sub_gaussian_doubly_robust(*FOUR.all, shrinkage=setting)
