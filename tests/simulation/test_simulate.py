"""Simulations: what a trace says, and what it depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import PassiveDesign, decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.core.simulated_uniforms import action_generator
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import replication_seed, simulate
from gyrfalcon.simulation.trace import Summary, Trace, checkpoint_rounds


def by_hand(learner: Learner, environment: Any, n_rounds: int, seed: int) -> tuple[Any, ...]:
    """Regret, reward and propensity of every round, whole epochs at a time and every row kept."""
    epoch = learner.start(environment.problem)
    actions, coins = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    columns: list[list[Any]] = [[], [], []]
    while True:
        stop = min(epoch.stop, n_rounds)
        drawn, n = environment.draw(epoch.start, stop, seed), stop - epoch.start
        flipped = coins.random((n, 2)) if epoch.passive_design is PassiveDesign.COIN else np.zeros((n, 2))
        uniforms = np.column_stack([flipped, actions.random(n)])
        decisions = decide(epoch, np.arange(epoch.start, stop), drawn.contexts, uniforms)
        chosen = np.arange(n), decisions.action
        columns[0].append(drawn.means.max(axis=1) - drawn.means[chosen])
        columns[1].append(drawn.rewards[chosen])
        columns[2].append(decisions.propensity)
        if epoch.stop >= n_rounds:
            return tuple(np.concatenate(column) for column in columns)
        log = Log.of(drawn.contexts, decisions, drawn.rewards[chosen])
        epoch = learner.next_epoch(epoch, log)


@pytest.mark.parametrize(
    ("learner", "environment"),
    [
        (EpsilonFalcon(), StepExample()),
        (
            EpsilonFalcon(data="all", passive_data="all", passive_design="coin"),
            StepExample(),
        ),
        (EpsilonFalcon(slack="sandwich"), StepExample()),
        (Falcon(data="all"), LinearEnvironment(n_actions=4, n_features=6)),
        (LinUCB(schedule=FixedBatch(9000)), StepExample()),
    ],
)
def test_a_trace_sums_what_every_round_did(learner: Learner, environment: Any) -> None:
    # Epochs of more than 8,192 rounds are summed while they are played; by hand all their rows are kept.
    trace = simulate(learner, environment, 30_000, seed=3)
    regret, reward, propensity = by_hand(learner, environment, 30_000, 3)
    ends = trace.checkpoints
    np.testing.assert_allclose(trace.regret[0], np.cumsum(regret)[ends - 1], rtol=1e-9)
    np.testing.assert_allclose(trace.reward[0], np.cumsum(reward)[ends - 1], rtol=1e-9)
    np.testing.assert_allclose(trace.propensity[0], propensity[ends - 1], rtol=1e-6)
    least = [propensity[start:end].min() for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    np.testing.assert_allclose(trace.least_propensity[0], least, rtol=1e-6)


@given(st.data())
def test_checkpoints_only_say_where_to_look(data: st.DataObject) -> None:
    n_rounds = data.draw(st.integers(1, 600))
    chosen = data.draw(st.lists(st.integers(1, n_rounds), max_size=8))
    learners: list[Learner] = [Uniform(), LinUCB(schedule=FixedBatch(37))]
    learner = data.draw(st.sampled_from(learners))
    every = simulate(learner, StepExample(), n_rounds, 2, checkpoints="every")
    some = simulate(learner, StepExample(), n_rounds, 2, checkpoints=chosen)
    assert some.checkpoints.tolist() == sorted({*chosen, n_rounds})
    at = some.checkpoints - 1
    np.testing.assert_allclose(some.regret, every.regret[:, at], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(some.reward, every.reward[:, at], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(some.propensity, every.propensity[:, at])
    np.testing.assert_allclose((some.regret_per_round * some.lengths).sum(axis=1), some.regret[:, -1])


def test_the_epochs_of_a_trace_are_those_of_its_checkpoints() -> None:
    trace = simulate(EpsilonFalcon(), StepExample(), 1000, 2, checkpoints=[50, 60, 450])
    for played in trace.epochs:
        assert [(epoch.start, epoch.stop) for epoch in played] == [(0, 100), (400, 800), (800, 1600)]
        assert all(epoch.policy is None for epoch in played)
        assert played[0].report is None
        assert played[1].report is not None


def test_all_learners_meet_the_same_luck_whatever_they_draw() -> None:
    one, other = (simulate(learner, StepExample(), 100, 3) for learner in (Uniform(), EpsilonFalcon()))
    # The first epoch of both is uniform play, so they make the same draws too.
    np.testing.assert_array_equal(one.reward, other.reward)


def test_replications_are_independent_of_how_they_are_shared_out() -> None:
    whole = simulate(EpsilonFalcon(), StepExample(), 2000, 5, seed=9)
    parts = [
        simulate(EpsilonFalcon(), StepExample(), 2000, count, seed=9, first_replication=first)
        for first, count in ((0, 1), (1, 3), (4, 1))
    ]
    np.testing.assert_array_equal(whole.regret, Trace.concat(parts).regret)
    assert len({replication_seed(9, number) for number in range(1000)}) == 1000


def test_streams_of_environment_and_learner_are_uncorrelated() -> None:
    # 20,000 rounds: a correlation has a standard error of .007, and four of them are 1 in 16,000.
    outcomes = StepExample().draw(0, 20_000, 7)
    streams = [action_generator(7).random(20_000), np.random.default_rng([7, 2]).random(20_000)]
    for column in streams:
        assert abs(np.corrcoef(column, outcomes.contexts.shared[:, 0])[0, 1]) < 0.028
        assert abs(np.corrcoef(column, outcomes.rewards[:, 1])[0, 1]) < 0.028


@dataclass(frozen=True)
class Coins:
    """An environment of a user: nothing but `draw`."""

    late: int = 0
    cut: int = 0

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        rounds = np.arange(start, stop)
        x = np.sin(rounds * 1.7 + seed)[:, np.newaxis]
        means = np.hstack([0.5 + 0.4 * x, 0.5 - 0.4 * x])
        late = rounds + self.late if self.late else None
        return PotentialOutcomes(Contexts(x), means[self.cut :], 3.0 * means, late)


def test_a_class_with_draw_is_a_environment() -> None:
    trace = simulate(LinUCB(), Coins(), 2000, 3)
    assert trace.late_regret(0.2).max() < 0.05
    assert Summary.of(trace.regret[:, -1]).standard_error >= 0.0


def test_late_rewards_are_learned_from_late_and_none_is_lost() -> None:
    learner = LinUCB(schedule=FixedBatch(100))
    at_once = simulate(learner, Coins(), 1000, checkpoints=range(100, 1001, 100))
    late = simulate(learner, Coins(late=150), 1000, checkpoints=range(100, 1001, 100))

    def rows(trace: Trace) -> list[float]:
        return [0.0 if epoch.report is None else epoch.report.n_active for epoch in trace.epochs[0]]

    assert rows(at_once) == [0.0] + [100.0 * batch for batch in range(1, 10)]
    # A reward of round t is known at the end of round t + 150: at round 200, those of rounds 0 to 49.
    assert rows(late)[:2] == [0.0, 0.0]
    assert rows(late)[3:] == [100.0 * batch - 50.0 for batch in range(2, 9)]


def test_lists_floats_of_other_sizes_and_strides_are_a_environment_too() -> None:
    class Loose(Coins):
        def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
            outcomes = super().draw(start, stop, seed)
            rewards: Any = outcomes.rewards[:, ::-1].astype(np.float32)[:, ::-1]
            means: Any = outcomes.means.tolist()
            return PotentialOutcomes(outcomes.contexts, means, rewards)

    loose, strict = (simulate(LinUCB(), outcomes, 500) for outcomes in (Loose(), Coins()))
    np.testing.assert_allclose(loose.regret, strict.regret, rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((1, 2, 3), "gave tuple; give PotentialOutcomes"),
        ({"contexts": np.zeros((100, 1))}, "gave PotentialOutcomes; give PotentialOutcomes"),
        ({"means": np.zeros((99, 2))}, r"means of shape \(99, 2\); give \(100, 2\)"),
        ({"means": np.zeros(100)}, r"means of shape \(100,\); give \(100, any\)"),
        ({"rewards": np.zeros((100, 3))}, r"rewards of shape \(100, 3\); give \(100, 2\)"),
        ({"contexts": Contexts(np.zeros((7, 1)))}, r"contexts.shared of shape \(7, 1\); give \(100, 1\)"),
        (
            {"contexts": Contexts(np.zeros((100, 1)), np.zeros((100, 3, 1)))},
            r"contexts.actions of shape \(100, 3, 1\); give \(100, 2, 1\)",
        ),
        (
            {"contexts": Contexts(np.zeros((100, 1)), None, np.ones((100, 3), dtype=bool))},
            r"contexts.eligible of shape \(100, 3\)",
        ),
        ({"reward_round": np.arange(99)}, r"reward_round of shape \(99,\)"),
        ({"reward_round": np.arange(100) / 2}, "dtype float64; give 100 whole round numbers"),
        ({"reward_round": np.arange(100) - 1}, "the reward_round of round 0 is -1"),
        ({"contexts": Contexts(np.zeros((100, 2)))}, "gave 2 actions, 2 features"),
    ],
)
def test_a_environment_that_is_none_is_refused_in_a_sentence(given: Any, sentence: str) -> None:
    class Broken(Coins):
        problem = Problem([1, 2], features=1, out_of_range="accept")

        def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
            outcomes = super().draw(start, stop, seed)
            return replace(outcomes, **given) if isinstance(given, dict) else given

    with pytest.raises(ValueError, match=sentence):
        simulate(LinUCB(), Broken(), 100)


def test_rewards_that_are_no_numbers_are_refused() -> None:
    class Broken(Coins):
        def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
            outcomes = super().draw(start, stop, seed)
            return replace(outcomes, rewards=np.full(outcomes.rewards.shape, np.nan))

    with pytest.raises(ValueError, match="the reward is nan"):
        simulate(LinUCB(), Broken(), 100)


def test_a_environment_may_become_unlike_itself_and_progress_is_told_once() -> None:
    class LateLater(Coins):
        def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
            outcomes = super().draw(start, stop, seed)
            return outcomes if start < 10_000 else replace(outcomes, reward_round=np.arange(start, stop) + 5)

    told: list[int] = []
    trace = simulate(LinUCB(), LateLater(), 20_000, 2, on_rounds=told.append)
    assert sum(told) == 40_000
    np.testing.assert_array_equal(trace.regret[:1], simulate(LinUCB(), LateLater(), 20_000).regret)


def test_rewards_follow_the_rule_of_the_problem() -> None:
    class Strict(Coins):
        problem = Problem([1, 2], features=1)

    with pytest.raises(ValueError, match="outside"):
        simulate(LinUCB(), Strict(), 100)


def test_costs_are_better_when_they_are_low() -> None:
    class Costs(Coins):
        problem = Problem([1, 2], features=1, reward_range=(0.0, 3.0), cost=True)

    trace = simulate(LinUCB(), Costs(), 2000)
    assert 0.0 <= trace.late_regret()[0] < 0.05
    assert simulate(Uniform(), Costs(), 2000).late_regret()[0] > 0.2


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_rounds": 0}, "n_rounds is 0"),
        ({"n_rounds": 10.5}, "n_rounds is 10.5"),
        ({"n_rounds": 10**19}, "n_rounds is 10000000000000000000"),
        ({"n_replications": 0}, "n_replications is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"first_replication": -1}, "first_replication is -1"),
        ({"checkpoints": [11]}, "a checkpoint is 11; give numbers of rounds from 1 to n_rounds = 10"),
        ({"checkpoints": [0]}, "a checkpoint is 0"),
        ({"checkpoints": "all"}, "checkpoints is 'all'"),
        ({"checkpoints": 0}, "checkpoints is 0"),
        ({"checkpoints": True}, "checkpoints is True"),
        ({"checkpoints": [1.5]}, "give whole numbers of rounds"),
        ({"learner": LinUCB}, "learner is <class"),
        ({"learner": "LinUCB"}, "learner is 'LinUCB'"),
        ({"environment": 3}, "environment is 3"),
        ({"environment": StepExample}, "environment is <class"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {"learner": Uniform(), "environment": StepExample(), "n_rounds": 10, **settings}
    with pytest.raises(ValueError, match=sentence):
        simulate(**given)


def test_default_checkpoints_are_spaced_in_logs_and_end_with_the_last_round() -> None:
    rounds = checkpoint_rounds(None, 10**6)
    assert rounds[0] == 1
    assert rounds[-1] == 10**6
    assert 60 < len(rounds) <= 100
    assert checkpoint_rounds(1, 50).tolist() == [50]
    assert checkpoint_rounds(np.array([5, 5, 2]), 7).tolist() == [2, 5, 7]


def test_traces_of_other_checkpoints_are_not_put_together() -> None:
    one, other = (simulate(Uniform(), StepExample(), 10, checkpoints=at) for at in ([5], [6]))
    with pytest.raises(ValueError, match="different checkpoints"):
        Trace.concat([one, other])


def test_a_single_replication_has_no_standard_error() -> None:
    assert math.isnan(Summary.of(np.array([1.0])).standard_error)


def test_progress_is_told_every_round_once() -> None:
    for learner in (EpsilonFalcon(), LinUCB()):
        told: list[int] = []
        simulate(learner, StepExample(), 20_000, 2, on_rounds=told.append)
        assert sum(told) == 40_000
