"""Exact expectations over all logs that a small problem can produce under adaptive propensities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest

from gyrfalcon import Linear, Log
from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from tests.evaluation.estimators.direct import Rows

CHANCES = (0.3, 0.7)
"""Of the two contexts."""
MEANS = np.array([[0.2, 0.6], [0.9, 0.5]])
"""Of rewards 0 and 1, by context and action."""
TARGET = np.array([[0.1, 0.9], [0.75, 0.25]])
VALUE = float(CHANCES @ (TARGET * MEANS).sum(axis=1))
N_ROWS = 3

Row = tuple[int, int, int]
"""Context, action, reward."""


def propensity(history: tuple[Row, ...], context: int, action: int) -> float:
    """Adaptive play: action 1 is more probable the better it did, and in context 1."""
    score = sum(reward if played else -reward for _, played, reward in history)
    chance = float(np.clip(0.4 + 0.2 * score + 0.1 * context, 0.1, 0.9))
    return chance if action else 1.0 - chance


@cache
def all_logs() -> tuple[tuple[float, tuple[Row, ...], tuple[float, ...]], ...]:
    """Probability, rows and propensities of every log."""
    return tuple(_logs())


def _logs() -> Iterator[tuple[float, tuple[Row, ...], tuple[float, ...]]]:
    rows = [(context, action, reward) for context, action, reward in product((0, 1), repeat=3)]
    for log in product(rows, repeat=N_ROWS):
        probability, propensities = 1.0, []
        for i, (context, action, reward) in enumerate(log):
            propensities.append(propensity(log[:i], context, action))
            mean = MEANS[context, action]
            probability *= CHANCES[context] * propensities[-1] * (mean if reward else 1.0 - mean)
        yield probability, log, tuple(propensities)


def expected(value: Callable[[Rows, Log], float], predict: Callable[[Log], Floats]) -> float:
    """The mean of an estimator over all logs."""
    total = 0.0
    for probability, log, propensities in all_logs():
        contexts, actions, rewards = np.array(log).T
        zeros = np.zeros(N_ROWS, dtype=np.int64)
        logged = Log(
            Contexts(contexts[:, np.newaxis].astype(np.float64)),
            actions,
            rewards.astype(np.float64),
            np.array(propensities),
            zeros,
            np.arange(N_ROWS),
            zeros,
        )
        rows = Rows(logged.reward, actions, logged.propensity, TARGET[contexts], predict(logged))
        total += probability * value(rows, logged)
    return total


def fixed(log: Log) -> Floats:
    return np.tile([0.8, -2.0], (len(log), 1))


def by_time(log: Log) -> Floats:
    return ev.predictions_by_time(log, Linear(ridge=0.5), n_blocks=N_ROWS, n_actions=2, first=0.4)


def from_all_rows(log: Log) -> Floats:
    """The mistake that `predictions_by_time` avoids: a row's reward enters its own prediction."""
    oracle = Linear(ridge=0.5).oracle(log.contexts, 2)
    model, _ = oracle.fit(oracle.summarise(log), oracle.empty())
    return np.asarray(model.scores(log.contexts))


def value_dr(rows: Rows, _: Log) -> float:
    return ev.doubly_robust(*rows.all).value


def test_probabilities_of_all_logs_sum_to_one() -> None:
    assert sum(probability for probability, _, _ in all_logs()) == pytest.approx(1.0, abs=1e-12)


def test_ips_is_unbiased() -> None:
    assert expected(lambda rows, _: ev.inverse_propensity(*rows.log).value, fixed) == pytest.approx(VALUE)


@pytest.mark.parametrize("predict", [fixed, by_time])
def test_dr_is_unbiased_however_wrong_its_predictions(predict: Callable[[Log], Floats]) -> None:
    assert expected(value_dr, predict) == pytest.approx(VALUE, rel=1e-10)


def test_dr_is_biased_by_predictions_that_have_seen_the_row() -> None:
    assert abs(expected(value_dr, from_all_rows) - VALUE) > 0.01


def test_weights_below_the_true_ones_bias_downwards_where_rewards_are_positive() -> None:
    clipped = expected(lambda rows, _: ev.clipped_inverse_propensity(*rows.log, max_weight=1.0).value, fixed)
    assert clipped < VALUE - 0.05


def test_a_contrast_is_unbiased() -> None:
    def gain(rows: Rows, _: Log) -> float:
        other = ev.doubly_robust(
            rows.rewards, rows.actions, rows.propensities, rows.target[:, ::-1], rows.predictions
        )
        return ev.contrast(ev.doubly_robust(*rows.all), other).value

    difference = VALUE - float(CHANCES @ (TARGET[:, ::-1] * MEANS).sum(axis=1))
    assert expected(gain, fixed) == pytest.approx(difference, rel=1e-10)
