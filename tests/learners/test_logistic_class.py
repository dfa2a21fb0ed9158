"""The logistic class in play: when it is there, what it leaves alone, and that nothing gets lost."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy.special import expit

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.candidates import CandidateClasses
from gyrfalcon.learners.adaptive.class_selection import ClassComparison
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.adaptive.logistic_fit import LogisticFit
from gyrfalcon.learners.adaptive.state import adaptive_state
from gyrfalcon.learners.reward_scale import estimated_rewards
from gyrfalcon.oracles.linear.logistic import LogisticModel
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.storage.files import load, save

ALONE, BESIDE = AdaptiveFalcon(classes=["logistic"]), AdaptiveFalcon(classes=["linear", "logistic"])
LABELS = ["a", "b", "c"]
PROBLEM = Problem(LABELS, features=3)
DIRECTIONS = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]


def clicks(x: Floats) -> Floats:
    """Chances (n, 3) of about 2 in 100, that multiply with features."""
    return np.asarray(expit(-4.5 + 1.2 * (x @ DIRECTIONS)))


def lines(x: Floats) -> Floats:
    """Chances (n, 3) of 4 in 100 that are linear in the features."""
    return np.asarray((0.04 * (1.0 + np.tanh(x[:, :1]) * np.array([1.0, -1.0, 0.0]))).clip(0.0, 1.0))


def coins(x: Floats) -> Floats:
    """Chances (n, 3) around a half."""
    return np.asarray(expit(x @ DIRECTIONS))


def uniform_play(n: int, seed: int, chances: object = clicks, problem: Problem = PROBLEM) -> Log:
    rng = np.random.default_rng([seed, 11])
    x, action = rng.standard_normal((n, 3)), rng.integers(0, 3, n)
    if chances is lines:
        x = rng.uniform(-1.0, 1.0, (n, 3))
    means = chances(x)  # type: ignore[operator]
    reward = (rng.random(n) < means[np.arange(n), action]).astype(np.float64)
    return problem.log(problem.contexts(x), np.array(LABELS)[action].tolist(), reward, propensities="uniform")


@cache
def epochs(
    learner: AdaptiveFalcon, n_blocks: int = 15, chances: object = clicks, seed: int = 0
) -> tuple[Epoch, ...]:
    made = [learner.start(PROBLEM)]
    for block in range(n_blocks):
        made.append(learner.next_epoch(made[-1], uniform_play(400, 100 * seed + block, chances)))
    return tuple(made)


def fit_of(epoch: Epoch) -> LogisticFit | None:
    fit = adaptive_state(epoch).candidates.fits[-1]
    assert fit is None or isinstance(fit, LogisticFit)
    return fit


def scorer_of(epoch: Epoch) -> OptimisticModel:
    assert isinstance(epoch.policy, KernelPolicy)
    assert isinstance(epoch.policy.scorer, OptimisticModel)
    return epoch.policy.scorer


def is_logistic(epoch: Epoch) -> bool:
    return isinstance(cast("object", scorer_of(epoch).model), LogisticModel)


def contexts(n: int = 60, seed: int = 3) -> Contexts:
    return Contexts(np.random.default_rng(seed).standard_normal((n, 3)))


def test_where_rewards_are_rare_and_multiply_the_logistic_class_becomes_active() -> None:
    # With 8,000 rows it is in 11 of 12 runs.
    active = [adaptive_state(epochs(BESIDE, 20, clicks, seed)[-1]).active for seed in range(6)]
    assert np.mean(active) > 0.6


def test_where_chances_are_linear_it_seldom_does() -> None:
    # In 1 of 12 runs.
    active = [adaptive_state(epochs(BESIDE, 20, lines, seed)[-1]).active for seed in range(6)]
    assert np.mean(active) < 0.4


def test_where_both_rewards_are_common_it_is_left_out_for_good() -> None:
    last = epochs(BESIDE, 3, coins)[-1]
    assert fit_of(last) is None
    assert adaptive_state(last).candidates.excluded == [True]
    assert last.report is not None
    assert "logistic: excluded, of no use for these features or rewards, or too large" in last.report.details


def test_estimates_are_near_the_chances() -> None:
    x = contexts(400)
    estimates = estimated_rewards(scorer_of(epochs(ALONE)[-1]), x)
    assert np.sqrt(np.mean((estimates - clicks(x.shared)) ** 2)) < 0.02
    assert estimates.min() > 0.0


def test_a_third_reward_makes_the_class_leave_for_good_while_it_plays() -> None:
    before = epochs(ALONE)[-1]
    assert adaptive_state(before).active == 1
    log = uniform_play(400, 77)
    log = replace(log, reward=np.where(np.arange(400) == 7, 0.5, log.reward))
    after = ALONE.next_epoch(before, log)
    again = ALONE.next_epoch(after, uniform_play(400, 78))
    for epoch in (after, again):
        assert fit_of(epoch) is None
        assert not is_logistic(epoch)
    assert after.policy.probabilities(contexts()).sum(axis=1) == pytest.approx(1.0)
    assert adaptive_state(again).candidates.excluded == [True]


def test_the_linear_class_is_active_once_the_only_other_one_has_left() -> None:
    log = uniform_play(400, 77)
    log = replace(log, reward=np.where(np.arange(400) == 7, 0.5, log.reward))
    after = ALONE.next_epoch(epochs(ALONE)[-1], log)
    assert adaptive_state(after).active == 0
    assert after.report is not None
    assert "active class: linear" in after.report.details


def test_a_file_in_mid_run_changes_nothing(tmp_path: Path) -> None:
    for place in (1, 4, 15):
        epoch = epochs(BESIDE)[place]
        save(tmp_path / "epoch.zip", epoch)
        again = load(tmp_path / "epoch.zip")
        after = [BESIDE.next_epoch(one, uniform_play(400, 99)) for one in (epoch, again)]
        for one, other in ((epoch, again), after):
            assert np.array_equal(
                one.policy.probabilities(contexts()), other.policy.probabilities(contexts())
            )


def test_a_context_alone_has_the_bits_that_it_has_in_any_batch() -> None:
    policy, x = epochs(ALONE)[-1].policy, contexts()
    batch = policy.probabilities(x)
    alone = [policy.probabilities(x.take(np.array([row])))[0] for row in range(len(x))]
    assert np.array_equal(batch, np.stack(alone))


def test_actions_come_and_go_while_it_plays() -> None:
    before = epochs(ALONE)[-1]
    after = ALONE.adapt(before, Problem(["c", "new", "a"], features=3))
    one, other = scorer_of(before), scorer_of(after)
    assert is_logistic(after)
    assert other.means(contexts())[:, [2, 0]] == pytest.approx(one.means(contexts())[:, [0, 2]], rel=1e-12)
    probabilities = after.policy.probabilities(contexts())
    assert probabilities[:, 1] == pytest.approx(1.0 / 3.0)
    problem = Problem(["c", "new", "a"], features=3)
    rng = np.random.default_rng(0)
    log = problem.log(
        problem.contexts(rng.standard_normal((300, 3))),
        ["c", "new", "a"] * 100,
        rng.random(300) < 0.02,
        propensities="uniform",
    )
    fit = fit_of(ALONE.next_epoch(after, log))
    assert fit is not None
    assert len(fit.waiting[-1]) == 300


def test_an_action_that_was_never_played_is_tried() -> None:
    epoch = ALONE.start(PROBLEM)
    for block in range(12):
        log = uniform_play(400, block)
        epoch = ALONE.next_epoch(epoch, log.where(log.action != 2))
    assert is_logistic(epoch)
    assert epoch.policy.probabilities(contexts())[:, 2] == pytest.approx(1.0 / 3.0)


def test_with_a_half_life_earlier_rows_count_less() -> None:
    forgetful = replace(ALONE, half_life=1_000.0)
    fit = fit_of(epochs(forgetful)[-1])
    assert fit is not None
    # As all candidates, it is discounted after rows have come in.
    assert 1_000.0 < fit.n < 2_000.0


def test_rows_that_wait_while_it_is_deferred_are_few() -> None:
    fit, scale = fit_of(epochs(ALONE)[-1]), adaptive_state(epochs(ALONE)[-1]).scale
    assert fit is not None
    for block in range(20):
        fit = fit.with_rows(scale.converted(uniform_play(400, block))[1])
        assert fit is not None
        assert sum(map(len, fit.waiting)) <= 4_096
    assert fit.n == 14_000.0


def test_a_class_of_too_many_columns_is_left_out() -> None:
    problem, rng = Problem(LABELS, features=400), np.random.default_rng(0)
    log = problem.log(
        problem.contexts(rng.standard_normal((6_000, 400))),
        LABELS * 2_000,
        rng.random(6_000) < 0.02,
        propensities="uniform",
    )
    epoch = ALONE.next_epoch(ALONE.start(problem), log)
    assert adaptive_state(epoch).candidates.excluded == [True]


def test_states_of_earlier_versions_get_room_for_it() -> None:
    before = epochs(AdaptiveFalcon(classes=["linear", "mixed"]), 4)[-1]
    learner, epoch = AdaptiveFalcon(), before
    for block in range(6):
        epoch = learner.next_epoch(epoch, uniform_play(400, 50 + block))
    assert fit_of(epoch) is not None
    assert len(adaptive_state(epoch).comparison.weights) == 3


def test_room_for_more_classes_leaves_what_was_compared() -> None:
    given = ClassComparison(*(np.arange(4.0).reshape(2, 2),) * 4).widened(3)
    assert given.weights.tolist() == [[0.0, 1.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert len(CandidateClasses.none(1, 3).with_more(CandidateClasses.none(2, 3)).fits) == 3


def test_its_decisions_can_be_explained() -> None:
    learner = AdaptiveFalcon(classes=["logistic"], safe=True)
    bandit = Bandit(actions=LABELS, features=3, learner=learner, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(12):
        x = rng.standard_normal((400, 3))
        decisions = bandit.decide_many(x)
        taken = np.array([LABELS.index(str(label)) for label in decisions.action])
        chances = clicks(x)[np.arange(400), taken]
        rewards = (rng.random(400) < chances).astype(float)
        bandit.reward_many(dict(zip(decisions.event_id, rewards.tolist(), strict=True)))
    assert adaptive_state(bandit.epoch).active == 1
    explained = bandit.explain([0.5, -0.5, 1.0])
    estimates = [one.estimate for one in explained.actions]
    assert all(estimate is not None and 0.0 < estimate < 1.0 for estimate in estimates)
    assert all(one.contributions and one.width is not None for one in explained.actions)
    assert sum(one.probability for one in explained.actions) == pytest.approx(1.0)
