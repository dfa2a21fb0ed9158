"""Coverage of what `evaluate` reports, by simulation with fixed seeds.

Of 200 runs at 95%, a valid interval covers fewer than 178 with a probability below 0.001.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import evaluate
from tests.evaluation.logs import LABELS, MEANS, log_of

N_RUNS = 200


@pytest.mark.parametrize("distribution_known", [True, False])
def test_on_a_fixed_design_minvar_and_betting_cover(distribution_known: bool) -> None:
    shares = np.array([0.6, 0.3, 0.1])
    covered = np.zeros(3, dtype=int)
    for seed in range(N_RUNS):
        table = log_of(600, seed=seed, propensities=shares)
        if not distribution_known:
            table = replace(table, distribution=None)
        green = evaluate(table, {"green": "always green"}, baseline=None)["green"]
        assert green.sequence is not None
        covered += [MEANS[2] in green.interval, MEANS[2] in green.sequence, True]
    assert covered[0] >= 178
    assert covered[1] >= 190


def adaptive_log(seed: int, n: int = 1000) -> DecisionTable:
    """A log in ten epochs, each of which plays what looks best so far with probability 0.8."""
    random = np.random.default_rng(seed)
    rewards: list[float] = []
    actions: list[int] = []
    chances: list[Floats] = []
    shares = np.full(3, 1 / 3)
    for _ in range(10):
        action = random.choice(3, size=n // 10, p=shares)
        actions += action.tolist()
        rewards += (random.random(n // 10) < MEANS[action]).astype(float).tolist()
        chances += [shares] * (n // 10)
        counts = np.bincount(actions, minlength=3)
        means = np.bincount(actions, weights=rewards, minlength=3) / np.maximum(counts, 1)
        shares = np.full(3, 0.1) + 0.7 * np.eye(3)[int(np.argmax(means))]
    distribution, chosen = np.array(chances), np.array(actions)
    return DecisionTable(
        actions=LABELS,
        contexts=Contexts(np.zeros((n, 0))),
        action=chosen,
        reward=np.array(rewards),
        propensity=distribution[np.arange(n), chosen],
        distribution=distribution,
        epoch=np.repeat(np.arange(10), n // 10),
        reward_range=(0.0, 1.0),
    )


def test_on_an_adaptive_design_minvar_and_betting_cover() -> None:
    covered = np.zeros(2, dtype=int)
    for seed in range(N_RUNS):
        red = evaluate(adaptive_log(seed), {"red": "always red"}, baseline=None)["red"]
        assert red.sequence is not None
        covered += [MEANS[0] in red.interval, MEANS[0] in red.sequence]
    assert covered[0] >= 178
    assert covered[1] >= 190


def test_a_difference_of_policies_that_earn_the_same_is_found_by_chance_alone() -> None:
    """Two rules with the same value: the interval of their difference excludes 0 in about 5% of runs."""
    wrong = 0
    for seed in range(N_RUNS):
        table = log_of(400, seed=seed)
        x = table.contexts.shared[:, 0]
        policies = {
            "here": np.eye(3)[np.where(np.abs(x) > 0.5, 1, 0)],
            "there": np.eye(3)[np.where(np.abs(x) > 0.5, 0, 1)],
        }
        gain = evaluate(table, policies, baseline="here")["there"].difference_interval
        assert gain is not None
        wrong += 0.0 not in gain
    assert 1 <= wrong <= 22


def explore_first_log(seed: int, n: int = 1500) -> DecisionTable:
    """A third of the log is uniform play, and the rest is certain: the action that looked best."""
    uniform = log_of(n // 3, seed=seed)
    sums = np.bincount(uniform.action, weights=uniform.reward, minlength=3)
    best = int(np.argmax(sums / np.bincount(uniform.action, minlength=3)))
    certain = log_of(n - n // 3, seed=seed + 10_000, propensities=np.eye(3)[best])
    chances = np.concatenate([np.full((n // 3, 3), 1 / 3), np.tile(np.eye(3)[best], (n - n // 3, 1))])
    action = np.concatenate([uniform.action, certain.action])
    x = np.concatenate([uniform.contexts.shared, certain.contexts.shared])
    return replace(
        uniform,
        contexts=Contexts(x),
        action=action,
        reward=np.concatenate([uniform.reward, certain.reward]),
        propensity=chances[np.arange(n), action],
        distribution=chances,
        epoch=np.repeat([0, 1], [n // 3, n - n // 3]),
    )


def test_rows_of_a_policy_that_never_took_an_action_say_nothing_of_its_value() -> None:
    """Values of seldom played actions rest on the rows that explored, and their intervals cover."""
    covered = 0
    for seed in range(N_RUNS):
        red = evaluate(explore_first_log(seed), {"red": "always red"}, baseline=None)["red"]
        covered += MEANS[0] in red.interval
        assert red.verdict.level != "do not trust"
    assert covered >= 178
