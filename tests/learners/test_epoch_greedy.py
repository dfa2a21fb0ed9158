"""Epoch-greedy: uniform rows to learn from, greedy rounds to earn from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.epochs import action_probabilities
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.population.best_in_class import best_in_class
from gyrfalcon.environments.synthetic.families import XorEnvironment
from gyrfalcon.learners.baselines.epoch_greedy import EpochGreedy
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.replications import simulate
from tests.contracts.environments import Lines, Play, epochs_of, started, uniform_log


def scores_of(play: Play) -> Any:
    assert isinstance(play.epoch.policy, KernelPolicy)
    return play.epoch.policy.scorer.scores(play.environment.draw(0, 50, seed=2).contexts)


def test_the_share_of_uniform_rounds_by_hand() -> None:
    # 1000^(2/3) = 100 and 8000^(2/3) = 400: 300 uniform rounds among 7,000.
    assert EpochGreedy().share(1000, 8000) == pytest.approx(300 / 7000)
    assert EpochGreedy(exploration=0.5).share(1000, 8000) == pytest.approx(150 / 7000)
    assert EpochGreedy(exploration=100.0).share(0, 100) == 1.0


@pytest.mark.parametrize("design", ["tail", "coin"])
def test_about_two_thirds_powers_of_the_rounds_are_uniform(design: Any) -> None:
    epochs = epochs_of(EpochGreedy(passive_design=design), Lines(), 30_000)
    explored = sum(epoch.passive_share * epoch.n_rounds for epoch in epochs)
    stop = epochs[-1].stop
    assert explored == pytest.approx(stop ** (2 / 3) - 100 ** (2 / 3) + 100, rel=1e-9)
    shares = [epoch.passive_share for epoch in epochs]
    assert shares[0] == 1.0
    assert (np.diff(shares) < 0.0).all()


def test_the_first_epoch_is_passive_and_the_rest_greedy_beside_the_share() -> None:
    play = started(EpochGreedy(), Lines())
    log = play.decide()
    assert log.passive.all()
    assert (log.propensity == 1 / 3).all()
    play.learn(log)
    contexts = play.environment.draw(0, 50, seed=2).contexts
    probabilities = action_probabilities(play.epoch, np.arange(100, 150), contexts)
    share = play.epoch.passive_share
    expected = np.full((50, 3), share / 3)
    expected[np.arange(50), scores_of(play).argmax(axis=1)] += 1 - share
    np.testing.assert_allclose(probabilities, expected, atol=1e-15)


def test_only_passive_rows_are_fitted_unless_asked() -> None:
    environment = Lines()
    log = uniform_log(environment, 300)
    half = replace(log, component=np.arange(300) % 2)
    published, pooled, alone = (
        started(EpochGreedy(), environment),
        started(EpochGreedy(rows="all"), environment),
        started(EpochGreedy(rows="all"), environment),
    )
    published.learn(half)
    pooled.learn(half)
    alone.learn(half.where(half.passive))
    assert np.array_equal(scores_of(published), scores_of(alone))
    assert not np.array_equal(scores_of(published), scores_of(pooled))
    reports = [play.epoch.report for play in (published, pooled)]
    assert [(report.n_active, report.n_passive) for report in reports if report] == [(0, 150), (300, 0)]


def test_passive_rows_of_all_epochs_are_fitted() -> None:
    play = started(EpochGreedy(), Lines()).until(1000)
    assert play.epoch.report is not None
    passive = sum(int((decisions.component == 1).sum()) for decisions in play.decisions)
    assert play.epoch.report.n_passive == passive


def test_without_passive_rows_it_goes_on_and_says_so() -> None:
    environment = Lines()
    play = started(EpochGreedy(), environment)
    active = replace(uniform_log(environment, 100), component=np.zeros(100, dtype=np.int64))
    play.learn(active)
    assert play.epoch.passive_share == 1.0
    assert play.epoch.report is not None
    assert play.epoch.report.notes == ("no passive rows came in; the policy is unchanged",)
    play.learn(uniform_log(environment, 300))
    before, share = scores_of(play), play.epoch.passive_share
    play.learn(active)
    assert np.array_equal(scores_of(play), before)
    assert 0.0 < play.epoch.passive_share < share


def test_a_log_stands_in_for_the_first_epoch() -> None:
    environment = Lines()
    epoch = EpochGreedy().start(environment.problem, uniform_log(environment, 300))
    assert epoch.passive_share == EpochGreedy().share(0, 100)


def test_where_the_class_is_wrong_the_regret_of_its_best_model_is_paid_in_every_round() -> None:
    # A rate of T^(2/3) would have 0.63 of the regret a round after four times as many rounds.
    xor = XorEnvironment(n_actions=2)
    best = best_in_class(xor.population, Linear())
    contexts = xor.problem.contexts(np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2)))
    # The best linear model takes both actions for equally good, so that its greedy policy is arbitrary.
    np.testing.assert_allclose(best.scores(contexts), 0.5, atol=1e-12)
    uniform = xor.population.regret(UniformPolicy(2))
    trace = simulate(EpochGreedy(), xor, 20_000, n_replications=8, checkpoints=[5_000, 20_000])
    early, late = trace.regret.mean(axis=0) / trace.checkpoints
    assert late > 0.9 * early
    assert late > 0.9 * uniform


def test_where_the_best_in_class_model_plays_well_regret_a_round_falls() -> None:
    # In Section 1.1 the class is wrong as well, and the greedy policy of its best model is the optimal one.
    trace = simulate(EpochGreedy(), StepExample(), 20_000, n_replications=8, checkpoints=[5_000, 20_000])
    early, late = trace.regret.mean(axis=0) / trace.checkpoints
    assert late < 0.75 * early


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"exploration": 0.0}, "exploration is 0.0"),
        ({"passive_design": "head"}, "passive_design is 'head'"),
        ({"rows": "active"}, "rows is 'active'"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        EpochGreedy(**settings)
