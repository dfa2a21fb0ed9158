"""Intervals that ask what later policies would have done in earlier rows: contextual weights and CADR."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.intervals.adaptive_weights import (
    min_var_weights,
    past_means,
    stable_var_weights,
    variance_proxies,
    weighted_interval,
)
from gyrfalcon.evaluation.intervals.cadr import cadr_interval
from gyrfalcon.evaluation.intervals.contextual_weights import contextual_interval
from gyrfalcon.evaluation.intervals.epoch_policies import EpochPolicies
from gyrfalcon.evaluation.intervals.interval import Interval

ONE_ERROR = 1.0 - 2.0 * 0.15865525393145707
DR = np.array([0.75, -1.375, 0.34375, 1.25])
PROPENSITIES = np.array([[0.5, 0.5], [0.8, 0.2], [0.8, 0.2], [0.5, 0.5]])
TARGET = np.tile([0.25, 0.75], (4, 1))
ACTION = np.array([0, 1, 0, 1])


def center_and_error(interval: Interval) -> tuple[float, float]:
    return (interval.low + interval.high) / 2.0, interval.width / 2.0


@pytest.mark.parametrize(
    ("weights", "value", "variance"),
    [("min_var", 0.54245283, 0.15091201), ("stable_var", 0.39872629, 0.20106869)],
)
def test_weights_of_policies_without_context_are_the_known_ones(
    weights: str, value: float, variance: float
) -> None:
    policies = EpochPolicies.of((np.tile(one, (4, 1)) for one in PROPENSITIES), np.arange(4), ACTION, TARGET)
    interval = contextual_interval(DR, policies, ONE_ERROR, weights=weights)
    assert center_and_error(interval) == pytest.approx((value, math.sqrt(variance)))


def random_policies(seed: int, n: int, n_epochs: int) -> tuple[Floats, Ints, Ints, Floats]:
    """Policies (n_epochs, n, 3) that differ by context, epochs, actions and a target."""
    rng = np.random.default_rng(seed)
    policies = rng.dirichlet(np.full(3, 3.0), (n_epochs, n))
    return (
        policies,
        np.sort(rng.integers(0, n_epochs, n)),
        rng.integers(0, 3, n),
        rng.dirichlet(np.ones(3), n),
    )


@pytest.mark.parametrize(("weights", "power"), [("min_var", 1.0), ("stable_var", 0.5)])
@pytest.mark.parametrize("contrast", [False, True])
def test_contextual_weights_follow_their_formula(weights: str, power: float, contrast: bool) -> None:
    n = 12
    table, epoch, action, target = random_policies(1, n, 3)
    if contrast:
        target = target - target[:, ::-1]
        target[3] = 0.0
    scores = np.random.default_rng(2).normal(size=n)
    scores[3] = 0.0 if contrast else scores[3]

    def h(t: int, x: int) -> float:
        phi = sum(target[x, a] ** 2 / table[epoch[t], x, a] for a in range(3))
        return 1.0 if phi == 0.0 else float(phi**-power)

    total = [sum(h(s, x) for s in range(n)) for x in range(n)]
    terms = [h(t, t) * scores[t] / total[t] for t in range(n)]
    variance = sum((terms[t] - sum(h(t, s) / total[s] * terms[s] for s in range(n))) ** 2 for t in range(n))
    found = contextual_interval(
        scores, EpochPolicies.of(table, epoch, action, target), ONE_ERROR, weights=weights
    )
    assert center_and_error(found) == pytest.approx((sum(terms), math.sqrt(variance)))


def test_cadr_follows_its_formula() -> None:
    n, z = 12, 1.959963984540054
    table, epoch, action, target = random_policies(3, n, 3)
    rng = np.random.default_rng(4)
    rewards, predictions = rng.random(n), rng.random((n, 3))
    deviations, scores = [], []
    for t in range(n):
        e = table[epoch[t]]

        def score(s: int, e: Floats = e) -> float:
            a = action[s]
            direct = sum(target[s, b] * predictions[s, b] for b in range(3))
            return float(direct + target[s, a] / e[s, a] * (rewards[s] - predictions[s, a]))

        ratio = [e[s, action[s]] / table[epoch[s], s, action[s]] for s in range(t)]
        first = sum(ratio[s] * score(s) for s in range(t)) / max(t, 1)
        second = sum(ratio[s] * score(s) ** 2 for s in range(t)) / max(t, 1)
        past = sum(sum(target[s] ** 2 / e[s]) for s in range(t))
        prior = 0.3**2 * (1.0 + past) / (t + 1)
        deviations.append(math.sqrt((4.0 * prior + t * max(second - first**2, 0.0)) / (4.0 + t)))
        scores.append(score(t))
    inverse = [1.0 / one for one in deviations]
    value = sum(one * score for one, score in zip(inverse, scores, strict=True)) / sum(inverse)
    found = cadr_interval(
        rewards,
        action,
        target,
        predictions,
        EpochPolicies.of(table, epoch, action, target),
        reward_deviation=0.3,
        prior_rows=4.0,
    )
    assert center_and_error(found) == pytest.approx((value, z * math.sqrt(n) / sum(inverse)))


def test_cadr_with_many_prior_rows_has_the_weights_of_stable_var() -> None:
    table, epoch, action, target = random_policies(5, 40, 4)
    rng = np.random.default_rng(6)
    rewards, predictions = rng.random(40), rng.random((40, 3))
    policies = EpochPolicies.of(table, epoch, action, target)
    found = cadr_interval(rewards, action, target, predictions, policies, prior_rows=1e12)
    rows = np.arange(40)
    scores = (target * predictions).sum(axis=1) + target[rows, action] / table[epoch, rows, action] * (
        rewards - predictions[rows, action]
    )
    weights = stable_var_weights(past_means(policies.proxies, epoch, prior=1.0))
    stable = weighted_interval(scores, weights)
    assert center_and_error(found)[0] == pytest.approx(center_and_error(stable)[0])


def test_a_prior_is_one_more_earlier_row() -> None:
    proxies, epoch = np.array([[0.0, 0.5, 2.5]]), np.zeros(3, dtype=int)
    assert past_means(proxies, epoch, prior=1.0).tolist() == [1.0, 0.5, 0.5]
    assert past_means(proxies, epoch).tolist() == [0.0, 0.0, 0.25]


def test_policies_are_read_one_at_a_time_or_as_an_array() -> None:
    table, epoch, action, target = random_policies(7, 9, 2)
    one, other = (EpochPolicies.of(given, epoch, action, target) for given in (table, iter(table)))
    np.testing.assert_array_equal(one.proxies, other.proxies)
    np.testing.assert_allclose(one.logged, table[:, np.arange(9), action])
    assert one.n_rows_of_epochs.tolist() == np.bincount(epoch, minlength=2).tolist()


def adaptive_log(seed: int, n: int) -> tuple[Floats, Ints, Floats, Floats, Floats, Ints]:
    """Four epochs of two contexts and two actions: each prefers what earned more in the epochs before.

    The target plays the second action, which is worth 0.5 in both contexts.
    """
    rng = np.random.default_rng(seed)
    x, epoch = rng.integers(0, 2, n), np.minimum(np.arange(n) * 4 // n, 3)
    means = np.array([[0.5, 0.5], [0.4, 0.5]])
    action, rewards, predictions = np.zeros(n, dtype=int), np.zeros(n), np.full((n, 2), 0.5)
    table, rates, floor = np.empty((4, n, 2)), np.full((2, 2), 0.5), [0.5, 0.2, 0.1, 0.07]
    for number in range(4):
        second = np.where(rates[:, 1] > rates[:, 0], 1.0 - floor[number], floor[number])[x]
        table[number] = np.column_stack([1.0 - second, second])
        now = epoch == number
        action[now] = rng.random(now.sum()) < second[now]
        rewards[now] = rng.random(now.sum()) < means[x[now], action[now]]
        predictions[now] = rates[x[now]]
        for context in range(2):
            for arm in range(2):
                mine = (epoch <= number) & (x == context) & (action == arm)
                rates[context, arm] = (0.5 + rewards[mine].sum()) / (1 + mine.sum())
    return table, action, rewards, predictions, np.tile([0.0, 1.0], (n, 1)), epoch


@dataclass(frozen=True)
class Run:
    """What intervals are made from."""

    rewards: Floats
    action: Ints
    target: Floats
    predictions: Floats
    policies: EpochPolicies
    scores: Floats

    @property
    def past(self) -> Floats:
        return past_means(self.policies.proxies, self.policies.epoch, prior=1.0)

    @property
    def columns(self) -> tuple[Floats, Ints, Floats, Floats, EpochPolicies]:
        return self.rewards, self.action, self.target, self.predictions, self.policies


METHODS: dict[str, Callable[[Run], Interval]] = {
    "MinVar": lambda run: weighted_interval(run.scores, min_var_weights(run.past), 0.9),
    "StableVar": lambda run: weighted_interval(run.scores, stable_var_weights(run.past), 0.9),
    "contextual MinVar": lambda run: contextual_interval(run.scores, run.policies, 0.9),
    "contextual StableVar": lambda run: contextual_interval(
        run.scores, run.policies, 0.9, weights="stable_var"
    ),
    "CADR": lambda run: cadr_interval(*run.columns, 0.9),
}


def covered(method: Callable[[Run], Interval], n_runs: int, *, contrast: bool = False) -> tuple[float, float]:
    """Coverage of the value 0.5, or of the contrast to the first action, 0.05, and the mean width."""
    held, widths = [], []
    for seed in range(n_runs):
        table, action, rewards, predictions, target, epoch = adaptive_log(seed, 1_200)
        pi = target - target[:, ::-1] if contrast else target
        policies = EpochPolicies.of(table, epoch, action, pi)
        rows = np.arange(len(action))
        weights = pi[rows, action] / table[epoch, rows, action]
        scores = (pi * predictions).sum(axis=1) + weights * (rewards - predictions[rows, action])
        interval = method(Run(rewards, action, pi, predictions, policies, scores))
        held.append((0.05 if contrast else 0.5) in interval)
        widths.append(interval.width)
    return float(np.mean(held)), float(np.mean(widths))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("contrast", [False, True])
def test_intervals_cover_on_adaptively_collected_rows(name: str, contrast: bool) -> None:
    share, width = covered(METHODS[name], 300, contrast=contrast)
    assert 0.83 <= share <= 0.95, (share, width)  # 0.9 +- 0.05 is three standard errors of 300 runs


def test_contrasts_have_proxies_of_differences() -> None:
    first, second = np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]])
    proxies = variance_proxies(first - second, np.array([[0.5, 0.5]]))
    assert proxies == pytest.approx([2.0 * 2.0 * 0.5**2])


def test_impossible_policies_are_refused() -> None:
    table, epoch, action, target = random_policies(8, 5, 2)
    with pytest.raises(ValueError, match="policies is empty; give the probabilities of each epoch"):
        EpochPolicies.of([], epoch, action, target)
    with pytest.raises(ValueError, match="epoch must be 5 whole numbers from 0 to 0"):
        EpochPolicies.of(table[:1], np.ones(5, dtype=int), action, target)
    never = table.copy()
    never[epoch[2], 2] = np.eye(3)[(action[2] + 1) % 3]
    with pytest.raises(ValueError, match=f"row 2: the policy of epoch {epoch[2]} never takes the logged"):
        EpochPolicies.of(never, epoch, action, np.eye(3)[np.full(5, (action[2] + 1) % 3)])
    policies = EpochPolicies.of(table, epoch, action, target)
    with pytest.raises(ValueError, match="there are 4 contributions, and policies of 5 rows"):
        contextual_interval(np.zeros(4), policies)
    with pytest.raises(ValueError, match="there are 4 rewards, and policies of 5 rows"):
        cadr_interval(np.zeros(4), action, target, target, policies)
    with pytest.raises(ValueError, match="weights is 'best'"):
        contextual_interval(np.zeros(5), policies, weights="best")
