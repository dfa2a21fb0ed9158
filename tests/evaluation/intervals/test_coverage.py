"""Coverage by simulation with fixed seeds, at nominal 90%.

Sequences intersect their bounds over time, so that the last interval covers the mean exactly if all do: their
coverage here is the uniform one.
"""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.adaptive_weights import (
    min_var_weights,
    stable_var_weights,
    weighted_interval,
)
from gyrfalcon.evaluation.intervals.bootstrap import bootstrap_interval
from gyrfalcon.evaluation.intervals.empirical_bernstein import empirical_bernstein_interval
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import bernstein_sequence
from gyrfalcon.evaluation.intervals.sequences.betting import betting_interval
from gyrfalcon.evaluation.intervals.sequences.capital import lower_bounds

LEVEL = 0.9
BOUNDS = (0.0, 1.0)
N_RUNS, N_ROWS = 400, 300


def samples(name: str) -> tuple[Floats, float]:
    """Runs of independent rows, (N_RUNS, N_ROWS), and their mean."""
    random = np.random.default_rng(20)
    if name == "beta":
        return random.beta(2.0, 6.0, (N_RUNS, N_ROWS)), 0.25
    return (random.random((N_RUNS, N_ROWS)) < 0.2).astype(float), 0.2


DATA = pytest.mark.parametrize("name", ["beta", "Bernoulli"])


@DATA
def test_normal_and_bootstrap_intervals_cover_as_often_as_they_say(name: str) -> None:
    runs, mean = samples(name)
    normal = np.mean([mean in normal_interval(run, LEVEL) for run in runs])
    bootstrap = np.mean([mean in bootstrap_interval(run, LEVEL, n_resamples=400) for run in runs[:200]])
    assert 0.855 <= normal <= 0.945  # three standard errors of 400 runs
    assert 0.83 <= bootstrap <= 0.96


@DATA
def test_bounds_without_asymptotics_cover_at_least_as_often_as_they_say(name: str) -> None:
    runs, mean = samples(name)
    assert np.mean([mean in empirical_bernstein_interval(run, BOUNDS, LEVEL) for run in runs]) >= LEVEL
    assert np.mean([mean in bernstein_sequence(run, BOUNDS, LEVEL).last for run in runs]) >= LEVEL
    betting = np.mean([mean in betting_interval(run, BOUNDS, LEVEL) for run in runs])
    assert 0.93 <= betting < 1.0  # not idle: some runs of 400 miss
    for largest_loss in (0.25, 0.9):
        covered = [
            mean in betting_interval(run, BOUNDS, LEVEL, largest_loss=largest_loss) for run in runs[:200]
        ]
        assert np.mean(covered) >= LEVEL


def test_normal_intervals_that_are_looked_at_after_every_row_cover_less() -> None:
    runs, mean = samples("Bernoulli")
    always = [all(mean in normal_interval(run[:n], LEVEL) for n in range(30, N_ROWS, 10)) for run in runs]
    assert np.mean(always) < 0.75


def adaptive_runs(n_runs: int, n_rows: int) -> tuple[Floats, Floats, Floats]:
    """Rewards, propensities of the second arm, and its doubly robust scores, (n_runs, n_rows).

    Both arms pay 1 with probability 0.5; epsilon-greedy explores with probability t^-0.4, so that the arm
    which happens to pay first is played, and the other one seldom.
    """
    random = np.random.default_rng(7)
    sums, counts = np.full((n_runs, 2), 0.5), np.ones((n_runs, 2))
    rewards, propensities, scores = (np.empty((n_runs, n_rows)) for _ in range(3))
    played = np.empty((n_runs, n_rows))
    runs = np.arange(n_runs)
    for t in range(n_rows):
        means, epsilon = sums / counts, min(1.0, (t + 1.0) ** -0.4)
        greedy = means[:, 1] > means[:, 0]
        propensity = np.where(greedy, 1.0 - epsilon / 2.0, epsilon / 2.0)
        action = (random.random(n_runs) < propensity).astype(int)
        reward = (random.random(n_runs) < 0.5).astype(float)
        scores[:, t] = means[:, 1] + np.where(action == 1, (reward - means[:, 1]) / propensity, 0.0)
        sums[runs, action] += reward
        counts[runs, action] += 1.0
        rewards[:, t], propensities[:, t], played[:, t] = reward, propensity, action
    return np.where(played == 1, rewards / propensities, 0.0), propensities, scores


def test_adaptive_weights_cover_on_adaptively_collected_rows() -> None:
    _, propensities, scores = adaptive_runs(1_000, 1_000)
    for weights, least in ((min_var_weights, 0.87), (stable_var_weights, 0.86)):
        rows = zip(scores, 1.0 / propensities, strict=True)  # the variance proxy of one arm is 1 / e
        covered = [0.5 in weighted_interval(score, weights(proxy), LEVEL) for score, proxy in rows]
        assert least <= np.mean(covered) <= 0.93


def test_one_sided_bounds_hold_uniformly_on_adaptively_collected_rows() -> None:
    scores, _, _ = adaptive_runs(400, 1_000)
    lows = np.array([lower_bounds(run, np.zeros(len(run)), 1.0 - LEVEL, 1)[-1] for run in scores])
    assert np.mean(lows <= 0.5) >= LEVEL
    assert np.mean(lows) > 0.2  # and they are not idle
