"""RegCB: bounds from all models that fit nearly as well as the best one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.elimination import EliminationPolicy, survivors
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.regcb import RegCB, VersionSpace
from gyrfalcon.oracles.linear.linear import Linear
from tests.contracts.environments import Lines, started, uniform_log
from tests.learners.spreads import in_spreads
from tests.learners.test_ridge_learner import model_of

RAW = Linear(intercept=False, standardise=False)
RULES: list[Any] = ["elimination", "optimistic"]
every_rule = pytest.mark.parametrize("rule", RULES)


def space_of(epoch: Epoch) -> VersionSpace:
    policy = without_trying(epoch.policy)
    assert isinstance(policy, EliminationPolicy | KernelPolicy)
    assert isinstance(policy.scorer, VersionSpace)
    return policy.scorer


def learned(learner: RegCB, environment: Lines = Lines(), n: int = 200) -> Epoch:
    play = started(learner, environment)
    play.learn(uniform_log(environment, n))
    return play.epoch


def contexts_of(environment: Lines = Lines()) -> Contexts:
    return environment.draw(0, 100, seed=1).contexts


def test_one_row_by_hand() -> None:
    play = started(RegCB(c_0=0.2, ridge=1.0, clip=False, model_class=RAW), Lines(n_actions=2))
    play.learn(
        Problem(["a", "b"], 2).log(Contexts(np.array([[1.0, 0.0]])), ["a"], [1.0], propensities="uniform")
    )
    reach = math.sqrt(0.2 * math.log(2.0))
    low, high = space_of(play.epoch).bounds(Contexts(np.eye(2)))
    np.testing.assert_allclose(high[:, 0], [0.5 + reach * math.sqrt(0.5), reach], rtol=1e-14)
    np.testing.assert_allclose(low[:, 0], [0.5 - reach * math.sqrt(0.5), -reach], rtol=1e-14)


@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
@pytest.mark.parametrize("clip", [True, False])
def test_estimates_lie_between_low_and_high(layout: Any, clip: bool) -> None:
    environment = Lines(n_action_features=2)
    limits = np.array([-0.4, 0.6])
    space = space_of(learned(RegCB(model_class=Linear(layout=layout)), environment))
    space = replace(space, limits=limits if clip else None)
    contexts = contexts_of(environment)
    low, high = space.bounds(contexts)
    means = space.model.means(contexts)
    assert np.array_equal(space.scores(contexts), high)
    if clip:
        means = np.clip(means, *limits)
        assert low.min() >= limits[0]
        assert high.max() <= limits[1]
    assert (low <= means).all()
    assert (means <= high).all()
    assert (high - low > 0.0).mean() > 0.8


def test_high_is_the_largest_reward_of_the_models_that_fit_nearly_as_well() -> None:
    environment, rng = Lines(), np.random.default_rng(4)
    log = in_spreads(uniform_log(environment, 200), intercept=False)
    learner = RegCB(clip=False, ridge=1e-9, model_class=RAW)
    low, high = space_of(learned(learner)).bounds(log.contexts)
    beta = learner.beta(3, 200)
    assert beta == 0.1 * math.log(600)
    for action in range(3):
        x, r = (values[log.action == action] for values in (log.contexts.shared, log.reward))
        best = np.linalg.lstsq(x, r)[0]
        least = np.sum((r - x @ best) ** 2)
        direction = np.linalg.solve(x.T @ x, log.contexts.shared.T).T
        length = np.sqrt(np.sum(direction * log.contexts.shared, axis=1, keepdims=True))
        extreme = best + math.sqrt(beta) * direction / length
        # The model that attains High is just within the version space.
        excess = np.sum((r - extreme @ x.T) ** 2, axis=1) - least
        np.testing.assert_allclose(excess, beta, rtol=1e-6)
        attained = np.sum(extreme * log.contexts.shared, axis=1)
        np.testing.assert_allclose(attained, high[:, action], rtol=1e-6)
        # No other one within it does better, or worse than Low.
        others = best + rng.normal(size=(500, 2)) * 0.1
        inside = others[np.sum((r - others @ x.T) ** 2, axis=1) - least <= beta]
        assert len(inside) > 50
        rewards = inside @ log.contexts.shared.T
        assert (rewards <= high[:, action] + 1e-6).all()
        assert (rewards >= low[:, action] - 1e-6).all()


@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
def test_the_optimistic_rule_is_linucb_with_the_root_of_beta(layout: Any) -> None:
    environment, model_class = Lines(n_action_features=2), Linear(layout=layout)
    learner = RegCB(rule="optimistic", clip=False, ridge=0.3, model_class=model_class)
    linucb = LinUCB(alpha=math.sqrt(learner.beta(3, 200)), ridge=0.3, model_class=model_class)
    play = started(linucb, environment)
    play.learn(uniform_log(environment, 200))
    contexts = contexts_of(environment)
    ours, theirs = learned(learner, environment), play.epoch
    assert np.array_equal(space_of(ours).scores(contexts), model_of(theirs.policy).scores(contexts))
    assert np.array_equal(ours.policy.probabilities(contexts), theirs.policy.probabilities(contexts))


@every_rule
def test_beta_0_is_greedy_play(rule: Any) -> None:
    epoch = learned(RegCB(rule=rule, c_0=0.0, clip=False))
    best = space_of(epoch).model.means(contexts_of()).argmax(axis=1)
    assert np.array_equal(epoch.policy.probabilities(contexts_of()), np.eye(3)[best])


@pytest.mark.parametrize("clip", [True, False])
def test_a_very_large_beta_is_uniform_play(clip: bool) -> None:
    epoch = learned(RegCB(c_0=1e12, clip=clip))
    np.testing.assert_allclose(epoch.policy.probabilities(contexts_of()), 1 / 3, rtol=1e-15)


@pytest.mark.parametrize("mixing", [0.0, 0.3])
def test_survivors_are_played_alike(mixing: float) -> None:
    environment = Lines(masked=True)
    epoch, contexts = learned(RegCB(mixing=mixing), environment), contexts_of(environment)
    low, high = space_of(epoch).bounds(contexts)
    mask = contexts.eligible
    assert mask is not None
    sizes = set()
    for row, found in enumerate(epoch.policy.probabilities(contexts)):
        eligible = np.flatnonzero(mask[row])
        alive = [a for a in eligible if high[row, a] >= low[row, eligible].max()]
        expected = mixing * mask[row] / len(eligible)
        expected[alive] += (1.0 - mixing) / len(alive)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
        sizes.add(len(alive))
    assert sizes == {1, 2, 3}


numbers = st.one_of(st.floats(-2.0, 2.0), st.sampled_from([0.0, 0.5, 1.0]))


@given(data=st.data(), n=st.integers(1, 5), k=st.integers(1, 6))
def test_survivors_are_never_empty_and_include_the_best_low_and_high(
    data: st.DataObject, n: int, k: int
) -> None:
    ends = np.array(data.draw(st.lists(st.tuples(numbers, numbers), min_size=n * k, max_size=n * k)))
    low, high = ends.min(axis=1).reshape(n, k), ends.max(axis=1).reshape(n, k)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n * k, max_size=n * k))).reshape(n, k)
    mask[np.arange(n), data.draw(st.integers(0, k - 1))] = True
    alive = survivors(low, high, mask)
    assert not alive[~mask].any()
    for bound in (low, high):
        assert alive[np.arange(n), np.where(mask, bound, -np.inf).argmax(axis=1)].all()
    assert np.array_equal(survivors(low, high), survivors(low, high, np.ones((n, k), dtype=np.bool_)))
    # An action that is out is worse than some survivor whatever the truth within the bounds.
    for row, action in np.argwhere(mask & ~alive):
        assert (low[row][alive[row]] > high[row, action]).any()


def test_bounds_that_are_no_numbers_or_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bounds of a reward are 0\.5 and nan"):
        survivors([[0.0, 0.5]], [[1.0, math.nan]])
    with pytest.raises(ValueError, match=r"bounds of a reward are 0\.5 and 0\.2"):
        survivors([[0.0, 0.5]], [[1.0, 0.2]])
    with pytest.raises(ValueError, match=r"mixing is 1\.5"):
        EliminationPolicy(space_of(learned(RegCB())), mixing=1.5)


@pytest.mark.parametrize("untried", [0, 1])
@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("c_0", [0.0, 0.1, 10.0])
@every_rule
def test_an_action_without_data_is_tried(rule: Any, c_0: float, clip: bool, untried: int) -> None:
    for reward in (0.9, 1.0):  # at 1 the other action has reached the top of the range
        problem = Problem([0, 1], 0)
        log = problem.log(problem.contexts(n=100), [1 - untried] * 100, [reward] * 100, [0.5] * 100)
        learner = RegCB(rule=rule, c_0=c_0, clip=clip)
        epoch = learner.next_epoch(learner.start(problem), log)
        assert epoch.policy.probabilities(problem.contexts(n=1))[0, untried] == 0.5


def test_the_report_says_beta() -> None:
    report = learned(RegCB()).report
    assert report is not None
    assert report.details == ("beta 0.6397",)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rule": "uniform"}, "rule is 'uniform'; choose one of 'elimination', 'optimistic'"),
        ({"c_0": -0.1}, "c_0 is -0.1"),
        ({"c_0": math.inf}, "c_0 is inf"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RegCB(**settings)


def test_the_rule_may_change_between_epochs() -> None:
    epoch = learned(RegCB())
    following = replace(RegCB(), rule="optimistic").next_epoch(epoch, uniform_log(Lines(), 100, seed=3))
    assert isinstance(following.policy, KernelPolicy)


@pytest.mark.parametrize("rule", ["elimination", "optimistic"])
def test_rewards_that_are_accepted_outside_their_range_are_not_clipped(rule: Any) -> None:
    problem = Problem(["bad", "good"], features=1, out_of_range="accept")
    rng = np.random.default_rng(0)
    action = rng.integers(0, 2, 400)
    contexts = Contexts(rng.normal(size=(400, 1)))
    rewards = 2.0 + action + 0.1 * rng.normal(size=400)
    log = problem.log(
        contexts, [problem.actions[a] for a in action], rewards.tolist(), propensities="uniform"
    )
    epoch = RegCB(rule=rule).start(problem, log)
    assert (epoch.policy.probabilities(contexts)[:, 1] == 1.0).all()
