"""Blocks of rows are predicted by models of earlier blocks alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon import Linear, Log, Problem
from gyrfalcon.evaluation import doubly_robust, inverse_propensity, predictions_by_time
from tests.estimates.rows import line_log


def log_of(n: int, seed: int = 0) -> Log:
    return line_log(np.random.default_rng(seed), n)


@given(st.integers(4, 40), st.integers(2, 4), st.integers(0, 10**6))
def test_a_reward_changes_no_prediction_of_its_block_or_an_earlier_one(n: int, cuts: int, seed: int) -> None:
    log, row = log_of(n, seed), int(np.random.default_rng(seed).integers(0, n))
    reward = log.reward.copy()
    reward[row] += 5.0
    settings = {"n_blocks": cuts, "n_actions": 2}
    before = predictions_by_time(log, Linear(ridge=1.0), **settings)
    after = predictions_by_time(replace(log, reward=reward), Linear(ridge=1.0), **settings)
    ends = np.linspace(0, n, cuts + 1).astype(int)
    end = int(ends[np.searchsorted(ends, row, side="right")])
    np.testing.assert_array_equal(after[:end], before[:end])
    assert end == n or (after[end:] != before[end:]).any()


def test_each_block_has_the_model_of_all_earlier_rows() -> None:
    log = log_of(90)
    found = predictions_by_time(log, Linear(), n_blocks=3, n_actions=2, first=0.25)
    assert (found[:30] == 0.25).all()
    for end in (30, 60):
        for action in (0, 1):
            rows = np.flatnonzero(log.action[:end] == action)
            design = np.column_stack([np.ones(len(rows)), log.contexts.shared[rows]])
            coefficients = np.linalg.lstsq(design, log.reward[rows], rcond=None)[0]
            here = log.contexts.shared[end : end + 30]
            expected = coefficients[0] + here @ coefficients[1:]
            np.testing.assert_allclose(found[end : end + 30, action], expected, atol=1e-9)


def test_they_make_estimates_more_precise() -> None:
    log = log_of(2000)
    target = np.tile([0.2, 0.8], (2000, 1))
    columns = log.reward, log.action, log.propensity, target
    predictions = predictions_by_time(log, Linear(ridge=1.0), n_actions=2)
    dr, ips = doubly_robust(*columns, predictions), inverse_propensity(*columns)
    assert dr.standard_error < 0.7 * ips.standard_error
    assert abs(dr.value - 0.5) < 4.0 * dr.standard_error


def test_the_number_of_actions_is_that_of_the_problem() -> None:
    problem = Problem(["a", "b", "c"])
    log = problem.log(problem.contexts(n=4), ["a", "b", "a", "b"], [1, 0, 1, 0], propensities="unknown")
    assert predictions_by_time(log, Linear(ridge=1.0), n_blocks=2).shape == (4, 3)


def test_what_can_not_be_predicted_is_refused() -> None:
    log = log_of(10)
    with pytest.raises(ValueError, match=r"the log has no problem .*; give n_actions"):
        predictions_by_time(log, Linear())
    with pytest.raises(ValueError, match="n_actions is 1; give a whole number of at least 2"):
        predictions_by_time(log, Linear(), n_actions=1)
    with pytest.raises(ValueError, match="n_blocks is 11; give a whole number of at least 2 and below 11"):
        predictions_by_time(log, Linear(), n_actions=2, n_blocks=11)
    with pytest.raises(ValueError, match="first is nan; give a finite number"):
        predictions_by_time(log, Linear(), n_actions=2, first=float("nan"))
    with pytest.raises(ValueError, match="row 1: round 8 comes after round 9; sort the log"):
        predictions_by_time(log.take(np.arange(10)[::-1]), Linear(), n_actions=2)
