"""Safe return: a policy that surely earned more plays again, and is forgotten when it earns less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon, Bandit, simulate
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.records import Log
from gyrfalcon.environments import StepExample
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.learners.adaptive.safe_return import (
    NO_REFERENCE,
    SafeReturn,
    SharedPolicy,
    concurrent_gains,
    lower_bound,
    running_policy,
)
from gyrfalcon.learners.adaptive.state import adaptive_state
from gyrfalcon.learners.reward_scale import COIN
from gyrfalcon.oracles.features.bases import IdentityMap
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linear.models import OptimisticModel, PerActionModel

CYCLING = AdaptiveFalcon(classes="linear", gate="never", data="last_epoch", safe=True)
"""FALCON on the last epoch's rows, which Section 1.1 of the paper misleads."""


def greedy(*scores: float) -> KernelPolicy:
    """The policy of an action that is always best, with a share of 0.1 for the others."""
    n = len(scores)
    model = PerActionModel(IdentityMap(0), None, np.zeros((n, 0)), np.array(scores)[:, np.newaxis], None)
    empty = np.zeros(0)
    design = Design(Layout.PER_ACTION, n, IdentityMap(0), empty, empty, intercept=True, interactions=False)
    optimistic = OptimisticModel(model, design, np.zeros((n, 1, 1)), 0.0)
    return KernelPolicy(optimistic, EpsilonGreedyKernel(0.1))


def epoch_of(policy: KernelPolicy | SharedPolicy, index: int, n: int = 200) -> Epoch:
    return Epoch(
        index=index, start=index * n, stop=(index + 1) * n, policy=policy, passive_policy=UniformPolicy(2)
    )


def played(epoch: Epoch, means: tuple[float, float], rng: np.random.Generator) -> Log:
    """The rows of an epoch whose two actions earn 1 with these probabilities."""
    n = epoch.n_rounds
    contexts = Contexts(np.zeros((n, 0)))
    shares = epoch.policy.probabilities(contexts)
    action: Ints = (rng.random(n) > shares[:, 0]).astype(np.int64)
    reward: Floats = (rng.random(n) < np.array(means)[action]).astype(np.float64)
    zeros = np.zeros(n, dtype=np.int64)
    return Log(
        contexts, action, reward, shares[np.arange(n), action], zeros + epoch.index, np.arange(n), zeros
    )


def course(
    state: SafeReturn, running: KernelPolicy, means: tuple[float, float], n_epochs: int, seed: int
) -> list[SafeReturn]:
    """The states after epochs in which this policy is the learner's latest."""
    rng, states = np.random.default_rng(seed), [state]
    for index in range(100, 100 + n_epochs):
        epoch = epoch_of(states[-1].policy(running), index)  # type: ignore[arg-type]
        states.append(states[-1].updated(epoch, played(epoch, means, rng), COIN, 0.05))
    return states


FIRST, SECOND = greedy(0.6, 0.4), greedy(0.4, 0.6)
KEPT = SafeReturn(reference=FIRST, epoch=7, least=0.65)
"""A reference that earned 0.65 or more, and always prefers the first action."""


def test_a_policy_that_is_surely_worse_is_replaced() -> None:
    states = course(KEPT, SECOND, (0.8, 0.4), 12, seed=0)
    assert [state.phase for state in states[:2]] == ["watching", "trial"]
    assert states[-1].phase == "returned"
    assert states[-1].reference is FIRST
    assert states[-1].policy(SECOND) == SharedPolicy(SECOND, FIRST, 0.9)
    (line,) = states[-1].report_lines(10.0)
    assert line.startswith("policy of epoch 7 in 90% of rounds: estimated value gain +")


def test_a_fall_of_all_rewards_forgets_the_reference() -> None:
    # Both actions fall, and the latest policy is the better one: the trial of the reference ends.
    states = course(KEPT, SECOND, (0.1, 0.4), 12, seed=1)
    assert states[1].phase == "trial"
    assert states[-1].phase == "watching"
    assert all(state.phase != "returned" for state in states)
    assert states[-1].least < 0.4


def test_a_return_is_revoked_when_the_environment_changes() -> None:
    returned = course(KEPT, SECOND, (0.8, 0.4), 12, seed=0)[-1]
    states = course(returned, SECOND, (0.2, 0.8), 12, seed=2)
    assert states[-1].phase == "watching"
    assert states[-1].reference is not FIRST


def test_a_policy_of_equal_value_hardly_ever_returns() -> None:
    # Both actions earn alike, and the first trial has half of delta = 0.05: 5 of 200 runs are to be expected
    # at most, and more than 10 then have a probability of 0.013.
    trial = replace(KEPT, phase="trial", gains=Tally.empty(), bounds=(0.0, 1.0), longest=5e3, n_trials=1)
    ends = [course(trial, SECOND, (0.5, 0.5), 25, seed) for seed in range(200)]
    n_returned = sum(any(state.phase == "returned" for state in states) for states in ends)
    assert n_returned <= 200 * 0.025 + 5


