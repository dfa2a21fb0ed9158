"""The fit of the logistic class by itself: when it starts and leaves, which rows wait, what it predicts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.logistic_fit import LogisticFit
from gyrfalcon.learners.adaptive.model_classes import LOGISTIC, candidate

LABELS = ["a", "b", "c"]
PROBLEM = Problem(LABELS, features=2)


def rows(n: int, seed: int, intercept: float = -3.5) -> Log:
    """Rows of uniform play with chances around expit(intercept)."""
    rng = np.random.default_rng([seed, 3])
    x, action = rng.standard_normal((n, 2)), rng.integers(0, 3, n)
    reward = rng.random(n) < expit(intercept + x[:, 0] * (action - 1.0))
    labels = np.array(LABELS)[action].tolist()
    return PROBLEM.log(PROBLEM.contexts(x), labels, reward, propensities="uniform")


def started(log: Log) -> LogisticFit | None:
    found = candidate(LOGISTIC, log.contexts.shared, 3)
    assert found is not None
    return LogisticFit.start(found, 3, 1.0, log)


@cache
def fitted() -> LogisticFit:
    fit = started(rows(3_000, 0))
    assert fit is not None
    return fit


def test_it_does_not_matter_which_of_the_two_rewards_is_rare() -> None:
    log, x = rows(3_000, 0), Contexts(np.random.default_rng(1).standard_normal((50, 2)))
    mirrored = started(replace(log, reward=1.0 - log.reward))
    assert mirrored is not None
    assert mirrored.model.scores(x) == pytest.approx(1.0 - fitted().model.scores(x), abs=1e-6)


def test_it_leaves_once_both_rewards_are_common() -> None:
    fit: LogisticFit | None = fitted()
    for seed in range(20):
        fit = None if fit is None else fit.with_rows(rows(400, seed, intercept=0.0))
        fit = None if fit is None else fit.refitted()
    assert fit is None


def test_rows_wait_until_they_are_a_tenth_more() -> None:
    few, enough = (fitted().with_rows(rows(n, 1)) for n in (290, 310))
    assert few is not None
    assert enough is not None
    assert sum(map(len, few.refitted().waiting)) == 290
    assert not enough.refitted().waiting


def test_rows_that_wait_follow_their_actions() -> None:
    log = rows(200, 1)
    before = fitted().with_rows(log)
    assert before is not None
    after = before.reindexed(np.array([2, -1, 0]))
    (waiting,) = after.waiting
    kept = log.action != 1
    assert waiting.action.tolist() == [{0: 2, 2: 0}[action] for action in log.action[kept].tolist()]
    assert np.array_equal(waiting.contexts.shared, log.contexts.shared[kept])
    assert after.n_fitted < before.n_fitted
    assert after.refitted().n == pytest.approx(after.n)


def test_rows_of_a_retired_action_no_longer_count() -> None:
    share = fitted().posterior.rows.weight[[0, 2]].sum() / fitted().posterior.rows.n
    assert fitted().reindexed(np.array([0, 2])).n == pytest.approx(3_000 * share)


def test_predicted_chances_are_nearer_to_a_half_than_the_likeliest_ones() -> None:
    log = rows(300, 2)
    likeliest, predicted = fitted().model.estimates_of(log), fitted().predictions(log).estimates
    rare = likeliest < 0.5
    assert rare.mean() > 0.9
    assert (predicted[rare] > likeliest[rare]).all()
