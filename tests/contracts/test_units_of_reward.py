"""Every learner decides alike whatever rewards are measured in, from where, and in how wide a range."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon, simulate
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator, drawn
from gyrfalcon.learners.protocol import Learner
from tests.contracts.learners import LEARNERS, PLAIN, REPRESENTATIVES, THROWAWAY, WITH_ACTION_FEATURES

# The paper's constants are for rewards in [0, 1], and the throwaway learners are the tests' own.
LITERAL = {name for name in LEARNERS if name.startswith("epsilon-falcon paper")}
SLOW = {
    "squarecb online",
    "epsilon-falcon stumps",
    "adaptive-falcon trees",
    "adaptive-falcon always constrained",
}


LABELS = ["action 0", "action 1", "action 2"]
SPLITTING = ("tree", "forest", "boosting", "stumps")
"""Splits of trees tie where rewards are eighths, and rounding decides between them."""


def marked(names: Any) -> list[Any]:
    return [name if name in REPRESENTATIVES else pytest.param(name, marks=pytest.mark.long) for name in names]


def last_policies(learner: Learner, problem: Problem, rewards: Any, n_action_features: int) -> list[Policy]:
    """The policies of three epochs fitted to 60 rows each, whose rewards are eighths from 0 to 1 moved."""
    rng = np.random.default_rng(3)
    epoch, policies = learner.start(problem), []
    for _ in range(3):
        shared = rng.normal(size=(60, 2))
        cube = rng.normal(size=(60, 3, n_action_features)) if n_action_features else None
        contexts = problem.contexts(shared, cube)
        action = rng.integers(0, 3, 60)
        eighths = (
            np.clip(np.round(4.0 + 2.0 * (shared[:, 0] * (action - 1) + rng.normal(size=60))), 0, 8) / 8.0
        )
        log = problem.log(
            contexts,
            [LABELS[one] for one in action],
            rewards(eighths),
            passive=rng.random(60) < 0.3,
            propensities=np.full(60, 1 / 3),
        )
        epoch = learner.next_epoch(epoch, log)
        policies.append(epoch.policy)
    return policies


def problem_of(name: str, **settings: Any) -> tuple[Problem, int]:
    q = 2 if name in WITH_ACTION_FEATURES else 0
    return Problem(LABELS, 2, q or None, **settings), q


def same_decisions(name: str, one: dict[str, Any], other: dict[str, Any], moved: Any, atol: float) -> None:
    (plain, q), (problem, _) = problem_of(name, **one), problem_of(name, **other)
    rng = np.random.default_rng(4)
    at = plain.contexts(rng.normal(size=(40, 2)), rng.normal(size=(40, 3, q)) if q else None)
    learner = LEARNERS[name]
    before = last_policies(learner, plain, lambda eighths: eighths, q)
    after = last_policies(learner, problem, moved, q)
    for first, second in zip(before, after, strict=True):
        p, r = first.probabilities(at), second.probabilities(at)
        if atol == 0.0:
            assert np.array_equal(p, r)
        else:
            # Rounding may turn a tie between two actions; no more than a few of 40 contexts have one.
            assert (np.abs(p - r).max(axis=1) > atol).mean() <= 0.1


@pytest.mark.parametrize("name", marked(name for name in PLAIN | WITH_ACTION_FEATURES if name not in SLOW))
def test_rewards_and_range_moved_alike_give_the_same_bits(name: str) -> None:
    for a, b in ((0.0, 32.0), (24.0, 0.25)):
        moved = {"reward_range": (a, a + b)}
        same_decisions(name, {}, moved, lambda eighths, a=a, b=b: a + b * eighths, 0.0)
    costs = {"reward_range": (-1.0, 0.0), "cost": True}
    same_decisions(name, {}, costs, lambda eighths: -eighths, 0.0)


@pytest.mark.parametrize("name", marked(name for name in LEARNERS if name not in SLOW | LITERAL | THROWAWAY))
def test_without_a_range_any_unit_gives_the_same_bits(name: str) -> None:
    unknown = {"reward_range": None}
    same_decisions(name, unknown, unknown, lambda eighths: 1024.0 + 64.0 * eighths, 0.0)
    same_decisions(name, unknown, {**unknown, "cost": True}, lambda eighths: -(2.0**-30) * eighths, 0.0)
    if not any(word in name for word in SPLITTING):
        same_decisions(name, unknown, unknown, lambda eighths: 17.3 + 0.7 * eighths, 1e-6)


WIDTH_MATTERS = {name for name in LEARNERS if name.startswith("regcb")} | LITERAL | THROWAWAY
"""RegCB's bounds are cut at the range, which says something where it is tight."""