@pytest.mark.parametrize("p", [0.05, 0.5, 0.95])
def test_the_lower_bound_holds_at_all_times_at_once(p: float) -> None:
    # Gains of two values and mean 0, looked at after each 10 of 1000 rows: wrong in at most 0.1 of runs.
    rng, n_wrong = np.random.default_rng(3), 0
    values = np.array([1.0 - p, -p]) / max(p, 1.0 - p)
    for _ in range(300):
        gains = values[(rng.random(1000) > p).astype(np.int64)]
        total, squares = gains.cumsum(), (gains**2).cumsum()
        looks = [Tally(1.0, 1.0, total[k], squares[k]) for k in range(9, 1000, 10)]
        n_wrong += any(lower_bound(look, 1.0, 0.1) > 0.0 for look in looks)
    # With an error of 0.1, more than 45 of 300 has a probability below 0.004.
    assert n_wrong <= 45


def test_the_lower_bound_finds_a_gain_and_has_the_unit_of_gains() -> None:
    gains = Tally.of(np.tile([1.0, -0.5], 300))
    bound = lower_bound(gains, 1.0, 0.05)
    assert 0.0 < bound < float(gains.total)
    assert lower_bound(Tally.of(8.0 * np.tile([1.0, -0.5], 300)), 8.0, 0.05) == pytest.approx(8.0 * bound)
    assert lower_bound(Tally.of(np.zeros(5)), 0.0, 0.05) == 0.0


def test_concurrent_gains_are_unbiased_and_bounded() -> None:
    policy = SharedPolicy(SECOND, FIRST, 0.5)
    log = played(epoch_of(policy, 1, n=40_000), (0.8, 0.4), np.random.default_rng(4))
    gains = Tally.of(concurrent_gains(policy, log, (0.0, 1.0)))
    # Policies differ by 0.9 of their probability, and actions by 0.4.
    assert float(gains.mean) == pytest.approx(0.9 * 0.4, abs=4 * float(gains.standard_error))
    assert float(gains.standard_error) < 0.01
    assert np.abs(concurrent_gains(policy, log, (0.0, 1.0))).max() <= 3.0


def test_shared_policies_have_probabilities_between_those_of_both() -> None:
    shared = SharedPolicy(SECOND, FIRST, 0.9).probabilities(Contexts(np.zeros((3, 0))))
    np.testing.assert_allclose(shared, np.tile([0.9 * 0.95 + 0.1 * 0.05, 0.9 * 0.05 + 0.1 * 0.95], (3, 1)))
    assert running_policy(SharedPolicy(SECOND, FIRST, 0.9)) is SECOND
    assert running_policy(FIRST) is FIRST


def test_section_1_1_costs_less_with_the_return() -> None:
    # About 3,400 and 1,000 over 20,000 rounds (three seeds); without a return, play cycles for good.
    with_return, without = (
        simulate(replace(CYCLING, safe=safe), StepExample(), 20_000, seed=1, checkpoints=[20_000])
        for safe in (True, False)
    )
    assert with_return.regret[0, -1] < 0.5 * without.regret[0, -1]


def returned_bandit() -> Bandit:
    """A bandit in Section 1.1 whose policy is shared with a reference."""
    outcomes = StepExample().draw(0, 6000, seed=1)
    bandit = Bandit(
        ["one", "two"], features=["x"], out_of_range="accept", learner=CYCLING, seed=1, clock=lambda: 0.0
    )
    for x, rewards in zip(outcomes.contexts.shared[:, 0].tolist(), outcomes.rewards.tolist(), strict=True):
        decision = bandit.decide({"x": x})
        bandit.reward(decision.event_id, rewards[("one", "two").index(decision.action)])
        if isinstance(bandit.epoch.policy, SharedPolicy):
            return bandit
    raise AssertionError("no trial in 6000 rounds")


def test_a_trial_is_reported_stored_explained_and_ended_by_new_actions(tmp_path: Path) -> None:
    bandit = returned_bandit()
    assert bandit.epoch.report is not None
    assert any("of rounds: estimated value gain" in line for line in bandit.epoch.report.details)
    assert all(one.estimate is not None for one in bandit.explain({"x": 0.3}).actions)
    bandit.save(tmp_path / "shared.gyrfalcon")
    loaded = Bandit.load(tmp_path / "shared.gyrfalcon", clock=lambda: 0.0)
    context = Contexts(np.linspace(0.0, 1.0, 20)[:, np.newaxis])
    assert (
        loaded.epoch.policy.probabilities(context).tolist()
        == bandit.epoch.policy.probabilities(context).tolist()
    )
    bandit.add_actions(["three"])
    assert not isinstance(bandit.epoch.policy, SharedPolicy)
    assert adaptive_state(bandit.epoch).safe == replace(NO_REFERENCE, n_trials=1)


def test_without_the_setting_nothing_returns() -> None:
    trace = simulate(replace(CYCLING, safe=False), StepExample(), 3000, seed=1, keep_policies=True)
    policies = [epoch.policy for epoch in trace.epochs[0]]
    assert not any(isinstance(policy, SharedPolicy) for policy in policies)