@pytest.mark.parametrize("name", marked(name for name in LEARNERS if name not in SLOW | WIDTH_MATTERS))
def test_a_range_that_is_too_wide_gives_the_same_decisions(name: str) -> None:
    for low, high in ((0.0, 1024.0), (-1023.0, 1.0)):
        same_decisions(name, {}, {"reward_range": (low, high)}, lambda eighths: eighths, 1e-6)


@dataclass(frozen=True)
class Banners:
    """Six banners that earn 20 euros with different probabilities, or lognormal euros."""

    problem: Problem
    sigma: float = 0.0

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return drawn(lambda block: self.block(block_generator(seed, block)), start, stop)

    def block(self, rng: np.random.Generator) -> PotentialOutcomes:
        shares = np.tile([0.05, 0.08, 0.11, 0.14, 0.17, 0.30], (BLOCK, 1))
        contexts = Contexts(np.zeros((BLOCK, 0)))
        if self.sigma == 0.0:
            paid = (rng.random((BLOCK, 6)) < shares).astype(np.float64)
            return PotentialOutcomes(contexts, 20.0 * shares, 20.0 * paid)
        factor = math.exp(self.sigma**2 / 2.0)
        rewards = 100.0 * shares * np.exp(self.sigma * rng.normal(size=(BLOCK, 6)))
        return PotentialOutcomes(contexts, 100.0 * factor * shares, rewards)


def banners(**settings: Any) -> Banners:
    return Banners(Problem(range(6), **settings))


@pytest.mark.parametrize("reward_range", [(0, 20), (0, 20_000), (-20_000, 20), None])
def test_the_best_banner_is_found_whatever_range_is_given(reward_range: Any) -> None:
    trace = simulate(
        AdaptiveFalcon(),
        banners(reward_range=reward_range),
        2_000,
        n_replications=4,
        checkpoints=[1_500, 2_000],
    )
    late = (trace.regret[:, -1] - trace.regret[:, 0]) / 500 / 6.0
    # As a share of the best banner's 6 euros a round, of which uniform play loses 0.53.
    assert late.mean() < 0.1


@pytest.mark.parametrize(
    "settings", [{"reward_range": None}, {"reward_range": (0, 50), "out_of_range": "accept"}]
)
@pytest.mark.parametrize("absurd", [1e90, -1e90])
def test_an_absurd_reward_does_not_end_learning(settings: dict[str, Any], absurd: float) -> None:
    problem = Problem(range(3), **settings)
    rng, learner = np.random.default_rng(0), AdaptiveFalcon()
    epoch = learner.start(problem)
    means = np.array([10.0, 20.0, 40.0])
    for batch in range(12):
        contexts = problem.contexts(n=100)
        p = epoch.policy.probabilities(contexts)
        action = np.array([rng.choice(3, p=row) for row in p])
        rewards = means[action] + 5.0 * rng.normal(size=100)
        if batch == 3:
            rewards[0] = absurd
        log = problem.log(contexts, action.tolist(), rewards, p[np.arange(100), action])
        epoch = learner.next_epoch(epoch, log)
    assert epoch.policy.probabilities(problem.contexts(n=1))[0, 2] > 0.95


@pytest.mark.long
@pytest.mark.parametrize("settings", [{"reward_range": (0, 20_000_000)}, {"reward_range": None}])
def test_heavy_tails_are_learned_from(settings: dict[str, Any]) -> None:
    environment = replace(banners(**settings), sigma=1.5)
    trace = simulate(AdaptiveFalcon(), environment, 20_000, n_replications=4, checkpoints=[15_000, 20_000])
    late = (trace.regret[:, -1] - trace.regret[:, 0]) / 5_000
    # The best banner earns 92 euros a round and the second 52; uniform play loses 49.
    assert late.mean() < 10.0
